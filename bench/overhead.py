"""Rows of the overhead table: tiny tensors, so that a call's cost is what shows."""

import torch
from torch import Tensor

from bench.workload import Build, Where, Workload


def build_relu(where: Where) -> Workload:
    args = [where.normal(1024, seed=s) for s in range(2)]
    return Workload(lambda x, y: torch.relu(x + y) * 2, args)


def mixed(count: int) -> Build:
    """`count` kernels with a matmul between each two."""

    def fn(x: Tensor, w: Tensor) -> Tensor:
        for _ in range(count):
            x = torch.tanh(x + 1) @ w
        return x.relu()

    def build(where: Where) -> Workload:
        return Workload(fn, [where.normal(8, 16), where.normal(16, 16, seed=1) * 0.3])

    return build


def build_training(where: Where) -> Workload:
    def fn(x: Tensor, w: Tensor) -> Tensor:
        return (torch.relu(x + w) * w).sum(1)

    args = [where.normal(8, 16).requires_grad_(), where.normal(16, seed=1).requires_grad_()]
    return Workload(fn, args, (where.normal(8, seed=2),))


def build_arguments(where: Where) -> Workload:
    def fn(*xs: Tensor) -> Tensor:
        total = xs[0]
        for x in xs[1:]:
            total = total + x
        return total

    return Workload(fn, [where.normal(64, seed=s) for s in range(30)])


OVERHEAD: dict[str, Build] = {
    "relu_1k": build_relu,
    "kernels_10": mixed(10),
    "kernels_50": mixed(50),
    "tiny_training": build_training,
    "arguments_30": build_arguments,
}
