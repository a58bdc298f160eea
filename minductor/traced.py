"""What AOTAutograd says of the graph that it has compiled just now."""

from __future__ import annotations

from typing import Any

from torch._guards import TracingContext


def aot_metadata() -> Any:
    """Its `ViewAndMutationMeta`: inputs, results, what is saved; None outside of a compile."""
    context = TracingContext.try_get()
    return None if context is None else context.fw_metadata
