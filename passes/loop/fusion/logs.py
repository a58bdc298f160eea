"""The lines that people read: `fusion`, `ir_pre_fusion` and `ir_post_fusion`."""

from __future__ import annotations

from collections.abc import Iterable

from minductor.dialects.loop.ops import ExternOp, NestOp
from minductor.dialects.types import shape_text
from minductor.passes.logs import LogSink
from minductor.passes.loop.deps import MemoryDep, NestDeps, group_text
from minductor.passes.loop.fusion.graph import Node


def origins_text(nest: NestOp) -> str:
    """`origins=OrderedSet([relu, add, sin])`: consumer first, each once."""
    names = dict.fromkeys(origin.op for origin in reversed(nest.origins.data))
    return f"origins=OrderedSet([{', '.join(names)}])"


def node_text(node: Node) -> str:
    """`SchedulerNode(name='op0'), Pointwise(['[1024, 1024]', 'origins=..'])`."""
    if node.kind == "extern":
        op = node.ops[0]
        callee = op.callee.data if isinstance(op, ExternOp) else op.name
        return f"ExternKernelSchedulerNode(name='{node.name}'), {callee}"
    if node.kind == "nop":
        return f"NopKernelSchedulerNode(name='{node.name}')"
    kind = "SchedulerNode" if len(node.infos) == 1 else "FusedSchedulerNode"
    parts = [_nest_text(info) for info in node.infos]
    return f"{kind}(name='{node.name}'), {', '.join(parts)}"


def _nest_text(info: NestDeps) -> str:
    domain = info.domain
    kind = "Scan" if info.has_scan else "Reduction" if info.has_reduce else "Pointwise"
    if info.accumulates:
        kind = "Scatter"
    parts = [shape_text(domain.parallel)]
    if domain.reduce or domain.scan:
        parts.append(shape_text([*domain.reduce, *domain.scan]))
    parts.append(origins_text(info.nest))
    return f"{kind}([{', '.join(repr(part) for part in parts)}])"


def deps_text(deps: Iterable[MemoryDep]) -> str:
    """`[MemoryDep('buf0', c0, {c0: 1024})]`."""
    return f"[{', '.join(map(str, deps))}]"


def node_details(node: Node, arguments: frozenset[object]) -> str:
    """Dependences and iteration group of a node, one a line."""
    name = node.name
    if node.kind != "nest":
        return f"{name}: {node_text(node)}"
    met = [dep for dep in node.reads if dep.buffer in arguments]
    unmet = [dep for dep in node.reads if dep.buffer not in arguments]
    return "\n".join(
        (
            f"{name}: {node_text(node)}",
            f"{name}.writes = {deps_text(node.writes)}",
            f"{name}.unmet_dependencies = {deps_text(unmet)}",
            f"{name}.met_dependencies = {deps_text(met)}",
            f"{name}.group.device = {node.device}",
            f"{name}.group.iteration = {group_text(node.group)}",
        )
    )


def log_nodes(
    logs: LogSink, artifact: str, nodes: list[Node], arguments: frozenset[object]
) -> None:
    """The nodes of one stage, where somebody reads them."""
    if logs.wants(artifact):
        logs.log(artifact, "\n".join(node_details(node, arguments) for node in nodes))
