"""Common subexpressions of a joint forward and backward graph, before it is partitioned.

The partitioner's own pass for this would load TorchInductor, so it is switched off and this one
runs first: a shared value is then seen as one by the min-cut, which saves or recomputes it once.

Two calls are one when op, arguments (with their Python types) and recompute tag agree. Left alone
are random ops, ops that mutate or have effects, fresh memory, and calls whose results would make
two outputs share memory that eager keeps apart.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import Graph, Node
from torch.utils import _pytree as pytree

Key = tuple[Any, ...]

_PYTHON: tuple[Callable[..., Any], ...] = (
    operator.getitem,
    operator.add,
    operator.sub,
    operator.mul,
    operator.floordiv,
    operator.truediv,
    operator.mod,
    operator.neg,
    operator.pow,
)


def merge_common(graph: Graph) -> int:
    """Replaces repeated calls by the first of them; returns how many went."""
    outputs = _reaching_outputs(graph)
    seen: dict[Key, Node] = {}
    gone: list[Node] = []
    for node in graph.nodes:
        key = _key(node)
        if key is None:
            continue
        first = seen.setdefault(key, node)
        if first is node or (node in outputs and first in outputs):
            continue
        if node in outputs:
            outputs.update(_sources(first))
        node.replace_all_uses_with(first)
        gone.append(node)
    for node in reversed(gone):
        graph.erase_node(node)
    return len(gone)


def _key(node: Node) -> Key | None:
    """What two equal calls share; None for a node that must stay."""
    if node.op != "call_function" or not _repeatable(node):
        return None
    leaves, spec = pytree.tree_flatten((node.args, node.kwargs))
    try:
        key = (node.target, spec, tuple(_leaf(one) for one in leaves), _tag(node))
        hash(key)
    except TypeError:
        return None
    return key


def _tag(node: Node) -> Key:
    """Marks of a checkpointed region: its copies are recomputed, so they stay distinct."""
    return (node.meta.get("recompute"), node.meta.get("ac_graph_id"))


def _leaf(value: Any) -> Key:
    """An argument as part of a key: 1, 1.0 and True differ, and so do 0.0 and -0.0."""
    if isinstance(value, Node):
        return (Node, value)
    if isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool):
        return (type(value), value.node)
    if isinstance(value, float):
        return (float, value.hex())
    if isinstance(value, torch.Tensor):
        raise TypeError("a tensor has no value to compare here")
    return (type(value), value)


def _repeatable(node: Node) -> bool:
    """Whether calling again gives the same and does nothing else."""
    target = node.target
    if not isinstance(target, OpOverload):
        return target in _PYTHON
    if target._schema.is_mutable or torch.Tag.nondeterministic_seeded in target.tags:
        return False
    if node.is_impure() or _fresh_memory(target):
        return False
    return not _binds_symbols(node)


def _fresh_memory(op: OpOverload) -> bool:
    return op._schema.name.startswith(("aten::empty", "aten::new_empty"))


def _binds_symbols(node: Node) -> bool:
    return bool(node.meta.get("unbacked_bindings"))


def _view_source(node: Node) -> Iterable[Node]:
    """Nodes whose memory the result of `node` may share."""
    if node.op != "call_function":
        return ()
    if node.target is operator.getitem:
        return node.all_input_nodes
    if not isinstance(node.target, OpOverload):
        return ()
    arguments = node.target._schema.arguments
    if not any(a.alias_info is not None for a in arguments):
        return ()
    named = dict(zip((a.name for a in arguments), node.args, strict=False)) | node.kwargs
    aliased = (named.get(a.name) for a in arguments if a.alias_info is not None)
    return [one for one in aliased if isinstance(one, Node)]


def _sources(node: Node) -> set[Node]:
    """`node` and all whose memory it may share."""
    found: set[Node] = set()
    todo = [node]
    while todo:
        one = todo.pop()
        if one not in found:
            found.add(one)
            todo.extend(_view_source(one))
    return found


def _reaching_outputs(graph: Graph) -> set[Node]:
    """All nodes whose memory an output may share."""
    found: set[Node] = set()
    for node in graph.nodes:
        if node.op == "output":
            for one in node.all_input_nodes:
                found |= _sources(one)
    return found
