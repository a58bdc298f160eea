"""The accountant: bytes that a kernel moves, from the loads and stores that its code makes.

It sees neither compiler's opinion: a kernel is a list of `Touch`es, each one load or store with its
index, the loops around it and the pass it belongs to. The prices are those of the cost model of
`loop-fuse`, on its machine:

- an element counts once a pass over it: passes of one kernel over data that stay near (what an
  iteration of the loops that these passes share touches fits the cache) count as one;
- a store counts once, and twice when it combines with what was there;
- what a kernel stores before it loads it is free to load while near;
- a gather of single elements moves whole lines, though never more than all of its buffer;
- a call moves each distinct argument once and each result once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from minductor.dialects.expr import Expr
from minductor.passes.loop.fusion.machine import MACHINES, Machine

Loops = tuple[Expr, ...]
"""Extents of the loops around an access, outermost first; loop k is the variable d<k>."""

LARGEST = 1 << 26
"""Points of an access that are still counted one by one."""


@dataclass(frozen=True)
class Buffer:
    """Memory as a kernel sees it; `numel` elements of `item` bytes. Equal names are one buffer."""

    name: str
    numel: int
    item: int


@dataclass(frozen=True)
class Touch:
    """A load or a store.

    `index` is the flat index over the loops' variables. A gather has None: it touches as many
    elements as `trips`, in runs when `dense`; two gathers of one `source` touch the same. `step` is
    the pass: touches of one innermost loop agree in it.
    """

    buffer: Buffer
    index: Expr | None
    loops: Loops
    step: int
    store: bool = False
    combine: bool = False
    trips: int = 0
    dense: bool = False
    source: Hashable = None


@dataclass
class Kernel:
    """One kernel. `rows` is the number of iterations that all its passes share; `shared` the same
    for the passes over one buffer, by its name: what a kernel does after its rows, such as adding
    up what its threads gathered, takes nothing from them."""

    name: str
    rows: int
    touches: list[Touch] = field(default_factory=list[Touch])
    """In the order of the kernel's text."""
    shared: dict[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True)
class Call:
    """A call of a library: bytes of its arguments and results."""

    name: str
    bytes: int


@dataclass
class Graph:
    """What a compiler made of a graph."""

    kernels: list[Kernel] = field(default_factory=list[Kernel])
    calls: list[Call] = field(default_factory=list[Call])


def touched(index: Expr, loops: Loops, numel: int) -> Any:
    """Which elements of a buffer an access touches: a mask of `numel`.

    Indices outside the buffer are those of guarded accesses, which do not happen.
    """
    mask = np.zeros(numel, dtype=bool)
    run = _run(index, loops)
    if run is not None:
        mask[max(run[0], 0) : max(run[1], 0)] = True
        return mask
    needed = _needed(index, loops)
    if _points(needed, loops) > LARGEST:
        mask[:] = True
        return mask
    flat = _evaluate(index, _grid(needed, loops))
    flat = np.atleast_1d(flat)
    mask[flat[(flat >= 0) & (flat < numel)]] = True
    return mask


@lru_cache(maxsize=1 << 12)
def _run(index: Expr, loops: Loops) -> tuple[int, int] | None:
    """First and last + 1 of a linear index that covers a dense run; None for others."""
    parts: list[tuple[int, int]] = []
    for atom in index.vars("d"):
        step = index.coeff(atom).as_int if index.is_linear_in(atom) else None
        extent = loops[atom.index].as_int
        if step is None or extent is None or step <= 0:
            return None
        parts.append((step, extent))
    if index.vars("sut"):
        return None
    size = 1
    for step, extent in sorted(parts):
        if step > size:
            return None
        size += step * (extent - 1)
    start = index.constant_term
    return (start, start + size)


def _needed(index: Expr, loops: Loops) -> list[int]:
    """Loops whose variables an index needs, through extents too; outermost first."""
    todo = [a.index for a in index.vars("d")]
    found: set[int] = set()
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo.extend(a.index for a in loops[one].vars("d"))
    return sorted(found)


def _points(needed: Sequence[int], loops: Loops) -> int:
    total = 1
    for number in needed:
        total *= loops[number].as_int or 64
    return total


def _grid(needed: Sequence[int], loops: Loops) -> dict[int, Any]:
    """Values of the variables at all points of the loops."""
    values: dict[int, Any] = {}
    count = 1
    for number in needed:
        extents = np.broadcast_to(np.asarray(_evaluate(loops[number], values)), (count,))
        extents = np.maximum(extents, 0).astype(np.int64)
        values = {k: np.repeat(v, extents) for k, v in values.items()}
        ends = np.cumsum(extents)
        count = int(ends[-1]) if len(ends) else 0
        values[number] = np.arange(count) - np.repeat(ends - extents, extents)
    return values


def _evaluate(e: Expr, values: dict[int, Any]) -> Any:
    """An expression on arrays of equal length."""
    total: Any = 0
    for mono, factor in e.terms:
        part: Any = factor
        for atom in mono:
            if atom.is_var:
                part = part * values[atom.index]
            else:
                part = part * _FUNCTIONS[atom.kind](*(_evaluate(x, values) for x in atom.args))
        total = total + part
    return total


_FUNCTIONS: dict[str, Any] = {
    "floordiv": np.floor_divide,
    "mod": np.mod,
    "min": np.minimum,
    "max": np.maximum,
}


def kernel_bytes(kernel: Kernel, machine: Machine = MACHINES["cpu"]) -> int:
    """Bytes that a kernel moves."""
    buffers: dict[Buffer, list[Touch]] = {}
    for touch in kernel.touches:
        buffers.setdefault(touch.buffer, []).append(touch)
    footprint, total = _footprint(buffers), 0
    for buffer, touches in buffers.items():
        rows = max(1, kernel.rows, kernel.shared.get(buffer.name, 1))
        total += _buffer_bytes(buffer, touches, footprint // rows <= machine.cache, machine)
    return total


def _footprint(buffers: dict[Buffer, list[Touch]]) -> int:
    """Bytes of all that a kernel touches."""
    return sum(_elements(b, touches) * b.item for b, touches in buffers.items())


def _elements(buffer: Buffer, touches: Iterable[Touch], line: int = 1) -> int:
    """Distinct elements that touches reach."""
    mask = np.zeros(buffer.numel, dtype=bool)
    gathered = 0
    seen: set[tuple[Expr | None, Loops, int, Hashable]] = set()
    for touch in touches:
        key = (touch.index, touch.loops, touch.trips, touch.source)
        if key in seen:
            continue
        seen.add(key)
        if touch.index is None:
            gathered += touch.trips * (1 if touch.dense else max(1, line // buffer.item))
        else:
            mask |= touched(touch.index, touch.loops, buffer.numel)
    return min(buffer.numel, int(mask.sum()) + gathered)


def _buffer_bytes(buffer: Buffer, touches: Sequence[Touch], near: bool, machine: Machine) -> int:
    """Bytes of one buffer."""
    stores = [t for t in touches if t.store]
    loads = [t for t in touches if not t.store]
    total = _elements(buffer, stores, machine.line) if stores else 0
    combined = [t for t in stores if t.combine]
    total += _elements(buffer, combined, machine.line) if combined else 0
    own = touches[0].store
    if near:
        if loads and not own:
            total += _elements(buffer, loads, machine.line)
    else:
        passes: dict[int, list[Touch]] = {}
        for touch in loads:
            passes.setdefault(touch.step, []).append(touch)
        written = {t.step for t in stores}
        total += sum(
            _elements(buffer, part, machine.line)
            for step, part in passes.items()
            if not (own and step in written)
        )
    return total * buffer.item


def graph_bytes(graph: Graph) -> tuple[int, int]:
    """Bytes of the kernels and bytes of the calls of a graph."""
    return sum(map(kernel_bytes, graph.kernels)), sum(call.bytes for call in graph.calls)
