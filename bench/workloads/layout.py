"""Transposes, permutes, cat, pad, slices, rotary embedding."""

import torch
import torch.nn.functional as F
from torch import Tensor

from bench.workload import Build, Where, Workload
from bench.workloads.pointwise import plane


def build_transposed_read(where: Where) -> Workload:
    n = where.rows(2048)
    return Workload(lambda x, y: x.t() + y * 2, [where.normal(1024, n), where.normal(n, 1024)])


def build_permute(where: Where) -> Workload:
    x = where.normal(where.rows(8), 256, 8, 64)
    return Workload(lambda x: x.permute(0, 2, 1, 3).contiguous() * 1.5, [x])


def build_nhwc(where: Where) -> Workload:
    x = where.normal(where.rows(8), 64, 64, 64)
    last = torch.channels_last
    return Workload(lambda x: x.relu().contiguous(memory_format=last), [x])


def rotate(x: Tensor) -> Tensor:
    a, b = x.chunk(2, -1)
    return torch.cat([-b, a], -1)


def rotary(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    return q * cos + rotate(q) * sin, k * cos + rotate(k) * sin


def build_rotary(where: Where) -> Workload:
    shape = (where.rows(2), 8, 1024, 64)
    angles = [where.normal(1024, 64, seed=s) for s in (2, 3)]
    return Workload(rotary, [where.normal(*shape), where.normal(*shape, seed=1), *angles])


def build_difference(where: Where) -> Workload:
    x = where.normal(where.rows(2048), 1024)
    return Workload(lambda x: x[:, 1:] - x[:, :-1], [x])


TABLE: dict[str, Build] = {
    "transpose": plane(lambda x: x.t().contiguous() + 1),
    "transposed_read": build_transposed_read,
    "permute": build_permute,
    "nchw_to_nhwc": build_nhwc,
    "cat_rows": plane(lambda x, y: torch.cat([x, y * 2]), inputs=2, rows=1024),
    "cat_columns": plane(lambda x, y: torch.cat([x, y * 2], 1), inputs=2, rows=1024),
    "pad": plane(lambda x: F.pad(x, (3, 5, 2, 2), value=1.0)),
    "slice_difference": build_difference,
    "rotary": build_rotary,
}
