"""Prefix sums, products and extremes with lanes: dtypes, odd lengths, special values."""

from __future__ import annotations

import pytest
import torch

from test.e2e.test_column_reductions import compiled

SHAPES = [(7, 1001), (3, 16), (5, 33), (2, 1), (4, 0), (1, 4099)]


@pytest.mark.parametrize("isa", ["avx512", "avx2", "portable"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_sums(dtype, isa):
    fn = lambda x: torch.cumsum(x, -1)  # noqa: E731
    for shape in SHAPES:
        x = torch.randn(shape).to(dtype)
        ours, exact, eager = compiled(fn, isa=isa)(x), fn(x.double()), fn(x)
        error = lambda y: (y.double() - exact).abs().max().item() if x.numel() else 0.0  # noqa: E731
        assert error(ours) <= 2 * error(eager) + 8 * torch.finfo(dtype).eps
        assert ours.dtype == eager.dtype


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.bool])
def test_whole_numbers_wrap(dtype):
    fn = lambda x: (torch.cumsum(x, 1), torch.cumprod(x, 1))  # noqa: E731
    for shape in SHAPES:
        x = torch.randint(0, 200, shape).to(dtype)
        for ours, eager in zip(compiled(fn)(x), fn(x), strict=True):
            torch.testing.assert_close(ours, eager, rtol=0, atol=0)


@pytest.mark.parametrize("width", [5, 16, 70, 300])
def test_columns(width):
    fn = lambda x: (torch.cumsum(x, 0), *torch.cummax(x, 0), torch.logcumsumexp(x, 0))  # noqa: E731
    x = torch.randn(40, width)
    x[5, 3] = torch.nan
    for ours, eager in zip(compiled(fn)(x), fn(x), strict=True):
        torch.testing.assert_close(ours, eager, equal_nan=True, rtol=1e-5, atol=1e-5)


def test_products_and_columns():
    fn = lambda x: (torch.cumprod(x, 1), torch.cumsum(x, 0), torch.cumsum(x.T, 1))  # noqa: E731
    x = torch.randn(37, 70).abs() + 0.5
    for ours, exact in zip(compiled(fn)(x), fn(x.double()), strict=True):
        torch.testing.assert_close(ours.double(), exact, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("place", [0, 15, 16, 500, 1000])
def test_what_is_not_finite_goes_on(value, place):
    x = torch.randn(3, 1001)
    x[1, place] = value
    fn = lambda x: (torch.cumsum(x, 1), torch.cummax(x, 1).values, torch.cummin(x, 1).values)  # noqa: E731
    for ours, eager in zip(compiled(fn)(x), fn(x), strict=True):
        torch.testing.assert_close(ours, eager, equal_nan=True, rtol=1e-5, atol=1e-5)


def test_beside_other_work():
    """A scan's results meet loads, indices and conditions of their own lanes."""

    def fn(x, m):
        s = torch.cumsum(x * 2, 1)
        return torch.where(m, s + x, -s) + torch.arange(x.shape[1])

    x, m = torch.randn(6, 77), torch.rand(6, 77) > 0.5
    torch.testing.assert_close(compiled(fn)(x, m), fn(x, m), rtol=1e-5, atol=1e-4)
