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

Only for sibling loops of one extent that fits the registers of a program; longer rows stay looped,
and so do columns, whose elements lie apart. A row whose length is known only at run time gets both
forms, and the launch chooses:

    kernel.launch @triton_per_k(%x)[s0, s1] when (-s1 + 1025) else @triton_red_k
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Block, Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.attrs import ExprAttr
from minductor.dialects.kernel import ops as k
from minductor.dialects.kernel.host import LaunchOp
from minductor.dialects.scalar.ops import BoundOp
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import (
    LOOPS,
    Loop,
    child_loops,
    estimate,
    is_leaf,
    is_pure,
    kernels_of,
    module_hints,
    set_words,
)
from minductor.passes.kernel._walks import accesses_of, across, item_of
from minductor.passes.kernel.blocks import power_of_two
from minductor.passes.remarks import sink_of

RESULTS = {"argmin": (2, 2), "argmax": (2, 2), "welford": (1, 3), "max_sumexp": (1, 2)}
"""Reduction kind -> (operands, results); (1, 1) for the others."""


@dataclass(frozen=True)
class KernelPersistPass(MiniPass):
    """Merge the row stages of Triton kernels into tiles.

    max_row: longest row, in elements, that one program holds when it is read once; max_values: the
    same when stages would read it again, times the loads along it. max_column: as max_row where the
    elements of a row lie apart. max_half: as max_row where reductions alone read the row, of two
    bytes an element: held whole, more lanes are dead and warps wait than a second reading costs.
    open_row: what a program holds at least when the
    length of a row is open; more if the row is longer at the hints.
    """

    name = "kernel-persist"
    needs = frozenset({"kernel"})

    max_row: int = 4096
    max_values: int = 32768
    max_column: int = 128
    max_half: int = 8192
    open_row: int = 1024

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Try every Triton kernel that has a reduction."""
        hints = module_hints(op)
        for func in list(kernels_of(op, "triton")):
            block = row_block(func.body.block)
            stages = list(child_loops(block))
            if not any(isinstance(s, k.ReduceOp) for s in stages):
                continue
            reason = self._refusal(stages, block.parent_op())
            if reason is not None:
                sink_of(ctx).refused(self.name, func.sym_name.data, reason)
                continue
            extent = stages[0].extent.data
            if extent.as_int is not None:
                merge(block, stages)
                _rename(op, func)
            else:
                room = power_of_two(max(self.open_row, estimate(extent, hints)))
                _variant(op, func, min(room, self.max_row))

    def _refusal(self, stages: list[Loop], row: Operation | None) -> str | None:
        extents = {s.extent.data for s in stages}
        if len(extents) != 1:
            return f"rows of several lengths: {', '.join(sorted(map(str, extents)))}"
        length = extents.pop()
        if length.vars("dtu"):
            return "the length of a row varies inside the kernel, or data decides it"
        limit = self._limit(stages)
        if (length.as_int or 0) > limit:
            return f"a row of {length} elements exceeds {limit}"
        if (length.as_int or 0) > self.max_half and _reduces_halves(stages):
            return f"a row of {length} elements of two bytes that reductions alone read"
        if not all(isinstance(s, k.ReduceOp | k.ParallelOp) and is_leaf(s) for s in stages):
            return "a stage has loops inside or runs in order"
        if len({s.var.data for s in stages}) != 1:
            return "stages with different variables"
        if (length.as_int or 0) > self.max_column and isinstance(row, k.ParallelOp):
            if across(stages, row):
                return "elements of a row lie apart: blocks of rows are read together"
        return None

    def _limit(self, stages: list[Loop]) -> int:
        """Elements of a row that a program holds."""
        if len(stages) == 1:
            return self.max_row
        atoms = {ex.dim_atom(s.var.data) for s in stages}
        loads = {
            (op.buffer, op.index.data[0])
            for s in stages
            for op in accesses_of(s)
            if isinstance(op, k.LoadOp) and atoms & set(op.index.data[0].vars("d"))
        }
        return max(self.max_row, self.max_values // (1 << (len(loads) - 1).bit_length()))


def _reduces_halves(stages: list[Loop]) -> bool:
    """All stages are reductions, and what they load along the row has two bytes an element."""
    atoms = {ex.dim_atom(s.var.data) for s in stages}
    moving = [
        item_of(op)
        for s in stages
        for op in accesses_of(s)
        if atoms & set(op.index.data[0].vars("d"))
    ]
    return all(isinstance(s, k.ReduceOp) for s in stages) and max(moving, default=4) <= 2


def _rename(module: ModuleOp, func: k.FuncOp) -> None:
    """`triton_red_..` (looped) becomes `triton_per_..` (persistent), in its launches too."""
    old = func.sym_name.data
    new = old.replace("triton_red_", "triton_per_", 1)
    func.sym_name = StringAttr(new)
    for op in module.walk():
        if isinstance(op, LaunchOp) and op.callee.string_value() == old:
            op.callee = SymbolRefAttr(new)


def _variant(module: ModuleOp, looped: k.FuncOp, room: int) -> None:
    """A persistent twin for rows of at most `room` elements, which launches take where it fits."""
    func = looped.clone()
    name = looped.sym_name.data
    func.sym_name = StringAttr(name.replace("triton_red_", "triton_per_", 1))
    if func.sym_name.data == name:
        func.sym_name = StringAttr(f"{name}.row")
    module.body.block.insert_op_before(func, looped)
    block = row_block(func.body.block)
    stages = list(child_loops(block))
    extent = stages[0].extent.data
    merge(block, stages)
    set_words(next(child_loops(block)), lanes=room, tail="mask")
    for op in module.walk():
        if isinstance(op, LaunchOp) and op.callee.string_value() == name:
            own = zip(looped.symbols.data, op.symbols.data, strict=True)
            length = extent.subs({a: e for s, e in own if (a := s.as_atom) is not None})
            op.when, op.orelse = ExprAttr(room + 1 - length), op.callee
            op.callee = SymbolRefAttr(func.sym_name.data)


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
    tile = _Tile({op.buffer for op in block.walk() if isinstance(op, k.StoreOp)})
    for op in list(block.ops):
        if not isinstance(op, LOOPS):
            tile.add(op)
            continue
        for inner in list(op.regions[0].block.ops):
            if not isinstance(inner, k.YieldOp):
                tile.add(inner)
        if isinstance(op, k.ReduceOp):
            tile.fold(op)
        op.detach()
        op.erase(safe_erase=False)
    for op in reversed(list(block.ops)):  # what an equal one stands for
        op.detach()
        op.erase()
    block.add_op(k.TileOp.make(stages[0].var.data, stages[0].extent.data, tile.body))


class _Tile:
    """The body of a tile being filled. Of equal ops the first is moved there, the others stay."""

    def __init__(self, written: set[SSAValue]) -> None:
        self.body = Block()
        self._written = written
        self._made: dict[tuple[object, ...], Operation] = {}
        self._values: dict[SSAValue, SSAValue] = {}

    def add(self, op: Operation) -> None:
        """Moves an op, unless an equal one is there."""
        key = None
        if not op.regions and self._repeats(op):
            operands = [self._values.get(v, v) for v in op.operands]
            types = [r.type for r in op.results]
            key = (op.name, *map(id, operands), *op.properties.items(), *types)
            found = self._made.get(key)
            if found is not None:
                for old, new in zip(op.results, found.results, strict=True):
                    self._values[old] = new
                    new.name_hint = new.name_hint or old.name_hint
                return
            self._made[key] = op
        for inner in op.walk():
            for i, value in enumerate(inner.operands):
                if value in self._values:
                    inner.operands[i] = self._values[value]
        op.detach()
        self.body.add_op(op)

    def _repeats(self, op: Operation) -> bool:
        """The op gives the same when it is run again."""
        if isinstance(op, k.LoadOp):
            return op.buffer not in self._written
        return is_pure(op) or isinstance(op, BoundOp)

    def fold(self, op: k.ReduceOp) -> None:
        """The folds of a reduction whose body is in the tile."""
        last = op.body.block.last_op
        assert last is not None
        values = [self._values.get(v, v) for v in last.operands]
        results = list(op.results)
        for kind in op.kind_names:
            takes, gives = RESULTS.get(kind, (1, 1))
            args, values = values[:takes], values[takes:]
            olds, results = results[:gives], results[gives:]
            fold = k.FoldOp.make(kind, args, op.var.data, [r.type for r in olds])
            fold.location = op.location
            self.body.add_op(fold)
            for old, new in zip(olds, fold.results, strict=True):
                new.name_hint = old.name_hint
                old.replace_all_uses_with(new)
