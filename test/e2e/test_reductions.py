"""Reductions, softmax and norms against eager: dims, dtypes, ties, NaN, empty and 0-d inputs."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from harness import check, filled, uniform
from torch import Tensor

NAN, INF = float("nan"), float("inf")
Dims = int | tuple[int, ...] | None

DIMS: list[Dims] = [None, 0, 1, 2, -1, (0, 2), (1, 2), (0, 1, 2)]


@pytest.mark.parametrize("dims", DIMS, ids=str)
def test_sums_and_extremes_over_dims(dims: Dims) -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        d = tuple(range(3)) if dims is None else dims
        kept = (x.sum(d, keepdim=True), x.amax(d, keepdim=True))
        moments = (x.var(d), x.std(d, correction=0), *torch.var_mean(x, d))
        return (x.sum(d), x.mean(d), x.amax(d), x.amin(d), *kept, *moments, x.logsumexp(d))

    check(f, lambda: (uniform(5, 7, 19),), calls=1)


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float64,
        torch.bfloat16,
        torch.float16,
        torch.int8,
        torch.int32,
        torch.uint8,
        torch.bool,
    ],
)
def test_reductions_of_dtypes(dtype: torch.dtype) -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        return x.sum(), x.sum(0), x.sum(1), x.any(1), x.all(0), x.sum(1, dtype=torch.float64)

    check(f, lambda: (filled(dtype, 6, 41),), calls=1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int16, torch.int64, torch.bfloat16])
@pytest.mark.parametrize("shape", [(6, 200), (40, 17), (1, 3000)])
def test_first_of_ties(dtype: torch.dtype, shape: tuple[int, int]) -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        return x.argmax(1), x.argmin(1), x.argmax(), x.argmin(0), *x.max(1), *x.min(0)

    x = (uniform(*shape) * 1.4).round().to(dtype)
    # min/max with indices promise any of the ties; only argmin and argmax promise the first.
    check(lambda x: f(x)[:4], lambda: (x.clone(),), calls=1)
    torch._dynamo.reset()
    check(lambda x: (f(x)[4], f(x)[6]), lambda: (x.clone(),), calls=1)


def test_nan_wins_every_extreme() -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        return x.amax(1), x.amin(1), x.max(), x.min(), x.argmax(1), x.argmin(1), x.sum(1), x.prod(1)

    x = uniform(4, 50)
    x[0, 17] = x[2, 49] = x[3, 0] = NAN
    check(f, lambda: (x.clone(),), calls=1)


def test_products_and_logic() -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        return (
            x.prod(),
            x.prod(1),
            (x > 0).any(),
            (x > 0).all(1),
            (x > 9).any(0),
            x.norm(),
            x.norm(dim=1),
        )

    check(f, lambda: (uniform(4, 9, low=0.5, high=1.5),), calls=1)


@pytest.mark.parametrize("size", [1, 5, 64, 1000, 1500])
def test_softmax_family_with_special_rows(size: int) -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        rows = (torch.softmax(x, -1), torch.log_softmax(x, -1), torch.logsumexp(x, -1))
        return (*rows, torch.softmax(x, 0), torch.log_softmax(x, 0))

    x = uniform(6, size)
    x[0] = -INF
    x[1, : size // 2] = -INF
    x[2, size - 1] = NAN
    x[3, 0] = INF
    x[4] += 1e4
    check(f, lambda: (x.clone(),), calls=1)


def norms(x: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    size = (x.shape[-1],)
    rms = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * w
    return (
        F.layer_norm(x, size, w, b),
        F.layer_norm(x, size),
        rms,
        F.rms_norm(x, size, w),
        F.normalize(x),
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_row_norms(dtype: torch.dtype) -> None:
    args = [
        uniform(3, 9, 65).to(dtype),
        uniform(65, seed=1).to(dtype),
        uniform(65, seed=2).to(dtype),
    ]
    check(norms, lambda: [a.clone() for a in args], calls=1)


def test_plane_norms() -> None:
    def f(x: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        group = F.group_norm(x, 2, w, b)
        batch = F.batch_norm(x, None, None, w, b, training=True)
        frozen = F.batch_norm(x, w, w.abs() + 1, w, b)
        return group, F.instance_norm(x), batch, frozen

    check(f, lambda: (uniform(3, 4, 9, 7), uniform(4), uniform(4, seed=1)), calls=1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.bool])
def test_scans(dtype: torch.dtype) -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        return x.cumsum(0), x.cumsum(1), x.cumsum(-1, dtype=torch.float64), x.cumprod(1)

    check(f, lambda: (filled(dtype, 7, 33),), calls=1)


EMPTY: dict[str, Callable[[Tensor], Any]] = {
    "sum": lambda e: (e.sum(), e.sum(0), e.sum(1), e.mean(1), e.prod(), e.any(), e.all(0)),
    "shape": lambda e: (e * 2 + 1, e.t() + 1, e.softmax(1), e.amax(1), e.var(1), e.cumsum(0)),
    "matmul": lambda e: (e @ e.t(), e.t() @ e, torch.cat([e, e + 1])),
}


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.filterwarnings("ignore:var")
def test_no_elements(name: str) -> None:
    check(EMPTY[name], lambda: (torch.zeros(0, 3),), calls=1)


def test_no_dimensions() -> None:
    def f(s: Tensor, x: Tensor) -> tuple[Tensor, ...]:
        reduced = (s.sum(), s.amax(0), s.argmax(), s.mean(), torch.softmax(s, 0), s.cumsum(0))
        return (*reduced, s + x, s.expand(2, 3) * x[0], s.view(1, 1) + 1, torch.stack([s, s * 2]))

    check(f, lambda: (torch.tensor(2.5), uniform(2, 3)), calls=1)


def test_long_sums_stay_exact() -> None:
    x = uniform(1 << 21, low=0.1, high=1.1)

    def f(x: Tensor) -> tuple[Tensor, ...]:
        return x.sum(), x.mean(), (x * x).sum(), x.view(64, -1).sum(1), x.view(-1, 64).sum(0)

    check(f, lambda: (x,), calls=1, tol=(2e-6, 0.0))


def test_several_reductions_share_their_inputs() -> None:
    def f(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return x.sum(0), (x * y).sum(0), y.amax(0), x.sum(), (y + 1).sum(0), x.sum(1), y.mean(1)

    torch.set_num_threads(2)
    check(f, lambda: (uniform(3000, 5).double(), uniform(3000, 5, seed=1).double()), calls=1)


def test_repeats_exactly() -> None:
    x = uniform(900, 301)

    def f(x: Tensor) -> tuple[Tensor, ...]:
        return x.sum(), x.sum(0), (x * x).mean(), x.softmax(0).sum(1)

    subject = check(f, lambda: (x,), calls=1, tol=(1e-4, 1e-3))
    first = [t.clone() for t in subject(x)]
    for _ in range(5):
        assert all(torch.equal(a, b) for a, b in zip(first, subject(x), strict=True))


def test_places_of_equal_extremes_in_windows() -> None:
    """Among equal elements the first place of each window counts, minus infinity included."""
    x = torch.full((1, 1, 6, 6), float("-inf"))
    options = {"strict": True}

    def places(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.adaptive_max_pool2d(x, 2, return_indices=True)[1]

    got = torch.compile(places, backend="minductor", options=options)(x)
    assert got.tolist() == [[[[0, 3], [18, 21]]]]


def test_greatest_of_nothing_is_an_error() -> None:
    """As eager: there is no element to return."""
    run = torch.compile(lambda x: x.max(), backend="minductor", options={"strict": True})
    with pytest.raises(Exception, match="numel"):
        run(torch.randn(0))


def test_moments_of_nothing_are_nan() -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        return *torch.var_mean(x, 1), *torch.std_mean(x, 1, correction=0), x.mean(1), x.var(1)

    check(f, lambda: (torch.empty(4, 0),), calls=1)


@pytest.mark.parametrize("isa", ["avx512", "avx2", "portable"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_extremes_keep_a_nan_at_any_place(dtype: torch.dtype, isa: str) -> None:
    """A NaN in each lane, in each vector in flight, in the tail; rows of nothing but infinities."""

    def f(x: Tensor) -> tuple[Tensor, ...]:
        return x.amax(1), x.amin(1), x.softmax(1)

    def rows() -> tuple[Tensor]:
        x = uniform(104, 100).to(dtype)
        x[:100].fill_diagonal_(NAN)
        x[100], x[101], x[102, ::2] = -INF, INF, -0.0
        return (x,)

    check(f, rows, calls=1, options={"isa": isa})


@pytest.mark.parametrize("isa", ["avx512", "portable"])
def test_pooling_windows_keep_nan_and_ties(isa: str) -> None:
    def rows() -> tuple[Tensor]:
        x = uniform(3, 40, 40)
        x[0, ::3, ::5], x[1, ::2], x[2, 4:8] = NAN, -INF, -0.0
        return (x,)

    check(lambda x: F.max_pool2d(x, 3, 2, 1), rows, calls=1, options={"isa": isa})
