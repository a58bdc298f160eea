"""Inputs that eager reads through a mark or an odd layout, and complex numbers in all places."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from harness import check, compiled, leaf, same, uniform
from torch import Tensor


def complex_input() -> Tensor:
    return torch.complex(uniform(4, 5), uniform(4, 5, seed=2))


def uses(x: Tensor) -> tuple[Tensor, ...]:
    parts = (x.real, x.imag * 2, torch.view_as_real(x + 1), x.abs())
    return (x * 2, *parts, x.t().contiguous(), x[1:] + 1, x.clone(), x.sum())


CONJUGATED: dict[str, Callable[[], Tensor]] = {
    "plain": lambda: complex_input().conj(),
    "transposed": lambda: complex_input().mT.conj(),
    "expanded": lambda: complex_input()[:, :1].expand(4, 5).conj(),
}


@pytest.mark.parametrize("name", CONJUGATED)
def test_conjugated_inputs(name: str) -> None:
    assert CONJUGATED[name]().is_conj()
    check(uses, lambda: (CONJUGATED[name](),))


def test_negated_inputs() -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        return x * 2, x + 1, x.t().contiguous(), x[1:].sum(), x.clone(), x.view(-1)

    def make() -> tuple[Tensor]:
        return (complex_input().conj().imag,)

    assert make()[0].is_neg()
    check(f, make)


def test_a_write_into_a_negated_input_is_left_to_eager() -> None:
    def f(x: Tensor) -> Tensor:
        x.mul_(2)
        return x + 1

    make = lambda: (complex_input().conj().imag,)  # noqa: E731
    with pytest.warns(UserWarning, match="lazily conjugated or negated"):
        check(f, make, calls=1, options={"strict": False})


def test_complex_numbers_pass_through_calls() -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        y = x.conj()
        pairs = torch.view_as_real(y.resolve_conj())
        again = torch.view_as_complex(pairs * 2)
        return y, y * 2, pairs, again, x.mH @ x, torch.fft.fft(x).conj(), y.imag, x * (2 - 1j)

    check(f, lambda: (complex_input(),))
    torch._dynamo.reset()
    check(lambda x: f(x)[3].abs().sum(), lambda: (leaf(complex_input()),), grad=True)


LAYOUTS: dict[str, Callable[[], Tensor]] = {
    "overlapping": lambda: uniform(10).as_strided((4, 4), (2, 1)),
    "expanded": lambda: uniform(4).expand(4, 4),
    "every second": lambda: uniform(8, 8)[::2, 1::2],
    "transposed": lambda: uniform(4, 4).t(),
    "offset": lambda: uniform(17)[1:].view(4, 4),
    "misaligned": lambda: torch.arange(68, dtype=torch.uint8)[4:].view(torch.float32).view(4, 4),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_inputs_of_odd_layouts(name: str) -> None:
    def f(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return x * 2 + y, x.sum(0), (x + y).softmax(1), x.t() @ y, torch.cat([x, y]), x.clone()

    check(f, lambda: (LAYOUTS[name](), LAYOUTS["transposed"]()))


def test_one_graph_for_all_offsets() -> None:
    def f(x: Tensor, y: Tensor) -> tuple[Tensor, Any]:
        x.mul_(2).add_(y)
        return x.sum(), x[3:] * 2

    subject = compiled(f)
    for offset in (0, 1, 3, 2, 8):
        ours, theirs = uniform(1010), uniform(1010)
        y = uniform(1001, seed=4)[1:]
        same(subject(ours[offset : offset + 1000], y), f(theirs[offset : offset + 1000], y))
        same(ours, theirs, "what lies around the input", exact=True)
    assert len(subject.graphs) == 1
