"""kernel-jam: reductions side by side that read the same data share one walk.

Before, four rows times a matrix:
    kernel.parallel d0 : 2048 {
      kernel.parallel d1 : 4 {
        %s = kernel.reduce d2 : 2048 [add] -> f32 {
          .. kernel.load %w[2048 * d0 + d2] .. kernel.load %x[2048 * d1 + d2] .. }
        kernel.store %s, %o[d0 + 2048 * d1] } }

After:
    kernel.parallel d0 : 2048 {
      %s0, %s1, %s2, %s3 = kernel.reduce d2 : 2048 [add, add, add, add] -> f32, f32, f32, f32 {
        %w = kernel.load %w[2048 * d0 + d2]
        .. kernel.load %x[d2] .. kernel.load %x[d2 + 2048] .. }
      kernel.store %s0, %o[d0]   kernel.store %s1, %o[d0 + 2048] .. }

Each element of the matrix goes into four sums while it is in a register. Only where the loop around
is short, and where something in the reduction does not depend on it.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.verify import REDUCE_KINDS, op_exprs, symbol_ranges
from minductor.passes.base import MiniPass
from minductor.passes.kernel._copy import Copies, var_of
from minductor.passes.kernel._tree import LOOPS, is_leaf, ops_of, ranges_around


@dataclass(frozen=True)
class KernelJamPass(MiniPass):
    """Join the reductions of short loops in C++ kernels.

    jam: iterations that are joined at most; below 2 leaves all as it is.
    """

    name = "kernel-jam"
    needs = frozenset({"kernel"})

    jam: int = 8

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Look at the loop around every reduction."""
        symbols = symbol_ranges(op)
        for _, reduce in ops_of(op, "cpp", k.ReduceOp):
            loop = reduce.parent_op()
            if isinstance(loop, k.ParallelOp) and self._fits(loop, reduce):
                _join(loop, reduce, ranges_around(loop, symbols))

    def _fits(self, loop: k.ParallelOp, reduce: k.ReduceOp) -> bool:
        count = loop.extent.data.as_int
        if count is None or not 2 <= count <= self.jam or not isinstance(loop.parent_op(), LOOPS):
            return False
        if not is_leaf(reduce) or any(REDUCE_KINDS[kind] != (1, 1) for kind in reduce.kind_names):
            return False
        others = [op for op in loop.body.block.ops if op is not reduce]
        if any(op.regions or isinstance(op, k.LocalOp | k.TransposeOp) for op in others):
            return False
        if any(isinstance(op, k.StoreOp) or op.regions for op in reduce.body.block.ops):
            return False
        own = var_of(reduce)
        loads = [op for op in reduce.body.block.ops if isinstance(op, k.LoadOp)]
        walks = [op for op in loads if own in op.index.data[0].vars("d")]
        same = _independent(loop, reduce)
        return any(op in same for op in walks) and any(op not in same for op in walks)


def _independent(loop: k.ParallelOp, reduce: k.ReduceOp) -> set[Operation]:
    """Ops of the reduction that are alike in all iterations of the loop around."""
    atom: Atom = var_of(loop)
    out: set[Operation] = set()
    for op in reduce.body.block.ops:
        owners = [v.owner for v in op.operands]
        inner = [o for o in owners if isinstance(o, Operation) and _inside(o, loop)]
        if all(o in out for o in inner) and not any(atom in e.vars("d") for e in op_exprs(op)):
            out.add(op)
    return out


def _inside(op: Operation, loop: Operation) -> bool:
    parent = op.parent_op()
    return parent is not None and (parent is loop or _inside(parent, loop))


def _join(loop: k.ParallelOp, reduce: k.ReduceOp, ranges: Ranges) -> None:
    """Put one reduction with the sums of all iterations in the place of a loop."""
    count, atom = loop.extent.data.as_int, var_of(loop)
    assert count is not None
    same = _independent(loop, reduce)
    ops = list(loop.body.block.ops)
    at = ops.index(reduce)
    block, body = Block(), Block()
    base = Copies(block, ranges, {}, {}, ())
    rounds = [base.within(block, (), {atom: ex.const(i)}) for i in range(count)]
    for one in rounds:
        for op in ops[:at]:
            one.copy(op)
    span = [(reduce.var.data, reduce.extent.data)]
    shared = base.within(body, span)
    *work, last = reduce.body.block.ops
    for op in work:
        if op in same:
            shared.copy(op)
    given: list[SSAValue] = []
    for one in rounds:
        inner = one.within(body, span)
        inner.made.update(shared.made)
        for op in work:
            if op not in same:
                inner.copy(op)
        given += [inner.value(v) for v in last.operands]
    body.add_op(k.YieldOp.of(*given))
    types = [r.type for r in reduce.results] * count
    new = k.ReduceOp.of(
        reduce.var.data, reduce.extent.data, list(reduce.kind_names) * count, types, body
    )
    block.add_op(new)
    width = len(reduce.results)
    for i, one in enumerate(rounds):
        one.made.update(zip(reduce.results, new.results[i * width : (i + 1) * width], strict=True))
        for op in ops[at + 1 :]:
            one.copy(op)
    for op in list(block.ops):
        op.detach()
        Rewriter.insert_op(op, InsertPoint.before(loop))
    loop.detach()
    loop.erase(safe_erase=False)
