"""`scan` and `while_loop`: layouts of what they carry, gradients, Python numbers."""

from collections.abc import Callable
from typing import Any

import pytest
from harness import check, compiled, leaf, ours_only, same, uniform
from torch import Tensor
from torch._higher_order_ops import scan, while_loop


def running(a: Tensor, xs: Tensor, w: Tensor) -> Tensor:
    last, rows = scan(lambda a, x: (a + x, a * x), a, xs)
    return last.sum() + rows.sum()


def result_saved(a: Tensor, xs: Tensor, w: Tensor) -> Tensor:
    def step(h: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        h = h + x
        return h, h * w

    last, rows = scan(step, a, xs)
    return last.sum() + rows.sin().sum()


def cell(a: Tensor, xs: Tensor, w: Tensor) -> Tensor:
    def step(h: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        h = (h * w + x).tanh()
        return h, h.clone()

    return scan(step, a, xs, reverse=True)[1].pow(2).sum()


@pytest.mark.parametrize("f", [running, result_saved, cell])
def test_gradient_of_a_scan(f: Callable[..., Tensor]) -> None:
    """Its tangents are expanded: the backward first carries what later steps do not."""

    def make() -> tuple[Tensor, ...]:
        return leaf(uniform(3)), leaf(uniform(5, 3, seed=1)), leaf(uniform(3, seed=2))

    check(f, make, calls=1, grad=True)


NUMBERS: dict[str, Callable[[Tensor], Any]] = {
    "up": lambda x: while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x + i), (0, x)),
    "down": lambda x: while_loop(
        lambda i, x: i > -4, lambda i, x: (i - 1, x * i + i % 3 + i // 2), (2, x)
    ),
    "never": lambda x: while_loop(lambda i, x: i < 0, lambda i, x: (i + 1, x + i), (0, x)),
    "two": lambda x: while_loop(
        lambda i, j, x: i + j < 9, lambda i, j, x: (i + 1, j + i, x * i - j), (0, 1, x)
    ),
    "size": lambda x: while_loop(lambda i, x: i > 0, lambda i, x: (i - 2, x + i), (x.shape[0], x)),
}


@ours_only
@pytest.mark.parametrize("name", NUMBERS)
def test_a_loop_that_carries_numbers(name: str) -> None:
    subject = compiled(NUMBERS[name], dynamic=True)
    for rows in (3, 6):
        same(subject(uniform(rows, 4)), NUMBERS[name](uniform(rows, 4)))
    assert "minductor.while_loop" in subject.reports[0]["externs"]
