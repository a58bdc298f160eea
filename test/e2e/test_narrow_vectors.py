"""Conversions in registers give eager's bits, whatever the lanes: bytes, halves, masks."""

from __future__ import annotations

import pytest
import torch

SIZES = [5, 16, 33, 64, 131, 1024]


def compiled(fn):
    torch.compiler.reset()
    return torch.compile(fn, backend="minductor", dynamic=False, options={"strict": True})


def awkward(n: int) -> torch.Tensor:
    """Numbers that rounding, truncation and NaN rules tell apart, n of them."""
    special = [0.0, -0.0, 1e-40, -1e-45, torch.nan, torch.inf, -torch.inf, 3.4e38, 255.5, 256.0]
    special += [-1.0, -1.5, 2.0**31, -(2.0**31), 2.0**33 + 2**10, 1.00390625, 1.01171875, 65504.0]
    x = torch.randn(n) * 100
    x[: min(n, len(special))] = torch.tensor(special[:n])
    return x


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_rounding_to_halves(n: int, dtype: torch.dtype) -> None:
    x = awkward(n)
    got, want = compiled(lambda x: x.to(dtype))(x), x.to(dtype)
    assert torch.equal(got.isnan(), want.isnan())
    assert torch.equal(got.nan_to_num(7).view(torch.int16), want.nan_to_num(7).view(torch.int16))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("source", [torch.float32, torch.float64])
def test_floats_to_bytes(n: int, source: torch.dtype) -> None:
    x = torch.arange(n, dtype=source) * 1.37 - 3
    x[1:4] = torch.tensor([2.0**31 + 2**12, -(2.0**40), 2.0**62])
    assert torch.equal(compiled(lambda x: x.to(torch.uint8))(x), x.to(torch.uint8))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8])
def test_bytes_to_floats_and_back(n: int, dtype: torch.dtype) -> None:
    x = torch.arange(n).to(dtype)

    def fn(x):
        return (x.float() * 0.5).round().to(dtype), x.int() * 3, (x > 4) & (x != 9)

    for got, want in zip(compiled(fn)(x), fn(x), strict=True):
        assert torch.equal(got, want)


@pytest.mark.parametrize("n", SIZES)
def test_masked_scores(n: int) -> None:
    """Probabilities far below the smallest float are exactly 0."""
    x, keep = torch.randn(7, n), torch.rand(7, n) < 0.5
    keep[:, 0] = True

    def fn(x, keep):
        return x.masked_fill(~keep, -1e9).softmax(-1)

    got = compiled(fn)(x, keep)
    torch.testing.assert_close(got, fn(x, keep))
    assert (got[~keep] == 0).all()


@pytest.mark.parametrize("n", SIZES)
def test_variance_of_awkward_rows(n: int) -> None:
    """A constant row has variance 0, NaN stays in its row, an outlier costs nothing."""
    x = torch.randn(4, n)
    x[0, 0] = 1e6
    x[1] = 1e8
    x[2, n // 2] = torch.nan
    for got, want in zip(
        compiled(lambda x: torch.var_mean(x, -1))(x), torch.var_mean(x, -1), strict=True
    ):
        torch.testing.assert_close(got, want, equal_nan=True)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8, 11, 17])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_trigonometry_of_short_rows(n: int, dtype: torch.dtype) -> None:
    """Arguments are reduced in one rounding a step also where lanes have no builtin."""
    x = (torch.rand(5, n, dtype=dtype) - 0.5) * 1000
    shift = torch.rand(n, dtype=dtype)

    def fn(x, shift):
        y = x + shift
        return y.sin(), y.cos()

    y = (x + shift).double()
    for got, want in zip(compiled(fn)(x, shift), (y.sin(), y.cos()), strict=True):
        bound = 4 * torch.finfo(dtype).eps * want.abs().clamp(min=1e-3)
        assert ((got.double() - want).abs() <= bound).all()
