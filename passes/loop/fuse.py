"""Fuses nests into groups, each of which becomes one kernel.

    mini-opt m.mlir -p loop-fuse --print-remarks --logs fusion

before:

    %buf0 = loop.nest (d0: 1024) reduce (d1: 1024) -> (%o : f32[1024]) origins ["sum"] {..}
    %buf1 = loop.nest (d0: 1024) -> (%o : f32[1024]) origins ["relu"] { .. load %buf0[d0] .. }
    func.return %buf1

after; `buf0` never reaches memory:

    %buf1 = loop.group "relu_sum" -> f32[1024] bytes <floor 4198400, unfused .., planned ..> {
      %buf0 = nest ..
      %buf1 = nest ..
      yield %buf1
    }

Nodes are nests, calls and views; edges are what one needs of the other. In up to ten rounds, pairs
that touch one buffer are checked (`fusion/legality.py`), priced in bytes (`fusion/price.py`), and
fused best first. Each pair leaves a remark. `preset=seed` fixes the behaviour of the reference
programs: legal pairs fuse, ranked by shared bytes and closeness; the default also asks the price,
and matches loops in another order. `preset=most` has the default's rules without their bounds, and
asks no price.

`improve=true`, the default outside `preset=seed`, then undoes choices of the rounds where that
lowers the priced total (`fusion/improve.py`).

On a CPU a reduction over the loops of a group may join it (`across`): it gathers its result in an
array while they run, so that rows and columns of the same data are summed in one pass.

`plan=FILE` writes the plan with its prices and pairs, `explain=true` keeps the pairs, accepted and
refused, on the function for `-t plan`, and `plan-in=FILE` obeys an edited plan
(`fusion/plan_file.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import PassFailedException

from minductor.dialects.attrs import Known, SymbolsAttr
from minductor.passes.base import MiniPass
from minductor.passes.logs import LogSink, logs_of
from minductor.passes.loop.fusion.build import write_groups
from minductor.passes.loop.fusion.graph import FusionGraph
from minductor.passes.loop.fusion.improve import Improver
from minductor.passes.loop.fusion.legality import Rules
from minductor.passes.loop.fusion.logs import log_nodes
from minductor.passes.loop.fusion.machine import machine_of
from minductor.passes.loop.fusion.plan_file import Plan, obey, read_plan
from minductor.passes.loop.fusion.price import Pricer
from minductor.passes.loop.fusion.rounds import Decision, Fuser, Moved
from minductor.passes.loop.plan_text import ACCEPTED, REFUSED, graph_plan
from minductor.passes.registry import nearest
from minductor.passes.remarks import RemarkSink, sink_of

DEFAULT = Rules(
    ordered=False, equal_groups=False, whole=16384, bar=20, reach=512, splits=3, turns=True
)
PRESETS = {
    "seed": Rules(),
    "default": DEFAULT,
    "most": replace(DEFAULT, whole=1 << 62, bar=0, reach=1 << 30, splits=8),
}
"""`most` asks no price and fuses whatever is legal: a test of legality, not of speed."""


@dataclass(frozen=True)
class LoopFusePass(MiniPass):
    """Fuses nests into groups, priced in bytes; every refused pair has a reason."""

    name = "loop-fuse"
    needs: ClassVar[frozenset[str]] = frozenset({"loop", "loop-normal", "loop-inlined"})
    provides: ClassVar[frozenset[str]] = frozenset({"fused"})
    preset: str = "default"
    machine: str = "auto"
    max_rounds: int = 10
    plan: str = ""
    plan_in: str = ""
    explain: bool = False
    across: bool = True
    improve: bool = True

    def __post_init__(self) -> None:
        """A name that is not known is an error before anything runs."""
        if self.preset not in PRESETS:
            raise PassFailedException(
                f"unknown preset '{self.preset}'{nearest(self.preset, PRESETS)}"
            )
        machine_of(self.machine, "cpu")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp) and func.body.blocks:
                self._function(ctx, func)

    def _function(self, ctx: Context, func: FuncOp) -> None:
        symbols = func.attributes.get("symbols")
        known = symbols if isinstance(symbols, SymbolsAttr) else SymbolsAttr(Known())
        graph = FusionGraph(func.body.block, known.ranges())
        if not graph.slots:
            return
        nests = [node for node in graph.nodes if node.kind == "nest"]
        device = nests[0].device.partition(":")[0] if nests else "cpu"
        pricer = Pricer(machine_of(self.machine, device), known.hints())
        logs = logs_of(ctx)
        arguments = frozenset[object](func.body.block.args)
        log_nodes(logs, "ir_pre_fusion", graph.nodes, arguments)
        sink = sink_of(ctx)
        decisions, moves = self._decide(graph, pricer, logs, sink, func.sym_name.data)
        log_nodes(logs, "ir_post_fusion", graph.nodes, arguments)
        write_groups(graph, pricer)
        if self.plan or self.explain:
            func.attributes[ACCEPTED] = accepted_pairs(decisions, moves)
            func.attributes[REFUSED] = refused_pairs(decisions, graph)
        if self.plan:
            write_plan(func, self.plan)
        if not self.explain:
            for name in (ACCEPTED, REFUSED):
                func.attributes.pop(name, None)

    def _decide(
        self,
        graph: FusionGraph,
        pricer: Pricer,
        logs: LogSink,
        sink: RemarkSink,
        function: str,
    ) -> tuple[list[Decision], Sequence[Moved]]:
        """Fuse as the plan says, or as the rounds find; report it.

        Returns what became of each pair, and what the improvement step regrouped.
        """
        rules = PRESETS[self.preset]
        if self.across and self.preset != "seed" and all(n.device == "cpu" for n in graph.nodes):
            rules = replace(rules, across=pricer.machine.local)
        plan = read_plan(_read(self.plan_in), function) if self.plan_in else Plan()
        if plan.groups:
            decisions = obey(plan, graph, rules, pricer)
            report(decisions, sink, self.name)
            return decisions, ()
        fuser = Fuser(
            graph,
            rules,
            pricer,
            logs,
            priced=self.preset == "default",
            max_rounds=self.max_rounds,
            apart=frozenset(plan.apart),
        )
        fuser.run()
        if self.improve and fuser.priced:
            Improver(fuser).run()
        report(fuser.decisions, sink, self.name)
        for old, new, gain in fuser.moved:
            sink.accepted(self.name, f"regrouped {old} as {new}", bytes=gain)
        return fuser.decisions, fuser.moved


def accepted_pairs(decisions: Sequence[Decision], moves: Sequence[Moved]) -> ArrayAttr[StringAttr]:
    """The pairs that were fused, in that order, and then what was regrouped."""
    pairs = [f"fused {one.text()}" for one in decisions if one.accepted]
    pairs += [f"regrouped {old} as {new}: saves {gain}" for old, new, gain in moves]
    return ArrayAttr([StringAttr(text) for text in pairs])


def refused_pairs(decisions: Sequence[Decision], graph: FusionGraph) -> ArrayAttr[StringAttr]:
    """The refusals that stand at the end: of pairs that did not become parts of larger nodes."""
    left = {node.name for node in graph.nodes}
    return ArrayAttr(
        [
            StringAttr(one.text())
            for one in decisions
            if not one.accepted and one.first in left and one.last in left
        ]
    )


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PassFailedException(f"plan-in: {path}: {error}") from error


def write_plan(func: FuncOp, path: str) -> None:
    """Write a function's plan; the graphs of a training step get a file each, by their names."""
    where, name = Path(path), func.sym_name.data
    if name in ("forward", "backward"):
        where = where.with_name(f"{where.stem}.{name}{where.suffix}")
    try:
        where.write_text(graph_plan(func, []), encoding="utf-8")
    except OSError as error:
        raise PassFailedException(f"plan: {error}") from error


def report(decisions: list[Decision], sink: RemarkSink, name: str) -> None:
    """A remark for each pair."""
    if not sink.enabled:
        return
    for one in decisions:
        subject = f"{one.first}, {one.last}"
        if one.accepted:
            sink.accepted(name, subject, bytes=one.shared)
        else:
            sink.refused(name, subject, one.reason, bytes=one.shared)
