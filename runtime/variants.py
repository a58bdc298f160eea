"""The choice among kernels that compute the same, by measuring them at the first call.

Each candidate runs a few times on the arguments of that call; buffers that it updates are cloned
first, so that only the run that counts changes them. Where results may not depend on timing
(deterministic mode) or time cannot be taken (stream capture, Triton's interpreter), the first
candidate, which the schedule prefers, is taken.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from minductor.runtime.triton_loader import interpreting

Kernel = Callable[..., None]
_RUNS = 3


def _on_gpu(args: Sequence[Any]) -> bool:
    return any(isinstance(a, Tensor) and a.is_cuda for a in args)


def seconds(kernel: Kernel, args: Sequence[Any]) -> float:
    """Best time of a few runs after one that warms up, the device's queue drained."""
    gpu = _on_gpu(args)
    best = float("inf")
    for run in range(_RUNS + 1):
        if gpu:
            torch.cuda.synchronize()
        start = time.perf_counter()
        kernel(*args)
        if gpu:
            torch.cuda.synchronize()
        if run:
            best = min(best, time.perf_counter() - start)
    return best


class Variants:
    """A kernel with candidates. `updates`: positions of buffers that are read and written."""

    def __init__(self, candidates: Sequence[Kernel], updates: Sequence[int] = ()) -> None:
        if not candidates:
            raise ValueError("a kernel needs at least one candidate")
        self.candidates = tuple(candidates)
        self._updates = tuple(updates)
        self.chosen: Kernel | None = None

    def __call__(self, *args: Any) -> None:
        if self.chosen is None:
            if not self._may_measure(args):
                self.candidates[0](*args)
                return
            self.chosen = self._measure(args)
        self.chosen(*args)

    def _may_measure(self, args: Sequence[Any]) -> bool:
        if len(self.candidates) == 1:
            return False
        if torch.are_deterministic_algorithms_enabled() or interpreting():
            return False
        return not (_on_gpu(args) and torch.cuda.is_current_stream_capturing())

    def _measure(self, args: Sequence[Any]) -> Kernel:
        scratch = list(args)
        for position in self._updates:
            given: Tensor = args[position]
            copy = torch.empty_strided(
                given.size(), given.stride(), dtype=given.dtype, device=given.device
            )
            scratch[position] = copy.copy_(given)
        times = [seconds(kernel, scratch) for kernel in self.candidates]
        return self.candidates[times.index(min(times))]
