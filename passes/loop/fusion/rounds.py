"""Rounds of fusion: pairs that touch one buffer, the legal ones priced, the best first.

A pair is looked at once for as long as both nodes stay what they are. After a round a fused node is
a candidate again; up to ten rounds, or until nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from minductor.passes.logs import LogSink
from minductor.passes.loop.deps import MemoryDep
from minductor.passes.loop.fusion.graph import Fit, FusionGraph, Node
from minductor.passes.loop.fusion.legality import Refusal, Rules, can_fuse, can_share
from minductor.passes.loop.fusion.logs import node_text
from minductor.passes.loop.fusion.price import Pricer

Moved = tuple[str, str, int]
"""Nodes before and after the improvement step regrouped them, and the bytes that it saved."""


@dataclass(frozen=True)
class Decision:
    """What became of a pair: names, bytes that it shares, the reason of a refusal (or empty).

    saved: bytes that the price says fusing it saves, launch and idle units among them.
    """

    first: str
    last: str
    shared: int
    reason: str = ""
    saved: int = 0

    @property
    def accepted(self) -> bool:
        """The pair was fused."""
        return not self.reason

    def text(self) -> str:
        """`op0, op1: no shared data {0}`, or `op0, op1: saves 4096 {4096}` of a fused pair."""
        return (
            f"{self.first}, {self.last}: {self.reason or f'saves {self.saved}'} {{{self.shared}}}"
        )


@dataclass
class Candidate:
    """A pair that may fuse: `score` is (bytes saved, closeness in the order)."""

    score: tuple[int, int]
    first: Node
    last: Node
    fit: Fit


@dataclass
class Fuser:
    """Fuses the nodes of a graph.

    `consumers`, `neighbours`: how many later nodes of a buffer its maker, or a reader, pairs with.
    `priced`: a pair must save time by the price, and is ranked by what it saves.
    """

    graph: FusionGraph
    rules: Rules
    pricer: Pricer
    logs: LogSink
    priced: bool = True
    max_rounds: int = 10
    consumers: int = 32
    neighbours: int = 6
    apart: frozenset[tuple[str, str]] = frozenset()
    decisions: list[Decision] = field(default_factory=list[Decision])
    tried: int = 0
    moved: list[Moved] = field(default_factory=list[Moved])
    """What the improvement step regrouped."""
    atoms: list[Node] = field(default_factory=list[Node])
    """The nests as they were before anything fused."""
    _seen: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])

    def __post_init__(self) -> None:
        self.atoms = [node for node in self.graph.nodes if node.kind == "nest"]

    def run(self) -> None:
        """All rounds."""
        for number in range(1, self.max_rounds + 1):
            before = self.graph.nodes
            count = self._round(f"({number}/{self.max_rounds})", before)
            if count == 0 or len(before) - count <= 1:
                break

    def _round(self, label: str, nodes: list[Node]) -> int:
        talk = self.logs.wants("fusion")
        if talk:
            lines = [f"===== attempting fusion {label}: {len(nodes)} nodes ====="]
            lines += [f"  {node_text(node)}" for node in nodes]
            self.logs.log("fusion", "\n".join(lines))
        found = list(self._candidates(nodes))
        if talk:
            self.logs.log("fusion", f"found {len(found)} possible fusions")
        found.sort(key=lambda c: c.score, reverse=True)
        count = sum(self._fuse(candidate) for candidate in found)
        if talk:
            left = len(nodes) - count
            self.logs.log(
                "fusion",
                f"completed fusion round {label}: fused {len(nodes)} nodes into {left} nodes",
            )
        return count

    # -- pairs ------------------------------------------------------------------------------------
    def pairs(self, nodes: list[Node]) -> Iterator[tuple[Node, Node]]:
        """Pairs of nodes that touch one buffer, each once; never all against all."""
        groups: dict[SSAValue, list[Node]] = {}
        for node in nodes:
            for buffer in node.touched:
                groups.setdefault(buffer, []).append(node)
        for buffer, group in groups.items():
            for i, first in enumerate(group):
                reach = self.consumers if buffer in first.made else self.neighbours
                for last in group[i + 1 : i + 1 + reach]:
                    key = (first.number, last.number)
                    if key not in self._seen:
                        self._seen.add(key)
                        yield first, last

    def _candidates(self, nodes: list[Node]) -> Iterator[Candidate]:
        for first, last in self.pairs(nodes):
            self.tried += 1
            deps = shared_data(first, last)
            shared = self.pricer.bytes(deps)
            if self.logs.wants("fusion"):
                text = f"{first.name} and {last.name} has {shared} shared data"
                self.logs.log("fusion", text)
            fit = self._legal(first, last, deps, shared)
            gain = shared
            if not isinstance(fit, Refusal) and self.priced:
                gain = self.pricer.gain(first, last, fit)
                if gain <= 0:
                    fit = Refusal(f"it would cost {-gain} bytes more")
            if isinstance(fit, Refusal):
                self._refuse(first, last, shared, fit.reason)
            else:
                yield Candidate((gain, -abs(last.first - first.first)), first, last, fit)

    def _legal(self, first: Node, last: Node, deps: list[MemoryDep], shared: int) -> Fit | Refusal:
        if self._apart(first, last):
            return Refusal("the plan keeps them apart")
        why = self._too_little(first, last, shared, last in first.succs)
        fit = can_fuse(self.graph, first, last, [] if why else deps, self.rules)
        return Refusal(why) if why and isinstance(fit, Refusal) else fit

    def share(self, first: Node, last: Node, vertical: bool) -> Fit | Refusal:
        """How two nodes share loops, whether or not they stand in the graph as they are; what else
        is in it is not asked. `vertical`: `last` needs `first`."""
        if self._apart(first, last):
            return Refusal("the plan keeps them apart")
        deps = shared_data(first, last)
        why = self._too_little(first, last, self.pricer.bytes(deps), vertical)
        shared = [] if why else deps
        fit = can_share(first, last, shared, self.rules, self.graph.symbols, vertical)
        return Refusal(why) if why and isinstance(fit, Refusal) else fit

    def _apart(self, first: Node, last: Node) -> bool:
        return bool(self.apart) and any(
            (a, b) in self.apart or (b, a) in self.apart
            for a in first.name.split("_")
            for b in last.name.split("_")
        )

    def _too_little(self, first: Node, last: Node, shared: int, vertical: bool) -> str:
        """Why what two nodes read in common is too little; empty if it is not."""
        if not self.rules.bar or not shared or vertical or not unlike(first, last):
            return ""
        least = min(self.pricer.node_bytes(first), self.pricer.node_bytes(last))
        if shared * 100 >= self.rules.bar * least:
            return ""
        return f"they share too little of the {least} bytes that one moves"

    def _refuse(self, first: Node, last: Node, shared: int, reason: str) -> None:
        self.decisions.append(Decision(first.name, last.name, shared, reason))
        if self.logs.wants("fusion"):
            self.logs.log("fusion", f"cannot fuse {first.name} with {last.name}: {reason}")

    # -- fusing -----------------------------------------------------------------------------------
    def _fuse(self, candidate: Candidate) -> bool:
        """Fuse a pair if both nodes are still there, or their successors still may."""
        first = self.graph.owner[candidate.first.ops[0]]
        last = self.graph.owner[candidate.last.ops[0]]
        if first is last:
            return False
        if last.order < first.order:
            first, last = last, first
        fit, gain = candidate.fit, candidate.score[0]
        deps = shared_data(first, last)
        shared = self.pricer.bytes(deps)
        if first is candidate.first and last is candidate.last:
            if self.graph.path_outside(first, last):
                return False
        else:
            found = self._legal(first, last, deps, shared)
            if isinstance(found, Refusal):
                return False
            fit = found
            gain = self.pricer.gain(first, last, fit) if self.priced else shared
            if self.priced and gain <= 0:
                return False
        if self.logs.wants("fusion"):
            self.logs.log("fusion", f"fusing {first.name} with {last.name}")
        self.decisions.append(Decision(first.name, last.name, shared, saved=gain))
        self.graph.merge(first, last, fit)
        return True


def unlike(first: Node, last: Node) -> bool:
    """Whether two nodes iterate differently; alike ones need to share only something."""
    return first.kind != "nest" or last.kind != "nest" or first.group != last.group


def shared_data(first: Node, last: Node) -> list[MemoryDep]:
    """Deps that both nodes have: one buffer through one index over one range."""
    theirs = last.deps
    return [dep for dep in first.deps if dep in theirs]
