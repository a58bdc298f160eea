"""kernel-persist: stages over one row become a tile that is read once and stays in registers.

Before, target triton:
    kernel.parallel d0 : 64 {
      %m = kernel.reduce d1 : 1024 [max] -> f32 { %a = kernel.load %x[1024 * d0 + d1] .. }
      kernel.parallel d1 : 1024 { %a = kernel.load %x[1024 * d0 + d1] .. } }

After:
    kernel.parallel d0 : 64 {
      kernel.tile d1 : 1024 {
        %a = kernel.load %x[1024 * d0 + d1] : f32
        %m = kernel.fold max %a over d1 : f32 -> f32
        .. } }

Only for sibling loops of one static extent that fits (`max_row` elements); longer rows stay looped.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from minductor.dialects.kernel import ops as k
from minductor.dialects.kernel.host import LaunchOp
from minductor.dialects.scalar.ops import BoundOp
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import LOOPS, Loop, child_loops, is_leaf, kernels_of
from minductor.passes.remarks import sink_of

RESULTS = {"argmin": (2, 2), "argmax": (2, 2), "welford": (1, 3), "max_sumexp": (1, 2)}
"""Reduction kind -> (operands, results); (1, 1) for the others."""


@dataclass(frozen=True)
class KernelPersistPass(MiniPass):
    """Merge the row stages of Triton kernels into tiles.

    max_row: longest row, in elements, that one program holds.
    """

    name = "kernel-persist"
    needs = frozenset({"kernel"})

    max_row: int = 4096

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Try every Triton kernel that has a reduction."""
        for func in kernels_of(op, "triton"):
            block = row_block(func.body.block)
            stages = list(child_loops(block))
            if not any(isinstance(s, k.ReduceOp) for s in stages):
                continue
            reason = self._refusal(stages)
            if reason is not None:
                sink_of(ctx).refused(self.name, func.sym_name.data, reason)
                continue
            merge(block, stages)
            _rename(op, func)

    def _refusal(self, stages: list[Loop]) -> str | None:
        extents = {s.extent.data for s in stages}
        if len(extents) != 1:
            return f"rows of several lengths: {', '.join(sorted(map(str, extents)))}"
        extent = extents.pop().as_int
        if extent is None:
            return "the length of a row is known only at run time"
        if extent > self.max_row:
            return f"a row of {extent} elements exceeds {self.max_row}"
        if not all(isinstance(s, k.ReduceOp | k.ParallelOp) and is_leaf(s) for s in stages):
            return "a stage has loops inside or runs in order"
        if len({s.var.data for s in stages}) != 1:
            return "stages with different variables"
        return None


def _rename(module: ModuleOp, func: k.FuncOp) -> None:
    """`triton_red_..` (looped) becomes `triton_per_..` (persistent), in its launches too."""
    old = func.sym_name.data
    new = old.replace("triton_red_", "triton_per_", 1)
    func.sym_name = StringAttr(new)
    for op in module.walk():
        if isinstance(op, LaunchOp) and op.callee.string_value() == old:
            op.callee = SymbolRefAttr(new)


def row_block(block: Block) -> Block:
    """The block inside the perfectly nested parallel loops from the top."""
    while True:
        ops = list(block.ops)
        if len(ops) != 1 or not isinstance(ops[0], k.ParallelOp):
            return block
        inner = ops[0].body.block
        if not any(isinstance(op, LOOPS) for op in inner.ops):
            return block
        block = inner


def merge(block: Block, stages: list[Loop]) -> None:
    """Put everything in a block into one tile over the stages' variable."""
    body = Block()
    made: dict[tuple[object, ...], Operation] = {}
    written = {op.buffer for op in block.walk() if isinstance(op, k.StoreOp)}
    for op in list(block.ops):
        op.detach()
        if not isinstance(op, LOOPS):
            _append(body, op, made, written)
            continue
        for inner in list(op.regions[0].block.ops):
            if not isinstance(inner, k.YieldOp):
                inner.detach()
                _append(body, inner, made, written)
        if isinstance(op, k.ReduceOp):
            _folds(op, body)
        op.erase(safe_erase=False)
    tile = k.TileOp.make(stages[0].var.data, stages[0].extent.data, body)
    block.add_op(tile)


def _append(
    body: Block,
    op: Operation,
    made: dict[tuple[object, ...], Operation],
    written: set[SSAValue],
) -> None:
    """Add an op, or use the equal one that is there."""
    pure = is_side_effect_free(op) or isinstance(op, BoundOp)
    pure |= isinstance(op, k.LoadOp) and op.buffer not in written
    if op.regions or not pure:
        body.add_op(op)
        return
    key = (op.name, tuple(map(id, op.operands)), tuple(op.properties.items()))
    key += tuple(r.type for r in op.results)
    found = made.get(key)
    if found is None:
        made[key] = op
        body.add_op(op)
        return
    for old, new in zip(op.results, found.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()


def _folds(op: k.ReduceOp, body: Block) -> None:
    last = op.body.block.last_op
    assert last is not None
    values = list(last.operands)
    results = list(op.results)
    for kind in op.kind_names:
        takes, gives = RESULTS.get(kind, (1, 1))
        args, values = values[:takes], values[takes:]
        olds, results = results[:gives], results[gives:]
        fold = k.FoldOp.make(kind, args, op.var.data, [r.type for r in olds])
        fold.location = op.location
        body.add_op(fold)
        for old, new in zip(olds, fold.results, strict=True):
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
