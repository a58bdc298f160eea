"""Pooling and upsampling."""

from collections.abc import Callable
from typing import Any

import torch.nn.functional as F

from bench.workload import Build, Where, Workload


def images(fn: Callable[..., Any], side: int = 56) -> Build:
    def build(where: Where) -> Workload:
        return Workload(fn, [where.normal(where.rows(8), 64, side, side)])

    return build


TABLE: dict[str, Build] = {
    "max_pool": images(lambda x: F.max_pool2d(x, 3, 2, 1)),
    "average_pool": images(lambda x: F.avg_pool2d(x, 2) * 2),
    "global_pool": images(lambda x: F.adaptive_avg_pool2d(x.relu(), 1)),
    "upsample_nearest": images(lambda x: F.interpolate(x, scale_factor=2).relu(), side=28),
    "upsample_bilinear": images(
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear") * 2, side=28
    ),
}
