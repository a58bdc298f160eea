"""Row, column and full reductions, scans, softmax of short, middling and long rows."""

import torch
from torch import Tensor

from bench.workload import Build, Where, Workload
from bench.workloads.pointwise import plane


def wall(x: Tensor) -> Tensor:
    y = torch.sin(x)
    return torch.relu(y + y.sum())


def epilogue(x: Tensor) -> Tensor:
    return torch.relu((torch.sin(x) + 1).sum(1)) * 2


def build_masked_softmax(where: Where) -> Workload:
    n = where.rows(4)
    mask = torch.ones(512, 512, dtype=torch.bool, device=where.device).tril()

    def fn(x: Tensor, m: Tensor) -> Tensor:
        return (x * 0.125).masked_fill(~m, -1e9).softmax(-1)

    return Workload(fn, [where.normal(n, 4, 512, 512), mask])


def build_wide(where: Where) -> Workload:
    return Workload(lambda x: x.sum(0), [where.normal(512, where.rows(8192))])


TABLE: dict[str, Build] = {
    "row_sum": plane(lambda x: x.sum(1)),
    "column_sum_tall": plane(lambda x: x.sum(0), rows=16384, width=128),
    "column_sum_wide": build_wide,
    "full_sum": plane(lambda x: x.sum(), rows=4096),
    "row_and_column_sum": plane(lambda x: (x.sum(0), x.sum(1))),
    "sin_sum_relu": plane(epilogue),
    "wall": plane(wall),
    "var_mean_rows": plane(lambda x: torch.var_mean(x, 1)),
    "var_mean_columns": plane(lambda x: torch.var_mean(x, 0)),
    "logsumexp": plane(lambda x: x.logsumexp(1)),
    "argmax": plane(lambda x: x.float().argmax(1)),
    "cumsum": plane(lambda x: x.cumsum(1)),
    "softmax_short": plane(lambda x: x.softmax(-1), rows=32768, width=64),
    "softmax_1024": plane(lambda x: x.softmax(-1)),
    "softmax_50k": plane(lambda x: x.softmax(-1), rows=48, width=50304),
    "log_softmax": plane(lambda x: x.log_softmax(-1)),
    "masked_softmax": build_masked_softmax,
}
