"""Layer, RMS, group and batch norm, forward and backward."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from bench.workload import Build, Where, Workload

WIDTH = 768


def leaf(tensor: Tensor) -> Tensor:
    return tensor.requires_grad_()


def rows(fn: Callable[..., Any], *, train: bool = False, dtype: torch.dtype | None = None) -> Build:
    """`fn(x, weight, bias)` on rows of 768; with `train` forward and backward."""

    def build(where: Where) -> Workload:
        here = Where(where.device, dtype or where.dtype)
        n = where.rows(2048)
        args = [here.normal(n, WIDTH), here.normal(WIDTH, seed=1), here.normal(WIDTH, seed=2)]
        if not train:
            return Workload(fn, args)
        tangents = (here.normal(n, WIDTH, seed=3),)
        return Workload(fn, [leaf(t) for t in args], tangents)

    return build


def layer(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return F.layer_norm(x, (WIDTH,), w, b)


def rms(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * w + b


def residual(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return F.gelu(F.layer_norm(x + b, (WIDTH,), w))


def build_layer_backward(where: Where) -> Workload:
    n = where.rows(2048)
    x, w, b = where.normal(n, WIDTH), where.normal(WIDTH, seed=1), where.normal(WIDTH, seed=2)
    _, mean, rstd = torch.native_layer_norm(x, [WIDTH], w, b, 1e-5)

    def fn(g: Tensor, x: Tensor, mean: Tensor, rstd: Tensor, w: Tensor, b: Tensor) -> Any:
        mask = [True, True, True]
        op = torch.ops.aten.native_layer_norm_backward
        return op(g, x, [WIDTH], mean, rstd, w, b, mask)

    return Workload(fn, [where.normal(n, WIDTH, seed=3), x, mean, rstd, w, b])


def build_bias_gradient(where: Where) -> Workload:
    n = where.rows(4096)

    def fn(g: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        d = g * (x > 0)
        return d, d.sum(0)

    return Workload(fn, [where.normal(n, WIDTH), where.normal(n, WIDTH, seed=1)])


def images(fn: Callable[..., Any], *, train: bool = False) -> Build:
    """`fn(x, weight, bias)` on images of 64 channels."""

    def build(where: Where) -> Workload:
        shape = (where.rows(8), 64, 56, 56)
        args = [where.normal(*shape), where.normal(64, seed=1), where.normal(64, seed=2)]
        if not train:
            return Workload(fn, args)
        return Workload(fn, [leaf(t) for t in args], (where.normal(*shape, seed=3),))

    return build


def batch(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return F.batch_norm(x, None, None, w, b, training=True).relu()


def group(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return F.silu(F.group_norm(x, 8, w, b))


TABLE: dict[str, Build] = {
    "layer_norm": rows(layer),
    "layer_norm_backward": build_layer_backward,
    "layer_norm_train": rows(layer, train=True),
    "layer_norm_bf16": rows(layer, dtype=torch.bfloat16),
    "residual_norm_gelu": rows(residual),
    "rms_norm": rows(rms),
    "rms_norm_train": rows(rms, train=True),
    "bias_gradient": build_bias_gradient,
    "group_norm": images(group),
    "group_norm_train": images(group, train=True),
    "batch_norm": images(batch),
    "batch_norm_train": images(batch, train=True),
}
