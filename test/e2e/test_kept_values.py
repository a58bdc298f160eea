"""Values that wait in an output row for the next stage: outputs, in-place results, dtypes."""

from __future__ import annotations

import pytest
import torch

from test.e2e.test_column_reductions import close, compiled


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shape", [(64, 1000), (7, 33), (3, 5001), (500, 16), (2, 3, 1)])
def test_softmaxes(shape, threads):
    def fn(x):
        e = torch.exp(x - x.amax(-1, keepdim=True))
        return torch.softmax(x, -1), torch.log_softmax(x, -1), e / e.sum(-1, keepdim=True), e

    x = torch.randn(shape) * 4
    close(compiled(fn, threads)(x), fn(x.double()), 1e-5)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_dtypes(dtype):
    x = torch.randn(40, 77).to(dtype)
    fn = lambda x: (torch.softmax(x, -1), torch.tanh(x) / torch.tanh(x).abs().sum(-1, True))  # noqa: E731
    close(compiled(fn)(x), fn(x.double()), 1e-10 if dtype is torch.float64 else 2e-2)


def test_in_place():
    """The row that is read is the row that is written."""

    def fn(x):
        x.copy_(torch.softmax(x, -1))
        return (x * 2,)

    x = torch.randn(50, 300)
    exact, ours = x.clone().double(), x.clone()
    close(compiled(fn)(ours), fn(exact), 1e-5)
    torch.testing.assert_close(ours.double(), exact, rtol=1e-5, atol=1e-5)


def test_masked_rows_and_special_values():
    def fn(x, m):
        return (torch.softmax(x.masked_fill(m, -torch.inf), -1),)

    x, m = torch.randn(30, 60), torch.rand(30, 60) > 0.7
    m[3] = True
    x[5, 5], x[6, 6] = torch.nan, torch.inf
    torch.testing.assert_close(
        compiled(fn)(x, m)[0], fn(x, m)[0], equal_nan=True, rtol=1e-5, atol=1e-6
    )


def test_levels_agree():
    fn = lambda x: (torch.softmax(x, -1),)  # noqa: E731
    x = torch.randn(20, 50)
    close(compiled(fn, validate=True, cache=False)(x), fn(x.double()), 1e-5)


@pytest.mark.parametrize("shape", [(64, 128), (1, 37), (5, 0)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rows_of_many_stages(shape, dtype):
    """What a stage computed waits in a row of the kernel's own for the stages after it."""

    def fn(x, y):
        for k in range(12):
            x = torch.sin(x * 0.4 + y)
            x = torch.exp(x * 0.5) * torch.tanh(x)
            x = x - (x.mean(-1, keepdim=True) if k % 2 or not x.numel() else x.amax(-1, True))
        return x, x.abs()

    x, y = torch.randn(shape).to(dtype), torch.randn(shape).to(dtype)
    ours, eager, exact = compiled(fn)(x, y), fn(x, y), fn(x.double(), y.double())
    for a, b, c in zip(ours, eager, exact, strict=True):
        assert a.dtype is dtype
        if a.numel():
            least = 1e-5
            assert (a - c).abs().max() <= max(2 * (b - c).abs().max().item(), least)
