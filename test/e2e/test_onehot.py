"""Rows that are zero but in one place: cross entropy backwards, tests of a lane's number."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from test.e2e.test_column_reductions import compiled


@pytest.mark.parametrize("shape", [(6, 1000), (33, 17), (3, 5)])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy(shape, smoothing, weighted):
    x, t = torch.randn(shape), torch.randint(0, shape[1], shape[:1])
    t[0], t[1], t[2] = -100, 0, shape[1] - 1
    w = torch.rand(shape[1]) if weighted else None
    grads = []
    fn = lambda x, t: F.cross_entropy(x, t, w, label_smoothing=smoothing)  # noqa: E731
    for run in (compiled(fn), fn):
        leaf = x.clone().requires_grad_()
        run(leaf, t).backward()
        grads.append(leaf.grad)
    torch.testing.assert_close(grads[0], grads[1])


@pytest.mark.parametrize("factor", [torch.inf, torch.nan])
def test_a_factor_that_is_not_finite(factor):
    x, t = torch.randn(4, 70), torch.tensor([3, -100, 0, 69])
    fn = lambda x, t: F.cross_entropy(x, t, reduction="none")  # noqa: E731
    grads = []
    for run in (compiled(fn), fn):
        leaf = x.clone().requires_grad_()
        run(leaf, t).backward(torch.tensor([1.0, 1.0, factor, 2.0]))
        grads.append(leaf.grad)
    torch.testing.assert_close(grads[0][[0, 1, 3]], grads[1][[0, 1, 3]])
    assert grads[0][2, 0].isfinite() == grads[1][2, 0].isfinite()


@pytest.mark.parametrize("isa", ["avx512", "avx2", "portable"])
def test_numbers_of_lanes(isa):
    """Targets outside of the row, far outside of 32 bits, equal and not equal."""

    def fn(t, x):
        j = torch.arange(77)
        same = j == t[:, None]
        return torch.where(same, x, -x), same.sum(1), (t[:, None] != j + 2) & (x > 0)

    t = torch.tensor([0, 76, 77, -1, 2**32, -(2**63), 2**63 - 1, 40])
    x = torch.randn(8, 77)
    for ours, eager in zip(compiled(fn, isa=isa)(t, x), fn(t, x), strict=True):
        torch.testing.assert_close(ours, eager, rtol=0, atol=0)
