"""The ledger: bytes that a group must move at least, would move unfused, and moves as planned.

- floor: what it reads from outside, each element once, and what it leaves in memory, once;
- unfused: what its nests move one by one, the ops computed inside them one by one too;
- planned: the floor, and what is paid again: passes over data that do not stay in cache, whole
  cache lines for a few of their bytes.

Expressions over size symbols; which data stay near is judged at the hints.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.attrs import Bytes, ExprAttr
from minductor.dialects.expr import Expr
from minductor.passes.loop.deps import MemoryDep, NestDeps
from minductor.passes.loop.fusion.price import Axes, Pricer, whole
from minductor.passes.loop.fusion.walk import Fetch

UNFUSED = "unfused"
"""Attribute of a nest that computes several ops: what they would move one by one."""


def nest_bytes(info: NestDeps) -> Expr:
    """Bytes that a nest moves alone: each dep once."""
    return deps_bytes({**info.reads, **info.writes})


def deps_bytes(deps: Iterable[MemoryDep]) -> Expr:
    """Bytes of deps, added."""
    total = ex.ZERO
    for dep in deps:
        total = total + dep.bytes
    return total


def unfused_bytes(info: NestDeps) -> Expr:
    """What the ops of a nest would move one by one."""
    noted = info.nest.attributes.get(UNFUSED)
    return noted.data if isinstance(noted, ExprAttr) else nest_bytes(info)


def group_bytes(infos: Sequence[NestDeps], axes: Axes, pricer: Pricer) -> Bytes:
    """The ledger of nests that share `axes`."""
    nests: set[Operation] = {info.nest for info in infos}
    made: set[SSAValue] = {r for info in infos for r in info.nest.results}
    reads: dict[MemoryDep, None] = {}
    writes: dict[MemoryDep, None] = {}
    unfused = ex.ZERO
    for info in infos:
        reads.update({d: None for d in info.reads if d.buffer not in made})
        writes.update({d: None for d in info.writes if pricer.needed_outside(d.buffer, nests)})
        unfused = unfused + unfused_bytes(info)
    floor = per_buffer(dict.fromkeys((*reads, *writes), Fetch()), pricer)
    planned = per_buffer(pricer.moved(infos, axes, made), pricer)
    return Bytes(floor, unfused, planned)


def per_buffer(moved: Mapping[MemoryDep, Fetch], pricer: Pricer) -> Expr:
    """Bytes of deps; several that go along one buffer count as no more than all of it."""
    buffers: dict[tuple[SSAValue, tuple[int, ...]], list[tuple[MemoryDep, Fetch]]] = {}
    for dep, how in moved.items():
        buffers.setdefault((dep.buffer, how.along), []).append((dep, how))
    total = ex.ZERO
    for (buffer, _), parts in buffers.items():
        added = ex.ZERO
        for dep, (spread, times, _) in parts:
            added = added + dep.bytes * (spread * times)
        if len(parts) > 1 or parts[0][1].spread > 1:
            most = whole(buffer) * max(how.times for _, how in parts)
            added = added if pricer.value(added) <= pricer.value(most) else most
        total = total + added
    return total
