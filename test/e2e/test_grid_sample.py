"""F.grid_sample in every mode, forward and backward."""

from __future__ import annotations

import itertools

import pytest
import torch
import torch.nn.functional as F
from harness import check, leaf, uniform
from torch import Tensor

COMBINATIONS = list(itertools.product(("zeros", "border", "reflection"), (False, True)))


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    ("n", "mode"),
    [(2, "bilinear"), (2, "nearest"), (2, "bicubic"), (3, "bilinear"), (3, "nearest")],
)
def test_grid_sample(n: int, mode: str, whole: bool) -> None:
    """Native, but for gradients of cubic reads and of the input (`whole`)."""
    make = leaf if whole else torch.clone

    def every(x: Tensor, grid: Tensor) -> tuple[Tensor, ...]:
        return tuple(
            F.grid_sample(x, grid, mode=mode, padding_mode=pad, align_corners=aligned)
            for pad, aligned in COMBINATIONS
        )

    found = check(
        every,
        lambda: (
            make(uniform(2, 3, *(5, 6, 4)[:n])),
            leaf(uniform(2, *(4, 7, 3)[:n], n, low=-1.7, high=1.7, seed=3)),
        ),
        grad=True,
        calls=1,
        names=[str(c) for c in COMBINATIONS],
    )
    called = {name for report in found.reports for name in report["externs"]}
    kept = whole or mode == "bicubic"
    assert called == ({f"aten.grid_sampler_{n}d_backward.default"} if kept else set())


def test_positions_that_are_no_numbers() -> None:
    """NaN and infinite positions read nothing."""
    grid = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.3]).reshape(1, 2, 1, 2)

    def f(x: Tensor, grid: Tensor) -> Tensor:
        return F.grid_sample(x, grid, align_corners=False)

    check(f, lambda: (uniform(1, 2, 5, 6), grid), calls=1)
