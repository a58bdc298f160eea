"""What a step of a `scan` saves for its backward, kept apart from what the step gives.

torch cuts the joint graph of a step in two by min-cut. Where the cut falls on a result of the step,
that tensor would be given twice, which `scan` itself refuses ("might be aliasing .. the output"):

    return (h, y, h)            carried h, row y; saved h
      -->
    return (h, y, clone(h))
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import torch
from torch.fx import GraphModule, Node


@contextmanager
def saved_apart() -> Generator[None]:
    """Inside, a step saves copies of those of its results that the backward reads.

    To be entered where torch traces for us, which it does under its own lock.
    """
    owner = _partitioner()
    if owner is None:
        yield
        return
    kept: Any = owner.__dict__["create_partitioned_graph"]
    original: Callable[..., Any] = owner.create_partitioned_graph

    def create_partitioned_graph(*args: Any, **keywords: Any) -> Any:
        parts = original(*args, **keywords)
        give_once(parts.fw_gm, parts.n_fw_outputs)
        return parts

    owner.create_partitioned_graph = staticmethod(create_partitioned_graph)
    try:
        yield
    finally:
        owner.create_partitioned_graph = kept


def _partitioner() -> Any:
    """torch's class that cuts joint graphs of steps, None where it has another."""
    try:
        module: Any = import_module("torch._higher_order_ops.partitioner")
    except ImportError:
        return None
    found: Any = getattr(module, "HopGraphMinCutPartitioner", None)
    return found if "create_partitioned_graph" in vars(found or object) else None


def give_once(step: GraphModule, results: int) -> None:
    """Copies what a step saves, behind its first `results` outputs, where it gives that already."""
    end = step.graph.output_node()
    outs: Any = end.args[0]
    given = {one for one in outs[:results] if isinstance(one, Node) and one.op != "placeholder"}
    if given.isdisjoint(outs[results:]):
        return
    saved = [_copy(step, one, end) if one in given else one for one in outs[results:]]
    end.args = (type(outs)([*outs[:results], *saved]),)
    step.recompile()


def _copy(step: GraphModule, value: Node, before: Node) -> Node:
    with step.graph.inserting_before(before):
        made = step.graph.call_function(torch.ops.aten.clone.default, (value,))
    made.meta.update(value.meta)
    if isinstance(fake := value.meta.get("val"), torch.Tensor):
        made.meta["val"] = fake.clone()
    return made
