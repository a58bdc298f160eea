"""The ledger: bytes that a group must move at least, would move unfused, and moves as planned.

- floor: what it reads from outside, each element once, and what it leaves in memory, once;
- unfused: what its nests move one by one, the ops computed inside them one by one too;
- planned: the floor, and what is paid again: passes over data that do not stay in cache, whole
  cache lines for a few of their bytes.

Expressions over size symbols; which data stay near is judged at the hints.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.attrs import Bytes, ExprAttr
from minductor.dialects.expr import Expr
from minductor.dialects.types import TensorType
from minductor.passes.loop.deps import MemoryDep, NestDeps
from minductor.passes.loop.fusion.price import Axes, Pricer

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
    floor = per_buffer(dict.fromkeys(reads, 1), pricer)
    floor = floor + per_buffer(dict.fromkeys(writes, 1), pricer)
    moved = pricer.moved(infos, axes, made)
    planned = per_buffer({d: k for d, k in moved.items() if d in reads}, pricer)
    planned = planned + per_buffer({d: k for d, k in moved.items() if d not in reads}, pricer)
    return Bytes(floor, unfused, planned)


def per_buffer(moved: dict[MemoryDep, int], pricer: Pricer) -> Expr:
    """Bytes of deps; several that cover parts of one buffer count as no more than all of it."""
    buffers: dict[SSAValue, list[tuple[MemoryDep, int]]] = {}
    for dep, times in moved.items():
        buffers.setdefault(dep.buffer, []).append((dep, times))
    total = ex.ZERO
    for buffer, parts in buffers.items():
        added = ex.ZERO
        for dep, times in parts:
            added = added + dep.bytes * times
        if len(parts) > 1:
            assert isinstance(buffer.type, TensorType)
            whole = buffer.type.numel * buffer.type.info.size * max(k for _, k in parts)
            added = added if pricer.value(added) <= pricer.value(whole) else whole
        total = total + added
    return total
