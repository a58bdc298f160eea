"""The models as workloads: `bert` is its forward, `bert_train` its forward and backward."""

import torch

from bench.models import MODELS, SIZES
from bench.workload import Where, Workload

NAMES = [f"{name}{suffix}" for name in MODELS if name != "mlp" for suffix in ("", "_train")]


def model_workload(name: str, size: str, where: Where) -> Workload:
    """Forward in evaluation mode, or the loss with gradients of all parameters."""
    torch.manual_seed(0)
    train = name.endswith("_train")
    task = MODELS[name.removesuffix("_train")](SIZES[size]).place(where.device, where.dtype)
    if not train:
        task.eval().requires_grad_(False)
        return Workload(task, task.inputs, reads=0, writes=0)
    task.train()
    parameters = [p for p in task.parameters() if p.requires_grad]

    one = torch.ones((), device=where.device)
    return Workload(task.loss, task.inputs, (one,), wrt=parameters, reads=0, writes=0)
