"""kernel-threads: threads for the loops whose priced work pays for starting them.

Before:
    kernel.parallel d0 : 1048576 <lanes 16, unroll 4, tail none> {..}

After, threads=2:
    kernel.parallel d0 : 1048576 <run threads, lanes 16, unroll 4, tail none> {..}

A loop of 1024 elements stays sequential. With sizes known only at run time the decision is a
condition on the priced work, `when (12 * s0 * s1 - 65536)`; hints decide nothing but which of
several nested loops is cut. Loops side by side (`kernel-pack`) are judged by their sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import product
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.verify import symbol_ranges
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import (
    LOOPS,
    Loop,
    child_loops,
    cost_expr,
    estimate,
    kernels_of,
    module_hints,
    set_words,
    total_cost,
)
from minductor.passes.remarks import sink_of

SHARE = 16
"""Of the work that pays for threads, the part that a loop needs where others have started them."""


@dataclass(frozen=True)
class KernelThreadsPass(MiniPass):
    """Set `run threads` on one loop of each top-level tree of a C++ kernel.

    threads: how many the machine has; 1 keeps everything sequential. min_work: cost units (an add
    on one element is 1) below which threads do not pay: about two microseconds of one thread, what
    it takes two to start and to join.
    """

    name = "kernel-threads"
    needs = frozenset({"kernel"})
    provides = frozenset({"threads"})

    threads: int = 2
    min_work: int = 131072

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Decide for every top-level loop of every C++ kernel. ValueError on `threads` < 1."""
        if self.threads < 1:
            raise ValueError(f"{self.name}: threads = {self.threads}; one is the fewest")
        hints = module_hints(op)
        for func in kernels_of(op, "cpp"):
            least = self._least(func, hints)
            loops = list(child_loops(func.body.block))
            chosen = [self._decide(ctx, func, loop, hints, least) for loop in loops]
            threaded = [loop for loop in chosen if loop is not None]
            if threaded and any(_fills_and_yields(op) for op in loops):
                reason = "a stage of one thread stores and yields: the others need what it yields"
                sink_of(ctx).refused(self.name, func.sym_name.data, reason)
                for loop in threaded:
                    set_words(loop, run="seq", when=None)
            elif threaded:
                func.config = func.config.with_(threads=self.threads)

    def _least(self, func: k.FuncOp, hints: Mapping[Atom, int]) -> int:
        """Work of one loop that pays: independent loops start threads once for all of them."""
        ops = list(func.body.block.ops)
        loops = [op for op in ops if isinstance(op, k.ParallelOp)]
        others = (k.BarrierOp, k.LocalOp, k.ForOp, k.ReduceOp, k.ScanOp)
        if len(loops) < 2 or any(isinstance(op, others) for op in ops):
            return self.min_work
        enough = total_cost(func.body.block, hints) >= self.min_work
        return self.min_work // SHARE if enough else self.min_work

    def _decide(
        self, ctx: Context, func: k.FuncOp, loop: Loop, hints: Mapping[Atom, int], least: int
    ) -> Loop | None:
        """The loop that threads share, or None with a remark."""
        chain = _parallel_chain(loop)
        name = func.sym_name.data
        if self.threads < 2 or not chain:
            sink_of(ctx).refused(self.name, name, "no loop whose iterations are independent")
            return None
        if (local := _outer_local(func, loop)) is not None:
            reason = f"each thread would have an array `{local}` of its own, filled by the first"
            sink_of(ctx).refused(self.name, name, reason)
            return None
        body = chain[-1].regions[0].block
        each = total_cost(body, hints)
        extents = [c.extent.data for c in chain]
        trips: Expr = _at_first(product(extents))
        work = trips * cost_expr(body, hints)
        known = work.as_int is not None
        if known and int(trips) * each < least:
            sink_of(ctx).refused(self.name, name, f"work {int(trips) * each:.0f} does not pay")
            return None
        most = symbol_ranges(func).interval(work)[1]
        if not known and most is not None and most < least:
            sink_of(ctx).refused(self.name, name, f"work of at most {most} does not pay")
            return None
        when = None if known else work - least
        shared = self._loop(chain, hints)
        set_words(shared, run="threads", when=when)
        return shared

    def _loop(self, chain: list[Loop], hints: Mapping[Atom, int]) -> Loop:
        """The outermost loop with equal work for every thread, else the longest."""
        for loop in chain:
            extent = estimate(loop.extent.data, hints)
            if extent >= 2 * self.threads or (extent and extent % self.threads == 0):
                return loop
        return max(chain, key=lambda c: estimate(c.extent.data, hints))


def _fills_and_yields(stage: Loop) -> bool:
    """One thread runs the stage, which writes memory and gives values to later stages."""
    if not any(r.uses for r in stage.results):
        return False
    ops = list(stage.walk())
    if any(isinstance(op, LOOPS) and op.words.data.run == "threads" for op in ops):
        return False
    return any(isinstance(op, k.StoreOp | k.TransposeOp) for op in ops)


def _outer_local(func: k.FuncOp, loop: Loop) -> str | None:
    """The name of a local array of the whole kernel that the loop reads or writes."""
    outer = {op.result for op in func.body.block.ops if isinstance(op, k.LocalOp)}
    for inner in loop.walk() if outer else ():
        for value in inner.operands:
            if value in outer:
                return value.name_hint or "local"
    return None


def _at_first(e: Expr) -> Expr:
    """An expression at the first iteration of all loops: of a tile, the full extent."""
    return e.subs({a: 0 for a in e.vars("d")})


def _parallel_chain(loop: Loop) -> list[Loop]:
    """Perfectly nested independent loops from the top; a top-level reduction counts."""
    chain: list[Loop] = []
    current: Loop | None = loop
    while isinstance(current, k.ParallelOp):
        chain.append(current)
        ops = [op for op in current.body.block.ops if isinstance(op, LOOPS)]
        current = ops[0] if len(ops) == 1 and len(list(current.body.block.ops)) == 1 else None
    if not chain and isinstance(loop, k.ReduceOp):
        chain.append(loop)
    return chain
