"""Attention that PyTorch would take apart in a trace stays one call, forward and backward.

The rule is for CUDA; here it is told to take calls on a CPU, whose library has the same op.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from minductor.lowering import traced_attention

FLASH = "aten._scaled_dot_product_flash_attention_for_cpu.default"


def inputs(length: int, dtype: torch.dtype = torch.bfloat16, grad: bool = False) -> list[Tensor]:
    """Heads that lie side by side in memory, as a linear layer gives them."""
    torch.manual_seed(0)
    rows = [torch.randn(2, length, 3, 16).to(dtype) for _ in range(3)]
    return [x.requires_grad_(grad) for x in rows]


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, scale=0.2)


def externs(args: list[Tensor], fn: Any = attention) -> tuple[Any, dict[str, int]]:
    """The result, and what was called, when PyTorch's own choice is the form in f32."""
    reports: list[Any] = []
    torch._dynamo.reset()
    options: Any = {"strict": True, "report": reports.append, "cache": False}
    compiled: Any = torch.compile(fn, backend="minductor", options=options)
    with sdpa_kernel(SDPBackend.MATH):
        got = compiled(*args)
        if args[0].requires_grad:
            got.float().square().mean().backward()
    return got, {name: n for report in reports for name, n in report["externs"].items()}


@pytest.fixture
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traced_attention, "takes", traced_attention.suits)
    monkeypatch.setattr(traced_attention, "takes_mask", traced_attention.suits_mask)


@pytest.mark.usefixtures("on_cpu")
def test_inference() -> None:
    args = inputs(19)
    got, called = externs(args)
    assert list(called) == [FLASH]
    torch.testing.assert_close(got, attention(*args), rtol=2e-2, atol=1e-2)


@pytest.mark.usefixtures("on_cpu")
def test_gradients() -> None:
    args = inputs(19, grad=True)
    got, called = externs(args)
    back = FLASH.replace("cpu.default", "cpu_backward.default")
    assert sorted(called) == sorted([FLASH, back])
    same = [x.detach().clone().requires_grad_() for x in args]
    want = attention(*same)
    want.float().square().mean().backward()
    torch.testing.assert_close(got, want, rtol=2e-2, atol=1e-2)
    for x, y in zip(args, same, strict=True):
        assert x.grad is not None
        torch.testing.assert_close(x.grad, y.grad, rtol=4e-2, atol=1e-3)


@pytest.mark.usefixtures("on_cpu")
@pytest.mark.parametrize(
    ("length", "dtype"), [(64, torch.bfloat16), (19, torch.float32)], ids=["even", "f32"]
)
def test_left_to_torch(length: int, dtype: torch.dtype) -> None:
    args = inputs(length, dtype)
    got, called = externs(args)
    assert FLASH not in called
    torch.testing.assert_close(got, attention(*args), rtol=2e-2, atol=1e-2)


def with_mask(mask: Tensor) -> Any:
    def masked(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=0.2)

    return masked


@pytest.mark.usefixtures("on_cpu")
@pytest.mark.parametrize("grad", [False, True])
def test_a_mask_that_is_added(grad: bool) -> None:
    """Also one whose rows do not lie side by side, as T5's, and queries without a score."""
    mask = torch.randn(64, 64, 3).to(torch.bfloat16).permute(2, 0, 1)[None]
    mask[:, :, 5] = -torch.inf
    masked = with_mask(mask)
    args = inputs(64, grad=grad)
    got, called = externs(args, masked)
    assert FLASH in called
    want = masked(*args)
    torch.testing.assert_close(got, want, rtol=2e-2, atol=1e-2)
    assert torch.equal(got[:, :, 5], torch.zeros_like(got[:, :, 5]))


@pytest.mark.usefixtures("on_cpu")
@pytest.mark.parametrize(
    "mask",
    [
        torch.ones(1, 1, 64, 64, dtype=torch.bool).tril(),
        torch.zeros(1, 1, 64, 64),
        torch.zeros(64, 64, dtype=torch.bfloat16),
        torch.zeros(1, 1, 64, 64, dtype=torch.bfloat16, requires_grad=True),
    ],
    ids=["bool", "f32", "rank", "gradient"],
)
def test_other_masks_are_left_to_torch(mask: Tensor) -> None:
    heads = [x.transpose(1, 2) for x in inputs(64)]
    assert not traced_attention.suits_mask(*heads, mask)


@pytest.mark.usefixtures("on_cpu")
def test_an_odd_number_with_a_mask_is_left_to_torch() -> None:
    mask = torch.zeros(1, 1, 19, 19, dtype=torch.bfloat16)
    masked, args = with_mask(mask), inputs(19)
    got, called = externs(args, masked)
    assert FLASH not in called
    torch.testing.assert_close(got, masked(*args), rtol=2e-2, atol=1e-2)


def test_a_cpu_is_left_to_torch() -> None:
    assert FLASH not in externs(inputs(19))[1]
