"""A stand-in for CUDA graphs that needs no GPU.

It runs the callable where a CUDA graph would be replayed, and writes the results into the memory of
the first run: what is handed out by address changes under its holder, as on a GPU.
"""

from __future__ import annotations

import ctypes
from collections.abc import Hashable, Sequence
from typing import Any

import torch
from torch import Tensor

from minductor.runtime.recorder import Replay


def at_its_address(value: Any) -> Any:
    """What a recording knows of a tensor: where it is, and nothing that keeps it alive."""
    if not isinstance(value, Tensor) or value.numel() == 0:
        return value
    span = 1 + sum((n - 1) * s for n, s in zip(value.size(), value.stride(), strict=True))
    memory = (ctypes.c_char * (span * value.element_size())).from_address(value.data_ptr())
    flat = torch.frombuffer(memory, dtype=value.dtype)
    return flat.as_strided(value.size(), value.stride())


class Fake:
    """A recorder on the CPU."""

    def __init__(self) -> None:
        self.recordings = 0
        self.replays = 0
        self.where: Hashable | None = "here"
        self.error: str | None = None

    def place(self, args: Sequence[Any]) -> Hashable | None:
        return self.where

    def record(self, run: Any, place: Any) -> tuple[Replay, list[Any]]:
        if self.error is not None:
            raise RuntimeError(self.error)
        self.recordings += 1
        outputs = run()
        known = {n: c.cell_contents for n, c in zip(run.__code__.co_freevars, run.__closure__)}
        call, given = known["call"], [at_its_address(a) for a in known["given"]]
        fresh = True

        def replay() -> None:
            nonlocal fresh
            self.replays += 1
            if not fresh:
                for old, new in zip(outputs, call(list(given)), strict=True):
                    if isinstance(old, Tensor) and old.data_ptr() != new.data_ptr():
                        old.untyped_storage().copy_(new.untyped_storage())
            fresh = False

        return replay, outputs
