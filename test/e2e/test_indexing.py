"""Gather, index, embedding and their scattering counterparts; indices out of range are refused."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from harness import check, compiled, integers, uniform
from torch import Tensor

READS: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "index": lambda x, i: (x[i] + 1, x[i, i % 7], x[:, i % 7] * 2, x[i[:, None], i % 7]),
    "masked": lambda x, i: (torch.where((i > 3)[:, None], x[i], 0.0), x[i].sum(1), x[-i - 1]),
    "select": lambda x, i: (
        x.index_select(0, i) * 2,
        x.take(i) + 1,
        torch.index_select(x, 1, i % 7),
    ),
    "gather": lambda x, i: (x.gather(0, i[:7, None] % 11), x.gather(1, (i % 7)[None, :5])),
    "take_along": lambda x, i: (torch.take_along_dim(x, i[:11, None] % 7, 1), x.sort(1)[0] * 2),
    "embedding": lambda x, i: (F.embedding(i, x) * 2, F.embedding(i[None], x).sum(1)),
    "one_hot": lambda x, i: (
        (i[:, None] == torch.arange(11)).float() @ x,
        x[i].view(-1)[3:9].exp(),
    ),
}
WRITES: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "scatter": lambda x, i: (
        x.scatter(1, (i % 7)[:11, None], 5.0),
        x.scatter(0, i[None, :7], x[:1] * 2),
    ),
    "scatter_add": lambda x, i: x.scatter_add(0, i[:7, None].expand(7, 7), x[:7] * 2) + 1,
    "index_add": lambda x, i: (x.index_add(0, i, x[i] * 0.5), x.index_add(1, i[:3] % 7, x[:, :3])),
    "index_put": lambda x, i: (
        x.index_put((i,), x[i] * 2, accumulate=True),
        x.index_fill(0, i, 3.0),
    ),
    "put_unique": lambda x, i: (
        x.index_put((torch.arange(4) * 2, torch.arange(4)), x[0, :4] + 1) * 2
    ),
    "bincount": lambda x, i: torch.zeros(11).index_add(0, i, torch.ones(i.shape[0])) / 3,
    "reduce": lambda x, i: (
        x.scatter_reduce(0, i[:7, None].expand(7, 7), x[:7], "amax"),
        x.scatter_reduce(0, i[:7, None].expand(7, 7), x[:7], "mean"),
    ),
}


def inputs() -> tuple[Tensor, Tensor]:
    return uniform(11, 7), integers(13, low=0, high=11)


@pytest.mark.parametrize("name", READS)
def test_reads(name: str) -> None:
    check(READS[name], inputs)


@pytest.mark.parametrize("name", WRITES)
def test_writes(name: str) -> None:
    check(WRITES[name], inputs)


@pytest.mark.parametrize("name", ["index", "select", "gather", "embedding"])
def test_gradients_of_reads(name: str) -> None:
    check(READS[name], lambda: (inputs()[0].requires_grad_(), inputs()[1]), grad=True)


@pytest.mark.parametrize("name", ["scatter_add", "index_add", "put_unique"])
def test_gradients_of_writes(name: str) -> None:
    check(WRITES[name], lambda: (inputs()[0].requires_grad_(), inputs()[1]), grad=True)


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64, torch.int32, torch.bfloat16])
def test_accumulation_of_repeated_indices(dtype: torch.dtype) -> None:
    def f(x: Tensor, i: Tensor, v: Tensor) -> tuple[Tensor, ...]:
        before = x * 2
        return before, x.index_put((i,), v, accumulate=True), x.index_add(0, i, v) - x

    # Small whole numbers: the sum is exact in every order.
    check(
        f,
        lambda: (
            integers(5, 3).to(dtype),
            integers(60, low=0, high=5, seed=1),
            integers(60, 3, low=0, high=3, seed=2).to(dtype),
        ),
    )


@pytest.mark.parametrize("padding", [None, 2])
def test_embedding_gradient_counts_repeats(padding: int | None) -> None:
    def f(w: Tensor, i: Tensor) -> Tensor:
        return (F.embedding(i, w, padding_idx=padding).tanh() * 0.5).sum(1)

    check(
        f,
        lambda: (uniform(11, 6).double().requires_grad_(), integers(9, 40, low=0, high=11)),
        grad=True,
    )


OUT_OF_RANGE: dict[str, tuple[Callable[[Tensor, Tensor], Tensor], tuple[int, int]]] = {
    "embedding": (lambda i, w: F.embedding(i, w) * 2, (-1, 10)),
    "index_select": (lambda i, w: w.index_select(0, i) + 1, (-1, 10)),
    "index": (lambda i, w: w[i, :3].sum(1), (-11, 10)),
    "gather": (lambda i, w: w.gather(0, i[:, None]) + 1, (-1, 10)),
    "scatter": (lambda i, w: w.scatter(0, i[:8, None], 1.0) + 1, (-1, 10)),
    "index_put": (lambda i, w: w.index_put((i,), w[0, 0]) + 1, (-11, 10)),
}


@pytest.mark.parametrize("name", OUT_OF_RANGE)
def test_indices_out_of_range_are_refused(name: str) -> None:
    fn, bads = OUT_OF_RANGE[name]
    w, good = uniform(10, 8), integers(9, low=0, high=10)
    subject = compiled(fn)
    assert torch.equal(subject(good, w), fn(good, w))
    for bad in bads:
        i = good.clone()
        i[3] = bad
        with pytest.raises((IndexError, RuntimeError)):
            fn(i, w)
        with pytest.raises((IndexError, RuntimeError)):
            subject(i, w)
    assert torch.equal(subject(good, w), fn(good, w))


NOT_ADDRESSED: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "one row": lambda i, w: w[:1][i],
    "one element": lambda i, w: w[:1, :1].gather(0, i[:, None]),
    "one row, embedding": lambda i, w: F.embedding(i, w[:1]),
    "one row, added to": lambda i, w: w[:1].index_add(0, i[:1], w[:1]),
    "one row, put": lambda i, w: w[:1].index_put((i,), w[0, 0]),
    "one row, summed": lambda i, w: w[:1][i].sum(0),
    "expanded": lambda i, w: w[:1].expand(3, 8)[i] * 2,
    "a constant": lambda i, w: torch.full((3, 8), 2.0)[i] * w[0],
    "a constant, summed": lambda i, w: torch.zeros(3, 8)[i].sum() + w,
    "times zero": lambda i, w: w[:1][i] * 0,
}
"""Reads and writes whose place no address depends on."""


@pytest.mark.parametrize("name", NOT_ADDRESSED)
def test_indices_that_address_nothing_are_checked(name: str) -> None:
    fn = NOT_ADDRESSED[name]
    w, good = uniform(10, 8), torch.zeros(9, dtype=torch.int64)
    subject = compiled(fn)
    torch.testing.assert_close(subject(good, w), fn(good, w))
    bad = good.clone()
    bad[0] = 5
    for call in (fn, subject):
        with pytest.raises((IndexError, RuntimeError), match=r"out of (bounds|range)"):
            call(bad, w)


def test_a_fault_is_the_error_of_either_kind() -> None:
    subject = compiled(lambda i, w: w.gather(0, i))
    for kind in (IndexError, RuntimeError):
        with pytest.raises(kind, match="index out of range in kernel cpp_fused_gather_0"):
            subject(torch.tensor([7]), uniform(3))


def test_guarded_reads_never_touch_what_they_mask() -> None:
    def f(table: Tensor, i: Tensor, z: Tensor) -> tuple[Tensor, ...]:
        got = table[i]
        joined = torch.cat([got, z, table[:1] * 0])
        padded = F.pad(table[i * 2 - i].sum(1), (4, 200_000), value=1.0)
        return joined, padded.sum(), torch.cat([z[:0], z, got[1:]]).relu()

    check(f, lambda: (uniform(50, 4), torch.tensor([0, 49, 3, 7, 7]), torch.ones(2, 4)))


POOLS: dict[str, Callable[[Tensor], Any]] = {
    "max": lambda x: (F.max_pool2d(x, 2), F.max_pool2d(x, 3, 2, 1), F.max_pool1d(x[0], 3)),
    "max_indices": lambda x: F.max_pool2d(x, 2, return_indices=True),
    "avg": lambda x: (F.avg_pool2d(x, 2), F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)),
    "adaptive": lambda x: (F.adaptive_avg_pool2d(x, 1), F.adaptive_avg_pool2d(x, (3, 2))),
    "upsample": lambda x: (
        F.interpolate(x, scale_factor=2),
        F.interpolate(x, (5, 9), mode="nearest"),
    ),
    "bilinear": lambda x: (
        F.interpolate(x, scale_factor=2, mode="bilinear"),
        F.interpolate(x, (5, 9), mode="bilinear", align_corners=True),
    ),
}


@pytest.mark.parametrize("name", POOLS)
def test_pools_and_upsampling(name: str) -> None:
    check(POOLS[name], lambda: (uniform(2, 3, 8, 6),))


@pytest.mark.parametrize("name", [n for n in POOLS if n != "max_indices"])
def test_gradients_of_pools_and_upsampling(name: str) -> None:
    check(POOLS[name], lambda: (uniform(2, 3, 8, 6).requires_grad_(),), grad=True)
