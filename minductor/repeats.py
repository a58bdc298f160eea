"""A tensor joined with itself, shown to the partitioner as what it is: an index of the tensor.

torch's partitioner never computes a `cat` again, because for it the result has to be written out.
Here its readers index the operands. So

    cat([x, x], 1)

goes through the partitioner as ops that it may compute again, and is a `cat` again in the graphs
that come out, unless the cut lies between them:

    view(clone(expand(unsqueeze(x, 1), [a, 2, b])), [a, 2 * b])

A value of half the bytes, or one that is there anyway, is then saved in place of the `cat`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Graph, Node

aten: Any = torch.ops.aten
REPEAT = "minductor_repeat"
"""Key of the meta of the last op of such a chain: dimension and count."""
CHAIN = (
    aten.view.default,
    aten.clone.default,
    aten.expand.default,
    aten.unsqueeze.default,
)
"""From the last op to the first."""


def show_repeats(graph: Graph) -> int:
    """Writes each `cat` of one tensor as ops that the partitioner may repeat; returns how many."""
    count = 0
    for node in list(graph.nodes):
        found = _repeated(node)
        if found is not None:
            _show(graph, node, *found)
            count += 1
    return count


def hide_repeats(graph: Graph) -> None:
    """Writes those that are whole as `cat` again."""
    for node in list(graph.nodes):
        if REPEAT not in node.meta:
            continue
        dim, count = node.meta.pop(REPEAT)
        chain = _chain(node)
        if chain is None:
            continue
        source = chain[-1].args[0]
        with graph.inserting_before(node):
            joined = graph.call_function(aten.cat.default, ([source] * count, dim))
        joined.meta = dict(node.meta)
        node.replace_all_uses_with(joined)
        for one in chain:
            if not one.users:
                graph.erase_node(one)


def _repeated(node: Node) -> tuple[Node, int, int] | None:
    """The tensor, the dimension and how often, of a dense `cat` of one tensor; None for others."""
    if node.target is not aten.cat.default or len(node.args) > 2:
        return None
    args: Any = node.args
    parts = args[0]
    if len(parts) < 2 or any(one is not parts[0] for one in parts):
        return None
    value, part = node.meta.get("val"), parts[0].meta.get("val")
    if not isinstance(value, torch.Tensor) or not isinstance(part, torch.Tensor):
        return None
    sizes: list[Any] = [*value.shape, *part.shape]
    if any(not isinstance(size, int) or size == 0 for size in sizes) or not value.is_contiguous():
        return None
    keywords: dict[str, Any] = dict(node.kwargs)
    dim: int = args[1] if len(args) > 1 else keywords.get("dim", 0)
    return parts[0], dim % value.dim(), len(parts)


def _show(graph: Graph, node: Node, source: Node, dim: int, count: int) -> None:
    shape = list(node.meta["val"].shape)
    wide = list(source.meta["val"].shape)
    wide.insert(dim, count)
    here = source
    arguments: list[tuple[Any, ...]] = [(shape,), (), (wide,), (dim,)]
    dense: dict[str, Any] = {"memory_format": torch.contiguous_format}
    with graph.inserting_before(node):
        for target, rest in zip(reversed(CHAIN), reversed(arguments), strict=True):
            keywords = dense if target is aten.clone.default else {}
            new = graph.call_function(target, (here, *rest), keywords)
            new.meta = {k: v for k, v in node.meta.items() if k != "tensor_meta"}
            new.meta["val"] = _value(target, here.meta["val"], rest, keywords)
            here = new
    here.meta[REPEAT] = (dim, count)
    node.replace_all_uses_with(here)
    graph.erase_node(node)


def _value(target: Any, value: Any, rest: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    mode = getattr(value, "fake_mode", None)
    if mode is None:
        return target(value, *rest, **keywords)
    with mode:
        return target(value, *rest, **keywords)


def _chain(last: Node) -> list[Node] | None:
    """The ops of a chain, last first; None where a part is saved or given."""
    found: list[Node] = []
    here: Any = last
    for target in CHAIN:
        if not isinstance(here, Node) or here.target is not target:
            return None
        found.append(here)
        here = here.args[0]
    return found
