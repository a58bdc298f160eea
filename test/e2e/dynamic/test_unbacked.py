"""Sizes that data decides: nonzero, masked_select, item, unique, repeat_interleave."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from harness import compiled, integers, same, uniform
from torch import Tensor
from torch._dynamo import config


@pytest.fixture(autouse=True)
def captured() -> Iterator[None]:
    """Dynamo captures such ops instead of breaking the graph."""
    with config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True):
        yield


def checked(n: Tensor, most: int) -> int:
    """A number of elements from a tensor, at most `most`."""
    k = n.item()
    torch._check(k >= 0)
    torch._check(k <= most)
    return int(k)


def positive(x: Tensor) -> Tensor:
    return x[x > 0]


PROGRAMS: dict[str, Callable[..., Any]] = {
    "nonzero": lambda x, n: torch.nonzero(x > 0).sum(0) + 1,
    "nonzero_values": lambda x, n: x[torch.nonzero(x > 0).squeeze(1)] * 2,
    "masked_select": lambda x, n: (positive(x) * 2, positive(x).sum()),
    "mask_then_softmax": lambda x, n: positive(x).softmax(0),
    "mask_then_cumsum": lambda x, n: positive(x).cumsum(0) + x.shape[0],
    "two_masks": lambda x, n: torch.cat([positive(x), positive(-x)]).exp(),
    "count_only": lambda x, n: torch.zeros(torch.nonzero(x > 0).shape[0]) + 1,
    "unique": lambda x, n: torch.unique((x * 2).long()) * 3,
    "repeat": lambda x, n: torch.repeat_interleave(x, (x > 0).long() + 1) * 2,
    "scale_by_item": lambda x, n: x * n.item() + 1,
    "zeros_of_item": lambda x, n: torch.zeros(checked(n, 100)) + 2,
    "arange_of_item": lambda x, n: torch.arange(checked(n, 100)) * 2,
    "slice_by_item": lambda x, n: x[: checked(n, x.shape[0])] * 2,
    "narrow_by_item": lambda x, n: x.narrow(0, 1, checked(n, x.shape[0] - 1)).exp(),
    "expand_by_item": lambda x, n: x.expand(checked(n, 50), -1).sum(0),
    "write_mask": lambda x, n: torch.where(x > 0, x, 0.0).index_put((x < 0,), n.float()),
    "sum_of_rows": lambda x, n: (x[:, None] * torch.ones(checked(n, 50))).sum(1),
}


def test_gradient_of_a_selection_of_nothing() -> None:
    """No element is read where none was chosen, so none is out of range."""
    subject = compiled(lambda x, m: x.masked_select(m))
    for mask in (torch.zeros(100, dtype=torch.bool), torch.arange(100) % 3 == 0):
        x = uniform(100).requires_grad_()
        got = subject(x, mask)
        got.backward(torch.ones_like(got))
        same(x.grad, mask.float())


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    """One graph for all data, the empty selection apart only where Dynamo says so."""
    fn = PROGRAMS[name]
    subject = compiled(fn, dynamic=True)
    for size, low, n in ((12, -2.0, 5), (17, -1.0, 7), (33, -0.1, 2), (64, -3.0, 11)):
        x, number = uniform(size, low=low), torch.tensor(n)
        same(subject(x, number), fn(x, number), f"{size, n}")
    assert len(subject.graphs) == 1


def test_nothing_selected() -> None:
    subject = compiled(PROGRAMS["masked_select"], dynamic=True)
    for low, high in ((-2.0, 2.0), (-2.0, -1.0), (1.0, 2.0)):
        x = uniform(20, low=low, high=high)
        same(subject(x, torch.tensor(1)), PROGRAMS["masked_select"](x, None), f"{low, high}")


def test_checks_stay() -> None:
    """A promise about data that is broken raises, as in eager, before it is relied on."""
    subject = compiled(PROGRAMS["slice_by_item"], dynamic=True)
    x = uniform(20)
    same(subject(x, torch.tensor(7)), x[:7] * 2)
    with pytest.raises(RuntimeError):
        subject(x, torch.tensor(21))
    same(subject(x, torch.tensor(20)), x * 2)


def test_gradients_through_a_selection() -> None:
    def fn(x: Tensor) -> Tensor:
        return (positive(x) ** 2).sum() + x.sum()

    subject = compiled(fn, dynamic=True)
    for n in (9, 14):
        results: list[Any] = []
        for one in (fn, subject):
            x = uniform(n).requires_grad_()
            out = one(x)
            out.backward()
            results.append((out, x.grad))
        same(results[1], results[0], f"n={n}")


def test_marked_unbacked() -> None:
    """`mark_unbacked`: no value of the size is known while compiling, 0 and 1 included."""

    def fn(x: Tensor) -> Tensor:
        return (x * 2 + 1).sum(1) + x.shape[0]

    subject = compiled(fn, dynamic=None)
    for n in (5, 9, 1, 0):
        x = uniform(n, 6)
        torch._dynamo.decorators.mark_unbacked(x, 0)
        same(subject(x), fn(x), f"n={n}")
    assert len(subject.graphs) == 1


def test_index_by_number() -> None:
    def fn(x: Tensor, i: Tensor) -> Tensor:
        return x[int(i[0].item())] + x.select(0, 1)

    subject = compiled(fn, dynamic=True)
    for first in (0, 3):
        i = integers(4, low=0, high=5)
        i[0] = first
        same(subject(uniform(6, 3), i), fn(uniform(6, 3), i))
