"""The choice among kernels that compute the same, by measuring them at the first call.

Each candidate runs a few times on the arguments of that call; buffers that it updates are cloned
first, so that only the run that counts changes them. Where results may not depend on timing
(deterministic mode) or time cannot be taken (stream capture, Triton's interpreter), the first
candidate, which the schedule prefers, is taken. Measuring ends when its time is over;
what was found is kept in a file, and the next process does not measure.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from minductor.runtime.triton_loader import interpreting

Kernel = Callable[..., None]
Timer = Callable[[Kernel, Sequence[Any]], float]
_RUNS = 3
BUDGET = 0.5
"""Seconds after which no further candidate is measured."""
CHOICES = "choices.json"


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


@dataclass(frozen=True)
class Choice:
    """The number of a candidate, kept in a file under a name."""

    path: Path
    key: str

    def read(self, count: int) -> int | None:
        """The number, if one below `count` is kept."""
        found = self._all().get(self.key)
        return found if isinstance(found, int) and 0 <= found < count else None

    def write(self, number: int) -> None:
        """Keep a number; a folder that cannot be written keeps none."""
        kept = self._all() | {self.key: number}
        draft = self.path.with_suffix(f".{time.monotonic_ns()}")
        try:
            draft.write_text(json.dumps(kept, sort_keys=True), encoding="utf-8")
            draft.replace(self.path)
        except OSError:
            return

    def _all(self) -> dict[str, Any]:
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


class Variants:
    """A kernel with candidates.

    `updates`: positions of buffers that are read and written. `choice`: where the outcome is kept.
    `timer`: the seconds of a candidate on arguments; `budget`: seconds for measuring.
    """

    def __init__(
        self,
        candidates: Sequence[Kernel],
        updates: Sequence[int] = (),
        choice: Choice | None = None,
        timer: Timer = seconds,
        budget: float = BUDGET,
    ) -> None:
        if not candidates:
            raise ValueError("a kernel needs at least one candidate")
        self.candidates = tuple(candidates)
        self._updates = tuple(updates)
        self._choice, self._timer, self._budget = choice, timer, budget
        known = None if choice is None else choice.read(len(self.candidates))
        self.chosen: Kernel | None = None if known is None else self.candidates[known]

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
        end = time.perf_counter() + self._budget
        times: list[float] = []
        for kernel in self.candidates:
            times.append(self._timer(kernel, scratch))
            if time.perf_counter() > end:
                break
        number = times.index(min(times))
        if self._choice is not None:
            self._choice.write(number)
        return self.candidates[number]
