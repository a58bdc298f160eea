"""The peak of traced allocations, and the table made of peaks."""

import torch

from bench.memory import cpu_peak, exceeds, memory_table, traced_peak


def test_the_peak_is_the_highest_partial_sum() -> None:
    assert traced_peak([100, 50, -100, 60, -110]) == 150
    assert traced_peak([-100, 50]) == 0


def test_tensors_alive_at_once_are_counted() -> None:
    x = torch.ones(1 << 16)

    def step() -> torch.Tensor:
        return x.sin().cos()

    assert 2 * x.nbytes <= cpu_peak(step) < 3 * x.nbytes


def test_the_table_names_who_needs_less() -> None:
    entries = {"eager": {"peak_bytes": 2 << 20}, "minductor": {"peak_bytes": 3 << 20}}
    row = {"name": "m", "contenders": entries}
    assert "| m | 2.00 | 3.00 | 150 % |" in memory_table([row], ["eager", "minductor"])
    assert exceeds(row) == ["eager"]
