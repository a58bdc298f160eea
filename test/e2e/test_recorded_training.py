"""Recordings through all of a compile, on the CPU with a stand-in for CUDA graphs: what AOTAutograd
says of a graph's inputs and results is what a recording works with."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from fake_recorder import Fake
from harness import ours_only
from torch import nn

from minductor import backend
from minductor.passes.kernel import capture
from minductor.runtime.graphs import Kept

pytestmark = ours_only

PIPELINE = "default-cpu,kernel-capture{cudagraphs=true}"


class Stage:
    """The compiler with stand-ins: one a Dynamo graph."""

    def __init__(self) -> None:
        self.fakes: list[Fake] = []
        self.reports: list[dict[str, Any]] = []

    def kept(self) -> Kept:
        self.fakes.append(Fake())
        return Kept(self.fakes[-1])

    def compile(self, fn: Any) -> Any:
        options: dict[str, Any] = {
            "cudagraphs": True,
            "strict": True,
            "report": self.reports.append,
            "pipeline": PIPELINE,
        }
        return torch.compile(fn, backend="minductor", options=options, dynamic=False)

    def counts(self) -> list[int]:
        return [one.recordings for one in self.fakes]


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Stage:
    one = Stage()

    def anywhere(value: Any) -> None:
        """Tensors on the CPU are welcome here."""

    monkeypatch.setattr(capture, "_value_refusal", anywhere)
    monkeypatch.setattr(backend, "Kept", one.kept)
    return one


def networks() -> tuple[nn.Module, nn.Module]:
    """Two equal ones, with buffers that the forward writes."""

    def make() -> nn.Module:
        first = [nn.Linear(12, 24), nn.LayerNorm(24), nn.GELU(), nn.Linear(24, 24)]
        return nn.Sequential(*first, nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 5))

    one, two = make(), make()
    two.load_state_dict(one.state_dict())
    return one, two


@pytest.mark.parametrize("stored", [False, True], ids=["compiled", "stored"])
def test_training_steps(stage: Stage, stored: bool) -> None:
    if stored:
        earlier, _ = networks()
        stage.compile(earlier)(torch.randn(16, 12)).sum().backward()
        torch._dynamo.reset()
        stage.fakes.clear()
        stage.reports.clear()
    ours, theirs = networks()
    fast = stage.compile(ours)
    pairs = [(m, torch.optim.SGD(m.parameters(), lr=0.1)) for m in (ours, theirs)]
    for step in range(6):
        x, target = torch.randn(16, 12), torch.randint(0, 5, (16,))
        for (module, optimizer), call in zip(pairs, (fast, theirs), strict=True):
            optimizer.zero_grad(set_to_none=step % 2 == 0)
            F.cross_entropy(call(x), target).backward()
            optimizer.step()
            assert module.training
        torch.testing.assert_close(
            list(ours.state_dict().values()), list(theirs.state_dict().values())
        )
    assert [one["cudagraphs"] for one in stage.reports] == ["recorded", "recorded"]
    assert stage.counts() == [2]
    assert stage.fakes[0].replays > 8


def test_two_forwards_before_their_backwards(stage: Stage) -> None:
    ours, theirs = networks()
    fast = stage.compile(ours)
    for _ in range(5):
        xs = [torch.randn(16, 12) for _ in range(2)]
        for call in (fast, theirs):
            call.zero_grad()
            losses = [call(x).square().sum() for x in xs]
            for loss in losses:
                loss.backward()
        torch.testing.assert_close(
            [p.grad for p in ours.parameters()],
            [p.grad for p in theirs.parameters()],
            rtol=1e-4,
            atol=1e-5,
        )
    assert stage.counts() == [4]


def test_inference_and_an_input_that_is_written(stage: Stage) -> None:
    network, _ = networks()
    network.eval().requires_grad_(False)
    fast = stage.compile(network)
    inputs = [torch.randn(16, 12) for _ in range(4)]
    outs = [fast(x) for x in inputs]
    for x, y in zip(inputs, outs, strict=True):
        torch.testing.assert_close(y, network(x))
    assert stage.counts() == [1]

    def into(x: torch.Tensor) -> torch.Tensor:
        return x.mul_(2) + 1

    written = stage.compile(into)
    for _ in range(3):
        x = torch.ones(8)
        assert written(x).tolist() == [3.0] * 8
        assert x.tolist() == [2.0] * 8
    assert stage.counts() == [1, 0]
    assert stage.reports[-1]["cudagraphs"].startswith("it writes its input 0")
