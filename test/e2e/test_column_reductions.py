"""Reductions over an outer dimension: values over sizes, dtypes, kinds, threads and neighbours."""

from __future__ import annotations

import pytest
import torch

THREADS = (1, 2, 3)


def compiled(fn, threads=2, dynamic=False, **options):
    torch.compiler.reset()
    return torch.compile(
        fn,
        backend="minductor",
        dynamic=dynamic,
        options={"strict": True, "threads": threads, **options},
    )


def close(ours, exact, tolerance):
    for a, b in zip(ours, exact, strict=True):
        assert a.shape == b.shape
        torch.testing.assert_close(a.double(), b.double(), rtol=tolerance, atol=10 * tolerance)


def kinds(x):
    return x.sum(0), x.amax(0), x.amin(0), x.mean(0), (x > 0).any(0), (x > -9).all(0)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("shape", [(4096, 768), (1031, 97), (64, 5000), (333, 1024), (17, 4099)])
def test_kinds_over_sizes(shape, threads):
    x = torch.randn(shape)
    exact = kinds(x.double())
    close(compiled(kinds, threads)(x), exact, 1e-5)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_float_dtypes(dtype):
    x = torch.randn(515, 390).to(dtype)
    fn = lambda x: (x.sum(0), x.amax(0), x.var(0), (x * 2).mean(0))  # noqa: E731
    tolerance = 1e-10 if dtype is torch.float64 else 2e-2
    close(compiled(fn)(x), fn(x.double()), tolerance)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.uint8, torch.int8])
def test_integer_dtypes(dtype):
    x = torch.randint(-100, 100, (1000, 131)).to(dtype)
    fn = lambda x: (x.sum(0), x.amax(0), x.amin(0), (x * 2).sum(0), (x != 3).all(0))  # noqa: E731
    for a, b in zip(compiled(fn)(x), fn(x), strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("shape", [(2048, 96), (700, 3000), (40, 6000)])
def test_moments(shape, threads):
    x = torch.randn(shape) * 3 + 100
    x[0] += 1e4

    def fn(x):
        v, m = torch.var_mean(x, 0)
        return v, m, (x - m) * torch.rsqrt(v + 1e-5)

    close(compiled(fn, threads)(x), fn(x.double()), 3e-5)


@pytest.mark.parametrize("threads", THREADS)
def test_producers_and_epilogues(threads):
    def fn(x, g, w):
        d = g * (x > 0) + w
        s = (d * torch.sigmoid(x)).sum(0)
        return d, s, torch.relu(s * 2 + w), (x / (s.abs() + 1)).sum(0)

    x, g, w = torch.randn(777, 300), torch.randn(777, 300), torch.randn(300)
    close(compiled(fn, threads)(x, g, w), fn(x.double(), g.double(), w.double()), 2e-4)


@pytest.mark.parametrize("threads", [1, 2])
def test_outer_loops_and_layouts(threads):
    def fn(x, y):
        return x.sum(1), x.amax(-2), y.sum((0, 2, 3)), y.mean((0, 2)), y.var((0, 2, 3))

    x = torch.randn(5, 301, 70)
    y = torch.randn(3, 40, 17, 19).to(memory_format=torch.channels_last)
    close(compiled(fn, threads)(x, y), fn(x.double(), y.double()), 2e-5)


@pytest.mark.parametrize("threads", THREADS)
def test_symbolic_sizes(threads):
    fn = lambda x: (x.sum(0), x.amax(0), torch.var(x, 0), (x - x.mean(0)).abs().sum(0))  # noqa: E731
    f = compiled(fn, threads, dynamic=True)
    for shape in [(4096, 33), (40, 3000), (2, 5), (700, 900), (9, 2)]:
        x = torch.randn(shape)
        close(f(x), fn(x.double()), 1e-4)


def test_special_values():
    x = torch.randn(512, 256)
    x[100, 3], x[7, 5], x[9, 5], x[300, 8] = float("nan"), float("inf"), -float("inf"), float("inf")
    x[:, 11] = -float("inf")
    x[:, 12] = -0.0
    fn = lambda x: (x.sum(0), x.amax(0), x.amin(0))  # noqa: E731
    for a, b in zip(compiled(fn)(x), fn(x), strict=True):
        torch.testing.assert_close(a, b, equal_nan=True, rtol=1e-5, atol=1e-4)


def test_same_sums_every_time():
    x = torch.randn(3000, 200)
    for threads in THREADS:
        f = compiled(lambda x: x.sum(0), threads)
        first = f(x)
        assert all(torch.equal(first, f(x)) for _ in range(20))


def test_long_columns_lose_no_digits():
    x = torch.rand(200_000, 24)
    exact = x.double().sum(0)
    ours = (compiled(lambda x: x.sum(0))(x) - exact).abs().max()
    eager = (x.sum(0) - exact).abs().max()
    assert ours <= 2 * eager + 1e-3 * 2**-10 * exact.max()


def test_levels_agree():
    """The interpreters judge every level of graphs with such reductions."""
    x = torch.randn(300, 60)
    fn = lambda x: ((x * 2).sum(0), x.amax(0), torch.var(x, 0))  # noqa: E731
    close(compiled(fn, validate=True, cache=False)(x), fn(x.double()), 1e-4)


def stages(x):
    var, mean = torch.var_mean(x, 0)
    shifted = (x - mean) * torch.rsqrt(var + 1e-3)
    return shifted, shifted.amax(0), torch.logsumexp(var, -1)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("shape", [(33, 128), (48, 2048), (7, 3, 640), (63, 64)])
@pytest.mark.parametrize("forced", [False, True])
def test_stages_of_one_kernel_see_each_other(shape, threads, forced):
    """Few rows, several stages: no thread may read what another has in an array of its own."""
    options = {}
    if forced:  # whatever the price
        options["pipeline"] = f"default-cpu{{min-bytes=0 min-work=0 threads={threads}}}"
    x = torch.randn(shape)
    close(compiled(stages, threads, **options)(x), stages(x.double()), 1e-5)
