"""Interleaved rounds: every contender once a round, medians, ratios paired by round.

On a CPU a round in which one of our threads waited for a core is dropped; on a GPU the last-level
cache is flushed before each call and CUDA events take the time.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

Step = Callable[[], object]

WAIT_SHARE = 0.02
"""A round is dropped when threads waited for a core longer than this share of it."""


@dataclass(frozen=True)
class Plan:
    """How long to measure: seconds in all, rounds at least and at most."""

    seconds: float = 2.0
    least: int = 7
    most: int = 200


@dataclass
class Rounds:
    """Seconds a call, by contender, a value a kept round; and how many rounds were dropped."""

    times: dict[str, list[float]]
    dropped: int
    noisy: bool

    def median(self, name: str) -> float:
        return statistics.median(self.times[name])

    def ratio(self, name: str, base: str) -> float:
        """Median over rounds of `base`'s time by `name`'s: above one where `name` is faster."""
        pairs = zip(self.times[base], self.times[name], strict=True)
        return statistics.median(b / a for b, a in pairs)


def waited() -> int:
    """Nanoseconds that threads of this process have spent runnable but without a core."""
    total = 0
    for path in Path("/proc/self/task").glob("*/schedstat"):
        try:
            total += int(path.read_text().split()[1])
        except (OSError, IndexError, ValueError):
            continue
    return total


def repeats(steps: dict[str, Step], target: float = 0.002) -> dict[str, int]:
    """How many calls of each step make one timing of about `target` seconds."""
    counts: dict[str, int] = {}
    for name, step in steps.items():
        step()
        start = time.perf_counter()
        step()
        counts[name] = max(1, min(2000, int(target / max(time.perf_counter() - start, 1e-7))))
    return counts


def cpu_rounds(steps: dict[str, Step], plan: Plan) -> Rounds:
    """Take turns until the time is up."""
    counts = repeats(steps)
    rounds: list[dict[str, float]] = []
    waits: list[bool] = []
    end = time.perf_counter() + plan.seconds
    while len(rounds) < plan.least or (len(rounds) < plan.most and time.perf_counter() < end):
        row: dict[str, float] = {}
        begin, before = time.perf_counter(), waited()
        for name, step in steps.items():
            step()
            start = time.perf_counter()
            for _ in range(counts[name]):
                step()
            row[name] = (time.perf_counter() - start) / counts[name]
        rounds.append(row)
        spent = time.perf_counter() - begin
        waits.append((waited() - before) * 1e-9 > WAIT_SHARE * spent)
    kept = [row for row, bad in zip(rounds, waits, strict=True) if not bad]
    noisy = len(kept) < max(3, len(rounds) // 4)
    used = rounds if noisy else kept
    times = {name: [row[name] for row in used] for name in steps}
    return Rounds(times, len(rounds) - len(used), noisy)


def head_start(step: Step, flush: Step) -> int:
    """Flushes that keep the device busy for longer than the host takes to launch a step, also when
    it is slower than now: three times that and half a millisecond."""
    seconds: list[float] = []
    for work in (flush, step):
        for _ in range(3):
            work()
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        launched = time.perf_counter() - start
        torch.cuda.synchronize()
        seconds.append(launched if work is step else time.perf_counter() - start)
    return 1 + min(200, int((3 * seconds[1] + 5e-4) / seconds[0]))


def cuda_rounds(steps: dict[str, Step], plan: Plan) -> Rounds:
    """Device time, caches flushed: take turns; while the flushes run the host launches the step,
    so that launches do not show."""
    cache = torch.empty(1 << 28, dtype=torch.int8, device="cuda")
    flushes = {name: head_start(step, cache.zero_) for name, step in steps.items()}
    times: dict[str, list[float]] = {name: [] for name in steps}
    end = time.perf_counter() + plan.seconds
    done = 0
    while done < plan.least or (done < plan.most and time.perf_counter() < end):
        events: dict[str, tuple[torch.cuda.Event, torch.cuda.Event]] = {}
        for name, step in steps.items():
            first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            for _ in range(flushes[name]):
                cache.zero_()
            first.record()
            step()
            last.record()
            events[name] = (first, last)
        torch.cuda.synchronize()
        for name, (first, last) in events.items():
            times[name].append(first.elapsed_time(last) * 1e-3)
        done += 1
    return Rounds(times, 0, noisy=False)


def host_rounds(steps: dict[str, Step], plan: Plan) -> Rounds:
    """Wall time of a call and of what it launched: for call overhead on a GPU."""

    def waits(step: Step) -> Step:
        def run() -> object:
            result = step()
            torch.cuda.synchronize()
            return result

        return run

    return cpu_rounds({name: waits(step) for name, step in steps.items()}, plan)


def take_rounds(steps: dict[str, Step], device: str, plan: Plan, *, host: bool = False) -> Rounds:
    """Rounds on the device; `host` asks for the wall time of whole calls."""
    if device == "cpu":
        return cpu_rounds(steps, plan)
    return host_rounds(steps, plan) if host else cuda_rounds(steps, plan)
