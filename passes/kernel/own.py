"""kernel-own: threads share a scatter of rows by the rows that it writes.

Before (index_put, index_add, the gradient of an embedding):
    kernel.for d0 : 2048 {
      kernel.parallel d1 : 512 <lanes 16, unroll 4, tail none> {
        %i = kernel.load %index[d0] : i64   %j = scalar.bound %i to 2048 wrap
        %v = kernel.load %x[512 * d0 + d1] : f32
        kernel.store add %v, %o[512 * %j + d1] } }

After, threads=2:
    kernel.for d0 : 2048 <run threads> {
      %i = kernel.load %index[d0] : i64   %j = scalar.bound %i to 2048 wrap
      kernel.parallel d1 : 512 <lanes 16, unroll 4, tail none> {
        %v = kernel.load %x[512 * d0 + d1] : f32
        kernel.store add %v, %o[512 * %j + d1] {by = "owner"} } }

Every thread goes through all indices in their order and works on the rows in its own part of the
result: no atomics, and each element sums in the order of the text, whatever the threads. That pays
where a row is long against its index, and where indices spread; what two threads both have to do is
one load and one comparison a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.verify import op_exprs, symbol_ranges
from minductor.dialects.scalar.ops import BoundOp
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import (
    LOOPS,
    cost_expr,
    estimate,
    kernels_of,
    module_hints,
    ranges_around,
    set_words,
    total_cost,
)
from minductor.passes.kernel._walks import accesses_of
from minductor.passes.remarks import sink_of

ROW = 64
"""Cost of a row's work from which on a look at its index is small."""


@dataclass(frozen=True)
class KernelOwnPass(MiniPass):
    """Let threads own rows of what the scatters of C++ kernels write.

    own: false leaves all as it is; threads and min_work as for kernel-threads.
    """

    name = "kernel-own"
    needs = frozenset({"lanes", "threads"})

    own: bool = True
    threads: int = 2
    min_work: int = 131072

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Look at the ordered loops at the top of every C++ kernel."""
        if not self.own or self.threads < 2:
            return
        hints, symbols = module_hints(op), symbol_ranges(op)
        for kernel in kernels_of(op, "cpp"):
            for loop in kernel.body.block.ops:
                if not isinstance(loop, k.ForOp) or not any(map(_scatters, loop.walk())):
                    continue
                why = self._refusal(loop, hints, symbols)
                if why:
                    sink_of(ctx).refused(self.name, kernel.sym_name.data, why)
                else:
                    self._share(kernel, loop, hints)

    def _refusal(self, loop: k.ForOp, hints: Mapping[Atom, int], symbols: Ranges) -> str:
        """Why a scatter stays with one thread."""
        if any(isinstance(op, k.LocalOp | k.BarrierOp) for op in loop.walk()):
            return "its rows have memory of their own"
        stores = [op for op in accesses_of(loop) if isinstance(op, k.StoreOp)]
        stored = {op.buffer for op in stores}
        if any(isinstance(op, k.LoadOp) and op.buffer in stored for op in accesses_of(loop)):
            return "it reads what it writes"
        for op in stores:
            if isinstance(op.buffer.owner, Operation):
                return "it gathers in an array of its own"
            if op.by is not None or not _by_rows(op, symbols):
                return "its stores do not lie in rows that the data name"
        if total_cost(loop.body.block, hints) < ROW:
            return "its rows are short"
        work = loop.extent.data * cost_expr(loop.body.block, hints)
        if estimate(work, hints) < self.min_work:
            return f"work {estimate(work, hints)} does not pay"
        return ""

    def _share(self, kernel: k.FuncOp, loop: k.ForOp, hints: Mapping[Atom, int]) -> None:
        _hoist(loop)
        work = loop.extent.data * cost_expr(loop.body.block, hints)
        set_words(loop, run="threads", when=None if work.as_int else work - self.min_work)
        for op in accesses_of(loop):
            if isinstance(op, k.StoreOp):
                op.by = StringAttr("owner")
        kernel.config = kernel.config.with_(threads=self.threads)


def _scatters(op: Operation) -> bool:
    return isinstance(op, k.StoreOp) and bool(op.index_operands)


def _by_rows(op: k.StoreOp, symbols: Ranges) -> bool:
    """The address is a row's number, which is data, times its length, and a place in that row."""
    e = op.index.data[0]
    data = e.vars("t")
    if len(data) != 1 or not e.is_linear_in(data[0]):
        return False
    length = e.coeff(data[0]).as_int
    low, high = ranges_around(op, symbols).interval(e - e.coeff(data[0]) * Expr.of_atom(data[0]))
    return length is not None and low is not None and high is not None and 0 <= low <= high < length


def _hoist(loop: k.ForOp) -> None:
    """What a row's inner loops compute of its index stands before them."""
    for inner in [op for op in loop.body.block.ops if isinstance(op, k.ParallelOp)]:
        extent = inner.extent.data.as_int
        if not extent:
            continue
        written = {op.buffer for op in accesses_of(loop) if isinstance(op, k.StoreOp)}
        for op in list(inner.body.block.ops):
            if _invariant(op, inner, written):
                op.detach()
                Rewriter.insert_op(op, InsertPoint.before(inner))


def _invariant(op: Operation, inner: k.ParallelOp, written: set[SSAValue]) -> bool:
    if isinstance(op, LOOPS) or op.regions or not op.results:
        return False
    if isinstance(op, k.LoadOp):
        if op.buffer in written or op.masked is not None:
            return False
    elif not (is_side_effect_free(op) or isinstance(op, BoundOp)):
        return False
    own: Block = inner.body.block
    outside = all(
        not isinstance(v.owner, Operation) or v.owner.parent is not own for v in op.operands
    )
    atom = ex.dim_atom(inner.var.data)
    return outside and not any(atom in e.vars("d") for e in op_exprs(op))
