"""Candidates are measured once, on copies of what they change, and the fastest stays."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from minductor.runtime.variants import Choice, Kernel, Variants


def adder(name: str, pause: float, log: list[str]) -> Kernel:
    def kernel(x: torch.Tensor) -> None:
        log.append(name)
        time.sleep(pause)
        x.add_(1)

    return kernel


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture
def deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


def test_the_fastest_stays(log: list[str]) -> None:
    kernel = Variants([adder("slow", 0.02, log), adder("fast", 0.0, log)], updates=[0])
    x = torch.zeros(6)[::2]
    kernel(x)
    assert torch.equal(x, torch.ones(3))
    assert log[-1] == "fast"
    log.clear()
    kernel(x)
    assert log == ["fast"]
    assert torch.equal(x, torch.full((3,), 2.0))


def test_one_candidate_is_not_measured(log: list[str]) -> None:
    kernel = Variants([adder("only", 0.0, log)], updates=[0])
    kernel(torch.zeros(1))
    assert log == ["only"]


@pytest.mark.usefixtures("deterministic")
def test_timing_decides_nothing_in_deterministic_mode(log: list[str]) -> None:
    kernel = Variants([adder("slow", 0.02, log), adder("fast", 0.0, log)], updates=[0])
    kernel(torch.zeros(1))
    kernel(torch.zeros(1))
    assert log == ["slow", "slow"]


def test_a_fault_surfaces() -> None:
    def faulty(x: torch.Tensor) -> None:
        raise IndexError("index out of range in kernel k")

    with pytest.raises(IndexError):
        Variants([faulty, faulty])(torch.zeros(1))


def test_no_candidates() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Variants([])


class Clock:
    """A timer that looks its answers up."""

    def __init__(self, times: dict[Kernel, float]) -> None:
        self.times = times
        self.asked: list[Kernel] = []

    def __call__(self, kernel: Kernel, args: Sequence[Any]) -> float:
        self.asked.append(kernel)
        return self.times[kernel]


def test_the_choice_is_kept_in_a_file(log: list[str], tmp_path: Path) -> None:
    """The next process takes it without a measurement; another kernel or device measures."""
    slow, fast = adder("slow", 0.0, log), adder("fast", 0.0, log)
    clock = Clock({slow: 2.0, fast: 1.0})
    choice = Choice(tmp_path / "choices.json", "k on some device")
    Variants([slow, fast], choice=choice, timer=clock)(torch.zeros(1))
    assert log == ["fast"]
    assert clock.asked == [slow, fast]
    again = Variants([slow, fast], choice=choice, timer=clock)
    again(torch.zeros(1))
    assert log == ["fast", "fast"]
    assert clock.asked == [slow, fast]
    other = Choice(choice.path, "k on another device")
    Variants([slow, fast], choice=other, timer=Clock({slow: 1.0, fast: 2.0}))(torch.zeros(1))
    assert log[-1] == "slow"
    assert choice.read(2) == 1
    assert other.read(2) == 0


def test_a_kept_choice_that_makes_no_sense_is_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "choices.json"
    for text in ('{"k": 7}', '{"k": "x"}', "[1]", "{"):
        path.write_text(text)
        assert Choice(path, "k").read(2) is None
    Choice(tmp_path / "gone" / "choices.json", "k").write(1)


def test_measuring_ends_with_its_time(log: list[str]) -> None:
    slow, fast = adder("slow", 0.0, log), adder("fast", 0.0, log)
    clock = Clock({slow: 2.0, fast: 1.0})
    Variants([slow, fast], timer=clock, budget=-1.0)(torch.zeros(1))
    assert clock.asked == [slow]
    assert log == ["slow"]
