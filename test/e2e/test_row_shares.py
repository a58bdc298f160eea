"""Softmaxes whose shares are products, and sums that begin with their first values."""

from __future__ import annotations

import pytest
import torch
from harness import compiled, ours_only, same
from torch import Tensor

pytestmark = ours_only

INF, NAN = float("inf"), float("nan")


def rows(width: int) -> Tensor:
    """Rows of ordinary numbers and of all that a softmax treats apart."""
    x = torch.randn(12, width, generator=torch.Generator().manual_seed(0)) * 20
    x[1] = -INF
    x[2, 1] = INF
    x[3, 0] = NAN
    x[4] = 3e38
    x[5] = -3e38
    x[6, 1:] = -INF
    x[7] = x[7] - 1e4
    x[8] = torch.linspace(-200, 0, width)
    return x


@pytest.mark.parametrize("width", [3, 64, 100, 1024, 70000])
def test_shares_of_a_row(width: int) -> None:
    x = rows(width)
    same(compiled(lambda x: torch.softmax(x, -1))(x), torch.softmax(x, -1))


@pytest.mark.parametrize("width", [1, 16, 64, 100, 4096])
@pytest.mark.parametrize("dim", [0, 1])
def test_sums_of_negative_zeros(width: int, dim: int) -> None:
    def fn(x: Tensor) -> tuple[Tensor, Tensor]:
        return x.sum(dim), x.mean(dim)

    x = torch.full((width, width) if width < 1000 else (8, width), -0.0)
    for got, want in zip(compiled(fn)(x), fn(x), strict=True):
        assert torch.equal(got.signbit(), want.signbit())


def test_sines_far_away_and_of_zeros() -> None:
    edges = [0.0, -0.0, INF, -INF, NAN, 12000.0, -12000.5, 1e9, -1e30, 1e-40, 3.1415927, -3.1415927]
    x = torch.tensor(edges * 8)
    for fn in (torch.sin, torch.cos):
        got, want = compiled(fn)(x), fn(x.double()).float()
        same(got, want, tol=(1e-6, 2e-7))
        assert torch.equal(got.signbit() | got.isnan(), want.signbit() | want.isnan())
