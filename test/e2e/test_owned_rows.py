"""Scatters of rows that threads share by the rows they own: the sums of one thread, bit for bit."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from harness import ours_only

pytestmark = ours_only


def put(x, i, v):
    return x.index_put((i,), v * 2, accumulate=True)


def add(x, i, v):
    return x.index_add(0, i, v, alpha=0.5), x.index_copy(0, i.unique(), v[: i.unique().numel()])


def gradient(x, i, v):
    w = x.detach().requires_grad_()
    out = F.embedding(i % x.shape[0], w, padding_idx=2)
    return torch.autograd.grad(out, w, v)[0]


def compiled(fn, threads, dynamic=False):
    torch.compiler.reset()
    options = {"strict": True, "pipeline": f"default-cpu{{min-work=1000 threads={threads}}}"}
    return torch.compile(fn, backend="minductor", dynamic=dynamic, options=options)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_index_put(dtype, dynamic):
    x, v = (torch.randn(37, 120) * 9).to(dtype), (torch.randn(300, 120) * 9).to(dtype)
    i = torch.randint(-37, 37, (300,))
    i[:40] = 5
    one, two = (compiled(put, n, dynamic)(x, i, v) for n in (1, 2))
    assert torch.equal(one, two)
    torch.testing.assert_close(two, put(x, i, v), rtol=3e-2, atol=1.0)


def test_gradient_of_an_embedding():
    x, i, v = torch.randn(37, 120), torch.randint(0, 37, (300,)), torch.randn(300, 120)
    one, two = (compiled(gradient, n)(x, i, v) for n in (1, 2))
    assert torch.equal(one, two)
    torch.testing.assert_close(two, gradient(x, i, v), rtol=1e-5, atol=1e-5)


def test_an_index_out_of_range_raises():
    x, v, i = torch.randn(37, 120), torch.randn(300, 120), torch.full((300,), 37)
    with pytest.raises(IndexError):
        compiled(put, 2)(x, i, v)
