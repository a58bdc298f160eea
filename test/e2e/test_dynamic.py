"""Symbolic sizes: one compile serves many sizes; 0 and 1, strides and offsets, gradients."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from harness import check, compiled, leaf, same, uniform
from torch import Tensor


def test_one_compile_for_many_sizes() -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        return (x * 2).sum(1) + x.shape[0], torch.full((x.shape[1],), 3.0), x.softmax(-1)

    subject = compiled(f, dynamic=True)
    for n in (4, 7, 12, 33, 64, 101):
        x = uniform(n, n + 1)
        same(subject(x), f(x), f"n={n}")
    assert len(subject.graphs) <= 2


def test_sizes_that_come_to_be_one_and_zero() -> None:
    def f(x: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        return (x + b).sum(0), (x * 2).amax(1), torch.cat([x, x + 1], 0), x.mean(0)

    subject = compiled(f, dynamic=None)
    for n in (5, 9, 3, 1, 0, 12, 2):
        x = torch.arange(n * 4.0).reshape(n, 4)
        same(subject(x, torch.ones(4)), f(x, torch.ones(4)), f"n={n}")


def test_views_of_symbolic_sizes() -> None:
    def f(x: Tensor, k: int) -> tuple[Tensor, ...]:
        b, n, d = x.shape
        heads = x.view(b, n, k, d // k).transpose(1, 2)
        return (
            heads.reshape(b, n * d) * 2,
            (heads @ heads.mT).softmax(-1),
            x[:, 1:] - x[:, :-1],
            F.pad(x, (0, 1, 2, 0)).sum(-1),
            torch.arange(n) * 2 + d,
            x.flatten(1)[:, : n // 2].exp(),
        )

    subject = compiled(f, dynamic=True)
    for b, n, d, k in ((2, 5, 12, 3), (3, 6, 20, 5), (4, 9, 24, 3)):
        x = uniform(b, n, d)
        same(subject(x, k), f(x, k), f"{b, n, d, k}")


def test_gradients_of_symbolic_sizes() -> None:
    def f(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
        return F.gelu(F.layer_norm(x @ w, (w.shape[1],)) + b).mean()

    subject = compiled(f, dynamic=True)
    for n in (3, 6, 17):
        results: list[Any] = []
        for fn in (f, subject):
            args = [leaf(uniform(*s)) for s in ((n, 8), (8, 10), (10,))]
            out = fn(*args)
            out.backward()
            results.append((out, [a.grad for a in args]))
        same(results[1], results[0], f"n={n}", strides=False)


@pytest.mark.parametrize("n", [2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 100])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32])
def test_tails(dtype: torch.dtype, n: int) -> None:
    def f(x: Tensor, b: int) -> tuple[Tensor, ...]:
        every = ((x < 0).all(), (x > 0).any(), x.argmax(), x.prod())
        return x.amax(), x.amin(), x.sum(), x * 2 + b, *every

    x = -(torch.arange(n) % 3 + 1).to(dtype)
    if dtype is not torch.int32:
        x = x.clamp(min=-2) / 2
    check(f, lambda: (x.clone(), 1), calls=1, dynamic=True)


def test_python_numbers_as_inputs() -> None:
    def f(x: Tensor, scale: float, shift: int) -> Tensor:
        return (x * scale + shift).sum(0) / scale

    subject = compiled(f, dynamic=True)
    for scale, shift in ((0.5, 3), (2.25, 7), (-1.5, 12)):
        same(subject(uniform(5, 6), scale, shift), f(uniform(5, 6), scale, shift), strides=False)


def test_offset_and_alignment_change_between_calls() -> None:
    base = uniform(4100)

    def f(x: Tensor) -> tuple[Tensor, Tensor]:
        return x * 2 + 1, x.view(16, -1).sum(1)

    subject = compiled(f)
    for offset in (0, 1, 3, 4):
        x = base[offset : offset + 4096]
        same(subject(x), f(x), f"offset {offset}")
    assert len(subject.graphs) == 1


def test_marked_dimension() -> None:
    def f(x: Tensor) -> Tensor:
        return (x.cumsum(0) / x.shape[0]).amax(1)

    subject = compiled(f, dynamic=None)
    for n in (5, 8, 13):
        x = uniform(n, 6)
        torch._dynamo.mark_dynamic(x, 0)
        same(subject(x), f(x))
    assert len(subject.graphs) == 1


def test_training_with_sizes_saved_for_backward() -> None:
    """A size that only the backward needs travels as a value."""

    def scaled(x: torch.Tensor) -> torch.Tensor:
        return x * x.var((0, 2), keepdim=True)

    for n in (3, 5):
        x, y = (torch.randn(n, 3, 4, generator=torch.Generator().manual_seed(n)) for _ in range(2))
        x.requires_grad_()
        y = x.detach().clone().requires_grad_()
        torch._dynamo.reset()
        run = torch.compile(scaled, backend="minductor", dynamic=True, options={"strict": True})
        run(x).sum().backward()
        scaled(y).sum().backward()
        torch.testing.assert_close(x.grad, y.grad, rtol=1e-4, atol=1e-5)
