"""Pointwise chains, casts, quantisation, optimiser updates."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from bench.workload import Build, Where, Workload

Function = Callable[..., Any]


def plane(fn: Function, *, inputs: int = 1, rows: int = 2048, width: int = 1024) -> Build:
    """`fn` of `inputs` matrices of one shape."""

    def build(where: Where) -> Workload:
        shape = (where.rows(rows), width)
        return Workload(fn, [where.normal(*shape, seed=s) for s in range(inputs)])

    return build


def fixed(fn: Function, dtype: torch.dtype, inputs: int = 1) -> Build:
    """`fn` of matrices of a dtype of its own."""

    def build(where: Where) -> Workload:
        return plane(fn, inputs=inputs)(Where(where.device, dtype))

    return build


def positive(fn: Function) -> Build:
    """`fn` of a matrix of values in [0.01, 4)."""

    def build(where: Where) -> Workload:
        work = plane(fn)(where)
        work.args = [x.abs() + 0.01 for x in work.args]
        return work

    return build


def by_hand(x: Tensor, b: Tensor) -> Tensor:
    return F.gelu(torch.tanh(x) + b) * torch.exp(-x * x)


def chain(x: Tensor, y: Tensor) -> Tensor:
    for k in range(8):
        x = (x * 0.5 + y).relu() - 0.1 * k
    return x


def build_by_hand(where: Where) -> Workload:
    return Workload(by_hand, [where.normal(where.rows(2048), 1024), where.normal(1024, seed=1)])


def build_masked_fill(where: Where) -> Workload:
    shape = (where.rows(2048), 1024)
    mask = where.whole(*shape, high=2).bool()
    return Workload(lambda x, m: x.masked_fill(m, -1e4), [where.normal(*shape), mask])


def build_broadcast(where: Where) -> Workload:
    n = where.rows(2048)
    args = [where.normal(n, 1024), where.normal(1024, seed=1), where.normal(n, 1, seed=2)]
    return Workload(lambda x, row, column: (x + row) * column, args)


def quantise(x: Tensor) -> Tensor:
    return (x * 31.75).round().clamp(-128, 127).to(torch.int8)


def dequantise(q: Tensor, scale: Tensor) -> Tensor:
    return q.to(scale.dtype) * scale


def build_quantise(where: Where) -> Workload:
    # One step of slack: products next to a rounding boundary may go either way.
    return Workload(quantise, [where.normal(where.rows(2048), 1024)], slack=1)


def build_dequantise(where: Where) -> Workload:
    q = where.whole(where.rows(2048), 1024, high=255).sub(127).to(torch.int8)
    return Workload(dequantise, [q, where.normal(1024)])


def normalise_bytes(u: Tensor) -> Tensor:
    x = (u.float() - 127) * 0.02
    return ((x.relu() / 0.02).round() + 12).clamp(0, 255).to(torch.uint8)


def build_bytes(where: Where) -> Workload:
    u = where.whole(3, where.rows(1024), 1024, high=256).to(torch.uint8)
    return Workload(normalise_bytes, [u], slack=1)


def adam(ps: list[Tensor], gs: list[Tensor], ms: list[Tensor], vs: list[Tensor]) -> None:
    for p, g, m, v in zip(ps, gs, ms, vs, strict=True):
        m.mul_(0.9).add_(g, alpha=0.1)
        v.mul_(0.999).addcmul_(g, g, value=0.001)
        p.addcdiv_(m, v.sqrt() + 1e-8, value=-1e-3)


def build_adam(where: Where) -> Workload:
    shapes = [(where.rows(256), 512), (512,), (where.rows(64), 512), (512,)] * 6

    def make() -> list[list[Tensor]]:
        kinds = [[where.normal(*s, seed=k + 4 * i) for i, s in enumerate(shapes)] for k in range(4)]
        kinds[3] = [v.abs() for v in kinds[3]]
        return kinds

    args = make()
    size = sum(t.numel() * t.element_size() for t in args[0])
    return Workload(adam, args, reads=4 * size, writes=3 * size, remake=make)


TABLE: dict[str, Build] = {
    "relu_add": plane(lambda x, y: torch.relu(x + y) * 2, inputs=2, rows=4096),
    "relu_add_small": plane(lambda x, y: torch.relu(x + y) * 2, inputs=2, rows=32),
    "chain_of_8": plane(chain, inputs=2),
    "gelu": plane(F.gelu),
    "gelu_bf16": fixed(F.gelu, torch.bfloat16),
    "silu_mul": plane(lambda x, y: F.silu(x) * y, inputs=2),
    "tanh_exp_log": positive(lambda x: torch.log(torch.exp(torch.tanh(x)) + 1)),
    "sin_cos": plane(lambda x: torch.sin(x) + torch.cos(x)),
    "by_hand": build_by_hand,
    "masked_fill": build_masked_fill,
    "broadcast": build_broadcast,
    "cast_down": fixed(lambda x: x.bfloat16(), torch.float32),
    "cast_up": fixed(lambda x: x.float(), torch.bfloat16),
    "int8_quantise": build_quantise,
    "int8_dequantise": build_dequantise,
    "byte_image": build_bytes,
    "adam": build_adam,
}
