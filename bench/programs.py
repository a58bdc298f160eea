"""Programs whose compile time is measured. `variant` gives another graph of the same kind."""

from collections.abc import Callable

import torch
from torch import Tensor

from bench.models import MODELS, SIZES
from bench.models.base import Task
from bench.workload import Where, Workload

Program = Callable[[int, Where], Workload]

GROWTH = (100, 300, 1000, 3000, 10000)


def relu(variant: int, where: Where) -> Workload:
    """relu(x + y) * 2, and as the next graph sigmoid(x - y) * 3."""
    args = [where.normal(1024, 64, seed=s) for s in range(2)]
    if variant:
        return Workload(lambda x, y: torch.sigmoid(x - y) * 3, args)
    return Workload(lambda x, y: torch.relu(x + y) * 2, args)


def softmax(variant: int, where: Where) -> Workload:
    """Softmax over rows, and as the next graph log-softmax of rows scaled."""
    args = [where.normal(64, 1024)]
    if variant:
        return Workload(lambda x: torch.log_softmax(x * 0.5, -1), args)
    return Workload(lambda x: torch.softmax(x, -1), args)


def training(task: Task, where: Where) -> Workload:
    """Loss and gradients of all parameters."""
    task.place(where.device, where.dtype).train()
    one = torch.ones((), device=where.device)
    return Workload(task.loss, task.inputs, (one,), wrt=list(task.parameters()))


class Block(torch.nn.Module):
    """A pre-norm transformer block."""

    def __init__(self, width: int, activation: torch.nn.Module) -> None:
        super().__init__()
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(width) for _ in range(2)])
        self.inside = torch.nn.Linear(width, 3 * width)
        self.outside = torch.nn.Linear(width, width)
        self.mlp = torch.nn.Sequential(
            torch.nn.Linear(width, 4 * width), activation, torch.nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        b, n, d = x.shape
        heads = self.inside(self.norms[0](x)).view(b, n, 3, 4, d // 4).permute(2, 0, 3, 1, 4)
        y = torch.nn.functional.scaled_dot_product_attention(*heads.unbind(0))
        x = x + self.outside(y.transpose(1, 2).reshape(b, n, d))
        return x + self.mlp(self.norms[1](x))


def block(variant: int, where: Where) -> Workload:
    """A transformer block, forward and backward; the next graph has another activation."""
    activation = torch.nn.SiLU() if variant else torch.nn.GELU()
    width = 128 if variant else 256
    inputs = (torch.randn(4, 64, width),)

    def pick(module: torch.nn.Module, x: Tensor) -> Tensor:
        return module(x)

    task = Task(Block(width, activation), inputs, pick, lambda y, *_: y.square().mean())
    return training(task, where)


def bert4(variant: int, where: Where) -> Workload:
    """BERT of four layers, forward and backward; the next graph is GPT-2's."""
    return training(MODELS["gpt2" if variant else "bert"](SIZES["small"]), where)


def growth(count: int) -> Program:
    """A graph of `count` pointwise nodes with a row mean every ten."""

    def build(variant: int, where: Where) -> Workload:
        def fn(x: Tensor, y: Tensor) -> Tensor:
            for k in range(count):
                if k % 10 == 9:
                    x = x - x.mean(1, keepdim=True)
                elif k % 3 == 0:
                    x = torch.sin(x)
                elif k % 3 == 1:
                    x = x * (0.5 + 0.01 * (k % 7 + variant))
                else:
                    x = x + y
            return x

        return Workload(fn, [where.normal(64, 128, seed=s) for s in range(2)])

    return build


PROGRAMS: dict[str, Program] = {
    "relu": relu,
    "softmax": softmax,
    "block_train": block,
    "bert4_train": bert4,
    **{f"growth_{n}": growth(n) for n in GROWTH},
}
