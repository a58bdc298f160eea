"""Loads whose lanes lie in even steps: slices with a step, repeats, flips; every tail and dtype."""

from __future__ import annotations

import pytest
import torch

DTYPES = [
    *(torch.float32, torch.float64, torch.bfloat16, torch.float16),
    *(torch.int64, torch.int32, torch.int16, torch.uint8, torch.bool),
]


def compiled(fn, isa):
    torch.compiler.reset()
    options = {"strict": True, "threads": 2, "isa": isa}
    return torch.compile(fn, backend="minductor", dynamic=False, options=options)


def steps(x):
    return (
        x[:, ::2].clone(),
        x[:, 1::2] == x[:, ::2],
        x[:, ::3].clone(),
        x.flip(1),
        x[:, :7].repeat_interleave(2, 1),
        x[:, :9].repeat_interleave(4, 1),
    )


@pytest.mark.parametrize("isa", ["avx512", "avx2", "portable"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_steps(dtype, isa):
    x = (torch.randn(40, 94) * 50).to(dtype)
    for ours, eager in zip(compiled(steps, isa)(x), steps(x), strict=True):
        assert torch.equal(ours, eager)


@pytest.mark.parametrize("width", [2, 16, 18, 30, 32, 34, 62, 64, 66, 130])
def test_tails_touch_nothing_behind(width):
    """The last element read is the last one of its page's buffer or of what follows."""
    x = torch.randn(64, width)
    fn = lambda x: (x[:, ::2] * x[:, 1::2], x.flip(1) + 1)  # noqa: E731
    for ours, eager in zip(compiled(fn, "avx512")(x), fn(x), strict=True):
        assert torch.equal(ours, eager)


@pytest.mark.parametrize("width", [17, 22, 31, 33, 40, 54, 56, 63, 71])
def test_the_last_vector_lies_over_the_one_before(width):
    """Over inputs that die (written in place), sums, and steps of other sizes too."""
    x, y = torch.randn(6, width * 2), torch.randn(6, width)

    def fn(x, y):
        a = x[:, ::2] * y
        b = (a @ torch.eye(width)) + y  # a dies: b may take its memory
        return b.relu(), y.repeat_interleave(2, 1)[:, : width + 3] * 2, y.cumsum(0) + x[:, 1::2]

    for ours, eager in zip(compiled(fn, "avx512")(x, y), fn(x, y), strict=True):
        torch.testing.assert_close(ours, eager, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("sizes", [(28, 56), (13, 39), (31, 62), (7, 28), (20, 33)])
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_images_of_other_sizes(sizes, mode):
    low, high = sizes
    x = torch.randn(3, 4, low, low)
    fn = lambda x: torch.nn.functional.interpolate(x, size=(high, high), mode=mode) * 2  # noqa: E731
    torch.testing.assert_close(compiled(fn, "avx512")(x), fn(x), rtol=1e-5, atol=1e-5)
