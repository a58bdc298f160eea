"""The cheapest legal partition of a small graph, by trying them all.

The yardstick for the choice that `loop-fuse` makes: the same legality and the same price, no greed.
Nests that touch a common buffer, directly or through others, form a component; every set of nests
of one is fused in every way that is legal, and every partition into such sets is priced. Which
loops a set shares depends on the order in which it is fused: the cheapest `FORMS` are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from minductor.passes.loop.fusion.graph import Node
from minductor.passes.loop.fusion.improve import join
from minductor.passes.loop.fusion.rounds import Fuser

FORMS = 3


@dataclass(frozen=True)
class Optimum:
    """The cheapest partition: its nodes, and its price in bytes.

    `exact` is false where the components' best partitions close a cycle through each other; the
    price is a lower bound then.
    """

    nodes: list[Node]
    price: int
    exact: bool


def optimum(fuser: Fuser, limit: int) -> Optimum | None:
    """The optimum of a graph that has not been fused; None where a component has more nests than
    `limit`. Time grows as 3 to the nests of a component."""
    parts = list(components(fuser.atoms))
    if any(len(part) > limit for part in parts):
        return None
    nodes: list[Node] = []
    for part in parts:
        nodes += _Component(fuser, part).best()
    price = sum(_time(fuser, node) for node in nodes)
    return Optimum(nodes, price, acyclic(fuser, nodes))


def components(atoms: Sequence[Node]) -> Iterator[list[Node]]:
    """Nests that may fuse, by the buffers that they touch."""
    owner: dict[object, int] = {}
    groups: dict[int, list[Node]] = {}
    for number, node in enumerate(atoms):
        met = sorted({owner[b] for b in node.touched if b in owner} if not node.alone else set())
        target = met[0] if met else number
        groups.setdefault(target, []).append(node)
        for old in met[1:]:
            groups[target] += groups.pop(old)
        if not node.alone:
            owner.update(dict.fromkeys(node.touched, target))
            owner.update({b: target for b, n in owner.items() if n in met})
    for group in groups.values():
        yield sorted(group, key=lambda n: n.first)


def acyclic(fuser: Fuser, nodes: Sequence[Node]) -> bool:
    """Whether a partition of some nests, with all others alone, has a topological order."""
    graph = fuser.graph
    owner: dict[Operation, int] = {op: i for i, op in enumerate(graph.before)}
    for i, node in enumerate(nodes, len(owner)):
        owner.update(dict.fromkeys(node.ops, i))
    missing: dict[int, set[int]] = {i: set() for i in owner.values()}
    after: dict[int, set[int]] = {i: set() for i in owner.values()}
    for op, needed in graph.before.items():
        for one in needed:
            if owner[one] != owner[op]:
                missing[owner[op]].add(owner[one])
                after[owner[one]].add(owner[op])
    ready = [i for i, needed in missing.items() if not needed]
    done = 0
    while ready:
        one = ready.pop()
        done += 1
        for other in after[one]:
            missing[other].discard(one)
            if not missing[other]:
                ready.append(other)
    return done == len(missing)


def _time(fuser: Fuser, node: Node) -> int:
    return fuser.pricer.time(node.infos, node.axes, node.made)


class _Component:
    """The search in one component; sets of its nests are bit masks."""

    def __init__(self, fuser: Fuser, atoms: Sequence[Node]):
        self.fuser = fuser
        self.atoms = atoms
        self.forms: dict[int, list[tuple[int, Node]]] = {}
        for mask in range(1, 1 << len(atoms)):
            self.forms[mask] = self._forms(mask)
        self.price = sum(_time(fuser, node) for node in atoms)
        self.found = list(atoms)

    def best(self) -> list[Node]:
        """The cheapest partition without a cycle."""
        self._search((1 << len(self.atoms)) - 1, 0, [])
        return self.found

    def _forms(self, mask: int) -> list[tuple[int, Node]]:
        if mask & (mask - 1) == 0:
            node = self.atoms[mask.bit_length() - 1]
            return [(_time(self.fuser, node), node)]
        low = mask & -mask
        made: dict[object, tuple[int, Node]] = {}
        part = (mask - 1) & mask
        while part:
            if part & low:
                for _, one in self.forms[part]:
                    for _, other in self.forms[mask ^ part]:
                        node = join(self.fuser, one, other)
                        if node is not None:
                            key = _form(node)
                            made.setdefault(key, (_time(self.fuser, node), node))
            part = (part - 1) & mask
        return sorted(made.values(), key=lambda item: item[0])[:FORMS]

    def _search(self, left: int, price: int, nodes: list[Node]) -> None:
        if price >= self.price:
            return
        if not left:
            if acyclic(self.fuser, nodes):
                self.price, self.found = price, list(nodes)
            return
        low, rest = left & -left, left & (left - 1)
        part = rest
        while True:
            forms = self.forms[part | low]
            if forms:
                cost, node = forms[0]
                self._search(rest ^ part, price + cost, [*nodes, node])
            if not part:
                return
            part = (part - 1) & rest


def _form(node: Node) -> object:
    """Two ways to fuse a set are one where every nest has the same loops."""
    infos = sorted(node.infos, key=lambda info: id(info.nest))
    return tuple((info.domain.extents, node.axes[info.nest]) for info in infos)
