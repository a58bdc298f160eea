"""Row loops that gather column results in local arrays: dealt out to threads, sums cascaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from minductor.dialects import expr as ex
from minductor.dialects.dtypes import DTYPES
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import ops as k
from minductor.dialects.kernel.identity import identity
from minductor.dialects.types import BufType
from minductor.passes.kernel._copy import Copies, var_of
from minductor.passes.kernel._tree import LOOPS, estimate

ROWS = 64
"""Rows that one partial sum takes before it joins the next level."""

Workspace = Callable[[Attribute, Expr], SSAValue]


@dataclass(frozen=True)
class Gathered:
    """A local array that a row loop combines into: the array, the word, the element type."""

    local: k.LocalOp
    combine: str

    @property
    def buffer(self) -> BufType:
        """The array's type."""
        return self.local.result.type


def gathered(loop: k.ForOp, ranges: Ranges) -> list[Gathered] | str:
    """The arrays that a row loop gathers in, if nothing else keeps its rows apart; else why not."""
    found: dict[SSAValue, str] = {}
    written: set[SSAValue] = set()
    accesses: list[tuple[k.LoadOp | k.StoreOp, Ranges]] = []
    _collect(loop, ranges.with_extents([(loop.var.data, loop.extent.data)]), accesses)
    for op, _ in accesses:
        if not isinstance(op, k.StoreOp):
            continue
        owner = op.buffer.owner
        if not isinstance(owner, k.LocalOp) or _within(owner, loop):
            written.add(op.buffer)
        elif op.combine is None or found.setdefault(op.buffer, op.combine.data) != op.combine.data:
            return "its rows overwrite a local array"
    for op, inner in accesses:
        if isinstance(op, k.LoadOp) and op.buffer in found:
            return "its rows read what they gather"
        own = isinstance(op.buffer.owner, k.LocalOp)
        if op.buffer in written and not own and not _own_row(op, loop, inner):
            return "its rows write one element twice"
    arrays = [Gathered(_local(v), word) for v, word in found.items()]
    if any(not _starts_empty(g) for g in arrays):
        return "a local array starts with values of its own"
    return arrays


def _local(value: SSAValue) -> k.LocalOp:
    owner = value.owner
    assert isinstance(owner, k.LocalOp)
    return owner


def _collect(
    loop: Operation, ranges: Ranges, out: list[tuple[k.LoadOp | k.StoreOp, Ranges]]
) -> None:
    for region in loop.regions:
        for op in region.block.ops:
            inner = ranges
            if isinstance(op, LOOPS):
                inner = ranges.with_extents([(op.var.data, op.extent.data)])
            elif isinstance(op, k.LoadOp | k.StoreOp):
                out.append((op, ranges))
            _collect(op, inner, out)


def _within(op: Operation, loop: Operation) -> bool:
    parent = op.parent_op()
    while parent is not None and parent is not loop:
        parent = parent.parent_op()
    return parent is loop


def _own_row(op: k.LoadOp | k.StoreOp, loop: k.ForOp, ranges: Ranges) -> bool:
    """The address lies in a part of the buffer that belongs to the iteration."""
    e, row = op.index.data[0], var_of(loop)
    if op.index_operands or not e.is_linear_in(row):
        return False
    stride = e.coeff(row).as_int
    low, high = ranges.interval(e - e.coeff(row) * Expr.of_atom(row))
    return stride is not None and low is not None and high is not None and 0 <= low <= high < stride


def _starts_empty(array: Gathered) -> bool:
    init = array.local.init
    if not isinstance(init, FloatAttr | IntegerAttr):
        return False
    scalar = DTYPES[array.buffer.dtype].scalar
    assert scalar is not None
    kind = {"max": "any", "min": "all"}.get(array.combine, array.combine)
    want = identity(kind if array.buffer.dtype == "bool" else array.combine, scalar)
    have = init.value.data
    return bool(have) == bool(want) if array.buffer.dtype == "bool" else have == want


class Rows:
    """Rewrites one row loop; `parts` threads take `chunk` rows each."""

    def __init__(
        self,
        loop: k.ForOp,
        arrays: list[Gathered],
        deal: tuple[int, Expr],
        ranges: Ranges,
        fresh: int,
        workspace: Workspace,
    ):
        self.loop, self.arrays, self.ranges = loop, arrays, ranges
        self.parts, self.chunk = deal
        self.fresh, self.workspace = fresh, workspace

    def run(self, hints: Mapping[Atom, int]) -> bool:
        """Replace the loop; False where nothing would change."""
        rows = self.loop.extent.data
        each = rows if self.parts == 1 else self.chunk
        cascade = estimate(each, hints) > 3 * ROWS // 2 and any(map(_cascades, self.arrays))
        if self.parts == 1 and not cascade:
            return False
        block = Block()
        top = Copies(block, self.ranges, {}, {}, ())
        if self.parts == 1:
            own: dict[SSAValue, SSAValue] = {a.local.result: a.local.result for a in self.arrays}
            self._sweep(top, own, (ex.ZERO, rows), cascade)
        else:
            self._shared(top, rows, cascade)
        for op in list(block.ops):
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(self.loop))
        self.loop.detach()
        self.loop.erase(safe_erase=False)
        for array in self.arrays:
            if not any(True for _ in array.local.result.uses):
                Rewriter.erase_op(array.local)
        return True

    def _var(self) -> int:
        self.fresh += 1
        return self.fresh - 1

    def _shared(self, top: Copies, rows: Expr, cascade: bool) -> None:
        """Each part gathers in arrays of its own and leaves them in a workspace."""
        part, body = self._var(), Block()
        top.add(k.ParallelOp.make(part, self.parts, body))
        inner = top.within(body, [(part, ex.const(self.parts))])
        own = self._arrays(inner)
        start = self.chunk * ex.dim(part)
        count = inner.ranges.simplify(ex.emax(0, ex.emin(self.chunk, rows - start)))
        self._sweep(inner, own, (start, count), cascade)
        for array in self.arrays:
            size = array.buffer.elements
            space = self.workspace(array.buffer.scalar, size * self.parts)
            out, column = self._columns(inner, size)
            value = out.load(own[array.local.result], ex.dim(column))
            out.store(value, space, size * ex.dim(part) + ex.dim(column))
            self._join(array, space)
        top.add(k.BarrierOp.create())

    def _join(self, array: Gathered, space: SSAValue) -> None:
        """Readers of an array add up the parts."""
        kind = array.combine
        if array.buffer.dtype == "bool":
            kind = "any" if kind in ("add", "max") else "all"
        for use in list(array.local.result.uses):
            load = use.operation
            if not isinstance(load, k.LoadOp) or _within(load, self.loop):
                continue
            var, body = self._var(), Block()
            index = array.buffer.elements * ex.dim(var) + load.index.data[0]
            part = k.LoadOp.of(space, index)
            body.add_ops([part, k.YieldOp.of(part.result)])
            new = k.ReduceOp.of(var, self.parts, [kind], [load.result.type], body)
            new.results[0].name_hint = load.result.name_hint
            Rewriter.replace_op(load, new)

    def _arrays(self, at: Copies) -> dict[SSAValue, SSAValue]:
        """Fresh arrays in a block, in place of the loop's."""
        out: dict[SSAValue, SSAValue] = {}
        for array in self.arrays:
            new = array.local.clone()
            new.result.name_hint = array.local.result.name_hint
            at.add(new)
            out[array.local.result] = new.result
        return out

    def _columns(self, at: Copies, size: Expr) -> tuple[Copies, int]:
        var, body = self._var(), Block()
        at.add(k.ParallelOp.make(var, size, body))
        return at.within(body, [(var, size)]), var

    def _sweep(
        self, at: Copies, own: dict[SSAValue, SSAValue], span: tuple[Expr, Expr], cascade: bool
    ) -> None:
        """Rows of a span into the arrays `own`."""
        start, count = span
        if not cascade:
            self._rows(at, own, start, count)
            return
        var, body = self._var(), Block()
        groups = ex.floordiv(count + (ROWS - 1), ROWS)
        at.add(k.ForOp.make(var, groups, body))
        inner = at.within(body, [(var, groups)])
        parts = self._arrays(inner)
        left = inner.ranges.simplify(ex.emin(ROWS, count - ROWS * ex.dim(var)))
        self._rows(inner, parts, start + ROWS * ex.dim(var), left)
        for array in self.arrays:
            out, column = self._columns(inner, array.buffer.elements)
            value = out.load(parts[array.local.result], ex.dim(column))
            out.store(value, own[array.local.result], ex.dim(column), array.combine)

    def _rows(self, at: Copies, own: dict[SSAValue, SSAValue], start: Expr, count: Expr) -> None:
        body, row = Block(), self.loop.var.data
        at.add(k.ForOp.make(row, count, body))
        inner = at.within(body, [(row, count)], {var_of(self.loop): start + ex.dim(row)})
        inner.made.update(own)
        for op in self.loop.body.block.ops:
            inner.copy_loop(op)


def _cascades(array: Gathered) -> bool:
    return array.combine == "add" and array.buffer.dtype == "f32"
