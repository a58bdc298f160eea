"""Readers of one tensor in different orders share a kernel: values of eager, one kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

SHAPES = [(1024, 1024), (64, 100), (33, 17), (1, 5), (400, 3)]
Function = Callable[[Tensor], Any]


def compare(f: Function, x: Tensor, **options: Any) -> list[dict[str, Any]]:
    torch._dynamo.reset()
    reports: list[dict[str, Any]] = []
    given: dict[str, Any] = {"strict": True, "report": reports.append, **options}
    compiled = torch.compile(f, backend="minductor", options=given)
    for a, b in zip(compiled(x), f(x), strict=True):
        assert a.stride() == b.stride()
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)
    return reports


def mismatch(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.sin(), x.t().cos().contiguous()


@pytest.mark.parametrize("shape", SHAPES)
def test_mismatch(shape: tuple[int, int]) -> None:
    torch.manual_seed(0)
    compare(mismatch, torch.randn(shape))


def test_one_kernel_and_fewer_bytes_than_the_seed() -> None:
    x = torch.randn(1024, 1024)
    (ours,), (seed,) = compare(mismatch, x), compare(mismatch, x, preset="seed")
    assert (len(ours["kernels"]), len(seed["kernels"])) == (1, 2)
    assert ours["bytes"]["planned"] == 3 * x.nbytes
    assert seed["bytes"]["planned"] == 4 * x.nbytes


def test_more_readers_and_more_dimensions() -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        y = x.permute(2, 0, 1).contiguous()
        return x * 2, y, y.exp(), x.permute(1, 2, 0).relu().contiguous(), (x + 1).sum(0)

    torch.manual_seed(0)
    compare(f, torch.randn(20, 33, 17))


def test_a_result_read_both_ways_and_updated() -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        y = x.sin()
        z = y.t().contiguous()
        x.mul_(2)
        return y, z.cos(), x.t().contiguous()

    torch.manual_seed(0)
    x = torch.randn(48, 70)
    mine, theirs = x.clone(), x.clone()
    torch._dynamo.reset()
    found = torch.compile(f, backend="minductor", options={"strict": True})(mine)
    for a, b in zip([*found, mine], [*f(theirs), theirs], strict=True):
        torch.testing.assert_close(a, b)


def test_sizes_known_at_run_time() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(mismatch, backend="minductor", dynamic=True, options={"strict": True})
    for shape in ((40, 70), (16, 16), (129, 31)):
        x = torch.randn(shape)
        for a, b in zip(compiled(x), mismatch(x), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)
