"""Transposes, permutes and transposed operands: values over sizes, dtypes, layouts and threads."""

from __future__ import annotations

import pytest
import torch

from test.e2e.test_column_reductions import compiled


def moves(x, y):
    return x.t().contiguous() + 1, x.t() + y * 2, torch.relu(y).t().contiguous()


def same(fn, *args, threads=2, dynamic=False):
    f = compiled(fn, threads, dynamic=dynamic)
    for a, b in zip(f(*args), fn(*args), strict=True):
        assert a.stride() == b.stride()
        torch.testing.assert_close(a, b, rtol=0, atol=0)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("shape", [(64, 48), (33, 100), (500, 17), (700, 650), (9, 1000), (5, 3)])
def test_transposes(shape, threads):
    same(moves, torch.randn(shape), torch.randn(shape[::-1]), threads=threads)


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.bfloat16, torch.int64, torch.int32, torch.uint8]
)
def test_dtypes(dtype):
    x = torch.randint(0, 50, (70, 83)).to(dtype)
    same(lambda x, y: (x.t() + y, (x == 3).t().contiguous()), x, x.t().contiguous())


def test_permutes_and_layouts():
    def fn(x, y):
        last = y.contiguous(memory_format=torch.channels_last)
        return x.permute(2, 0, 1).contiguous() * 2, x.transpose(1, 2).contiguous() + 1, last + 1

    same(fn, torch.randn(7, 40, 35), torch.randn(2, 33, 9, 11))


def test_two_outputs_in_different_layouts():
    def fn(x):
        return torch.sin(x), torch.cos(x).t().contiguous()

    f, x = compiled(fn), torch.randn(300, 200)
    for a, b in zip(f(x), fn(x), strict=True):
        torch.testing.assert_close(a, b)


def test_symbolic_sizes():
    f = compiled(moves, dynamic=True)
    for shape in [(64, 64), (3, 200), (301, 77), (600, 900)]:
        x, y = torch.randn(shape), torch.randn(shape[::-1])
        for a, b in zip(f(x, y), moves(x, y), strict=True):
            assert torch.equal(a, b)


def test_levels_agree():
    """The interpreters judge every level of a graph with tiles."""
    x = torch.randn(40, 35)
    f = compiled(lambda x: (x.t().contiguous() + 1,), validate=True, cache=False)
    assert torch.equal(f(x)[0], x.t() + 1)
