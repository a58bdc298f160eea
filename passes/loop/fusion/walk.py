"""What an access fetches for each byte that it uses: whole lines, and lines that did not stay.

    %x[d0, 2 * d1]           every second element: lines of twice the bytes     spread 2
    %x[d1, d0], rows of d0   a line for an element; the next row reads the rest of it, if the lines
                             of one row are still there (spread 1), else it fetches them anew
    %t[i], i from data       a line for an element, and no more than all of the table if it stays

A nest whose loops a schedule may take in blocks walks memory along any of its variables: pointwise
loops go in tiles, and columns are reduced with their neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.dialects.types import TensorType
from minductor.passes.loop.deps import Access, NestDeps, flat_index, resolve
from minductor.passes.loop.fusion.graph import Vars
from minductor.passes.loop.fusion.machine import Machine

Value = Callable[[Expr], int]
"""An expression at the hints."""


class Fetch(NamedTuple):
    """How the bytes of a dep move.

    `spread`: bytes of lines for each byte used; `times`: how often they are fetched; `along`: the
    strides along the shared loops. Accesses that go along a buffer alike are at one place of it at
    a time, and fetch no more than all of it.
    """

    spread: int = 1
    times: int = 1
    along: tuple[int, ...] = ()


def walk(info: NestDeps, access: Access, shared: Vars, machine: Machine, value: Value) -> Fetch:
    """How an access moves bytes in a nest whose outer loops are `shared`."""
    type_ = access.value.type
    assert isinstance(type_, TensorType)
    item = type_.info.size
    per_line = max(1, machine.line // item)
    flat = resolve(access.value, flat_index(access.indices, type_))[1]
    order = [*shared, *(v for v in range(len(info.domain.extents)) if v not in shared)]
    if access.operands:
        return _gather(info, access, flat, order, (machine, per_line, value))
    strides = _strides(flat, order, value)
    along = tuple(strides.get(v, 0) for v in shared)
    if not strides or any(not atom.is_var for mono, _ in flat.terms for atom in mono):
        return Fetch(1, 1, along)
    dense = min(strides, key=strides.__getitem__)
    last = next(reversed(strides))
    spread = min(per_line, max(1, strides[dense]))
    if strides[last] == strides[dense]:
        return Fetch(spread, 1, along)
    inside = list(strides)[list(strides).index(dense) + 1 :]
    lines = 1
    for v in inside:
        lines *= value(info.domain.extents[v])
    if lines * machine.line <= machine.near or _in_blocks(info, shared, value):
        return Fetch(spread, 1, along)
    return Fetch(spread, max(1, min(per_line, strides[last]) // spread), along)


def _strides(flat: Expr, order: Sequence[int], value: Value) -> dict[int, int]:
    """Variable -> elements that one step of it moves an index by, outermost first."""
    out: dict[int, int] = {}
    for v in order:
        factor = flat.coeff(ex.dim_atom(v))
        if factor.terms:
            out[v] = 1 << 30 if factor.vars("dt") else abs(value(factor))
    return out


def _gather(
    info: NestDeps,
    access: Access,
    flat: Expr,
    order: Sequence[int],
    how: tuple[Machine, int, Value],
) -> Fetch:
    machine, per_line, value = how
    hidden = {a.index for e in access.hidden for a in e.vars("d")}
    runs = any(flat.coeff(ex.dim_atom(v)) is ex.ONE for v in order if v not in hidden)
    type_ = access.value.type
    assert isinstance(type_, TensorType)
    region = value(type_.numel) * type_.info.size
    for v in order:  # an outer loop that fixes a dimension leaves the rest of it for later
        if not any(e.as_atom is ex.dim_atom(v) for e in access.indices):
            break
        region //= max(1, value(info.domain.extents[v]))
    if 2 * region <= machine.near:  # the other half is for what streams through meanwhile
        return Fetch(1 if runs else per_line)
    trips = 1
    for v in {*hidden, *(a.index for a in flat.vars("d"))}:
        trips *= value(info.domain.extents[v])
    again = trips // max(1, min(trips, value(type_.numel)))
    return Fetch(1, again * (1 if runs else per_line))


def _in_blocks(info: NestDeps, shared: Vars, value: Value) -> bool:
    """Whether a schedule may walk a nest along other loops than the innermost: pointwise loops all
    alike, or columns, of which every access finds the next one beside it."""
    loops = range(len(info.domain.extents))
    if info.has_scan:
        return False
    if not info.has_reduce and len(shared) == len(loops):
        return True
    outer = set(shared)
    for access in [*info.loads, *info.stores]:
        type_ = access.value.type
        assert isinstance(type_, TensorType)
        flat = resolve(access.value, flat_index(access.indices, type_))[1]
        strides = _strides(flat, loops, value)
        if access.operands or (
            len(strides) > 1 and min(strides, key=strides.__getitem__) not in outer
        ):
            return False
    return True
