"""Products of a few rows with a large matrix, and what is fused with them."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from harness import ours_only

pytestmark = ours_only


def mlp(x, w, v, b):
    y = F.gelu(F.linear(F.layer_norm(x, x.shape[-1:]), w, b))
    return F.linear(y, v).softmax(-1), y


@pytest.mark.parametrize("rows", [3, 4, 5, 8, 9])
@pytest.mark.parametrize("threads", [1, 2])
def test_values(rows, threads):
    torch.compiler.reset()
    torch.manual_seed(rows)
    x, b = torch.randn(rows, 520), torch.randn(2050)
    w, v = torch.randn(2050, 520) / 20, torch.randn(520, 2050) / 20
    options = {"strict": True, "threads": threads}
    got = torch.compile(mlp, backend="minductor", dynamic=False, options=options)(x, w, v, b)
    exact = mlp(*(t.double() for t in (x, w, v, b)))
    for ours, eager, want in zip(got, mlp(x, w, v, b), exact, strict=True):
        assert ours.stride() == eager.stride()
        error = (eager - want).abs().max()
        assert (ours - want).abs().max() <= 2 * error + 1e-7


def test_training_of_a_small_batch():
    torch.compiler.reset()
    layers = torch.nn.Sequential(
        torch.nn.Linear(1024, 1200), torch.nn.ReLU(), torch.nn.Linear(1200, 1024)
    )
    x = torch.randn(4, 1024, requires_grad=True)
    fn = torch.compile(layers, backend="minductor", dynamic=False, options={"strict": True})
    wanted = torch.autograd.grad(layers(x).square().sum(), [x, *layers.parameters()])
    got = torch.autograd.grad(fn(x).square().sum(), [x, *layers.parameters()])
    for ours, eager in zip(got, wanted, strict=True):
        torch.testing.assert_close(ours, eager, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.0])
def test_special_values(value):
    torch.compiler.reset()
    x, w = torch.randn(4, 1024), torch.randn(1030, 1024)
    x[1, 3], w[7, 9] = value, value
    fn = torch.compile(F.linear, backend="minductor", options={"strict": True})
    torch.testing.assert_close(fn(x, w), F.linear(x, w), rtol=1e-4, atol=1e-4, equal_nan=True)


def test_short_loops_around_sums():
    """Distances to four points, extremes of rows against others: kernel-jam on any reduction."""
    torch.compiler.reset()
    x, y = torch.randn(50, 300), torch.randn(4, 300)

    def fn(x, y):
        d = x[:, None] - y[None]
        return d.square().sum(-1), (x[:, None] * y[None]).amax(-1), (d > 2).any(-1), d.argmax(-1)

    compiled = torch.compile(fn, backend="minductor", dynamic=False, options={"strict": True})
    for ours, eager in zip(compiled(x, y), fn(x, y), strict=True):
        torch.testing.assert_close(ours, eager, rtol=1e-5, atol=1e-5)
