"""What AOTAutograd says of the graph that it has compiled just now."""

from __future__ import annotations

from typing import Any

from torch._guards import TracingContext
from torch.fx import Node


def aot_metadata() -> Any:
    """Its `ViewAndMutationMeta`: inputs, results, what is saved; None outside of a compile."""
    context = TracingContext.try_get()
    return None if context is None else context.fw_metadata


def is_tangent(node: Node) -> bool:
    """An input of a backward that is a gradient of a result, not a saved value."""
    return node.op == "placeholder" and node.name.startswith("tangents")
