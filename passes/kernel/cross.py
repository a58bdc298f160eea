"""kernel-cross: sums of columns are gathered while the rows of the same matrix are worked on.

Before, target triton, two launches that both read %x (a norm's backward, a bias gradient):
    kernel.func @rows(..)    { kernel.parallel d0 : 32768 { .. kernel.parallel d1 : 768 {
                                 .. kernel.load %x[768 * d0 + d1] .. kernel.store .. } } }
    kernel.func @columns(..) { kernel.parallel d0 : 768 {
                                 %t = kernel.reduce d1 : 32768 [add] { .. %x[768 * d1 + d0] .. }
                                 kernel.store %t, %o[d0] } }

After: programs take 64 rows each, all columns at once, and leave partial sums:
    kernel.func @columns_parts(..) {
      kernel.parallel d2 : 512 {
        kernel.tile d0 : 768 {
          %t = kernel.reduce d1 : 64 [add] -> f32 {
            .. the row: loads, folds over d0, stores ..   kernel.yield .. }
          kernel.store %t, %ws[768 * d2 + d0] } } }
    kernel.func @columns(..) { .. sums %ws .. }

The matrix is read once, and what the rows make is not read at all: its values are at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from minductor.dialects import expr as ex
from minductor.dialects.attrs import Bytes, BytesAttr, OriginsAttr
from minductor.dialects.dtypes import dtype_of_scalar
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import host as h
from minductor.dialects.kernel import ops as k
from minductor.dialects.kernel.attrs import AccessAttr
from minductor.dialects.types import BufType
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import Loop, child_loops, is_leaf, kernels_of, module_hints
from minductor.passes.kernel._walks import accesses_of
from minductor.passes.kernel.persist import merge, row_block
from minductor.passes.kernel.split import Splitter, prune, refusal, substitute
from minductor.passes.remarks import sink_of

_SUMS = frozenset(("add", "min", "max", "any", "all", "mul"))


@dataclass(frozen=True)
class KernelCrossPass(MiniPass):
    """Join Triton kernels over the rows and over the columns of one matrix.

    cross: false leaves them apart; max_columns: longest row of a program; parts: programs, at most;
    min_rows: that one of them takes at least; workspace: bytes of all partial sums, at most.
    """

    name = "kernel-cross"
    needs = frozenset({"kernel"})

    cross: bool = True
    max_columns: int = 2048
    parts: int = 512
    min_rows: int = 16
    workspace: int = 4 << 20

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Look at each kernel over columns and the launches around it."""
        if not self.cross:
            return
        hints = module_hints(op)
        for fn in [f for f in op.body.block.ops if isinstance(f, func.FuncOp)]:
            for last in list(kernels_of(op, "triton")):
                shape = columns_of(last)
                if shape is None or last.parent is None:
                    continue
                for first in list(kernels_of(op, "triton")):
                    pair = _launches(fn, first, last)
                    if first is last or pair is None or not rows_fit(first, *shape):
                        continue
                    name = f"{first.sym_name.data}, {last.sym_name.data}"
                    reason = self._refusal(first, last, shape, pair)
                    if reason is None:
                        _Joiner(op, first, last, pair, self._parts(last, shape), hints).run()
                        sink_of(ctx).accepted(self.name, name, "the rows are read once")
                        break
                    sink_of(ctx).refused(self.name, name, reason)

    def _parts(self, last: k.FuncOp, shape: tuple[int, int]) -> int:
        rows, columns = shape
        reduce = next(child_loops(row_block(last.body.block)))
        item = 8 if any(dtype_of_scalar(r.type).size > 4 for r in reduce.results) else 4
        parts = self.parts
        while parts > 1 and parts * columns * item * len(reduce.results) > self.workspace:
            parts //= 2
        while parts > 1 and (rows % parts or rows // parts < self.min_rows):
            parts //= 2
        return parts

    def _refusal(
        self,
        first: k.FuncOp,
        last: k.FuncOp,
        shape: tuple[int, int],
        pair: tuple[h.LaunchOp, h.LaunchOp],
    ) -> str | None:
        rows, columns = shape
        if columns > self.max_columns or columns < 32:
            return f"rows of {columns} elements: between 32 and {self.max_columns} fit a program"
        if 8 * self._parts(last, shape) < min(self.parts, rows // self.min_rows):
            return f"{rows} rows do not go into equal parts"
        one, two = pair
        shared = set(one.args) & set(two.args)
        if not any(_large(v, rows * columns) for v in shared):
            return "they share no matrix"
        between: Operation | None = one.next_op
        while between is not None and between is not two:
            touched = set(between.operands) & (set(one.args) | set(two.args))
            if touched or not isinstance(between, h.AllocOp | h.LaunchOp):
                return f"`{between.name}` stands between them"
            between = between.next_op
        return _conflict(first, last, pair)


def columns_of(kernel: k.FuncOp) -> tuple[int, int] | None:
    """(rows, columns) of a kernel that reduces the columns of a matrix, and nothing else."""
    block = row_block(kernel.body.block)
    row = block.parent_op()
    loops = list(child_loops(block))
    if not isinstance(row, k.ParallelOp) or row.parent is not kernel.body.block:
        return None
    if len(loops) != 1 or not isinstance(loops[0], k.ReduceOp) or refusal(loops) is not None:
        return None
    reduce = loops[0]
    rows, columns = reduce.extent.data.as_int, row.extent.data.as_int
    if rows is None or columns is None or not _SUMS.issuperset(reduce.kind_names):
        return None
    return (rows, columns) if set(kernel.access.data) <= {"read", "write"} else None


def rows_fit(kernel: k.FuncOp, rows: int, columns: int) -> bool:
    """A kernel works on that many rows of that many columns, each by itself."""
    if not set(kernel.access.data) <= {"read", "write"} or kernel.symbols.data:
        return False
    chain, stages = _loops(kernel)
    count = 1
    for loop in chain:
        count *= loop.extent.data.as_int or 0
    if not stages:
        return count == rows * columns
    alike = all(s.extent.data.as_int == columns and is_leaf(s) for s in stages)
    kinds = all(isinstance(s, k.ReduceOp | k.ParallelOp) for s in stages)
    one = len({s.var.data for s in stages}) == 1
    return count == rows and alike and kinds and one


def _loops(kernel: k.FuncOp) -> tuple[list[k.ParallelOp], list[Loop]]:
    """Parallel loops from the top, and the stages in the innermost that has any."""
    chain: list[k.ParallelOp] = []
    block, target = kernel.body.block, row_block(kernel.body.block)
    while block is not target:
        op = cast(k.ParallelOp, block.first_op)
        chain.append(op)
        block = op.body.block
    stages = list(child_loops(block))
    if len(stages) == 1 and isinstance(stages[0], k.ParallelOp) and block.first_op is stages[0]:
        if stages[0].next_op is None and is_leaf(stages[0]):
            return [*chain, stages[0]], []
    return chain, stages


def _launches(
    fn: func.FuncOp, first: k.FuncOp, last: k.FuncOp
) -> tuple[h.LaunchOp, h.LaunchOp] | None:
    """The only launches of two kernels, in order."""
    found: list[h.LaunchOp] = []
    names = (first.sym_name.data, last.sym_name.data)
    for op in fn.body.block.ops:
        if isinstance(op, h.LaunchOp) and op.callee.string_value() in names:
            found.append(op)
    callees = [op.callee.string_value() for op in found]
    if sorted(callees) != sorted(names) or any(op.when is not None for op in found):
        return None
    return found[0], found[1]


def _large(value: SSAValue, elements: int) -> bool:
    size = getattr(value.type, "storage_elements", None)
    return isinstance(size, Expr) and (size.as_int or 0) >= elements


def _by_kernel(
    pair: tuple[h.LaunchOp, h.LaunchOp], kernel: k.FuncOp
) -> dict[BlockArgument, SSAValue]:
    launch = next(p for p in pair if p.callee.string_value() == kernel.sym_name.data)
    return dict(zip(kernel.body.block.args, launch.args, strict=True))


def _written(kernel: k.FuncOp, buffers: dict[BlockArgument, SSAValue]) -> set[SSAValue]:
    pairs = zip(kernel.body.block.args, kernel.access.data, strict=True)
    return {buffers[arg] for arg, access in pairs if access != "read"}


def _conflict(first: k.FuncOp, last: k.FuncOp, pair: tuple[h.LaunchOp, h.LaunchOp]) -> str | None:
    """What one makes and the other reads elsewhere than where it is made."""
    rows, columns = _by_kernel(pair, first), _by_kernel(pair, last)
    if _written(last, columns) & set(rows.values()):
        return "the rows need the sums of the columns"
    made = _written(first, rows)
    for op in accesses_of(last):
        if isinstance(op, k.LoadOp) and columns[cast(BlockArgument, op.buffer)] in made:
            if op.mask is not None or pair[0].callee.string_value() != first.sym_name.data:
                return "the sums read what the rows make in another place"
            stored = _stored(first, rows, columns[cast(BlockArgument, op.buffer)])
            if stored is None or not _same_place(first, last, stored, op):
                return "the sums read what the rows make in another place"
    return None


def _reuse(kernel: k.FuncOp, reduce: k.ReduceOp) -> None:
    """What the rows load of a buffer that nothing writes, the sums do not load again."""
    access = dict(zip(kernel.body.block.args, kernel.access.data, strict=True))
    seen: dict[tuple[SSAValue, object], SSAValue] = {}
    for op in list(reduce.body.block.ops):
        if not isinstance(op, k.LoadOp) or op.mask is not None or op.index_operands:
            continue
        if access.get(cast(BlockArgument, op.buffer)) != "read":
            continue
        value = seen.setdefault((op.buffer, op.index), op.result)
        if value is not op.result:
            op.result.replace_all_uses_with(value)
            Rewriter.erase_op(op)


def _stored(
    kernel: k.FuncOp, buffers: dict[BlockArgument, SSAValue], value: SSAValue
) -> k.StoreOp | None:
    """The only store into a buffer, if it always happens."""
    found = [
        op
        for op in accesses_of(kernel)
        if isinstance(op, k.StoreOp) and buffers[cast(BlockArgument, op.buffer)] is value
    ]
    if len(found) != 1 or found[0].mask is not None or found[0].combine is not None:
        return None
    return found[0]


def _same_place(first: k.FuncOp, last: k.FuncOp, store: k.StoreOp, load: k.LoadOp) -> bool:
    """A row's store and a sum's load walk the matrix in the same order."""
    column = cast(k.ParallelOp, last.body.block.first_op)
    reduce = next(child_loops(column.body.block))
    extents = [(loop.var.data, loop.extent.data) for loop in (column, reduce)]
    ranges = Ranges().with_extents(extents)
    env = _place(first, ex.dim(reduce.var.data), ex.dim(column.var.data), extents[0][1])
    at = ranges.simplify(store.index.data[0].subs(env))
    return at is ranges.simplify(load.index.data[0]) and not load.index_operands


def _place(kernel: k.FuncOp, row: Expr, column: Expr, width: Expr) -> dict[ex.Atom, Expr]:
    """The variables of a row kernel by row and column of the matrix."""
    chain, stages = _loops(kernel)
    env: dict[ex.Atom, Expr] = {}
    rest = row
    if stages:
        env[ex.dim_atom(stages[0].var.data)] = column
    else:
        rest = row * width + column
    for loop in reversed(chain[1:]):
        env[ex.dim_atom(loop.var.data)] = ex.mod(rest, loop.extent.data)
        rest = ex.floordiv(rest, loop.extent.data)
    env[ex.dim_atom(chain[0].var.data)] = rest
    return env


class _Joiner:
    """Puts a kernel over rows into the parts of a kernel over columns."""

    def __init__(
        self,
        module: ModuleOp,
        first: k.FuncOp,
        last: k.FuncOp,
        pair: tuple[h.LaunchOp, h.LaunchOp],
        parts: int,
        hints: Mapping[Atom, int],
    ):
        self.hints = hints
        self.module, self.first, self.last, self.parts = module, first, last, parts
        self.rows = _by_kernel(pair, first)
        self.columns = _by_kernel(pair, last)
        self.launch = next(p for p in pair if p.callee.string_value() == first.sym_name.data)
        self.later = pair[1]
        self.fn = pair[0].parent_op()

    def run(self) -> None:
        """Rewrite both kernels and their launches."""
        reduce = cast(k.ReduceOp, next(child_loops(row_block(self.last.body.block))))
        parts, whole = Splitter(self.module, self.last, reduce, self.parts, self.hints).run()
        assert isinstance(self.fn, func.FuncOp)
        calls = [op for op in self.fn.body.block.ops if isinstance(op, h.LaunchOp)]
        name = parts.sym_name.data
        call = next(op for op in calls if op.callee.string_value() == name)
        end = next(op for op in calls if op.callee.string_value() == whole.sym_name.data)
        operands = self._merge(parts, list(call.args))
        self._account(parts, operands)
        merged = dict.fromkeys((*self.first.origins.data, *parts.origins.data))
        parts.origins = OriginsAttr(tuple(merged))
        new = h.LaunchOp.of(name, operands, [])
        new.location = call.location
        Rewriter.insert_op(new, InsertPoint.before(self._after(call)))
        if self.later is self.launch:
            end.detach()
            Rewriter.insert_op(end, InsertPoint.after(new))
        Rewriter.erase_op(call)
        Rewriter.erase_op(self.launch)
        self.first.detach()
        self.first.erase(safe_erase=False)

    def _account(self, parts: k.FuncOp, operands: list[SSAValue]) -> None:
        """The ledger of both: the rows', what only the sums read, and the partial sums."""
        rows, sums = self.first.bytes_, parts.bytes_
        if rows is None or sums is None:
            return
        alone, spaces = ex.ZERO, ex.ZERO
        for value, arg in zip(operands, parts.body.block.args, strict=True):
            type_ = arg.type
            assert isinstance(type_, BufType)
            if value in self.rows.values():
                continue
            size = type_.elements * type_.scalar_bytes
            if value in self.columns.values():
                alone = alone + size
            else:
                spaces = spaces + size
        (floor, unfused, planned), apart = rows.data, sums.data.unfused
        parts.bytes_ = BytesAttr(Bytes(floor + alone, unfused + apart, planned + alone + spaces))

    def _after(self, call: h.LaunchOp) -> Operation:
        """The later of the two launches: all operands are there."""
        return self.launch if self.later is self.launch else call

    def _merge(self, parts: k.FuncOp, operands: list[SSAValue]) -> list[SSAValue]:
        """The tile, its rows inside; operands of its launch."""
        outer = cast(k.ParallelOp, parts.body.block.first_op)
        column = cast(k.ParallelOp, outer.body.block.first_op)
        reduce = cast(k.ReduceOp, next(child_loops(column.body.block)))
        made = self._rows(parts, operands, outer, column, reduce)
        for load in [op for op in reduce.body.block.walk() if isinstance(op, k.LoadOp)]:
            value = made.get(operands[parts.body.block.args.index(load.buffer)])
            if value is not None:
                load.result.replace_all_uses_with(value)
                Rewriter.erase_op(load)
        _reuse(parts, reduce)
        body = column.body.block
        column.body.detach_block(body)
        tile = k.TileOp.make(column.var.data, column.extent.data, body)
        Rewriter.replace_op(column, tile)
        return [operands[i] for i in prune(parts)]

    def _rows(
        self,
        parts: k.FuncOp,
        operands: list[SSAValue],
        outer: k.ParallelOp,
        column: k.ParallelOp,
        reduce: k.ReduceOp,
    ) -> dict[SSAValue, SSAValue]:
        """Move the row's ops to the front of the reduction; what they store, by buffer."""
        twin = self.first.clone()
        chain, stages = _loops(twin)
        loops = [(op.var.data, op.extent.data) for op in (outer, column, reduce)]
        ranges = Ranges().with_extents(loops)
        row = reduce.extent.data * ex.dim(outer.var.data) + ex.dim(reduce.var.data)
        env = _place(twin, row, ex.dim(column.var.data), column.extent.data)
        block = chain[-1].body.block
        if stages:
            merge(block, stages)
            block = cast(k.TileOp, block.first_op).body.block
        self._arguments(parts, twin, operands)
        made: dict[SSAValue, SSAValue] = {}
        front = reduce.body.block.first_op
        assert front is not None
        for op in list(block.ops):
            op.detach()
            for inner in op.walk():
                substitute(inner, env, ranges)
                if isinstance(inner, k.FoldOp):
                    inner.over = type(inner.over)(column.var.data)
            reduce.body.block.insert_op_before(op, front)
            if isinstance(op, k.StoreOp):
                buffer = cast(BlockArgument, op.buffer)
                made[operands[parts.body.block.args.index(buffer)]] = op.value
        twin.erase(safe_erase=False)
        return made

    def _arguments(self, parts: k.FuncOp, twin: k.FuncOp, operands: list[SSAValue]) -> None:
        """The row kernel's buffers become arguments of the parts."""
        block, access = parts.body.block, list(parts.access.data)
        given = zip(self.first.body.block.args, twin.body.block.args, strict=True)
        for (old, arg), word in zip(list(given), twin.access.data, strict=True):
            value = self.rows[old]
            if value in operands:
                at = operands.index(value)
                access[at] = word if access[at] == "read" else access[at]
                arg.replace_all_uses_with(block.args[at])
                continue
            new = block.insert_arg(arg.type, len(block.args))
            new.name_hint = old.name_hint
            arg.replace_all_uses_with(new)
            operands.append(value)
            access.append(word)
        parts.access = AccessAttr(tuple(access))
