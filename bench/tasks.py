"""The models as workloads: `bert` is its forward, `bert_train` its forward and backward."""

from copy import deepcopy

import torch

from bench.models import MODELS, SIZES
from bench.models.base import Task
from bench.verify import LIMITS
from bench.workload import Where, Workload

NAMES = [f"{name}{suffix}" for name in MODELS if name != "mlp" for suffix in ("", "_train")]


def model_workload(name: str, size: str, where: Where) -> Workload:
    """Forward in evaluation mode, or the loss with gradients of all parameters."""
    torch.manual_seed(0)
    train = name.endswith("_train")
    task = MODELS[name.removesuffix("_train")](SIZES[size]).place(where.device, where.dtype)
    work = _training(task) if train else _inference(task)
    # a loss in f32 of values in bf16 is no more exact than they are
    work.tolerance = LIMITS[where.dtype]
    work.exact = lambda: _wide(deepcopy(task), train)
    return work


def _inference(task: Task) -> Workload:
    task.eval().requires_grad_(False)
    return Workload(task, task.inputs, reads=0, writes=0)


def _training(task: Task) -> Workload:
    task.train()
    parameters = [p for p in task.parameters() if p.requires_grad]
    one = torch.ones((), device=parameters[0].device)
    return Workload(task.loss, task.inputs, (one,), wrt=parameters, reads=0, writes=0)


def _wide(task: Task, train: bool) -> Workload:
    """The model in f64, its weights and inputs those of the model, rounded as they are."""
    parameter = next(task.parameters())
    task.place(str(parameter.device), torch.float64)
    return _training(task) if train else _inference(task)
