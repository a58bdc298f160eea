"""Seeds of random kernels, drawn from torch's own generators.

A compiled random op is a pure function of (seed, stream, position). The seed is drawn once a call
from the default generator of the device, so `torch.manual_seed` fixes it, every call gets another,
and `torch.random.fork_rng` or a checkpoint's restored state bring the same one back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from minductor.runtime.externs import resolve


def draw_seed(device: str = "cpu") -> Tensor:
    """A fresh seed: i64[1] on `device`, uniform over 0 .. 2**63 - 1."""
    return torch.empty(1, dtype=torch.int64, device=device).random_()


def state(device: str = "cpu") -> Tensor:
    """The state of the default generator, as i64[n]: what the op that draws next will draw from."""
    if torch.device(device).type == "cpu":
        return torch.get_rng_state().view(torch.int64)
    return torch.cuda.get_rng_state(device).view(torch.int64)


def seeded(name: str, seed: Tensor, args: Sequence[Any], **keywords: Any) -> Any:
    """The op `name` with numbers drawn from a seed (one element) or a state that was saved.

    The default generators are left as they were.
    """
    devices = [seed.device] if seed.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        if seed.numel() == 1:
            torch.manual_seed(int(seed.item()))
        else:
            torch.set_rng_state(seed.view(torch.uint8))
        return resolve(name)(*args, **keywords)
