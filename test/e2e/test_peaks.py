"""Training steps need at most eager's memory: traced allocations of torch's allocator."""

import pytest
import torch
import torch.nn.functional as F

from bench.memory import cpu_peak, peaks
from minductor.runtime.pool import pool


@pytest.mark.parametrize("name", ["gpt2_train", "resnet_train", "t5_train"])
def test_a_step_needs_no_more_than_eager(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool(), "least", pool().least)  # which the count changes
    contenders = ["eager", "minductor"]
    job = {"name": name, "size": "tiny", "device": "cpu", "dtype": "f32", "options": {}}
    row = peaks({**job, "contenders": contenders})
    eager, ours = (row["contenders"][one]["peak_bytes"] for one in contenders)
    assert 0 < ours <= eager


def test_grouped_weight_gradient_has_no_dense_scratch() -> None:
    """256 kernels of 7 x 7 for 2 x 2 pixels: their gradient as one of all pairs is 12 MiB."""
    x = torch.randn(4, 256, 2, 2).to(memory_format=torch.channels_last).requires_grad_()
    w = torch.randn(256, 1, 7, 7, requires_grad=True)

    def fn(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return (F.conv2d(x, w, padding=3, groups=256) * 2).sin().sum()

    wanted = torch.autograd.grad(fn(x, w), (x, w))
    compiled = torch.compile(fn, backend="minductor", options={"strict": True})
    step = lambda: torch.autograd.grad(compiled(x, w), (x, w))  # noqa: E731
    for ours, theirs in zip(step(), wanted, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
        assert ours.squeeze().stride() == theirs.squeeze().stride()
    assert cpu_peak(step) < 2 << 20


def test_input_gradient_waits_for_the_weight_gradient() -> None:
    """A convolution at the peak holds its input's gradient only after its weight's is done."""
    x = torch.randn(2, 96, 48, 48, requires_grad=True)
    w = torch.randn(16, 96, 3, 3, requires_grad=True)

    def fn(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return F.conv2d(x.relu(), w, padding=1).square().sum()

    wanted = torch.autograd.grad(fn(x, w), (x, w))
    peaks: list[int] = []
    for options in ({}, {"pipeline": "default-cpu{split=false}"}):
        torch._dynamo.reset()
        compiled = torch.compile(fn, backend="minductor", options=options)
        step = lambda call=compiled: torch.autograd.grad(call(x, w), (x, w))  # noqa: E731
        for ours, theirs in zip(step(), wanted, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-3)
        peaks.append(cpu_peak(step))
    assert peaks[0] < peaks[1]
