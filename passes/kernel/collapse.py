"""kernel-collapse: the loops of a pointwise kernel become one where its loads lie apart.

Before, target triton, a pooling:
    kernel.parallel d0 : 8192 { kernel.parallel d1 : 28 { kernel.parallel d2 : 28 {
      %a = kernel.load %x[3136 * d0 + 112 * d1 + 2 * d2]
      ..  kernel.store %m, %o[784 * d0 + 28 * d1 + d2] } } }

After:
    kernel.parallel d0 : 6422528 {
      %a = kernel.load %x[.. 112 * ((d0 floordiv 28) mod 28) + 2 * (d0 mod 28)]
      ..  kernel.store %m, %o[d0] }

A block of powers of two over short loops has dead lanes: a quarter of them at 28 by 28. One loop
has none, and costs divisions by constants, which pay where several loads share them. Loads that
walk memory in order would lose their vectors, so only kernels qualify that have two loads or more
that do not, or none that does and few (`shared`) that neighbours share, as an upsampling has; and
that store in order along all loops.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from minductor.dialects import expr as ex
from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.verify import symbol_ranges
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import LOOPS, kernels_of, nest_of
from minductor.passes.kernel._walks import accesses_of, apart, repeated
from minductor.passes.kernel.flatten import joined, take_body
from minductor.passes.remarks import sink_of


@dataclass(frozen=True)
class KernelCollapsePass(MiniPass):
    """Make one loop of the nests of pointwise Triton kernels whose loads lie apart.

    collapse: false leaves all as it is; most: an innermost loop of more iterations has few dead
    lanes and stays; shared: loads that neighbours share, all with divisions of their own.
    """

    name = "kernel-collapse"
    needs = frozenset({"kernel"})

    collapse: bool = True
    most: int = 512
    shared: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the perfect nests of every Triton kernel."""
        if not self.collapse:
            return
        symbols = symbol_ranges(op)
        for func in kernels_of(op, "triton"):
            ops = list(func.body.block.ops)
            if len(ops) != 1 or not isinstance(ops[0], k.ParallelOp):
                continue
            chain = nest_of(ops[0])
            why = self._refusal(chain)
            if why is None:
                why = _gaps(chain, symbols)
                if why is None:
                    _collapse(chain, symbols)
            if why:
                sink_of(ctx).refused(self.name, func.sym_name.data, why)

    def _refusal(self, chain: list[k.ParallelOp]) -> str | None:
        """Why a nest stays, "" for one that this is not about; None if it need not."""
        last = chain[-1]
        if len(chain) < 2 or any(isinstance(op, LOOPS) for op in last.body.block.ops):
            return ""
        if apart(last) < 2 and not self._shared(last):
            return "fewer than two loads lie apart"
        lengths = [loop.extent.data.as_int for loop in chain]
        if any(n is None for n in lengths):
            return "a length is known only at run time"
        if (lengths[-1] or 0) > self.most:
            return f"an innermost loop of {lengths[-1]} has few dead lanes"
        return None

    def _shared(self, last: k.ParallelOp) -> bool:
        """Neighbours share all loads that move along a loop, and these are few."""
        atom = ex.dim_atom(last.var.data)
        moving = {
            (op.buffer, op.index.data[0])
            for op in accesses_of(last)
            if isinstance(op, k.LoadOp) and atom in op.index.data[0].vars("d")
        }
        return 0 < repeated(last) == len(moving) <= self.shared


def _gaps(chain: list[k.ParallelOp], symbols: Ranges) -> str | None:
    """A store that would need the digits; None if all are in order along all loops."""
    env, total = _digits(chain)
    flat = ex.dim(chain[0].var.data)
    ranges = symbols.with_extents([(chain[0].var.data, total)])
    for op in accesses_of(chain[-1]):
        if isinstance(op, k.StoreOp):
            off = joined(ranges.simplify(op.index.data[0].subs(env))) - flat
            if op.combine is not None or off.as_int is None:
                return "a store is not in order along all loops"
    return None


def _digits(loops: list[k.ParallelOp]) -> tuple[dict[Atom, Expr], Expr]:
    """Each loop's variable as a digit of the first one's, and how many there are together."""
    flat, step = ex.dim(loops[0].var.data), ex.ONE
    env: dict[Atom, Expr] = {}
    for loop in reversed(loops):
        digit = flat if step is ex.ONE else ex.floordiv(flat, step)
        whole = loop is loops[0]
        env[ex.dim_atom(loop.var.data)] = digit if whole else ex.mod(digit, loop.extent.data)
        step = step * loop.extent.data
    return env, step


def _collapse(loops: list[k.ParallelOp], symbols: Ranges) -> None:
    env, total = _digits(loops)
    outer = loops[0]
    take_body(outer, loops[-1], total)
    ranges = symbols.with_extents([(outer.var.data, total)])
    for op in outer.body.block.walk():
        _rewrite(op, env, ranges)


def _rewrite(op: Operation, env: dict[Atom, Expr], ranges: Ranges) -> None:
    def moved(e: Expr) -> Expr:
        return joined(ranges.simplify(e.subs(env)))

    for name, attr in list(op.properties.items()):
        if isinstance(attr, ExprAttr):
            op.properties[name] = ExprAttr(moved(attr.data))
        elif isinstance(attr, IndexAttr):
            op.properties[name] = IndexAttr(tuple(moved(e) for e in attr.data))
