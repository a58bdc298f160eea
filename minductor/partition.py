"""Forward and backward of a joint graph: what is saved between them, what is computed again."""

from __future__ import annotations

from typing import Any

import torch
from torch._functorch import config as functorch_config
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch.fx import GraphModule, Node
from torch.utils.checkpoint import CheckpointPolicy

from minductor.aliases import COPY, is_view
from minductor.joint_cse import merge_common
from minductor.repeats import hide_repeats, show_repeats

EQUALITIES = (torch.ops.aten.eq.Tensor, torch.ops.aten.ne.Tensor)


def partition(
    joint: GraphModule, joint_inputs: Any, **keywords: Any
) -> tuple[GraphModule, GraphModule]:
    """Splits a joint graph so that little is saved between forward and backward.

    torch's min-cut does it, after our own merging of common subexpressions: with its own on it
    loads all of TorchInductor, which costs more than the rest of a compile.
    """
    joint.graph.eliminate_dead_code()
    merge_common(joint.graph)
    save_before_writes(joint)
    save_what_is_compared(joint)
    show_repeats(joint.graph)
    settings = {"cse": False}
    if hasattr(functorch_config, "graphsafe_rng_functionalization"):
        # generators among the inputs would be a second way to save random states
        settings["graphsafe_rng_functionalization"] = False
    with functorch_config.patch(settings):
        halves = min_cut_rematerialization_partition(joint, joint_inputs, **keywords)
    for half in halves:
        hide_repeats(half.graph)
        half.recompile()
    return halves


def save_before_writes(joint: GraphModule) -> None:
    """Forbids computing again from an input that the forward writes: the backward would read what
    was written. Such values are saved, as eager saves them."""
    reached = written(joint)
    for node in joint.graph.nodes:
        if node.op != "call_function" or node.target is COPY:
            continue
        if not reached.isdisjoint(node.all_input_nodes):
            if is_view(node):
                reached.add(node)
            elif "recompute" not in node.meta:
                node.meta["recompute"] = CheckpointPolicy.MUST_SAVE


def save_what_is_compared(joint: GraphModule) -> None:
    """Forbids computing again what is compared for equality, as the gradient of a maximum does: the
    kernel of a backward may round otherwise than that of the forward, and nothing would be equal.
    """
    for node in joint.graph.nodes:
        if node.target not in EQUALITIES:
            continue
        for operand in node.all_input_nodes:
            source = _unviewed(operand)
            if source.op == "call_function":
                source.meta.setdefault("recompute", CheckpointPolicy.MUST_SAVE)


def _unviewed(node: Node) -> Node:
    """The value that a view shows."""
    while is_view(node) and isinstance(node.args[0], Node):
        node = node.args[0]
    return node


def written(joint: GraphModule) -> set[Node]:
    """Inputs of the forward that it writes: by a copy in the graph, or by AOTAutograd after it."""
    found: set[Node] = set()
    by_source: dict[Any, Node] = {}
    for node in joint.graph.nodes:
        if node.op == "placeholder":
            by_source[node.meta.get("desc")] = node
        elif node.target is COPY and isinstance(node.args[0], Node):
            found.add(node.args[0])
    for result in joint.graph.output_node().meta.get("desc", ()):
        source = getattr(result, "mutated_input", None)
        if source is not None and source in by_source:
            found.add(by_source[source])
    return found
