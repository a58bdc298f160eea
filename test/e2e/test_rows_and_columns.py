"""Sums over rows and over columns of the same data, in one pass, against eager."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from test.e2e.test_column_reductions import THREADS, close, compiled


def both(x: Tensor):
    return x.sum(0), x.sum(1), x.amax(0), (x * 2).mean(0) + 1


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("shape", [(4096, 768), (513, 129), (300, 300), (33, 7001), (9, 4)])
def test_sums_of_rows_and_columns(shape, threads):
    x = torch.randn(shape)
    close(compiled(both, threads)(x), both(x.double()), 1e-5)


def train(fn, *args):
    leaves = [a.detach().clone().requires_grad_() for a in args]
    out = fn(*leaves)
    out.backward(torch.ones_like(out) * torch.linspace(-1, 1, out.shape[-1]).to(out.dtype))
    return [out.detach(), *(a.grad for a in leaves)]


def layer(x, w, b):
    return F.layer_norm(x, x.shape[-1:], w, b)


def rms(x, w, b):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w + b


def softmax(x, w, b):
    return torch.softmax(x * w + b, -1)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("fn", [layer, rms, softmax])
@pytest.mark.parametrize("shape", [(1024, 768), (3, 171, 130)])
def test_norm_backwards(fn, shape, threads):
    args = [torch.randn(shape), torch.randn(shape[-1]), torch.randn(shape[-1])]
    exact = train(fn, *(a.double() for a in args))
    close(train(compiled(fn, threads), *args), exact, 1e-4)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_dtypes(dtype):
    args = [torch.randn(400, 96).to(dtype), torch.randn(96).to(dtype), torch.randn(96).to(dtype)]
    exact = train(layer, *(a.double() for a in args))
    tolerance = 1e-9 if dtype is torch.float64 else 4e-2
    close(train(compiled(layer), *args), exact, tolerance)


def test_symbolic_rows():
    f = compiled(both, dynamic=True)
    for rows in (4096, 77, 5, 1000):
        x = torch.randn(rows, 60)
        torch._dynamo.maybe_mark_dynamic(x, 0)
        close(f(x), both(x.double()), 1e-4)


def test_same_every_time():
    x = torch.randn(3000, 200)
    for threads in THREADS:
        f = compiled(both, threads)
        first = f(x)
        for _ in range(10):
            assert all(torch.equal(a, b) for a, b in zip(first, f(x), strict=True))


def test_levels_agree():
    """The interpreters judge every level of graphs with such groups."""
    x = torch.randn(120, 40)
    close(compiled(both, validate=True, cache=False)(x), both(x.double()), 1e-5)
