"""After the greedy rounds: undoes a choice where the priced total falls.

A fused node remembers what it was fused from. A move takes one of those parts out of it, and lets
the part and the rest each join a neighbour, or stay alone:

    greedy  a  [b c]  d      the pair that saves most is taken first
    move    [a b]  [c d]     but each half saves more with its other neighbour

A node may also join a neighbour as a whole where it fits a part of it but not what the part has
become: `d` and `[c b]`, whose loops are those of `b`, as `[d c] b`.

A move is made when the price of all nodes that it touches falls and no cycle closes, so the plan is
never worse than the greedy one. An estimate from the buffers that nodes share comes first and drops
nearly all moves; a number that grows with the graph and no faster (`EVALUATIONS`) are priced in
full.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from minductor.dialects.loop.ops import NestOp
from minductor.passes.loop.deps import MemoryDep
from minductor.passes.loop.fusion.graph import Node, fused
from minductor.passes.loop.fusion.legality import Refusal
from minductor.passes.loop.fusion.rounds import Fuser
from minductor.passes.loop.fusion.walk import Fetch

SWEEPS = 3
PARTS = 32
"""Parts of one node that are tried."""
REACH = 6
"""Nests before and after that touch one buffer."""
EVALUATIONS = (128, 1)
"""Pairs of nodes whose loops are compared: some for any graph, and some for each of its nests."""
DEPTH = 3
"""How far down in a node another one is inserted."""
SEARCH = 2048
"""Nodes that the search for a cycle may visit."""


@dataclass
class Move:
    """`old` nodes give way to `new` ones; `gain` in bytes."""

    gain: int
    old: list[Node]
    new: list[Node]


@dataclass
class Estimate:
    """What a move may gain, before anything is priced in full."""

    bound: int
    part: Node
    part_joins: list[Node]
    rest_joins: list[Node]


@dataclass
class Improver:
    """Moves over the nodes that a fuser has made."""

    fuser: Fuser
    gained: int = 0
    moves: int = 0
    evaluated: int = 0
    _left: int = 0
    _touching: dict[SSAValue, list[int]] = field(default_factory=dict[SSAValue, list[int]])
    _ops: dict[int, Operation] = field(default_factory=dict[int, Operation])
    _joined: dict[tuple[Node, Node], Node | None] = field(
        default_factory=dict[tuple[Node, Node], "Node | None"]
    )

    def run(self) -> None:
        """Sweeps over all nodes, until nothing moves."""
        graph = self.fuser.graph
        self._index()
        self._left = EVALUATIONS[0] + EVALUATIONS[1] * len(self._ops)
        for _ in range(SWEEPS):
            before = self.moves
            for node in graph.nodes:
                if not node.alone and graph.owner[node.ops[0]] is node:
                    self._improve(node)
            if self.moves == before:
                break
            self.fuser.run()
        if self.moves and self.fuser.logs.wants("fusion"):
            text = f"improved {self.moves} choices: {self.gained} bytes less"
            self.fuser.logs.log("fusion", text)

    def _index(self) -> None:
        for node in self.fuser.atoms:
            place = self.fuser.graph.position[node.ops[0]]
            self._ops[place] = node.ops[0]
            for buffer in node.touched:
                self._touching.setdefault(buffer, []).append(place)

    # -- candidates -------------------------------------------------------------------------------
    def _improve(self, node: Node) -> None:
        for found in self._estimates(node):
            if self._left <= 0:
                return
            move = self._priced(node, found)
            if move is not None:
                self._make(move)
                return

    def _estimates(self, node: Node) -> list[Estimate]:
        """Moves that may gain, the most promising first."""
        near = self._near(node)
        slack = self._slack(node)
        if not near and slack <= self.fuser.pricer.machine.launch_bytes:
            return []
        found = [self._whole(node, near)]
        counts: dict[MemoryDep, int] = {}
        for info in node.infos:
            for dep in (*info.reads, *info.writes):
                counts[dep] = counts.get(dep, 0) + 1
        found += [self._estimate(node, part, near, counts, slack) for part in _parts(node)]
        found = [one for one in found if one.bound > 0]
        found.sort(key=lambda one: -one.bound)
        return found

    def _whole(self, node: Node, near: list[Node]) -> Estimate:
        """A node that joins a neighbour: as they are they were refused, so one has parts."""
        near = [n for n in near if (node.parts or n.parts) and not self._around(node, n)]
        joins = self._joins(node.ops, node.deps, near)
        return Estimate(joins[0][0] if joins else 0, node, [n for _, n in joins], [])

    def _around(self, one: Node, other: Node) -> bool:
        """Whether two nodes as one would close a cycle."""
        first, last = (one, other) if one.order < other.order else (other, one)
        return self.fuser.graph.path_outside(first, last)

    def _estimate(
        self, node: Node, part: Node, near: list[Node], counts: dict[MemoryDep, int], slack: int
    ) -> Estimate:
        launch = self.fuser.pricer.machine.launch_bytes
        mine: dict[MemoryDep, int] = {}
        for info in part.infos:
            for dep in (*info.reads, *info.writes):
                mine[dep] = mine.get(dep, 0) + 1
        cut = [dep for dep, n in mine.items() if counts.get(dep, 0) > n]
        rest = [dep for dep, n in counts.items() if mine.get(dep, 0) < n]
        nests = set(node.ops)
        loss = sum(self._saved(dep, nests) for dep in cut)
        part_joins = self._joins(part.ops, mine, near)
        rest_joins = self._joins(nests.difference(part.ops), rest, near)
        gains = [joins[0][0] + launch for joins in (part_joins, rest_joins) if joins]
        bound = slack - loss - launch + sum(gains)
        return Estimate(bound, part, [n for _, n in part_joins], [n for _, n in rest_joins])

    def _joins(
        self, part: Collection[Operation], deps: Collection[MemoryDep], near: list[Node]
    ) -> list[tuple[int, Node]]:
        """The neighbours that share most with a part, and how much that may save."""
        touched = {dep.buffer for dep in deps}
        found: list[tuple[int, Node]] = []
        for other in near:
            same = [dep for dep in other.deps if dep.buffer in touched]
            if same:
                nests = {*part, *other.ops}
                found.append((sum(self._saved(dep, nests) for dep in same), other))
        found.sort(key=lambda one: -one[0])
        return found[:2]

    def _saved(self, dep: MemoryDep, nests: set[Operation]) -> int:
        """Bytes that need not move when all of some nests that touch a dep share its loops."""
        pricer = self.fuser.pricer
        size = pricer.value(dep.bytes)
        inside = isinstance(dep.buffer.owner, NestOp)
        return 2 * size if inside and not pricer.needed_outside(dep.buffer, nests) else size

    def _slack(self, node: Node) -> int:
        """What a node costs above moving its bytes once: repeated passes, idle workers."""
        pricer = self.fuser.pricer
        moved = pricer.moved(node.infos, node.axes, node.made)
        once = pricer.traffic(dict.fromkeys(moved, Fetch()))
        return pricer.node_time(node) - pricer.machine.launch_bytes - once

    def _near(self, node: Node) -> list[Node]:
        """Nodes that touch a buffer of this one, near in the program."""
        graph, out = self.fuser.graph, dict[Node, None]()
        for buffer in node.touched:
            places = self._touching[buffer]
            for op in node.ops:
                at = bisect_left(places, graph.position[op])
                for place in places[max(0, at - REACH) : at + REACH + 1]:
                    other = graph.owner[self._ops[place]]
                    if other is not node and not other.alone:
                        out[other] = None
        return list(out)

    # -- prices -----------------------------------------------------------------------------------
    def _priced(self, node: Node, found: Estimate) -> Move | None:
        """The best legal form of a move, if it gains."""
        pricer = self.fuser.pricer
        if found.part is node:
            ends = self._ends(node, found.part_joins)[1:]
            moves = [Move(gain, [node, other], [new]) for gain, other, new in ends if other]
        else:
            rest = self._without(node, found.part)
            if rest is None:
                return None
            split = pricer.node_time(node) - pricer.node_time(found.part) - pricer.node_time(rest)
            moves = [
                Move(split + a + b, [node, *(n for n in (left, right) if n)], [new, other])
                for a, left, new in self._ends(found.part, found.part_joins)
                for b, right, other in self._ends(rest, found.rest_joins)
                if left is not right or left is None
            ]
        moves.sort(key=lambda one: -one.gain)
        return next((one for one in moves if one.gain > 0 and not self._cycle(one)), None)

    def _ends(self, part: Node, joins: list[Node]) -> list[tuple[int, Node | None, Node]]:
        """What may become of a part: (gain, the neighbour that it joins, the node)."""
        pricer = self.fuser.pricer
        out: list[tuple[int, Node | None, Node]] = [(0, None, part)]
        for other in joins:
            new = self._insert(part, other, DEPTH) or self._insert(other, part, DEPTH)
            if new is not None:
                gain = pricer.node_time(part) + pricer.node_time(other) - pricer.node_time(new)
                out.append((gain, other, new))
        return out

    def _join(self, one: Node, other: Node) -> Node | None:
        """Two nodes as one, if their loops fit."""
        key = (one, other) if one.first < other.first else (other, one)
        if key not in self._joined:
            self._left -= 1
            self.evaluated += 1
            self._joined[key] = join(self.fuser, one, other)
        return self._joined[key]

    def _insert(self, one: Node, other: Node, depth: int) -> Node | None:
        """Two nodes as one: as they are, or `one` first with a part of the other."""
        new = self._join(one, other)
        if new is not None or other.parts is None or depth == 0:
            return new
        for inner, sibling in (other.parts, other.parts[::-1]):
            if self._left > 0 and not one.touched.keys().isdisjoint(inner.touched):
                new = self._insert(one, inner, depth - 1)
                new = new and self._join(new, sibling)
                if new is not None:
                    return new
        return None

    def _without(self, node: Node, part: Node) -> Node | None:
        """A node fused again without one of its parts."""
        if node.parts is None:
            return None
        for inner, sibling in (node.parts, node.parts[::-1]):
            if inner is part:
                return sibling
            if part.ops[0] in inner.ops:
                left = self._without(inner, part)
                return None if left is None else self._join(left, sibling)
        return None

    def _cycle(self, move: Move) -> bool:
        """Whether the new nodes would close a cycle; a search too long counts as one."""
        graph, old = self.fuser.graph, set(move.old)
        owner = {op: node for node in move.new for op in node.ops}
        limit = max(n.order for n in move.old)

        def after(node: Node) -> dict[Node, None]:
            if node not in move.new and old.isdisjoint(node.succs):
                return node.succs
            ops = [op for one in node.ops for op in graph.after.get(one, ())]
            return {owner.get(op) or graph.owner[op]: None for op in ops}

        met: set[tuple[Node, Node]] = set()
        for start in move.new:
            todo = [n for n in after(start) if n is not start]
            seen = set(todo)
            while todo:
                node = todo.pop()
                if node in move.new:
                    met.add((start, node))
                elif node.order <= limit:
                    found = after(node)
                    if start in found or len(seen) > SEARCH:
                        return True
                    todo += [n for n in found if n not in seen]
                    seen.update(found)
        return any((b, a) in met for a, b in met)

    # -- making a move ----------------------------------------------------------------------------
    def _make(self, move: Move) -> None:
        fuser = self.fuser
        for node in move.new:
            fuser.graph.adopt(node)
        fuser.graph.regroup(move.old, move.new)
        self.moves += 1
        self.gained += move.gain
        olds, news = (", ".join(n.name for n in nodes) for nodes in (move.old, move.new))
        fuser.moved.append((olds, news, move.gain))
        if fuser.logs.wants("fusion"):
            fuser.logs.log("fusion", f"regrouping {olds} as {news} saves {move.gain} bytes")


def join(fuser: Fuser, one: Node, other: Node) -> Node | None:
    """Two nodes as one node outside the graph; None where their loops do not fit."""
    graph = fuser.graph
    ours, theirs = set(one.ops), set(other.ops)
    forth = any(op in theirs for x in one.ops for op in graph.after.get(x, ()))
    back = any(op in ours for x in other.ops for op in graph.after.get(x, ()))
    if forth and back:
        return None
    first, last = (other, one) if back or (not forth and other.first < one.first) else (one, other)
    fit = fuser.share(first, last, forth or back)
    return None if isinstance(fit, Refusal) else fused(first, last, fit, -1)


def _parts(node: Node) -> Iterator[Node]:
    """Everything that a node was fused from, the largest first."""
    todo, count = [node], 0
    for one in todo:
        for part in one.parts or ():
            if count == PARTS:
                return
            count += 1
            todo.append(part)
            yield part
