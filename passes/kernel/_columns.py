"""The new loops of a column reduction: rows outside, columns inside, accumulators in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, Block, Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.dtypes import dtype_of_scalar
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import ops as k
from minductor.dialects.kernel.identity import COMBINE, identity
from minductor.dialects.scalar.number import literal
from minductor.dialects.types import BufType
from minductor.passes.kernel._accumulate import Accumulator, Moments, Plain
from minductor.passes.kernel._copy import Copies, var_of
from minductor.passes.kernel._tree import estimate, op_cost

STREAMS = 8
"""Rows that are read side by side."""
CASCADE = 64
"""Groups of rows that one partial sum takes before it joins the next level."""
CHEAP = 3.0
"""Cost of a column's own value up to which it is computed again in every row."""

Workspace = Callable[[Attribute, Expr], SSAValue]


@dataclass(frozen=True)
class Plan:
    """columns: how many a block has; blocks: how many of them; parts: threads that share the rows;
    chunk: rows of a part."""

    columns: Expr
    blocks: Expr
    parts: int = 1
    chunk: Expr = ex.ZERO


@dataclass(frozen=True)
class Place:
    """Where statements go: a block, and the columns that its loops walk."""

    copies: Copies
    extent: Expr

    @property
    def ranges(self) -> Ranges:
        """Symbols and variables in force."""
        return self.copies.ranges


class Columns:
    """Rewrites one parallel loop over columns."""

    def __init__(
        self,
        par: k.ParallelOp,
        plan: Plan,
        ranges: Ranges,
        hints: Mapping[Atom, int],
        fresh: int,
        workspace: Workspace,
    ):
        self.par, self.plan, self.hints = par, plan, hints
        self.ranges, self.fresh, self.workspace = ranges, fresh, workspace
        self.column = par.var.data
        self.homes: dict[SSAValue, Callable[[Copies], SSAValue]] = {}
        self.heavy: set[SSAValue] = set()

    # -- the whole --------------------------------------------------------------------------------
    def run(self) -> list[Operation]:
        """The statements that take the loop's place."""
        block = Block()
        inside = (self.par.body.block,)
        place = Place(Copies(block, self.ranges, {}, self.homes, inside), self.par.extent.data)
        self._stages(place if self.plan.parts > 1 else self._blocked(place))
        ops = list(block.ops)
        while isinstance(ops[-1], k.BarrierOp):
            ops.pop()
        for op in ops:
            op.detach()
        return ops

    def _blocked(self, place: Place) -> Place:
        """A loop over blocks of columns."""
        if self.plan.blocks is ex.ONE:
            return place
        var, columns = self.new_var(), self.plan.columns
        body = Block()
        place.copies.add(k.ParallelOp.make(var, self.plan.blocks, body))
        first = columns * ex.dim(var)
        inner = place.copies.within(
            body, [(var, self.plan.blocks)], {ex.dim_atom(self.column): first + ex.dim(self.column)}
        )
        left = ex.emin(columns, place.extent - first)
        return Place(inner, inner.ranges.simplify(left))

    def _stages(self, place: Place) -> None:
        stores: list[Operation] = []
        for op in self.par.body.block.ops:
            if isinstance(op, k.ReduceOp):
                self._save(place, op.body.block)
                if self.plan.parts > 1:
                    self._parts(place, op)
                else:
                    self._whole(place, op)
            elif isinstance(op, k.ParallelOp):
                self._save(place, op.body.block)
                self._rows(place, op)
            elif isinstance(op, k.StoreOp):
                stores.append(op)
        if stores:
            inner = self.column_loop(place)
            for op in stores:
                inner.copy(op)

    def new_var(self) -> int:
        self.fresh += 1
        return self.fresh - 1

    def column_loop(self, place: Place) -> Copies:
        """A loop over the columns of a place."""
        body = Block()
        place.copies.add(k.ParallelOp.make(self.column, place.extent, body))
        return place.copies.within(body, [(self.column, place.extent)])

    def _barrier(self, place: Place) -> None:
        if self.plan.parts > 1:
            place.copies.add(k.BarrierOp.create())

    # -- values of a column -----------------------------------------------------------------------
    def _memory(self, place: Place, type_: Attribute, hint: str) -> SSAValue:
        """An array with an element per column, seen by all stages of a place."""
        if self.plan.parts > 1:
            buffer = self.workspace(type_, self.par.extent.data)
        else:
            name = dtype_of_scalar(type_).name
            local = k.LocalOp.of("stack", BufType.make(name, self.plan.columns))
            place.copies.add(local)
            buffer = local.result
        buffer.name_hint = hint
        return buffer

    def _index(self, at: Copies) -> Expr:
        """A column's element in such an array."""
        column = ex.dim(self.column)
        return at.expr(column) if self.plan.parts > 1 else column

    def _save(self, place: Place, body: Block) -> None:
        """Keep column values that the rows of a stage need and that cost something."""
        wanted = [v for v in self._used(body) if self._cost(v) > CHEAP]
        if not wanted:
            return
        rooms = [self._memory(place, v.type, f"{v.name_hint or 'kept'}_c") for v in wanted]
        inner = self.column_loop(place)
        for value, room in zip(wanted, rooms, strict=True):
            inner.store(inner.value(value), room, self._index(inner))
        self._barrier(place)
        for value, room in zip(wanted, rooms, strict=True):
            self.homes[value] = lambda at, room=room: at.load(room, self._index(at))
            self.heavy.discard(value)

    def _used(self, body: Block) -> list[SSAValue]:
        """Values of the column loop that a stage uses."""
        found: dict[SSAValue, None] = {}
        for op in body.walk():
            for v in op.operands:
                owner = v.owner
                if isinstance(owner, Operation) and owner.parent is self.par.body.block:
                    found[v] = None
        return list(found)

    def _cost(self, value: SSAValue) -> float:
        """Cost of having a column value once more."""
        if value in self.homes:
            return 100.0 if value in self.heavy else 1.0
        owner = value.owner
        if not isinstance(owner, Operation) or owner.parent is not self.par.body.block:
            return 0.0
        return sum(op_cost(inner) for inner in owner.walk()) + sum(
            self._cost(v) for inner in owner.walk() for v in inner.operands
        )

    # -- stages -----------------------------------------------------------------------------------
    def _rows(self, place: Place, stage: k.ParallelOp) -> None:
        """A stage without accumulators: its rows outside, the columns inside."""
        body = Block()
        place.copies.add(k.ParallelOp.make(stage.var.data, stage.extent.data, body))
        loops = [(stage.var.data, stage.extent.data)]
        self.column_loop(Place(place.copies.within(body, loops), place.extent)).copy_all(
            stage.body.block
        )
        self._barrier(place)

    def _accumulators(self, stage: k.ReduceOp) -> list[Accumulator]:
        last = stage.body.block.last_op
        assert last is not None
        made: list[Accumulator] = []
        for kind, arg in zip(stage.kind_names, last.operands, strict=True):
            if kind == "welford":
                made.append(Moments(stage, arg))
            else:
                made.append(Plain(kind, arg.type))
        return made

    def _whole(self, place: Place, stage: k.ReduceOp) -> None:
        """All rows of a block of columns."""
        accs = self._accumulators(stage)
        self._shifts(place, accs)
        rooms = self.locals_of(place, accs)
        sweep = _Sweep(self, stage, accs)
        sweep.run(place, rooms, ex.ZERO, stage.extent.data)
        at = [[(room, ex.dim(self.column)) for room in of] for of in rooms]
        self._finished(stage, accs, lambda copies, a, i: copies.load(*at[a][i]))

    def _parts(self, place: Place, stage: k.ReduceOp) -> None:
        """Rows dealt out to threads; each leaves its partial results in a workspace."""
        plan, count = self.plan, self.par.extent.data
        accs = self._accumulators(stage)
        part, body = self.new_var(), Block()
        place.copies.add(k.ParallelOp.make(part, plan.parts, body))
        inner = Place(place.copies.within(body, [(part, ex.const(plan.parts))]), place.extent)
        inner = self._blocked(inner)
        homes = dict(self.homes)
        self._shifts(inner, accs)
        rooms = self.locals_of(inner, accs)
        start = plan.chunk * ex.dim(part)
        left = ex.emax(0, ex.emin(plan.chunk, stage.extent.data - start))
        _Sweep(self, stage, accs).run(inner, rooms, start, inner.ranges.simplify(left))
        spaces = [[self.workspace(t, count * plan.parts) for t in acc.types] for acc in accs]
        out = self.column_loop(inner)
        row = count * ex.dim(part)
        for locals_, shared in zip(rooms, spaces, strict=True):
            for room, space in zip(locals_, shared, strict=True):
                value = out.load(room, ex.dim(self.column))
                out.store(value, space, row + out.expr(ex.dim(self.column)))
        self.homes.clear()
        self.homes.update(homes)
        self._barrier(place)

        def joined(copies: Copies, a: int, i: int) -> SSAValue:
            var, inside = self.new_var(), Block()
            sub = copies.within(inside, [(var, ex.const(plan.parts))])
            value = sub.load(spaces[a][i], count * ex.dim(var) + copies.expr(ex.dim(self.column)))
            sub.add(k.YieldOp.of(value))
            kinds, types = [accs[a].kinds[i]], [accs[a].types[i]]
            return copies.make(k.ReduceOp.of(var, plan.parts, kinds, types, inside))

        self._finished(stage, accs, joined)
        self.heavy.update(stage.results)

    def _shifts(self, place: Place, accs: Sequence[Accumulator]) -> None:
        """The first row's values, for sums that are shifted by them."""
        for acc in accs:
            if isinstance(acc, Moments):
                local = k.LocalOp.of("stack", BufType.make("f64", self.plan.columns))
                local.result.name_hint = "first"
                place.copies.add(local)
                inner = self.column_loop(place)
                inner.store(acc.shift(inner), local.result, ex.dim(self.column))
                index = ex.dim(self.column)
                self.homes[acc.key] = lambda at, room=local.result: at.load(room, index)

    def locals_of(self, place: Place, accs: Sequence[Accumulator]) -> list[list[SSAValue]]:
        """Arrays of a block's columns, at the identities of their kinds."""
        rooms: list[list[SSAValue]] = []
        for acc in accs:
            rooms.append([])
            for kind, type_ in zip(acc.kinds, acc.types, strict=True):
                buffer = BufType.make(dtype_of_scalar(type_).name, self.plan.columns)
                init = literal(identity(kind, type_), type_)
                local = k.LocalOp.of("stack", buffer, init)
                local.result.name_hint = "acc"
                place.copies.add(local)
                rooms[-1].append(local.result)
        return rooms

    def _finished(
        self,
        stage: k.ReduceOp,
        accs: Sequence[Accumulator],
        slot: Callable[[Copies, int, int], SSAValue],
    ) -> None:
        """Homes of a stage's results."""
        results = iter(stage.results)
        for a, acc in enumerate(accs):
            moments = isinstance(acc, Moments)
            for i in range(3 if moments else 1):
                result = next(results)

                def home(at: Copies, a: int = a, i: int = i, acc: Accumulator = acc) -> SSAValue:
                    slots = [slot(at, a, n) for n in acc.needs(i)]
                    return acc.finish(at, slots, i)

                self.homes[result] = home
                if moments:
                    self.heavy.add(result)


class _Sweep:
    """The rows of one reduction: streams side by side, partial sums cascaded."""

    def __init__(self, owner: Columns, stage: k.ReduceOp, accs: Sequence[Accumulator]):
        self.owner, self.stage, self.accs = owner, stage, accs

    def run(
        self, place: Place, rooms: Sequence[Sequence[SSAValue]], start: Expr, count: Expr
    ) -> None:
        """Rows start .. start + count into the accumulators."""
        simplify = place.ranges.simplify
        groups = simplify(ex.floordiv(count, STREAMS))
        rest = simplify(count - groups * STREAMS)
        if self._cascades() and estimate(groups, self.owner.hints) > 3 * CASCADE // 2:
            self._cascade(place, rooms, start, groups)
        elif groups is not ex.ZERO:
            var, inner = self._for(place, groups)
            self._step(inner, rooms, start + STREAMS * ex.dim(var), STREAMS)
        if rest is not ex.ZERO:
            var, inner = self._for(place, rest)
            self._step(inner, rooms, start + STREAMS * groups + ex.dim(var), 1)

    def _for(self, place: Place, extent: Expr) -> tuple[int, Place]:
        var, body = self.owner.new_var(), Block()
        place.copies.add(k.ForOp.make(var, extent, body))
        return var, Place(place.copies.within(body, [(var, extent)]), place.extent)

    def _cascades(self) -> bool:
        return any(
            kind == "add" and dtype_of_scalar(t).name == "f32"
            for acc in self.accs
            for kind, t in zip(acc.kinds, acc.types, strict=True)
        )

    def _cascade(
        self, place: Place, rooms: Sequence[Sequence[SSAValue]], start: Expr, groups: Expr
    ) -> None:
        owner = self.owner
        var, outer = self._for(place, ex.floordiv(groups + (CASCADE - 1), CASCADE))
        parts = owner.locals_of(outer, self.accs)
        left = outer.ranges.simplify(ex.emin(CASCADE, groups - CASCADE * ex.dim(var)))
        group, inner = self._for(outer, left)
        base = start + STREAMS * CASCADE * ex.dim(var) + STREAMS * ex.dim(group)
        self._step(inner, parts, base, STREAMS)
        join = owner.column_loop(outer)
        for acc, have, into in zip(self.accs, parts, rooms, strict=True):
            for kind, part, room in zip(acc.kinds, have, into, strict=True):
                value = join.load(part, ex.dim(owner.column))
                join.store(value, room, ex.dim(owner.column), COMBINE[kind])

    def _step(
        self, place: Place, rooms: Sequence[Sequence[SSAValue]], base: Expr, streams: int
    ) -> None:
        """One group of rows, for all columns of the place."""
        owner, row = self.owner, var_of(self.stage)
        inner = owner.column_loop(place)
        if streams == 1:
            body = inner.within(inner.block, (), {row: base})
            values = self._given(body)
        else:
            var, block = owner.new_var(), Block()
            body = inner.within(block, [(var, ex.const(streams))], {row: base + ex.dim(var)})
            given = self._given(body)
            body.add(k.YieldOp.of(*given))
            kinds = [kind for acc in self.accs for kind in acc.kinds]
            types = [v.type for v in given]
            loop = k.ReduceOp.of(var, streams, kinds, types, block)
            values = list(inner.add(loop).results)
        slots = [
            (kind, room)
            for acc, of in zip(self.accs, rooms, strict=True)
            for kind, room in zip(acc.kinds, of, strict=True)
        ]
        for value, (kind, room) in zip(values, slots, strict=True):
            inner.store(value, room, ex.dim(owner.column), COMBINE[kind])

    def _given(self, body: Copies) -> list[SSAValue]:
        yielded = body.copy_all(self.stage.body.block)
        return [v for acc, y in zip(self.accs, yielded, strict=True) for v in acc.give(body, y)]
