"""Mean and variance along rows and over several dimensions, against f64."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F


def compiled(fn, **options):
    torch.compiler.reset()
    return torch.compile(fn, backend="minductor", options={"strict": True, "threads": 2, **options})


def worst(ours, exact):
    return max(
        ((a.double() - b).abs() / (b.abs() + 1e-3)).max().item()
        for a, b in zip(ours, exact, strict=True)
    )


SHIFTS = {"plain": (3.0, 0.0), "far": (1.0, 1000.0), "outlier": (1.0, 0.0)}


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize(
    ("shape", "dims"),
    [
        ((8, 5, 7, 7), (0, 2, 3)),
        ((300, 1021), (1,)),
        ((4, 6, 32, 32), (0, 2, 3)),
        ((3, 40, 9), (0, 2)),
    ],
)
def test_as_exact_as_eager(shape, dims, shift):
    scale, offset = SHIFTS[shift]
    x = torch.randn(shape) * scale + offset
    if shift == "outlier":
        x[(0,) * len(shape)] = 3e3
    fn = lambda x: torch.var_mean(x, dims)  # noqa: E731
    exact = fn(x.double())
    ours, eager = worst(compiled(fn)(x), exact), worst(fn(x), exact)
    assert ours <= 2 * eager + 1e-6


@pytest.mark.parametrize("isa", ["avx512", "avx2", "portable"])
def test_batch_norm_of_odd_images(isa):
    x, w, b = torch.randn(5, 6, 7, 9) + 2, torch.randn(6), torch.randn(6)
    fn = lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True)  # noqa: E731
    torch.testing.assert_close(compiled(fn, isa=isa)(x, w, b), fn(x, w, b), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("place", [0, 500])
def test_what_is_not_finite_spreads_in_its_row_alone(value, place):
    x = torch.randn(4, 1000)
    x[1, place] = value
    var, mean = compiled(lambda x: torch.var_mean(x, 1))(x)
    want, _ = torch.var_mean(x, 1)
    torch.testing.assert_close(var, want, equal_nan=True)
    assert not mean[1].isfinite()
    assert mean[[0, 2, 3]].isfinite().all()


def test_of_one_element_and_of_none():
    fn = lambda x: (*torch.var_mean(x, 1, correction=0), *torch.var_mean(x, 1))  # noqa: E731
    for n in (0, 1):
        x = torch.randn(3, n)
        torch.testing.assert_close(compiled(fn)(x), fn(x), equal_nan=True)


def test_switched_off_gives_the_same():
    x = torch.randn(6, 5, 30, 30)
    fn = lambda x: torch.var_mean(x, (0, 2, 3))  # noqa: E731
    off = compiled(fn, pipeline="default-cpu{moments=false}")(x)
    torch.testing.assert_close(compiled(fn)(x), off, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shift", [(1.0, 0.0), (1.0, 30.0), (1e-3, 1.0)])
def test_rows_of_half_precision(dtype, shift):
    """Walked twice in f32: an outlier in front and a far mean cost no digits."""
    x = (torch.randn(20, 771) * shift[0] + shift[1]).to(dtype)
    x[3, 0] = 3e3
    fn = lambda x: torch.var_mean(x.float(), 1, correction=0)  # noqa: E731
    exact = torch.var_mean(x.double(), 1, correction=0)
    assert worst(compiled(fn)(x), exact) <= 2 * worst(fn(x), exact) + 1e-5
    x[5] = 1.5
    x[6, 9] = torch.nan
    norm = lambda x: F.layer_norm(x, (771,))  # noqa: E731
    torch.testing.assert_close(compiled(norm)(x), norm(x), equal_nan=True, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("width", [768, 100, 33])
def test_short_rows_before_costly_work(shift, width):
    scale, offset = SHIFTS[shift]
    x, w = torch.randn(64, width) * scale + offset, torch.randn(width)
    if shift == "outlier":
        x[0, 0] = 3e3
    fn = lambda x, w: F.gelu(F.layer_norm(x, (width,), w))  # noqa: E731
    exact, ours, eager = fn(x.double(), w.double()), compiled(fn)(x, w), fn(x, w)
    error, base = (ours - exact).abs().max(), (eager - exact).abs().max()
    assert error <= 2 * base + 1e-6
    x[3, 1], x[4, 0], x[5] = float("nan"), float("inf"), 2.0
    torch.testing.assert_close(compiled(fn)(x, w), fn(x, w), equal_nan=True, rtol=1e-4, atol=1e-3)
