"""The programs: one of each kernel shape, small enough to be watched, large enough for threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True)
class Program:
    """A function and its inputs; `grad` runs its backward too, `dynamic` with sizes unknown."""

    fn: Callable[..., Any]
    make: Callable[[], list[Any]]
    grad: bool = False
    dynamic: bool = False


def normal(*shapes: tuple[int, ...], dtype: torch.dtype = torch.float32) -> Callable[[], list[Any]]:
    """Seeded normal inputs."""

    def make() -> list[Any]:
        generator = torch.Generator().manual_seed(7)
        return [torch.randn(s, generator=generator).to(dtype) for s in shapes]

    return make


def indexed(
    shape: tuple[int, ...], index: tuple[int, ...], high: int, *more: tuple[int, ...]
) -> Callable[[], list[Any]]:
    """A normal input, whole numbers below `high`, more normal inputs."""

    def make() -> list[Any]:
        generator = torch.Generator().manual_seed(7)
        x, *rest = (torch.randn(s, generator=generator) for s in (shape, *more))
        return [x, torch.randint(0, high, index, generator=generator), *rest]

    return make


def quantise(x: Tensor) -> Tensor:
    return (x * 31.75).round().clamp(-128, 127).to(torch.int8)


def rotary(q: Tensor, c: Tensor, s: Tensor) -> Tensor:
    a, b = q.chunk(2, -1)
    return q * c + torch.cat([-b, a], -1) * s


def wall(x: Tensor) -> Tensor:
    y = torch.sin(x)
    return torch.relu(y + y.sum())


def bias_gradient(g: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    d = g * (x > 0)
    return d, d.sum(0)


def adam(p: list[Tensor], g: list[Tensor], m: list[Tensor]) -> list[Tensor]:
    new = torch._foreach_lerp(m, g, 0.1)
    return list(torch._foreach_addcdiv(p, new, [x.abs() + 1e-3 for x in new], -1e-3))


def lists() -> list[Any]:
    shapes = [(64, 129), (129,), (40, 77)]
    return [[torch.full(s, 0.1 * k + 1) for s in shapes] for k in range(3)]


def embedding(i: Tensor, w: Tensor) -> Tensor:
    return F.embedding(i, w).sum(1)


def table() -> list[Any]:
    generator = torch.Generator().manual_seed(7)
    ids = torch.randint(0, 50, (300, 4), generator=generator)
    return [ids, torch.randn(50, 65, generator=generator)]


def losses() -> list[Any]:
    return indexed((64, 1003), (64,), 1003)()


def masked(x: Tensor) -> Tensor:
    return (x * 0.125).masked_fill(x > 1, -1e9).softmax(-1)


BIG = normal((300, 517), (300, 517))
ONE = normal((300, 517))
IMAGE = normal((3, 8, 29, 31))
NORM = normal((4, 8, 15, 17), (8,), (8,))
ROWS = normal((200, 515), (515,), (515,))

POINTWISE: dict[str, Program] = {
    "relu_add": Program(lambda x, y: torch.relu(x + y) * 2, BIG),
    "gelu_tanh": Program(lambda x, y: F.gelu(x) * torch.tanh(y), BIG),
    "broadcast": Program(lambda x, r: (x + r) * x, normal((300, 517), (517,))),
    "half": Program(F.silu, normal((300, 517), dtype=torch.bfloat16)),
    "double": Program(torch.sin, normal((300, 517), dtype=torch.float64)),
    "quantise": Program(quantise, ONE),
    "masks": Program(lambda x: (x > 0) & ~x.isnan(), ONE),
    "power": Program(lambda x, y: x.abs().pow(y), BIG),
    "dynamic": Program(lambda x, y: torch.exp(x) - y, BIG, dynamic=True),
    "adam": Program(adam, lists),
}
LAYOUT: dict[str, Program] = {
    "transpose": Program(lambda x: x.t().contiguous() + 1, ONE),
    "transposed_read": Program(lambda x, y: x.t() + y, normal((300, 517), (517, 300))),
    "channels_last": Program(
        lambda x: x.relu().contiguous(memory_format=torch.channels_last), IMAGE
    ),
    "cat": Program(lambda x, y: torch.cat([x, y * 2], 1), BIG),
    "pad": Program(lambda x: F.pad(x, (3, 5, 2, 2), value=1.0), ONE),
    "flip": Program(lambda x: x.flip(1)[:, ::3], ONE),
    "rotary": Program(rotary, normal((2, 3, 100, 64), (100, 64), (100, 64))),
    "difference": Program(lambda x: x[:, 1:] - x[:, :-1], ONE),
    "upsample_nearest": Program(lambda x: F.interpolate(x, scale_factor=2), IMAGE),
    "upsample_bilinear": Program(
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), IMAGE
    ),
    "max_pool": Program(lambda x: F.max_pool2d(x, 3, 2, 1), IMAGE, grad=True),
    "average_pool": Program(lambda x: F.avg_pool2d(x, 2) * 2, IMAGE),
}
REDUCE: dict[str, Program] = {
    "row_sum": Program(lambda x: x.sum(1), ONE),
    "column_sum": Program(lambda x: x.sum(0), normal((2000, 130))),
    "full_sum": Program(lambda x: x.sum(), ONE),
    "both_sums": Program(lambda x: (x.sum(0), x.sum(1)), ONE),
    "any_all": Program(lambda x: ((x > 3).any(1), (x > -9).all(0)), ONE),
    "wall": Program(wall, ONE),
    "moments": Program(lambda x: torch.var_mean(x, 1), ONE),
    "column_moments": Program(lambda x: torch.var_mean(x, 0), ONE),
    "argmax": Program(lambda x: (x.argmax(1), x.argmin(0)), ONE),
    "cumsum": Program(lambda x: x.cumsum(1), ONE),
    "cummax": Program(lambda x: x.cummax(1), ONE),
    "short_rows": Program(lambda x: x.softmax(-1), normal((3000, 7))),
    "softmax": Program(lambda x: x.softmax(-1), ONE),
    "masked_softmax": Program(masked, ONE),
    "long_softmax": Program(lambda x: x.softmax(-1), normal((2, 300_001))),
    "logsumexp": Program(lambda x: x.logsumexp(1), ONE),
    "dynamic_rows": Program(lambda x: x.softmax(-1), ONE, dynamic=True),
    "bias_gradient": Program(bias_gradient, BIG),
    "empty": Program(lambda x: (x.sum(0), x * 2), normal((0, 5))),
}
TRAINING: dict[str, Program] = {
    "layer_norm": Program(lambda x, w, b: F.layer_norm(x, (515,), w, b), ROWS, grad=True),
    "batch_norm": Program(
        lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), NORM, grad=True
    ),
    "group_norm": Program(lambda x, w, b: F.silu(F.group_norm(x, 4, w, b)), NORM, grad=True),
    "cross_entropy": Program(F.cross_entropy, losses, grad=True),
    "attention": Program(
        lambda q, k, v: (q @ k.mT * 0.1).softmax(-1) @ v,
        normal((2, 3, 50, 16), (2, 3, 50, 16), (2, 3, 50, 16)),
        grad=True,
    ),
}
INDEX: dict[str, Program] = {
    "gather": Program(lambda x, i: x.gather(1, i) + 1, indexed((200, 300), (200, 400), 300)),
    "embedding": Program(embedding, table, grad=True),
    "index_put": Program(
        lambda x, i, v: x.index_put((i,), v * 2, accumulate=True),
        indexed((64, 130), (900,), 64, (900, 130)),
    ),
    "scatter_add": Program(
        lambda x, i, v: x.scatter_add(1, i, v), indexed((300, 64), (300, 500), 64, (300, 500))
    ),
    "index_select": Program(lambda x, i: x[:, i].relu(), indexed((300, 400), (300,), 400)),
}
PROGRAMS: dict[str, Program] = {**POINTWISE, **LAYOUT, **REDUCE, **TRAINING, **INDEX}

SHARD = ("relu_add", "max_pool", "column_sum", "softmax", "both_sums", "index_put")
"""What the tests run: vectors and tails, windows, partial results, rows, stages, updates."""
