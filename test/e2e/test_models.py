"""Whole models, forward and training step, against eager; what stays outside our kernels."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from harness import BACKEND, Compiled, compiled, ours_only, same
from models_table import DOCS, render, update_asked

from bench.models import MODELS, SIZES, Task

NAMES = ["bert", "gpt2", "vit", "resnet", "mlp", "unet"]

FORWARD_TOLERANCE = (1e-4, 1e-5)
GRADIENT_TOLERANCE = 2e-5
"""Largest error of a gradient, by the largest magnitude in the model's gradients."""

EXTERNS = {
    "aten.mm.default",
    "aten.addmm.default",
    "aten.bmm.default",
    "aten.baddbmm.default",
    "aten.convolution.default",
    "aten.convolution_backward.default",
    "aten._scaled_dot_product_flash_attention_for_cpu.default",
    "aten._scaled_dot_product_flash_attention_for_cpu_backward.default",
}
"""The library calls that a model may keep: matmul, convolution, SDPA."""


def build(name: str) -> Task:
    torch.manual_seed(0)
    size = SIZES["tiny"]
    if name == "resnet":
        # Smaller images end as one pixel: batch norm of two values gives one and minus one, whose
        # sum is a rounding error at the kink of ReLU, and the gradient is left to chance.
        size = replace(size, image=64, images=3)
    return MODELS[name](size)


def kinds(subject: Compiled) -> list[str]:
    return sorted(report["kind"] for report in subject.reports)


def externs(reports: list[dict[str, Any]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for report in reports:
        total.update(report["externs"])
    return total


def assert_only_allowed(name: str, reports: list[dict[str, Any]]) -> None:
    foreign = set(externs(reports)) - EXTERNS
    assert not foreign, f"{name}: outside our kernels: {sorted(foreign)}"


@pytest.fixture(scope="module")
def seen() -> dict[str, list[dict[str, Any]]]:
    """Reports of the models compiled in this module, by name, for the table."""
    return {}


@pytest.mark.parametrize("name", NAMES)
def test_inference(name: str, seen: dict[str, list[dict[str, Any]]]) -> None:
    task = build(name).eval()
    subject = compiled(task)
    with torch.no_grad():
        for _ in range(2):
            same(subject(*task.inputs), task(*task.inputs), tol=FORWARD_TOLERANCE)
    assert len(subject.graphs) == 1
    if BACKEND == "minductor":
        assert kinds(subject) == ["inference"]
        assert_only_allowed(name, subject.reports)
    seen.setdefault(name, []).extend(subject.reports)


@pytest.mark.parametrize("name", NAMES)
def test_training_step(name: str, seen: dict[str, list[dict[str, Any]]]) -> None:
    eager, ours = build(name).train(), build(name).train()
    subject = compiled(ours.loss)
    for _ in range(2):
        want, got = eager.loss(*eager.inputs), subject(*ours.inputs)
        same(got, want, "loss", tol=FORWARD_TOLERANCE)
        want_grads = torch.autograd.grad(want, list(eager.parameters()))
        got_grads = torch.autograd.grad(got, list(ours.parameters()))
        scale = max(float(g.abs().max()) for g in want_grads)
        names = [n for n, _ in eager.named_parameters()]
        tol = (1e-3, GRADIENT_TOLERANCE * scale)
        same(got_grads, want_grads, "gradient", names, tol=tol, strides=False)
        same(dict(ours.named_buffers()), dict(eager.named_buffers()), "buffer", tol=(1e-4, 1e-5))
    assert len(subject.graphs) == 1
    if BACKEND == "minductor":
        assert kinds(subject) == ["backward", "forward"]
        assert_only_allowed(name, subject.reports)
    seen.setdefault(name, []).extend(subject.reports)


@ours_only
def test_table_of_kernels_and_externs(seen: dict[str, list[dict[str, Any]]]) -> None:
    """docs/models.md holds what was compiled above; MINDUCTOR_UPDATE_DOCS=1 rewrites it."""
    if sorted(seen) != sorted(NAMES) or any(len(reports) != 3 for reports in seen.values()):
        pytest.skip("runs after the tests of all models in this file")
    text = render({name: seen[name] for name in NAMES})
    path = Path(__file__).resolve().parents[2] / DOCS
    if update_asked():
        path.write_text(text)
    assert path.read_text() == text, f"{DOCS} is stale: run with MINDUCTOR_UPDATE_DOCS=1"


@ours_only
@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_bytes_are_priced(name: str) -> None:
    task = build(name).eval()
    subject = compiled(task)
    with torch.no_grad():
        subject(*task.inputs)
    ledger = subject.reports[0]["bytes"]
    assert 0 < ledger["floor"] <= ledger["planned"] <= ledger["unfused"]
