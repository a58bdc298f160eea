"""kernel-prefetch: large buffers that loops walk in order are asked for some KiB ahead.

Before:
    kernel.parallel d0 : 2048 <run threads> {
      %s = kernel.reduce d1 : 1024 <lanes 16, unroll 4, tail none> [add] -> f32 {
        %v = kernel.load %x[1024 * d0 + d1] : f32  .. } .. }

After:
        %v = kernel.load %x[1024 * d0 + d1] {ahead = #loop.expr<1024>} : f32

Machines fetch ahead by themselves, but stop at each page of 4 KiB, wait for a few misses before
they begin, and never fetch the lines that are about to be written. `ahead` is in elements: the line
that the same access takes so many elements further. It is worth about `prefetch` bytes of the
access's own walk; where rows are short and lie apart it leads into a row of a later iteration, else
into the next row of the loop around. Buffers that stay in a near cache, rows that an earlier stage
brought, gathers, and tiles, which move whole blocks, are left alone; so are stores that a later
stage reads: with the next row beside it, the row in work is no longer near.

A stage that reads its row from a cache and computes for long leaves the memory idle, which the
stage that brings the row then waits for. So the costly one asks for the next row (`cover`):

    %m = kernel.reduce d1 : 1024 <lanes 16, ..> [max] -> f32 {
      %a = kernel.load %x[1024 * d0 + d1] : f32  .. }
    %s = kernel.reduce d2 : 1024 <lanes 16, ..> [add] -> f32 {
      %b = kernel.load %x[1024 * d0 + d2] {ahead = #loop.expr<1024>} : f32
      %c = scalar.sub %b, %m : f32   %e = scalar.exp %c : f32  .. }
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.attrs import ExprAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.kernel import ops as k
from minductor.dialects.types import BufType
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import (
    LOOPS,
    Loop,
    body_cost,
    estimate,
    kernels_of,
    module_hints,
)
from minductor.passes.kernel._walks import Access, accesses_of, item_of

HALF_LINE = 32
"""Bytes of a vector below which several requests would go to one line."""
NEAR = 32 << 10
"""Bytes of a row that may be fetched whole while the row before is worked on."""
WASTE = 8
"""A request may miss its row in one of so many cases."""
FAR = 128 << 10
"""Bytes of a row that may wait in the second cache while a stage that stores nothing works."""
COVER = 8.0
"""Cost of an element's work, beyond that of the stage that brings it, which hides a request."""


@dataclass(frozen=True)
class KernelPrefetchPass(MiniPass):
    """Write `ahead` on accesses of C++ kernels.

    prefetch: bytes of its walk that an access looks ahead, 0 leaves all as it is; beyond: KiB of a
    buffer from which on it is not taken to be in a near cache; cover: costly stages ask for rows.
    """

    name = "kernel-prefetch"
    needs = frozenset({"lanes", "threads"})

    prefetch: int = 4096
    beyond: int = 256
    cover: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Look at each access of every C++ kernel, in order."""
        if not self.prefetch:
            return
        hints = module_hints(op)
        for kernel in kernels_of(op, "cpp"):
            alike: dict[tuple[SSAValue, Expr], list[Access]] = {}
            for access in accesses_of(kernel):
                alike.setdefault((access.buffer, _numbered(access)), []).append(access)
            for first, *later in alike.values():
                ahead = self._ahead(first, hints) if self._streams(first, hints) else None
                if ahead is not None:
                    first.ahead = ExprAttr(ahead)
                    self._cover(first, later, hints)

    def _streams(self, op: Access, hints: Mapping[Atom, int]) -> bool:
        """Consecutive elements along the lanes, of a large buffer, under no condition."""
        type_, lane = op.buffer.type, next(_lane_loops(op), None)
        if lane is None or not isinstance(type_, BufType) or isinstance(op.buffer.owner, Operation):
            return False
        if isinstance(op, k.StoreOp) and (op.combine is not None or op.nt is not None):
            return False
        if isinstance(op, k.StoreOp) and any(
            isinstance(u.operation, k.LoadOp) for u in op.buffer.uses
        ):
            return False
        if op.masked is not None or op.index_operands or _in_tile(op):
            return False
        if estimate(type_.elements, hints) * item_of(op) < self.beyond << 10:
            return False
        index, atom = op.index.data[0], ex.dim_atom(lane.var.data)
        in_order = index.is_linear_in(atom) and index.coeff(atom) is ex.ONE
        return in_order and lane.words.data.lanes * item_of(op) >= HALF_LINE

    def _cover(self, first: Access, later: list[Access], hints: Mapping[Atom, int]) -> None:
        """Let the costliest later stage of the row ask for the next one, where it has the time."""
        stages = [op for op in later if self.cover and isinstance(op, k.LoadOp)]
        costly = max(stages, key=_work, default=None)
        if (
            costly is None
            or _work(costly) < _work(first) + COVER
            or not self._streams(costly, hints)
        ):
            return
        row = _row_of(first, costly, hints)
        if row is None or row.moved > (NEAR if _stores(costly) else FAR):
            return
        costly.ahead = ExprAttr(row.stride * -(-self.prefetch // row.moved))
        if row.moved <= NEAR:
            first.ahead = None

    def _ahead(self, op: Access, hints: Mapping[Atom, int]) -> Expr | None:
        """How many elements ahead; None where the walk is too short or not a regular one."""
        index = op.index.data[0]
        moved = item_of(op)
        steps: list[_Step] = []
        for loop in _loops_around(op):
            lanes = loop.words.data.lanes
            atom = ex.dim_atom(loop.var.data)
            trips = -(-max(1, estimate(loop.extent.data, hints)) // lanes)
            moved *= lanes
            if atom not in index.vars("d"):
                continue
            if not index.is_linear_in(atom):
                break
            step = _Step(index.coeff(atom) * lanes, moved, trips)
            if steps and step.stride is steps[-1].stride * steps[-1].trips:
                last = steps.pop()
                step = _Step(last.stride, last.moved, last.trips * trips)
            steps.append(step)
            moved *= trips
        for at, step in enumerate(steps):
            if step.moved * step.trips >= self.prefetch:
                return step.ahead(self.prefetch, steps[at + 1] if at + 1 < len(steps) else None)
        return None


@dataclass(frozen=True)
class _Step:
    """Loops that an access walks without a gap: elements and bytes of a trip, number of trips."""

    stride: Expr
    moved: int
    trips: int

    def ahead(self, wanted: int, around: _Step | None) -> Expr:
        """Elements between an iteration and the one `wanted` bytes later."""
        count = -(-wanted // self.moved)
        if around is None or count * WASTE <= self.trips or self.moved * self.trips > NEAR:
            return self.stride * count
        return around.stride


def _work(op: Access) -> float:
    """Cost of an iteration of the loop around."""
    return body_cost(next(_loops_around(op)))


def _stores(op: Access) -> bool:
    """The loop around writes memory too, which takes its time."""
    return any(isinstance(one, k.StoreOp) for one in accesses_of(next(_loops_around(op))))


def _row_of(first: Access, last: Access, hints: Mapping[Atom, int]) -> _Step | None:
    """What two stages walk in one iteration of the loop around both, and how it lies to the next.

    None where they are no neighbours, or the rows lie at no regular distance.
    """
    around = list(_loops_around(last))
    shared = next((loop for loop in _loops_around(first) if loop in around), None)
    if shared is None or shared.words.data.lanes > 1 or around.index(shared) == 0:
        return None
    index, atom, moved = last.index.data[0], ex.dim_atom(shared.var.data), item_of(last)
    for loop in around[: around.index(shared)]:
        if ex.dim_atom(loop.var.data) in index.vars("d"):
            moved *= max(1, estimate(loop.extent.data, hints))
    if not index.is_linear_in(atom) or index.coeff(atom) is ex.ZERO:
        return None
    return _Step(index.coeff(atom), moved, max(1, estimate(shared.extent.data, hints)))


def _numbered(op: Access) -> Expr:
    """The index, its variables numbered as their loops are: alike in all stages of a row."""
    index = op.index.data[0]
    atoms = [ex.dim_atom(loop.var.data) for loop in _loops_around(op)]
    moving = [atom for atom in reversed(atoms) if atom in index.vars("d")]
    return index.subs({atom: ex.dim(i) for i, atom in enumerate(moving)})


def _loops_around(op: Operation) -> Iterator[Loop]:
    """The loops around an op, innermost first."""
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, LOOPS):
            yield parent
        parent = parent.parent_op()


def _lane_loops(op: Operation) -> Iterator[Loop]:
    return (loop for loop in _loops_around(op) if loop.words.data.lanes > 1)


def _in_tile(op: Access) -> bool:
    """The access fills or empties a block in registers."""
    block = op.parent
    assert block is not None
    owners = [one.buffer.owner for one in block.ops if isinstance(one, k.LoadOp | k.StoreOp)]
    return any(isinstance(owner, k.LocalOp) and owner.space.data == "reg" for owner in owners)
