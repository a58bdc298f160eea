"""Twenty steps of Adam: the losses of a compiled model track those of the same model in eager.

The models without `slow` run always; `make slow` trains all of them.
"""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch
from harness import BACKEND, compiled

_SPEC = importlib.util.spec_from_file_location(
    "trained_models", Path(__file__).with_name("trained_models.py")
)
assert _SPEC is not None
assert _SPEC.loader is not None
trained: Any = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(trained)

STEPS = 20
TOLERANCE = 2e-3
"""Largest relative distance of two losses: rounding errors grow from step to step."""

ALL = [
    name if name in trained.FAST else pytest.param(name, marks=pytest.mark.slow)
    for name in trained.NAMES
]


def losses(model: torch.nn.Module, step: Any) -> list[float]:
    """The loss at each step of Adam."""
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    found: list[float] = []
    for _ in range(STEPS):
        loss = step(*model.inputs)
        found.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return found


@pytest.mark.parametrize("name", ALL)
def test_losses_track_eager(name: str) -> None:
    eager, ours = trained.build(name), trained.build(name)
    want = losses(eager, eager.loss)
    subject = compiled(ours.loss)
    got = losses(ours, subject)
    assert want[-1] < want[0], "the model learns nothing"
    for step, (a, b) in enumerate(zip(got, want, strict=True)):
        assert abs(a - b) <= TOLERANCE * abs(b) + 1e-6, f"step {step}: loss {a}, eager's {b}"
    assert len(subject.graphs) == 1
    if BACKEND == "minductor":
        assert sorted(r["kind"] for r in subject.reports) == ["backward", "forward"]
        assert all(r["fallback"] is None for r in subject.reports)


@pytest.mark.parametrize("name", ["lstm", pytest.param("bert", marks=pytest.mark.slow)])
def test_compiled_optimiser_too(name: str) -> None:
    """Model and Adam's step compiled: the optimiser's graph writes its state in place."""
    eager, ours = trained.build(name), trained.build(name)
    want = losses(eager, eager.loss)
    optimiser = torch.optim.Adam(ours.parameters(), lr=1e-3)
    forward = compiled(ours.loss)
    update = compiled(optimiser.step, fullgraph=False)
    for step in range(STEPS):
        loss = forward(*ours.inputs)
        assert abs(loss.item() - want[step]) <= TOLERANCE * abs(want[step]) + 1e-6, step
        optimiser.zero_grad()
        loss.backward()
        update()
