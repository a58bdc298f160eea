"""Rows of a kernel's own: what one stage computed is kept for the stages after it.

Before, a value that a later stage of the row needs again:
    parallel d0 : 64 {
      %m = reduce d1 : 128 [add] -> f32 { .. %v = .. yield %v }
      parallel d1 : 128 { .. %v = ..   store sub %v, %m, %o[128 * d0 + d1] } }

After:
    parallel d0 : 64 {
      %row = local stack : !kernel.buf<f32[128]>
      %m = reduce d1 : 128 [add] -> f32 { .. %v = .. store %v, %row[d1]   yield %v }
      parallel d1 : 128 { %v = load %row[d1]   store sub %v, %m, %o[128 * d0 + d1] } }

Fusion prices a nest once, however many stages read it: so what is dear to compute is computed once,
and a chain of stages grows with its length. A row is used again when its last reader has run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from minductor.dialects import expr as ex
from minductor.dialects.dtypes import dtype_of_scalar, is_scalar_type
from minductor.dialects.expr import Expr
from minductor.dialects.expr_simplify import product
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.ops import LoadOp
from minductor.dialects.types import BufType
from minductor.lowering.loop_to_kernel.across import place_of
from minductor.lowering.loop_to_kernel.emit import Emitter, Scope, StageLoops
from minductor.lowering.loop_to_kernel.graph import Node, Stage, ValueGraph
from minductor.passes.kernel._tree import op_cost


@dataclass(frozen=True)
class RowLimits:
    """least: what a value must cost to be kept, an add is 1; room: bytes of a kernel's rows."""

    least: float
    room: int


NO_ROWS = RowLimits(0.0, 0)


@dataclass(eq=False)
class Row:
    """An array with an element for each iteration of a stage; `free`: its last reader so far."""

    type: BufType
    free: int
    local: k.LocalOp


@dataclass
class Rows:
    """The values that are kept, and where: found before anything is emitted.

    `loops` are those of the stages, one each. `stored` and `taken` say for each stage what it puts
    into rows and what it finds there.
    """

    graph: ValueGraph
    stages: Sequence[Stage]
    loops: Sequence[StageLoops]
    limits: RowLimits
    rows: list[Row] = field(default_factory=list[Row])
    stored: list[dict[Node, Row]] = field(default_factory=list[dict[Node, Row]])
    taken: list[dict[Node, Row]] = field(default_factory=list[dict[Node, Row]])

    def plan(self) -> None:
        """Find what later stages need again, then a row for each such value."""
        count = len(self.stages)
        self.stored, self.taken = [{} for _ in range(count)], [{} for _ in range(count)]
        if count < 2 or self.limits.room == 0:
            return
        home: dict[Node, int] = {}
        again: dict[Node, list[int]] = {}
        for number, stage in enumerate(self.stages):
            if not stage.scans:
                for node in self._again(number, stage, home, again):
                    again.setdefault(node, []).append(number)
        left = self.limits.room
        for node in sorted(again, key=lambda n: (home[n], n.order)):
            left -= self._place(node, home[node], again[node], left)

    def _again(
        self, number: int, stage: Stage, home: dict[Node, int], kept: Iterable[Node]
    ) -> list[Node]:
        """Nodes of earlier stages that a stage would compute again; sets the `home` of others."""
        found: list[Node] = []
        todo, seen = list(roots(stage)), set[Node]()
        while todo:
            node = todo.pop()
            if node in seen or not node.inner:
                continue
            seen.add(node)
            made = home.get(node)
            if made is not None and self._alike(made, number) and self._dear(node, kept):
                found.append(node)
                continue
            if made is None or not self._alike(made, number):
                home[node] = number
            todo.extend(node.deps)
        return found

    def _alike(self, first: int, last: int) -> bool:
        one, other = self.loops[first], self.loops[last]
        return one.variables == other.variables and one.extents == other.extents

    def _dear(self, node: Node, kept: Iterable[Node]) -> bool:
        """A value of a type that memory holds, that costs more than keeping it."""
        if len(node.op.results) != 1 or self._forwards(node):
            return False
        type_ = node.op.results[0].type
        if not is_scalar_type(type_) or not dtype_of_scalar(type_).is_float:
            return False
        total, todo, seen = 0.0, [node], {node}
        while todo and total < self.limits.least:
            one = todo.pop()
            total += 0.0 if self._forwards(one) else op_cost(one.op)
            inner = [d for d in one.deps if d.inner and d not in seen and d not in kept]
            seen.update(inner)
            todo.extend(inner)
        return total >= self.limits.least

    def _forwards(self, node: Node) -> bool:
        """A read of a tensor that the group makes: no op of its own is left."""
        return isinstance(node.op, LoadOp) and node.op.source in self.graph.by_tensor

    def _place(self, node: Node, home: int, readers: Sequence[int], left: int) -> int:
        """A row for a value, a free one or a new one; the bytes of a new one."""
        extent = product(self.loops[home].extents).as_int
        if extent is None:
            return 0
        dtype = dtype_of_scalar(node.op.results[0].type)
        type_ = BufType.make(dtype.name, extent)
        row = next((r for r in self.rows if r.type == type_ and r.free <= home), None)
        size = 0 if row is not None else extent * dtype.size
        if size > left:
            return 0
        if row is None:
            row = Row(type_, 0, k.LocalOp.of("stack", type_))
            row.local.result.name_hint = "row"
            self.rows.append(row)
        row.free = readers[-1]
        self.stored[home][node] = row
        for number in readers:
            self.taken[number][node] = row
        return size

    # -- emission ---------------------------------------------------------------------------------
    def take(self, number: int, scope: Scope) -> None:
        """Read what a stage finds in rows, before anything else of it is emitted."""
        where = self._where(number, scope) if self.taken[number] else ex.ZERO
        for node, row in self.taken[number].items():
            load = k.LoadOp.of(row.local.result, where)
            load.location = node.op.location
            load.result.name_hint = node.op.results[0].name_hint
            scope.block.add_op(load)
            scope.values[(id(node.inst), node.op.results[0])] = load.result

    def store(self, number: int, emitter: Emitter, scope: Scope) -> None:
        """Put what later stages need into rows, after the values of a stage are there."""
        where = self._where(number, scope) if self.stored[number] else ex.ZERO
        for node, row in self.stored[number].items():
            value = emitter.value(node.inst, node.op.results[0], scope)
            scope.block.add_op(k.StoreOp.of(value, row.local.result, where))

    def _where(self, number: int, scope: Scope) -> Expr:
        return scope.ranges.simplify(place_of(self.loops[number]))


def roots(stage: Stage) -> Iterator[Node]:
    """What the reductions and stores of a stage need."""
    for node in (*stage.reduces, *stage.stores):
        yield from node.deps


def walks_rows(accesses: Iterable[Expr], first_inner: int) -> bool:
    """No access walks memory along the common loops: the inner ones are rows of it."""
    for e in accesses:
        atoms = e.vars("d")
        inner = [a for a in atoms if a.index >= first_inner]
        outer = [a for a in atoms if a.index < first_inner]
        if inner and any(e.is_linear_in(a) and e.coeff(a) is ex.ONE for a in outer):
            return False
    return True
