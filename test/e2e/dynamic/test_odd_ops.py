"""Indices, reductions, scans and images of symbolic sizes: values at each size, one compile."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from harness import integers, uniform
from over_sizes import EVEN, LOOSE, SIDES, Program, image, matrix, row, run, square, wide
from torch import Tensor
from torch.torch_version import TorchVersion

P = Program
FEW = (5, 7, 12)


def picture(*more: Tensor, channels: int = 3) -> Callable[[int], list[Tensor]]:
    """Images of (2, channels, n, n + 3), and fixed tensors after them."""
    return lambda n: [uniform(2, channels, n, n + 3), *more]


INDEXED: dict[str, Program] = {
    "index_select": P(
        lambda x, i: x.index_select(0, i) * 2,
        lambda n: [uniform(n, 6), integers(9, low=0, high=n)],
    ),
    "rows": P(
        lambda x, i: x[i % x.shape[0]] + 1,
        lambda n: [uniform(n, 6), integers(2 * n, low=0, high=99)],
    ),
    "two": P(lambda x, i: x[i, -i] * 2, lambda n: [uniform(n, n + 1), integers(9, low=0, high=n)]),
    "with_arange": P(
        lambda x, i: x[torch.arange(x.shape[0]), i],
        lambda n: [uniform(n, 6), integers(n, low=-6, high=6)],
    ),
    "gather": P(
        lambda x, i: x.gather(1, i).sum(1),
        lambda n: [uniform(3, n), integers(3, 2 * n, low=0, high=n)],
        tol=LOOSE,
    ),
    "scatter_add": P(
        lambda x, i: torch.zeros(x.shape[0] + 2).scatter_add(0, i, x),
        lambda n: [uniform(n), integers(n, low=0, high=n + 2)],
        tol=LOOSE,
    ),
    "index_add": P(
        lambda x, i: torch.zeros(4, x.shape[1]).index_add(0, i, x),
        lambda n: [uniform(n, 6), integers(n, low=0, high=4)],
        tol=LOOSE,
    ),
    "index_put": P(
        lambda x, i: x.index_put((i,), x[:3] * 2),
        lambda n: [uniform(n, 6), torch.tensor([0, n - 1, 2])],
    ),
    "embedding": P(
        lambda w, i: F.embedding(i, w).sum(1),
        lambda n: [uniform(11, 6), integers(n, n + 1, low=0, high=11)],
        (*FEW, 33),
        None,
        tol=LOOSE,
    ),
    "cross_entropy": P(
        lambda x, i: F.cross_entropy(x, i), lambda n: [uniform(n, 6), integers(n, low=0, high=6)]
    ),
    "take_along": P(
        lambda x: torch.take_along_dim(x, x.argsort(1), 1)[:, : x.shape[1] // 2], wide, FEW, None
    ),
    "topk_of_half": P(lambda x: x.topk(x.shape[1] // 2, 1).values.sum(1), wide, tol=LOOSE),
    "searchsorted": P(
        lambda x, y: torch.searchsorted(x.sort().values, y) * 2,
        lambda n: [uniform(n), uniform(8, seed=1)],
    ),
    "kv_cache": P(
        lambda c, x, p: c.slice_scatter(x, 1, p, p + x.shape[1]).sum(0),
        lambda n: [uniform(2, 300, 4), uniform(2, n, 4, seed=1), 13],
        (*FEW, 33, 64, 129, 257),
    ),
    "alternate": P(
        lambda x: torch.where(torch.arange(x.shape[0])[:, None] % 2 == 0, x, -x), matrix
    ),
    "argmax_then_index": P(lambda x: x[torch.arange(x.shape[0]), x.argmax(1)], square),
}

REDUCED: dict[str, Program] = {
    "cumsum": P(lambda x: x.cumsum(0) + x.cumsum(1), square, tol=LOOSE),
    "cumsum_flat": P(lambda x: x.flatten().cumsum(0)[:: x.shape[1]], square, tol=(1e-4, 1e-3)),
    "cumprod": P(lambda x: (x * 0.1 + 1).cumprod(0), matrix, tol=LOOSE),
    "cummax": P(lambda x: x.cummax(1), square),
    "logcumsumexp": P(lambda x: x.logcumsumexp(0), row, tol=LOOSE),
    "argmax": P(lambda x: (x.argmax(), x.argmax(0), x.argmin(1)), square),
    "max_min": P(lambda x: (x.max(1), x.min(0).values), square),
    "var_std": P(lambda x: (x.var(0), x.std(1), x.var()), square, tol=LOOSE),
    "norms": P(lambda x: (x.norm(), x.norm(dim=1), F.normalize(x, dim=0)), square, tol=LOOSE),
    "logsumexp": P(lambda x: x.logsumexp(0) + x.amax(0), square, tol=LOOSE),
    "prod": P(lambda x: (x * 0.05 + 1).prod(0), matrix, tol=LOOSE),
    "all_any": P(lambda x: ((x > -3).all(0), (x > 1.9).any(1)), square),
    "median": P(lambda x: x.median(1).values, square),
    "sort": P(lambda x: x.sort(1).values[:, 1:] - x.sort(1).values[:, :-1], square),
    "sum_of_many": P(lambda x: x.sum((0, 2, 3)) / x.shape[0], image, SIDES, tol=(1e-4, 1e-3)),
    "mean_keepdim": P(lambda x: x - x.mean((2, 3), keepdim=True), image, SIDES, tol=LOOSE),
    "segments": P(lambda x: x.view(-1, 2, 6).mean(1).sum(0), matrix, EVEN, None, tol=LOOSE),
    "kth": P(lambda x: x.kthvalue(2, 1).values, square),
    "diff": P(lambda x: x.diff(dim=0).abs().amax(0), square),
    "distances": P(lambda x: torch.cdist(x, x).sum(1), matrix, graphs=None, tol=(1e-3, 1e-2)),
}

WEIGHT = uniform(4, 3, 3, 3, seed=1)
IMAGES: dict[str, Program] = {
    "conv_pool": P(
        lambda x, w: F.max_pool2d(F.conv2d(x, w, padding=1).relu(), 2),
        picture(WEIGHT),
        SIDES,
        tol=LOOSE,
    ),
    "max_pool": P(lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True), image, SIDES),
    "max_pool_ceil": P(lambda x: F.max_pool2d(x, 3, 2, ceil_mode=True), image, SIDES),
    "avg_pool": P(lambda x: F.avg_pool2d(x, 3, 2, 1), image, SIDES),
    "avg_pool_uncounted": P(
        lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), image, SIDES
    ),
    "adaptive_avg": P(lambda x: F.adaptive_avg_pool2d(x, (4, 5)), image, SIDES),
    "adaptive_one": P(lambda x: F.adaptive_avg_pool2d(x, 1).flatten(1), image, SIDES),
    "adaptive_max": P(lambda x: F.adaptive_max_pool2d(x, (3, 3)), image, SIDES),
    "nearest_2": P(lambda x: F.interpolate(x, scale_factor=2) + 1, image, SIDES),
    "nearest_1.5": P(lambda x: F.interpolate(x, scale_factor=1.5), image, SIDES),
    "nearest_0.7": P(lambda x: F.interpolate(x, scale_factor=0.7), image, (*SIDES, 10, 20)),
    "nearest_to": P(lambda x: F.interpolate(x, size=(9, 11)), image, SIDES),
    "bilinear_2": P(lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), image, SIDES),
    "bilinear_corners": P(
        lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear", align_corners=True),
        image,
        SIDES,
        tol=LOOSE,
    ),
    "bilinear_half": P(
        lambda x: F.interpolate(x, size=(x.shape[2] // 2, x.shape[3] // 2), mode="bilinear"),
        image,
        SIDES,
    ),
    "bicubic": P(
        lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"), image, SIDES, tol=LOOSE
    ),
    "conv_transpose": P(
        lambda x, w: F.conv_transpose2d(x, w, stride=2).sin(),
        picture(uniform(3, 4, 3, 3, seed=1)),
        SIDES,
        tol=LOOSE,
    ),
    "patches": P(lambda x: F.unfold(x, 3, padding=1).sum(1), image, SIDES, tol=LOOSE),
    "pixel_shuffle": P(lambda x: F.pixel_shuffle(x, 2) + 1, picture(channels=8), SIDES),
    "channels_last": P(
        lambda x: (x * 2 + 1).relu(),
        lambda n: [uniform(2, 3, n, n + 3).to(memory_format=torch.channels_last)],
        SIDES,
    ),
    "grid_sample": P(
        lambda x, g: F.grid_sample(x, g, align_corners=False),
        picture(uniform(2, 9, 5, 2, low=-1.2, high=1.2)),
        SIDES,
        None,
        tol=LOOSE,
    ),
    "group_norm": P(lambda x: F.group_norm(x, 2), picture(channels=4), SIDES, tol=LOOSE),
    "batch_norm": P(
        lambda x, m, v: F.batch_norm(x, m, v, training=True),
        lambda n: [uniform(n, 3, 5), torch.zeros(3), torch.ones(3)],
        SIDES,
        tol=LOOSE,
    ),
    "conv1d_causal": P(
        lambda x, w: F.conv1d(F.pad(x, (2, 0)), w).relu(),
        lambda n: [uniform(2, 3, n), uniform(4, 3, 3, seed=1)],
        tol=LOOSE,
    ),
}
if TorchVersion(torch.__version__) < (2, 12):
    del IMAGES["bilinear_half"]  # Dynamo of that release cannot trace it


TABLES = {"indexed": INDEXED, "reduced": REDUCED, "images": IMAGES}
ALL = {f"{t}-{k}": p for t, rows in TABLES.items() for k, p in rows.items()}


@pytest.mark.parametrize("name", ALL)
def test_over_sizes(name: str) -> None:
    """Right at each size, from as few graphs as Dynamo makes (its releases differ on images)."""
    program = ALL[name]
    run(replace(program, graphs=None) if name.startswith("images") else program)
