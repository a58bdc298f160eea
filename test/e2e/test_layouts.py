"""Convolutions whose images the compiler lays out channels last: values, gradients and strides.

The pass is for CUDA; here it is told to do the same on a CPU, whose library takes both layouts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from minductor.compiler import Outcome
from minductor.errors import CompileError, FallbackWarning
from minductor.job import Job
from minductor.passes.pipelines import PIPELINES

PASS = "loop-layout{layout-on=cpu wide=true}"


def pipeline() -> str:
    """The CPU's own, with the pass before fusion."""
    passes = list(PIPELINES["default-cpu"])
    passes.insert(passes.index("loop-fuse"), PASS)
    return ",".join(passes)


class Pyramid(nn.Module):
    """Down by pooling, up by upsampling, joined by cat; norms, a residual, a linear head."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.down = nn.Conv2d(8, 16, 3, padding=1, bias=False)
        self.same = nn.Conv2d(16, 16, 1)
        self.up = nn.Conv2d(24, 8, 3, stride=2, padding=1)
        self.norms = nn.ModuleList([nn.BatchNorm2d(8), nn.GroupNorm(4, 16)])
        self.head = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        a = self.norms[0](self.first(x)).relu()
        b = self.norms[1](self.down(F.max_pool2d(a, 2)))
        b = b + self.same(b).sigmoid()
        up = F.interpolate(b, scale_factor=2, mode="bilinear")
        c = self.up(torch.cat([up, a], 1))
        return c, self.head(c.mean((2, 3)))


def both(model: nn.Module, run: Callable[[Any], list[Tensor]], strict: bool = True) -> None:
    """Results compiled as eager has them, with the same strides; twice, so that nothing is left."""
    torch._dynamo.reset()
    options: Any = {"pipeline": pipeline(), "strict": strict, "cache": False}
    compiled: Any = torch.compile(model, backend="minductor", options=options)
    for _ in range(2):
        state = {k: v.clone() for k, v in model.state_dict().items()}
        want = run(model)
        model.load_state_dict(state)
        got = run(compiled)
        torch.testing.assert_close(got, want, rtol=2e-4, atol=2e-5)
        assert [g.stride() for g in got] == [w.stride() for w in want]


@pytest.mark.parametrize("last", [False, True])
def test_inference(last: bool) -> None:
    torch.manual_seed(0)
    model = Pyramid().eval()
    x = torch.randn(2, 3, 12, 20)
    x = x.contiguous(memory_format=torch.channels_last) if last else x

    def run(call: Any) -> list[Tensor]:
        with torch.no_grad():
            return list(call(x))

    both(model, run)


def step(model: nn.Module) -> Callable[[Any], list[Tensor]]:
    """A training step: results, gradients, buffers."""
    x = torch.randn(2, 3, 12, 20)

    def run(call: Any) -> list[Tensor]:
        model.zero_grad()
        leaf = x.clone().requires_grad_()
        image, row = call(leaf)
        (image.square().mean() + row.sum()).backward()
        grads = [p.grad for p in model.parameters()]
        assert leaf.grad is not None
        found = [g.clone() for g in grads if g is not None]
        return [image.detach(), row.detach(), leaf.grad, *found, *model.buffers()]

    return run


def test_training() -> None:
    torch.manual_seed(0)
    model = Pyramid().train()
    both(model, step(model))


def test_saved_tensors_are_channels_last() -> None:
    torch.manual_seed(0)
    model = Pyramid().train()
    run = step(model)
    kept: list[Tensor] = []

    def keep(x: Tensor) -> Tensor:
        kept.append(x)
        return x

    def hooked(call: Any) -> list[Tensor]:
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda x: x):
            return run(call)

    both(model, hooked)
    images = [x for x in kept[len(kept) // 2 :] if x.dim() == 4 and x.shape[1] > 3]
    assert any(x.is_contiguous(memory_format=torch.channels_last) for x in images)


@pytest.mark.parametrize("kind", ["forward", "backward"])
def test_a_half_that_runs_eagerly(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other half has been compiled for the layouts that were chosen, or not chosen."""
    torch.manual_seed(0)
    model = Pyramid().train()
    settle = Job.settle

    def fails(job: Job, outcome: Outcome) -> Any:
        if job.name.startswith(kind):
            return job.without_us(CompileError("C++ compiler", "it is a test"))
        return settle(job, outcome)

    monkeypatch.setattr(Job, "settle", fails)
    with pytest.warns(FallbackWarning):
        both(model, step(model), strict=False)
