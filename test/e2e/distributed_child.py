"""One of two processes that train together; what it saw goes to stdout as JSON.

Arguments: rank, number of processes, rendezvous file, gloo (on the CPU) or nccl (a GPU each). Each
program compares with one process that has the whole batch, and reports the largest difference and
the graphs that minductor compiled.
"""

import copy
import dataclasses
import json
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

from bench.models import MODELS, SIZES

Result = dict[str, Any]
SIZE = dataclasses.replace(SIZES["tiny"], layers=2, batch=4)
RATE = 0.1
BUCKET_MB = 0.25
"""Small buckets: the parameters of the two layers do not fit into one."""


class Compiles:
    """Options that collect the reports of minductor."""

    def __init__(self) -> None:
        self.reports: list[dict[str, Any]] = []

    def __call__(self, fn: Any, **keywords: Any) -> Any:
        """`fn` compiled by minductor; what it cannot compile raises."""
        torch._dynamo.reset()
        options: dict[str, Any] = {"strict": True, "report": self.reports.append}
        return torch.compile(fn, backend="minductor", options=options, **keywords)

    def seen(self) -> Result:
        """Kinds of the graphs, and the calls of collectives that stand in them."""
        calls = [name for r in self.reports for name in r["externs"] if "c10d" in name]
        return {"kinds": sorted(r["kind"] for r in self.reports), "collectives": sorted(calls)}


def step(task: nn.Module, loss_of: Callable[[Tensor], Tensor], ids: Tensor) -> float:
    """One step of gradient descent; the loss before it."""
    optimizer = torch.optim.SGD(task.parameters(), lr=RATE)
    loss = loss_of(ids)
    loss.backward()
    optimizer.step()
    return float(loss.detach())


def device() -> torch.device:
    """Where this process computes."""
    on_gpu = dist.get_backend() == "nccl"
    return torch.device("cuda", dist.get_rank()) if on_gpu else torch.device("cpu")


def model() -> tuple[Any, Tensor]:
    """A GPT-2 with seeded weights, and the whole batch."""
    torch.manual_seed(0)
    task = MODELS["gpt2"](SIZE).to(device())
    return task, task.inputs[0].to(device())


def expected() -> dict[str, Tensor]:
    """Parameters after the step of one process on the whole batch, eagerly."""
    task, ids = model()
    step(task, task.loss, ids)
    return {name: p.detach() for name, p in task.named_parameters()}


def difference(task: nn.Module, want: dict[str, Tensor]) -> float:
    """The largest difference of parameters, relative to the size of a step."""
    worst = 0.0
    for name, p in task.named_parameters():
        got = p.detach()
        got = got.full_tensor() if isinstance(got, DTensor) else got
        plain = name.replace("_orig_mod.", "")
        worst = max(worst, float((got - want[plain]).abs().max()) / RATE)
    return worst


def share(ids: Tensor) -> Tensor:
    """This process's part of the batch."""
    return ids.chunk(dist.get_world_size())[dist.get_rank()]


def ddp() -> Result:
    """Data parallel: the compiler splits the graph where a bucket of gradients is full."""
    task, ids = model()
    compiles = Compiles()
    dist._DEFAULT_FIRST_BUCKET_BYTES = int(BUCKET_MB * 2**20)
    wrapped = DistributedDataParallel(task.module, bucket_cap_mb=BUCKET_MB)
    network = compiles(wrapped)
    step(task, lambda x: task._score(network(input_ids=x, use_cache=False).logits, x), share(ids))
    return {"difference": difference(task, expected()), **compiles.seen()}


def fsdp() -> Result:
    """Sharded parameters: each block is compiled whole, its shards are gathered around it."""
    task, ids = model()
    want = expected()
    compiles = Compiles()
    blocks = task.module.transformer.h
    for k, block in enumerate(list(blocks)):
        blocks[k] = compiles(block, fullgraph=True)
        fully_shard(blocks[k])
    fully_shard(task.module)
    step(task, task.loss, share(ids))
    return {"difference": difference(task, want), **compiles.seen()}


def explicit() -> Result:
    """Collectives in the program itself, with work beside them, and with their operand at its end:
    its memory may be written over only when they have read it."""
    world = dist.group.WORLD
    assert world is not None
    size, group = dist.get_world_size(), world.group_name
    ops = torch.ops._c10d_functional

    def f(x: Tensor, w: Tensor) -> tuple[Tensor, ...]:
        y = torch.exp(x)
        total = ops.wait_tensor(ops.all_reduce(y, "sum", group))
        every = ops.wait_tensor(ops.all_gather_into_tensor(y, size, group))
        part = ops.wait_tensor(ops.reduce_scatter_tensor(y, "sum", size, group))
        beside = torch.sin(w) @ w
        last = y + beside
        return total * 2, every + 1, part - 1, last

    torch.manual_seed(dist.get_rank())
    args = [torch.randn(512, 512).to(device()) for _ in range(2)]
    compiles = Compiles()
    fast = compiles(f, fullgraph=True)
    worst = 0.0
    for _ in range(5):
        pairs = zip(fast(*args), f(*args), strict=True)
        worst = max(worst, *(float((a - b).abs().max()) for a, b in pairs))
    return {"difference": worst, **compiles.seen()}


PROGRAMS = {"ddp": ddp, "fsdp": fsdp, "explicit": explicit}


def main() -> None:
    """Run all programs in order."""
    rank, size, file, backend = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    torch.set_num_threads(1)
    if backend == "nccl":
        torch.cuda.set_device(rank)
    limit = timedelta(seconds=90)
    dist.init_process_group(
        backend, init_method=f"file://{file}", rank=rank, world_size=size, timeout=limit
    )
    results = {name: copy.deepcopy(program()) for name, program in PROGRAMS.items()}
    dist.barrier()
    dist.destroy_process_group()
    print(json.dumps(results), flush=True)


if __name__ == "__main__":
    main()
