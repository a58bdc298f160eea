"""Functions of one value of 8 or 16 bits, read from tables: every value, every tail."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from minductor.compiler import local_pipeline


def compiled(fn, private_cache: Path):
    """`fn` with tables of any size, and what counts the looks into them."""
    torch.compiler.reset()
    before = set(private_cache.rglob("kernels.cpp"))
    options = {"strict": True, "pipeline": local_pipeline(tables=1, isa="avx512")}
    call = torch.compile(fn, backend="minductor", dynamic=False, options=options)

    def looks() -> int:
        (source,) = set(private_cache.rglob("kernels.cpp")) - before
        return source.read_text().count("lookup(L, cpp_")

    return call, looks


def every(dtype: torch.dtype, extra: int) -> Tensor:
    """All values of a dtype, the first `extra` again."""
    bits = torch.arange(1 << 8 * dtype.itemsize) - (1 << 8 * dtype.itemsize - 1)
    x = bits.to(torch.int16 if dtype.itemsize == 2 else torch.int8).view(dtype)
    return torch.cat([x, x[:extra]])


def ulps(a: Tensor, b: Tensor) -> int:
    """How many halves lie between two tensors of them; NaN is one value."""
    a, b = (torch.where(x.isnan(), torch.inf, x.float()).to(x.dtype) for x in (a, b))
    x, y = (v.view(torch.int16).int() for v in (a, b))
    x, y = (torch.where(v < 0, -(v & 0x7FFF), v) for v in (x, y))
    return int((x - y).abs().max())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("extra", [0, 13, 32])
@pytest.mark.parametrize(
    "fn", [lambda x: x.tanh() * 3 - 1, F.silu, lambda x: torch.exp(x).sigmoid() * 2]
)
def test_halves(fn, extra: int, dtype: torch.dtype, private_cache: Path) -> None:
    x = every(dtype, extra)
    call, looks = compiled(fn, private_cache)
    want = fn(x.float()).to(dtype)
    got = call(x)
    assert torch.equal(got.isnan(), want.isnan())
    assert ulps(got, want) <= 1
    assert looks() >= 1


def test_sums_of_halves(private_cache: Path) -> None:
    """Entries of 32 bits in a reduction, one of two values beside another."""
    x, y = torch.randn(512, 130).bfloat16(), torch.randn(512, 130).bfloat16()

    def fn(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        wide = x.float()
        return (torch.sin(wide) + torch.cos(wide)).sum(1), F.silu(x) * y

    call, looks = compiled(fn, private_cache)
    for got, want in zip(call(x, y), fn(x, y), strict=True):
        torch.testing.assert_close(got, want, rtol=2**-7, atol=1e-5)
    assert looks() >= 2


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8])
@pytest.mark.parametrize("size", [256, 320, 333, 16384])
def test_bytes(size: int, dtype: torch.dtype, private_cache: Path) -> None:
    x = every(dtype, 0).repeat(64)[:size]

    def fn(x: Tensor) -> Tensor:
        return ((x.float() - 3).abs().sqrt() * 7).round().clamp(0, 100).to(dtype)

    call, looks = compiled(fn, private_cache)
    assert torch.equal(call(x), fn(x))
    assert looks() == 1
