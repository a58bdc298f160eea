"""Candidates are measured once, on copies of what they change, and the fastest stays."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import torch

from minductor.runtime.variants import Kernel, Variants


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
