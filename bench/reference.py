"""The reference programs as workloads."""

import torch
import torch.nn.functional as F

from bench.workload import Build, Where, Workload
from bench.workloads.reduce import epilogue, wall


def square(fn: object, rows: int = 1024) -> Build:
    """`fn` of one matrix of 1024 columns."""

    def build(where: Where) -> Workload:
        assert callable(fn)
        return Workload(fn, [where.normal(rows, 1024)])

    return build


def build_simple(where: Where) -> Workload:
    args = [where.normal(1 << 20, seed=s) for s in range(2)]
    return Workload(lambda x, y: torch.relu(x + y) * 2, args)


REFERENCE: dict[str, Build] = {
    "simple": build_simple,
    "chain": square(lambda x: torch.relu(torch.sin(x) + 1)),
    "epilogue": square(epilogue),
    "wall": square(wall),
    "mismatch": square(lambda x: (torch.sin(x), torch.cos(x.t()).contiguous())),
    "softmax": square(lambda x: torch.softmax(x, -1), 64),
    "layer_norm": square(lambda x: F.layer_norm(x, (1024,)), 64),
}
