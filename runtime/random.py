"""Seeds of random kernels, drawn from torch's own generators.

A compiled random op is a pure function of (seed, stream, position). The seed is drawn once a call
from the default generator of the device, so `torch.manual_seed` fixes it, every call gets another,
and `torch.random.fork_rng` or a checkpoint's restored state bring the same one back.
"""

from __future__ import annotations

import torch
from torch import Tensor


def draw_seed(device: str = "cpu") -> Tensor:
    """A fresh seed: i64[1] on `device`, uniform over 0 .. 2**63 - 1."""
    return torch.empty(1, dtype=torch.int64, device=device).random_()
