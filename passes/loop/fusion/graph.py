"""The graph that fusion works on: nodes for nests, calls and views, and its order.

Edges come from SSA uses of tensors, from binders of `uN` symbols, from the order of calls with
effects, and from updates (every reader of the old value before the nest that updates it).

The order is kept topological while nodes merge: a path between two nodes can only lead through
nodes that lie between them in the order, so the search for a cycle is local, and a merge reorders
no more than that window.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.ir import Attribute, Block, Operation, SSAValue

from minductor.dialects.aten.verify import type_symbols
from minductor.dialects.attrs import DomainAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.loop.ops import CommitOp, ExternOp, NestOp, ViewOp
from minductor.dialects.loop.verify import op_exprs
from minductor.dialects.types import TensorType
from minductor.passes.loop.deps import (
    Extents,
    MemoryDep,
    NestDeps,
    analyse,
    buffer_name,
    iteration_group,
)

Vars = tuple[int, ...]


@dataclass(eq=False)
class Node:
    """One kernel to be: nests that share loops, or one call, or one view.

    `number` is never used again; `first` is the place of the first op in the program. `axes[nest]`
    names, for each loop that the nests share, the nest's variable that walks it.
    """

    number: int
    name: str
    kind: str
    ops: list[Operation]
    infos: list[NestDeps]
    axes: dict[NestOp, Vars]
    order: int
    first: int
    reads: dict[MemoryDep, None] = field(default_factory=dict[MemoryDep, None])
    writes: dict[MemoryDep, None] = field(default_factory=dict[MemoryDep, None])
    made: dict[SSAValue, NestDeps | None] = field(default_factory=dict[SSAValue, "NestDeps | None"])
    preds: dict[Node, None] = field(default_factory=dict["Node", None])
    succs: dict[Node, None] = field(default_factory=dict["Node", None])
    size: int = 0
    parts: tuple[Node, Node] | None = None
    """The two nodes that it was fused from."""

    @cached_property
    def device(self) -> str:
        """The device of the first result."""
        for op in self.ops:
            for result in op.results:
                if isinstance(result.type, TensorType):
                    return result.type.device
        return "cpu"

    @cached_property
    def is_reduction(self) -> bool:
        """Some nest reduces or scans."""
        return any(i.has_reduce or i.has_scan for i in self.infos)

    def is_across(self, info: NestDeps) -> bool:
        """A nest's reduce variables walk the shared loops."""
        return reduces_along(info, self.axes)

    @cached_property
    def alone(self) -> str:
        """Why the node fuses with none; empty if it may."""
        if self.kind != "nest":
            return "is a call" if self.kind == "extern" else "is a view"
        return next((why for info in self.infos if (why := scatters(info))), "")

    @cached_property
    def group(self) -> tuple[Extents, Extents]:
        """The iteration group: of a reducing nest if there is one, else of the first."""
        return iteration_group(next((i for i in self.infos if i.has_reduce), self.infos[0]))

    @cached_property
    def extents(self) -> Extents:
        """Extents of the loops that the nests share."""
        info = self.infos[0]
        return tuple(info.domain.extents[v] for v in self.axes[info.nest])

    @cached_property
    def deps(self) -> dict[MemoryDep, None]:
        """All reads and writes."""
        return {**self.reads, **self.writes}

    @cached_property
    def touched(self) -> dict[SSAValue, None]:
        """Buffers that the node reads or writes."""
        return dict.fromkeys(dep.buffer for dep in self.deps)


@dataclass
class Fit:
    """How two nodes share loops: the axes, and the analysis of every nest."""

    axes: dict[NestOp, Vars]
    infos: list[NestDeps]

    @cached_property
    def made(self) -> dict[SSAValue, NestDeps | None]:
        """What the nests make."""
        return {r: info for info in self.infos for r in info.nest.results}

    def is_across(self, info: NestDeps) -> bool:
        """A nest's reduce variables walk the shared loops."""
        return reduces_along(info, self.axes)

    @property
    def extents(self) -> Extents:
        """Extents of the shared loops."""
        info = self.infos[0]
        return tuple(info.domain.extents[v] for v in self.axes[info.nest])


def fused(first: Node, last: Node, fit: Fit, number: int) -> Node:
    """The node of two that share loops, with no edges yet."""
    node = Node(
        number=number,
        name=f"{first.name}_{last.name}",
        kind="nest",
        ops=first.ops + last.ops,
        infos=fit.infos,
        axes=fit.axes,
        order=max(first.order, last.order),
        first=min(first.first, last.first),
        made=fit.made,
        size=first.size + last.size,
        parts=(first, last),
    )
    node.reads = {d: None for i in fit.infos for d in i.reads if d.buffer not in fit.made}
    node.writes = {d: None for i in fit.infos for d in i.writes}
    return node


def reduces_along(info: NestDeps, axes: dict[NestOp, Vars]) -> bool:
    """The shared loops are walked by reduce variables of a nest."""
    return info.has_reduce and any(v >= len(info.domain.parallel) for v in axes[info.nest])


class FusionGraph:
    """All nodes of a function's block, in a topological order."""

    def __init__(self, block: Block, symbols: Ranges | None = None):
        self.block = block
        self.symbols = symbols or Ranges()
        self.slots: list[Node | None] = []
        self.tail: list[Operation] = []
        self.owner: dict[Operation, Node] = {}
        self._binders: dict[Atom, Node] = {}
        self._last_effect: Node | None = None
        self._names = {"op": 0, "view": 0}
        self._made = 0
        self.position: dict[Operation, int] = {}
        self.before: dict[Operation, tuple[Operation, ...]] = {}
        for op in block.ops:
            if isinstance(op, CommitOp) or op is block.last_op:
                self.tail.append(op)
            else:
                self._add(op)

    # -- building ---------------------------------------------------------------------------------
    def _add(self, op: Operation) -> None:
        word = "view" if isinstance(op, ViewOp) else "op"
        node = _node_of(op, f"{word}{self._names[word]}", len(self.slots))
        self._names[word] += 1
        self.slots.append(node)
        self.position[op] = self._made
        self._made += 1
        self.owner[op] = node
        for before in self._needed(op):
            connect(before, node)
        for before in self._readers_of_updated(op):
            connect(before, node)
        if isinstance(op, ExternOp) and (op.ordered is not None or op.random is not None):
            if self._last_effect is not None:
                connect(self._last_effect, node)
            self._last_effect = node
        self.before[op] = tuple(n.ops[0] for n in node.preds)
        if isinstance(op, ExternOp):
            # a call binds a symbol by a number, or by the size of what it gives
            for result in op.results:
                for atom in filter(lambda a: a.kind == "u", type_symbols(result.type)):
                    self._binders.setdefault(atom, node)

    def _needed(self, op: Operation) -> Iterator[Node]:
        for inner in op.walk():
            for value in inner.operands:
                found = self._maker(value)
                if found is not None and found is not self.owner[op]:
                    yield found
            if self._binders:
                for atom in _unbacked(inner):
                    if (binder := self._binders.get(atom)) is not None:
                        yield binder

    def _maker(self, value: SSAValue) -> Node | None:
        owner = value.owner
        return None if isinstance(owner, Block) else self.owner.get(owner)

    def _readers_of_updated(self, op: Operation) -> Iterator[Node]:
        """Nodes so far that read what `op` overwrites, through views too."""
        todo = list(_overwritten(op))
        while todo:
            value = todo.pop()
            for use in value.uses:
                top = _top_level(use.operation, self.block)
                node = None if top is None else self.owner.get(top)
                if node is None or top is op:
                    continue
                yield node
                if isinstance(top, ViewOp):
                    todo.append(top.result)

    # -- questions --------------------------------------------------------------------------------
    def path_outside(self, first: Node, last: Node) -> bool:
        """Whether a path of at least one other node leads from `first` to `last`."""
        limit = last.order
        todo = [n for n in first.succs if n is not last and n.order < limit]
        seen = set(todo)
        while todo:
            for after in todo.pop().succs:
                if after is last:
                    return True
                if after.order < limit and after not in seen:
                    seen.add(after)
                    todo.append(after)
        return False

    # -- merging ----------------------------------------------------------------------------------
    def merge(self, first: Node, last: Node, fit: Fit) -> Node:
        """Fuse two nodes without a path between them that leads outside; `first` comes first."""
        merged = fused(first, last, fit, self._made)
        self._made += 1
        self._replace(first, last, merged)
        for old in (first, last):
            for before in old.preds:
                del before.succs[old]
                if before is not first and before is not last:
                    connect(before, merged)
            for after in old.succs:
                del after.preds[old]
                if after is not first and after is not last:
                    connect(merged, after)
            for op in old.ops:
                self.owner[op] = merged
        return merged

    def _replace(self, first: Node, last: Node, merged: Node) -> None:
        """Put `merged` between what does not depend on `first` and what does."""
        start, end = first.order, last.order
        after: set[Node] = {first}
        keep: list[Node] = []
        move: list[Node] = []
        for node in self.slots[start + 1 : end]:
            if node is None:
                continue
            depends = any(before in after for before in node.preds)
            (move if depends else keep).append(node)
            if depends:
                after.add(node)
        self._fill(start, end, [*keep, merged, *move])

    # -- undoing ----------------------------------------------------------------------------------
    @cached_property
    def after(self) -> dict[Operation, list[Operation]]:
        """The ops that need each op, in the program as it was; `before` the other way around."""
        out: dict[Operation, list[Operation]] = {}
        for op, needed in self.before.items():
            for one in needed:
                out.setdefault(one, []).append(op)
        return out

    def adopt(self, node: Node) -> Node:
        """A node made outside the graph gets a number."""
        node.number = self._made
        self._made += 1
        return node

    def regroup(self, old: Sequence[Node], new: Sequence[Node]) -> None:
        """Put nodes in place of others that hold the same ops. They must not close a cycle."""
        gone = set(old)
        for node in old:
            for before in node.preds:
                before.succs.pop(node, None)
            for after in node.succs:
                after.preds.pop(node, None)
        for node in new:
            node.preds, node.succs = {}, {}
            self.owner.update(dict.fromkeys(node.ops, node))
        for node in new:
            for op in node.ops:
                for one in self.before[op]:
                    if (other := self.owner[one]) is not node:
                        connect(other, node)
                for one in self.after.get(op, ()):
                    if (other := self.owner[one]) is not node:
                        connect(node, other)
        start, end = min(n.order for n in old), max(n.order for n in old)
        inside = [n for n in self.slots[start : end + 1] if n is not None and n not in gone]
        inside += new
        while end - start + 1 < len(inside):
            # the slots of what has been fused lie somewhere around
            if end + 1 < len(self.slots):
                end += 1
                found = self.slots[end]
            else:
                start -= 1
                found = self.slots[start]
            inside += [] if found is None else [found]
        self._fill(start, end, _sorted(inside))

    def _fill(self, start: int, end: int, nodes: Sequence[Node]) -> None:
        self.slots[start : end + 1] = [*nodes, *[None] * (end - start + 1 - len(nodes))]
        for k, node in enumerate(nodes):
            node.order = start + k

    @property
    def nodes(self) -> list[Node]:
        """The nodes in order."""
        return [node for node in self.slots if node is not None]


def scatters(info: NestDeps) -> str:
    """Why a nest keeps its loops to itself: it combines into, or addresses by data, its result."""
    for access in info.stores:
        if access.combine or access.operands:
            return f"scatters into {buffer_name(access.value)}"
    return ""


def connect(before: Node, after: Node) -> None:
    """An edge; parallel edges are one."""
    before.succs[after] = None
    after.preds[before] = None


def _sorted(nodes: Sequence[Node]) -> list[Node]:
    """Nodes in a topological order that stays near the one they have."""
    inside = set(nodes)
    missing = {n: sum(before in inside for before in n.preds) for n in nodes}
    ready = [(n.order, n.number, n) for n in nodes if not missing[n]]
    heapq.heapify(ready)
    out: list[Node] = []
    while ready:
        node = heapq.heappop(ready)[2]
        out.append(node)
        for after in node.succs:
            if after in inside:
                missing[after] -= 1
                if not missing[after]:
                    heapq.heappush(ready, (after.order, after.number, after))
    assert len(out) == len(nodes), "a fused node closes a cycle"
    return out


def _unbacked(op: Operation) -> Iterator[Atom]:
    for e in _exprs_of(op):
        yield from e.vars("u")


def _exprs_of(op: Operation) -> Iterator[Expr]:
    yield from op_exprs(op)
    types: list[Attribute] = [r.type for r in op.results]
    for type_ in types:
        if isinstance(type_, TensorType):
            yield from type_.sizes
            yield from type_.strides
    domain = op.properties.get("domain")
    if isinstance(domain, DomainAttr):
        yield from domain.data.extents


def _overwritten(op: Operation) -> Iterator[SSAValue]:
    if isinstance(op, NestOp):
        yield from op.operands
    elif isinstance(op, ExternOp) and op.mutates is not None:
        for k in op.mutates.data:
            yield op.operands[int(k)]


def _top_level(op: Operation, block: Block) -> Operation | None:
    """The op of `block` that is or holds an op."""
    here: Operation | None = op
    while here is not None and here.parent is not block:
        here = here.parent_op()
    return here


def _node_of(op: Operation, name: str, number: int) -> Node:
    if not isinstance(op, NestOp):
        kind = "nop" if isinstance(op, ViewOp) else "extern"
        made: dict[SSAValue, NestDeps | None] = dict.fromkeys(op.results)
        return Node(number, name, kind, [op], [], {}, number, number, made=made)
    info = analyse(op)
    node = Node(number, name, "nest", [op], [info], {}, number, number)
    node.axes[op] = tuple(range(len(info.domain.parallel)))
    node.reads, node.writes = dict(info.reads), dict(info.writes)
    node.made = dict.fromkeys(op.results, info)
    node.size = info.ops + len(info.loads) + len(info.stores)
    return node
