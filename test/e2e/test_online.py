"""Softmax and its kin in one pass over the row: values, NaN and infinities of eager."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

FUNCTIONS: dict[str, Callable[[Tensor], Any]] = {
    "softmax": lambda x: x.softmax(1),
    "log_softmax": lambda x: x.log_softmax(1),
    "logsumexp": lambda x: torch.logsumexp(x, 1),
    "scaled": lambda x: (x * 0.3 + 1).softmax(1),
    "masked": lambda x: x.masked_fill(x > 2, -math.inf).softmax(1),
    "bf16": lambda x: x.bfloat16().softmax(1),
    "f64": lambda x: x.double().softmax(1),
    "cross_entropy": lambda x: F.cross_entropy(x, torch.arange(9), reduction="none"),
}


def rows(columns: int) -> Tensor:
    """Plain rows, rows with infinities and NaN in several places, and a row of large values."""
    torch.manual_seed(0)
    x = torch.randn(9, columns) * 5
    x[1] = -math.inf
    x[2, 5], x[3, 7], x[5], x[6, 0] = math.inf, math.nan, math.inf, -math.inf
    x[4] = -math.inf
    x[4, columns - 1] = 3.0
    x[7] *= 1000
    x[8, 3], x[8, 4] = math.inf, -math.inf
    return x


@pytest.mark.parametrize("columns", [50_000, 3001, 17])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_pass_equals_eager(name: str, columns: int) -> None:
    f, x = FUNCTIONS[name], rows(columns)
    logs: list[dict[str, Any]] = []
    torch._dynamo.reset()
    options: dict[str, Any] = {
        "strict": True,
        "pipeline": "default-cpu{online=always threads=2}",
        "report": logs.append,
    }
    found, wanted = torch.compile(f, backend="minductor", options=options)(x), f(x)
    rtol = {torch.bfloat16: 2e-2, torch.float64: 1e-12}.get(wanted.dtype, 2e-5)
    torch.testing.assert_close(found, wanted, rtol=rtol, atol=1e-5, equal_nan=True)


def test_with_backward() -> None:
    x = torch.randn(4, 30_000, requires_grad=True)
    y = x.detach().clone().requires_grad_()
    torch._dynamo.reset()
    options: dict[str, Any] = {"strict": True, "pipeline": "default-cpu{online=always}"}
    f = torch.compile(lambda t: F.log_softmax(t, 1), backend="minductor", options=options)
    weight = torch.randn(4, 30_000)
    (f(x) * weight).sum().backward()
    (F.log_softmax(y, 1) * weight).sum().backward()
    torch.testing.assert_close(x.grad, y.grad, rtol=1e-4, atol=1e-5)
