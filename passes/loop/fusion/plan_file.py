"""Obeys an edited plan: the groups that it lists, or the pairs that it keeps apart.

The text is what the plan prints (`passes/loop/plan_text.py`); what matters here:

    group ANY NAME ..          starts a group; its ops follow, one a line
      op0: ..                  a nest of the group
    apart op0, op3             these two never share a kernel

A text with groups is complete: nests that it does not list stay alone. A text with `apart` lines
only lets fusion do the rest. Everything else (prices, calls, refusals, totals) is ignored. A group
that is not legal is refused with its line and the reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from xdsl.utils.exceptions import PassFailedException

from minductor.passes.loop.fusion.graph import FusionGraph, Node
from minductor.passes.loop.fusion.legality import Refusal, Rules, can_fuse
from minductor.passes.loop.fusion.price import Pricer
from minductor.passes.loop.fusion.rounds import Decision, shared_data


@dataclass
class PlannedGroup:
    """A group of the text: the line on which it starts and its ops, with their lines."""

    line: int
    ops: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])


@dataclass
class Plan:
    """What a text asks for, for one function."""

    groups: list[PlannedGroup] = field(default_factory=list[PlannedGroup])
    apart: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])


def read_plan(text: str, function: str) -> Plan:
    """The part of a text for a function: all of it where it names none."""
    plan, mine = Plan(), True
    group: PlannedGroup | None = None
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "plan":
            mine, group = f"@{function}" in line.replace(",", " ").split(), None
        elif not mine:
            continue
        elif words[0] == "group":
            group = PlannedGroup(number)
            plan.groups.append(group)
        elif words[0] == "apart":
            plan.apart.add(_pair(line, number))
            group = None
        elif group is not None and (found := re.fullmatch(r"(op\d+):?", words[0])):
            group.ops.append((number, found[1]))
        else:
            group = None
    return plan


def _pair(line: str, number: int) -> tuple[str, str]:
    names = re.findall(r"\bop\d+\b", line)
    if len(names) != 2:
        raise PassFailedException(f"plan, line {number}: `apart` takes two ops: apart op0, op3")
    return names[0], names[1]


def obey(plan: Plan, graph: FusionGraph, rules: Rules, pricer: Pricer) -> list[Decision]:
    """Fuse the groups of a plan. Raises PassFailedException with the line of what is not legal."""
    nodes = {node.name: node for node in graph.nodes}
    done: list[Decision] = []
    seen: dict[str, int] = {}
    for group in plan.groups:
        members: list[Node] = []
        for line, name in group.ops:
            if name not in nodes or nodes[name].kind != "nest":
                raise PassFailedException(f"plan, line {line}: there is no nest `{name}`")
            if name in seen:
                raise PassFailedException(
                    f"plan, line {line}: `{name}` is in the group of line {seen[name]} already"
                )
            seen[name] = group.line
            members.append(nodes[name])
        done += _fuse_all(members, group, graph, rules, pricer)
    return done


def _fuse_all(
    members: list[Node], group: PlannedGroup, graph: FusionGraph, rules: Rules, pricer: Pricer
) -> list[Decision]:
    """Fuse any legal pair of the members until one is left."""
    done: list[Decision] = []
    while len(members) > 1:
        members.sort(key=lambda node: node.order)
        why = ""
        for first, last in _pairs(members):
            deps = shared_data(first, last)
            fit = can_fuse(graph, first, last, deps, rules)
            if isinstance(fit, Refusal):
                why = why or f"{first.name} with {last.name}: {fit.reason}"
                continue
            gain = pricer.gain(first, last, fit)
            done.append(Decision(first.name, last.name, pricer.bytes(deps), saved=gain))
            merged = graph.merge(first, last, fit)
            members = [n for n in members if n is not first and n is not last] + [merged]
            break
        else:
            raise PassFailedException(f"plan, line {group.line}: cannot fuse {why}")
    return done


def _pairs(nodes: list[Node]) -> list[tuple[Node, Node]]:
    return [(a, b) for i, a in enumerate(nodes) for b in nodes[i + 1 :]]
