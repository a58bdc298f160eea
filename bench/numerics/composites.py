"""Errors of whole operations in f32 against f64, beside eager's, over wide ranges of inputs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

Function = Callable[[Tensor], Tensor]

OPERATIONS: dict[str, Function] = {
    "softmax": lambda x: torch.softmax(x, -1),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
    "layer_norm": lambda x: F.layer_norm(x, (x.shape[-1],)),
    "var": lambda x: torch.var(x, -1),
    "std": lambda x: torch.std(x, -1),
    "mean": lambda x: torch.mean(x, -1),
    "sum": lambda x: torch.sum(x, -1),
    "sum_columns": lambda x: torch.sum(x, 0),
    "sum_all": torch.sum,
    "prod": lambda x: torch.prod(1 + x / (1 + x.abs().amax()) / 8, -1),
    "norm": lambda x: torch.linalg.vector_norm(x, dim=-1),
    "logsumexp": lambda x: torch.logsumexp(x, -1),
    "cumsum": lambda x: torch.cumsum(x, -1),
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "softplus": F.softplus,
    "mish": F.mish,
    "erf": torch.erf,
    "exp": torch.exp,
    "tanh": torch.tanh,
    "pow": lambda x: torch.pow(x.abs(), 2.7),
}
EXACT: dict[str, Function] = {
    # 1 + tanh(u) cancels in f64 too, below -7; 2 sigmoid(2u) is the same number.
    "gelu_tanh": lambda x: x * torch.sigmoid(2 * (2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)),
}
"""What stands for an operation in f64 where PyTorch's own loses digits."""
ELEMENTWISE = frozenset(
    {"gelu", "gelu_tanh", "silu", "softplus", "mish", "erf", "exp", "tanh", "pow"}
)


def inputs(rows: int = 64, columns: int = 1237) -> dict[str, Tensor]:
    """Named f32 inputs (rows, columns): scales, offsets, subnormals, one great value a row."""
    rng = torch.Generator().manual_seed(5)
    unit = torch.randn(rows, columns, generator=rng)
    spike = unit.clone()
    spike[:, columns // 3] = 3e4
    return {
        "unit": unit,
        "1e-3": unit * 1e-3,
        "30": unit * 30,
        "1e4": unit * 1e4,
        "subnormal": unit * 1e-39,
        "offset": unit + 1000,
        "spike": spike,
        "positive": unit.abs() + 0.1,
    }


def exact_of(name: str, x: Tensor) -> Tensor:
    """The operation in f64."""
    return EXACT.get(name, OPERATIONS[name])(x.double())


def scale(exact: Tensor, x: Tensor, name: str) -> Tensor:
    """What an error is divided by: the f32 spacing at the value, or at the row's greatest.

    A sum may cancel: its error is measured against the sum of magnitudes, as error analysis does
    (Higham, Accuracy and Stability of Numerical Algorithms, 4.2).
    """
    size = exact.abs()
    if name in ("sum", "mean", "cumsum", "sum_columns", "sum_all"):
        total = OPERATIONS[name](x.double().abs())
        size = torch.maximum(size, total / 8)
    elif name not in ELEMENTWISE and exact.dim() > 1:
        size = size.amax(-1, keepdim=True).expand_as(size)
    values = size.clamp(max=3.4e38).float().numpy()
    return torch.from_numpy(np.asarray(np.spacing(values))).double()


def error(got: Tensor, exact: Tensor, unit: Tensor) -> float:
    """Greatest error in those units; inf where only one is finite, or infinities differ."""
    value, rounded = got.double().cpu(), exact.float().double()
    odd = ~(torch.isfinite(value) & torch.isfinite(rounded))
    same = (value == rounded) | (value.isnan() & rounded.isnan())
    miss = torch.where(same, 0.0, float("inf"))
    return float(torch.where(odd, miss, (value - exact).abs() / unit).max())


def measure(device: str, options: dict[str, Any]) -> list[dict[str, Any]]:
    """For each operation its worst error over the inputs, ours and eager's on the same device."""
    out: list[dict[str, Any]] = []
    for name, fn in OPERATIONS.items():
        torch.compiler.reset()
        compiled = torch.compile(fn, backend="minductor", options=options)
        cases: dict[str, dict[str, float]] = {}
        for label, x in inputs().items():
            exact = exact_of(name, x)
            unit, there = scale(exact, x, name), x.to(device)
            cases[label] = {
                "ours": error(compiled(there), exact, unit),
                "eager": error(fn(there), exact, unit),
            }
        out.append({"operation": name, "cases": cases})
    return out
