"""Optimisers over many small parameters: values of eager, and few launches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

SIZES = [(3,), (17, 5), (7,), (33,), (64, 3), (1,), (2, 3, 5), (129,), (1000,), (40, 41), (8,), ()]
Make = Callable[[list[Any]], torch.optim.Optimizer]
OPTIMISERS: dict[str, Make] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, foreach=True),
    "momentum": lambda p: torch.optim.SGD(
        p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01, foreach=True
    ),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01, foreach=True),
    "amsgrad": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True, foreach=True),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1, foreach=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.5, foreach=True),
}


def steps(make: Make, compiled: bool, **options: Any) -> tuple[list[Tensor], list[dict[str, Any]]]:
    """Parameters after three steps with seeded gradients, and the reports of the graphs."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    parameters = [torch.nn.Parameter(torch.randn(size)) for size in SIZES]
    optimiser = make(parameters)
    reports: list[dict[str, Any]] = []
    step: Any = optimiser.step
    if compiled:
        given = {"strict": True, "report": reports.append, **options}
        step = torch.compile(lambda: optimiser.step(), backend="minductor", options=given)
    for _ in range(3):
        for parameter in parameters:
            parameter.grad = torch.randn(parameter.shape)
        step()
    return [p.detach() for p in parameters], reports


@pytest.mark.parametrize("name", OPTIMISERS)
def test_optimisers(name: str) -> None:
    wanted, _ = steps(OPTIMISERS[name], compiled=False)
    found, reports = steps(OPTIMISERS[name], compiled=True)
    for a, b in zip(found, wanted, strict=True):
        torch.testing.assert_close(a, b, rtol=2e-5, atol=2e-6)
    for report in reports:
        assert not any("foreach" in name for name in report["externs"])
        assert len(report["kernels"]) <= 4


def test_without_packing_each_parameter_has_kernels() -> None:
    pipeline = "default-cpu{pack=false}"
    wanted, _ = steps(OPTIMISERS["momentum"], compiled=False)
    found, reports = steps(OPTIMISERS["momentum"], compiled=True, pipeline=pipeline)
    for a, b in zip(found, wanted, strict=True):
        torch.testing.assert_close(a, b, rtol=2e-5, atol=2e-6)
    assert len(reports[-1]["kernels"]) == len(SIZES)


def test_the_interpreters_agree() -> None:
    found, _ = steps(OPTIMISERS["adam"], compiled=True, validate=True)
    wanted, _ = steps(OPTIMISERS["adam"], compiled=False)
    for a, b in zip(found, wanted, strict=True):
        torch.testing.assert_close(a, b, rtol=2e-5, atol=2e-6)


def test_what_a_kernel_wrote_is_read_by_a_later_one() -> None:
    """A chain through views, calls and a mutated input: packs may not cross it."""

    def f(x: Tensor, y: Tensor, z: Tensor) -> tuple[Tensor, ...]:
        a = x.sin()
        b = a.cumsum(0)
        c = (b + 1).t() @ z
        y.add_(a.sum(0))
        return c.relu(), y * 2, z.cos(), (y + b).exp()

    def inputs() -> list[Tensor]:
        torch.manual_seed(1)
        return [torch.randn(6, 5), torch.randn(5), torch.randn(6, 4)]

    torch._dynamo.reset()
    compiled = torch.compile(f, backend="minductor", options={"strict": True})
    ours, theirs = inputs(), inputs()
    for a, b in zip(compiled(*ours), f(*theirs), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(ours[1], theirs[1])
