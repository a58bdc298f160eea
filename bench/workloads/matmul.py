"""Matmuls with the pointwise work and norms around them; a matmul of few rows."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from bench.workload import Build, Where, Workload


def bias_gelu(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return F.gelu(F.linear(x, w, b))


def residual_norm(x: Tensor, w: Tensor, b: Tensor, r: Tensor) -> Tensor:
    return F.layer_norm(F.linear(x, w, b) + r, (r.shape[-1],))


def linear(
    fn: Callable[..., Any], rows: int, inside: int, outside: int, *, residual: bool = False
) -> Build:
    """`fn(x, weight, bias[, residual])`; the library's matmul alone is the floor."""

    def build(where: Where) -> Workload:
        n = where.rows(rows) if rows > 4 else rows
        x, w = where.normal(n, inside), where.normal(outside, inside, seed=1) * 0.03
        args = [x, w, where.normal(outside, seed=2)]
        if residual:
            args.append(where.normal(n, outside, seed=3))
        out = torch.empty(n, outside, device=where.device, dtype=where.dtype)
        floor = None if rows <= 4 else (lambda: torch.mm(x, w.t(), out=out))
        return Workload(fn, args, floor=floor)

    return build


TABLE: dict[str, Build] = {
    "matmul_bias_gelu": linear(bias_gelu, 512, 768, 3072),
    "matmul_residual_norm": linear(residual_norm, 512, 3072, 768, residual=True),
    "matmul_4_rows": linear(lambda x, w, b: F.linear(x, w, b).relu(), 4, 2048, 2048),
}
