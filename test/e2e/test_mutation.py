"""Mutation and aliasing: inputs written in place, outputs that share memory, odd outputs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from harness import check, compiled, integers, leaf, same, uniform
from torch import Tensor, nn


def in_place_chain(x: Tensor, y: Tensor) -> Any:
    before = x * 2
    x.add_(y).relu_()
    return before, x * 3, x.sum(0)


def overlapping_shift(x: Tensor, y: Tensor) -> Any:
    x[2:] = x[:-2].clone() * 1.0
    return x.sum(1)


def transpose_of_itself(x: Tensor, y: Tensor) -> Any:
    x.copy_(x.mT + 0.5)
    return x.amax(-1)


def read_between_writes(x: Tensor, y: Tensor) -> Any:
    a = x.clone()
    x[0] = 1
    b = x + a
    x[1:].mul_(y[1:])
    return a, b, x.flip(0)


def write_through_views(x: Tensor, y: Tensor) -> Any:
    v = x.t()[1:]
    v.mul_(2)
    x[::2, 1] = 7.0
    x.diagonal().fill_(-1)
    return v + 1, x[:, 0] * 2


def masked_writes(x: Tensor, y: Tensor) -> Any:
    x[x > 0] = 0.25
    y.masked_fill_(y < 0, 9.0)
    return x + y


def scatters_then_reads(x: Tensor, y: Tensor) -> Any:
    before = x * 0.5
    x.index_add_(0, torch.tensor([0, 0, 3, 4, 3]), y)
    return before, x / 4


def permuted_scatter(x: Tensor, y: Tensor) -> Any:
    v = x.permute(1, 0)
    v.index_add_(0, torch.tensor([3, 1, 3]), y[:3])
    return v.contiguous() + 1


def swap_of_two(x: Tensor, y: Tensor) -> Any:
    kept = x.clone()
    x.copy_(y)
    y.copy_(kept)
    return x - y


def only_a_write(x: Tensor, y: Tensor) -> Any:
    x.copy_(y)


def reduced_after_negation(x: Tensor, y: Tensor) -> Any:
    x.neg_()
    return x.t().argmin(), x.t().contiguous().argmax(), x.t().sum(0)


MUTATIONS: dict[str, Callable[[Tensor, Tensor], Any]] = {
    f.__name__: f
    for f in (
        in_place_chain,
        overlapping_shift,
        transpose_of_itself,
        read_between_writes,
        write_through_views,
        masked_writes,
        scatters_then_reads,
        permuted_scatter,
        swap_of_two,
        only_a_write,
        reduced_after_negation,
    )
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_inputs_written_in_place(name: str) -> None:
    make = lambda: (uniform(5, 5), uniform(5, 5, seed=1))  # noqa: E731
    check(MUTATIONS[name], make, alias=True)


@pytest.mark.parametrize("name", ["in_place_chain", "read_between_writes", "write_through_views"])
def test_writes_to_non_contiguous_inputs(name: str) -> None:
    check(MUTATIONS[name], lambda: (uniform(5, 5).t(), uniform(6, 11)[1:, 1::2]))


ALIASES: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "input_itself": lambda x, y: (x, x + y),
    "view_of_input": lambda x, y: (x.view(-1), x.t(), x[1:], x + 1),
    "same_output_twice": lambda x, y: (lambda z: (z, z))(x + y),
    "view_of_output": lambda x, y: (lambda z: (z, z.view(-1), z[1:], z.t()))(x + y),
    "two_views": lambda x, y: (lambda z: (z[0], z[1], z.t()))(x * y),
    "copies": lambda x, y: (x.clone(), x.view(-1).clone(), x.contiguous(), x.t().contiguous()),
    "odd": lambda x, y: (x, None, 3, {"k": (x + y).t(), "j": [y, 2.5]}, (), x.view(-1)),
    "detached": lambda x, y: (x.detach(), (x + 1).detach(), x.expand(2, 5, 5)),
    "constants": lambda x, y: (torch.ones(3), torch.arange(4), x + 1),
    "no_tensors": lambda x, y: (1, "a", None, x.shape[0]),
}


@pytest.mark.parametrize("name", ALIASES)
def test_outputs_alias_as_in_eager(name: str) -> None:
    graphs = 0 if name == "no_tensors" else 1
    make = lambda: (uniform(5, 5), uniform(5, 5, seed=1))  # noqa: E731
    check(ALIASES[name], make, exact=True, alias=True, graphs=graphs)


def test_written_copy_is_independent() -> None:
    def f(x: Tensor) -> tuple[Tensor, Tensor]:
        x.mul_(2)
        return x.clone(), x[:2].clone()

    # Seen from outside: overwriting what was returned must not reach the input, and vice versa.
    x = torch.arange(6.0)
    a, b = compiled(f)(x)
    a.fill_(-1)
    b.fill_(-2)
    same(x, torch.arange(6.0) * 2)
    x.zero_()
    same(a, torch.full((6,), -1.0))


def test_views_of_outputs_write_through() -> None:
    z, flat = compiled(lambda x: (lambda z: (z, z.view(-1)))(x * 2))(uniform(3, 4))
    flat[5] = 77.0
    assert z[1, 1].item() == 77.0


def test_alias_of_a_written_input_that_starts_inside_its_storage() -> None:
    def f(x: Tensor) -> tuple[Tensor]:
        wide = x.expand(2, *x.shape)
        x.flatten(0, 1).__setitem__(0, -2)
        return (wide,)

    for dynamic in (False, True):
        torch._dynamo.reset()
        check(f, lambda: (torch.arange(9.0)[3:].reshape(2, 3),), dynamic=dynamic, alias=True)


def test_same_tensor_twice_and_then_apart() -> None:
    def f(x: Tensor, y: Tensor) -> Tensor:
        x.add_(1)
        return x * y

    subject, x, y = compiled(f), uniform(4), uniform(4, seed=1)
    for ours, theirs in (((x.clone(),) * 2, (x.clone(),) * 2), ((x.clone(), y), (x.clone(), y))):
        same(subject(*ours), f(*theirs))
        same(ours, theirs, "inputs")


def test_overlapping_inputs_of_one_storage() -> None:
    def f(x: Tensor, y: Tensor) -> Tensor:
        x.mul_(3)
        return x + y

    results: list[Any] = []
    for fn in (f, compiled(f)):
        base = torch.arange(8.0)
        results.append((fn(base[:5], base[3:]), base))
    same(results[1], results[0], exact=True)


class Counter(nn.Module):
    """Buffers written in every call: one by value, one through a view."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        self.register_buffer("ring", torch.zeros(4, 3))

    def forward(self, x: Tensor) -> Tensor:
        self.steps.add_(1)
        self.ring[1:] = self.ring[:-1].clone()
        self.ring[0] = x.mean(0)
        return x + self.ring.sum(0) * self.steps


@pytest.mark.parametrize("grad", [False, True])
def test_buffers_are_written(grad: bool) -> None:
    eager, ours = Counter(), Counter()
    subject = compiled(ours)
    for step in range(3):
        x = uniform(5, 3, seed=step).requires_grad_(grad)
        same(subject(x), eager(x))
        same(dict(ours.named_buffers()), dict(eager.named_buffers()), "buffer")


def test_in_place_on_intermediates_with_gradients() -> None:
    def f(x: Tensor) -> Tensor:
        y = x * 2
        y[1:3] = x[1:3].sin()
        y[:, 0].mul_(3)
        return y.add_(1).exp()

    check(f, lambda: (leaf(uniform(5, 4)),), grad=True)


def test_backward_of_what_was_read_before_an_input_was_written() -> None:
    def through_detach(x: Tensor) -> Tensor:
        y = x.to(torch.float64).logcumsumexp(0)
        seen = x.detach()
        seen.add_(seen.flip(0))
        return y

    def overwritten(x: Tensor, n: Tensor) -> tuple[Tensor, Tensor]:
        root = torch.sqrt(n).view(2, 4)
        y = torch.addcmul(x, x, root, value=0.5)
        n.copy_(root.view(8))
        return y, root + 1

    check(through_detach, lambda: (leaf(uniform(9, 2)),), grad=True)
    counts = torch.tensor([3, 7, 200, 255, 0, 1, 9, 16], dtype=torch.uint8)
    check(overwritten, lambda: (leaf(uniform(2, 4)), counts.clone()), grad=True)


@torch.library.custom_op("e2e::bump", mutates_args=("x",))
def bump(x: Tensor) -> None:
    x.add_(100)


@bump.register_fake
def _(x: Tensor) -> None:
    return None


@torch.library.custom_op("e2e::host_sort", mutates_args=())
def host_sort(x: Tensor) -> Tensor:
    return torch.from_numpy(np.sort(x.numpy(), axis=-1).copy())


@host_sort.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@torch.library.custom_op("e2e::picky", mutates_args=())
def picky(x: Tensor) -> Tensor:
    if x.sum() > 100:
        raise ValueError("picky: total above one hundred")
    return x * 1.0


@picky.register_fake
def _(x: Tensor) -> Tensor:
    return torch.empty_like(x)


def test_opaque_op_that_writes_is_kept() -> None:
    def f(x: Tensor) -> tuple[Tensor, Tensor]:
        y = x * 2
        bump(y)
        z = y + 1
        bump(x)
        return z, x * 1

    check(f, lambda: (uniform(9),), exact=True)


def test_opaque_op_between_pointwise_ones() -> None:
    def f(x: Tensor) -> tuple[Tensor, Tensor]:
        y = (x.t() * 3).relu()
        return host_sort(y) - y, y.sum(0)

    check(f, lambda: (uniform(6, 11),))


def test_error_of_a_user_op_surfaces() -> None:
    subject = compiled(lambda x: picky(x * 2) + 1)
    same(subject(torch.ones(4)), torch.full((4,), 3.0))
    with pytest.raises(ValueError, match="picky: total"):
        subject(torch.full((4,), 40.0))
    same(subject(torch.ones(4)), torch.full((4,), 3.0))


def test_integer_inputs_written() -> None:
    def f(x: Tensor, m: Tensor) -> Tensor:
        x.mul_(3).add_(1)
        m.logical_not_()
        return torch.where(m, x, 0)

    check(f, lambda: (integers(7), integers(7).bool()), exact=True)
