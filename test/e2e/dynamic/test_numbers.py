"""Python numbers that vary from call to call: no sign, size or value of one call is built in."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from harness import compiled, same, uniform
from torch import Tensor

INTEGERS: dict[str, Callable[..., Any]] = {
    "add": lambda x, k: x + k,
    "multiply": lambda x, k: x * k - k,
    "floor_divide": lambda x, k: x + (k * 5) // 3 + k % 4,
    "full": lambda x, k: torch.full((3,), k) + x[:3],
    "roll": lambda x, k: x.roll(k, 0) * 2,
    "arange_from": lambda x, k: torch.arange(k, 20) * x.sum(),
    "arange_step": lambda x, k: torch.arange(0, k * 7, k) + x[0],
    "slice_from": lambda x, k: x[k:] * 2,
    "slice_to": lambda x, k: x[:k] * 2,
    "select": lambda x, k: x[k] * 2,
    "narrow": lambda x, k: x.narrow(0, abs(k), 3) * 2,
    "tril": lambda x, k: x[:, None].expand(-1, 12).tril(k) + 1,
    "clamp": lambda x, k: x.clamp(min=k) + 1,
    "power": lambda x, k: x.abs() ** k,
    "where": lambda x, k: torch.where(torch.arange(x.shape[0]) < k, x, 0.0),
    "pad": lambda x, k: torch.nn.functional.pad(x, (k, 1)) * 2,
    "scatter_at": lambda x, k: x.slice_scatter(x[:2] * 9, 0, k, k + 2 if k != -2 else None),
    "compare": lambda x, k: (x > k) & (x < k + 1),
    "max_of_two": lambda x, k: x + max(k, 2) - min(k, -1),
}


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("order", [(3, 5, -3, -2, 4), (-4, 2, -3, 7)], ids=str)
def test_integers_of_any_sign(name: str, order: tuple[int, ...]) -> None:
    fn = INTEGERS[name]
    subject = compiled(fn, dynamic=True)
    for k in order:
        x = uniform(12)
        same(subject(x, k), fn(x, k), f"k={k}")


FLOATS: dict[str, Callable[..., Any]] = {
    "scale": lambda x, a: x * a + 1 / a,
    "power": lambda x, a: x.abs() ** a,
    "math": lambda x, a: x * math.sqrt(abs(a)) + math.floor(a),
    "of_sizes": lambda x, a: x * (x.shape[0] / 7) ** 0.5 + a / x.shape[0],
    "rounded": lambda x, a: x[: int(x.shape[0] * 0.3)] * a,
    "tensor_slot": lambda x, a: torch.add(x, x, alpha=a) + torch.mul(x, len(x) / 3),
    "full": lambda x, a: torch.full_like(x, a) + x,
    "clamp": lambda x, a: x.clamp(-abs(a), abs(a)),
    "half": lambda x, a: (x.bfloat16() * a).sum() + a,
}


@pytest.mark.parametrize("name", FLOATS)
def test_floats(name: str) -> None:
    fn = FLOATS[name]
    subject = compiled(fn, dynamic=True)
    for n, a in ((12, 0.5), (15, 2.25), (23, -1.5), (30, float("inf")), (31, 3.0)):
        if name == "math" and math.isinf(a):
            continue
        x = uniform(n)
        same(subject(x, a), fn(x, a), f"{n, a}")


def test_a_size_and_a_number_that_agree_once() -> None:
    """Equal at the first call only, where Dynamo may give both one symbol."""

    def fn(x: Tensor, k: int) -> Tensor:
        return x.sum() * k + x[: k // 2].sum()

    subject = compiled(fn, dynamic=True)
    for n, k in ((6, 6), (6, 8), (9, 6), (12, 4)):
        same(subject(uniform(n), k), fn(uniform(n), k), f"{n, k}")
