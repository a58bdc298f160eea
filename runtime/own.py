"""Calls in a host program that are ours, not torch's: `minductor.seed` and its like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from minductor.runtime import random


def constant(
    numbers: Sequence[Any], size: Sequence[int], dtype: torch.dtype, device: str = "cpu"
) -> Tensor:
    """A new contiguous tensor of `size` that holds `numbers` in row-major order."""
    return torch.tensor(numbers, dtype=dtype, device=device).reshape(list(size))


def check(value: int, message: str) -> None:
    """The run-time check of a size: RuntimeError with the message when `value` is negative."""
    if value < 0:
        raise RuntimeError(message)


def number(value: float) -> float:
    """A Python number known when the graph was compiled."""
    return value


OWN: dict[str, Callable[..., Any]] = {
    "minductor.assert": check,
    "minductor.constant": constant,
    "minductor.number": number,
    "minductor.seed": random.draw_seed,
    "minductor.seeded": random.seeded,
    "minductor.state": random.state,
}
"""Callee of a `kernel.extern` -> what it calls."""
