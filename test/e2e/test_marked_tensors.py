"""Gradients and arguments whose values are not what their memory says, or that have none."""

import pytest
import torch
import torch.autograd.forward_ad as fa
from harness import compiled, same
from torch import Tensor
from torch._subclasses import FakeTensorMode


def wave(x: Tensor) -> Tensor:
    return x.sin() * x


@pytest.fixture(params=[False, True], ids=["static", "dynamic"])
def subject(request: pytest.FixtureRequest) -> object:
    return compiled(wave, dynamic=request.param)


MARKED = {
    "negated": lambda: torch.arange(3.0)._neg_view(),
    "negated and strided": lambda: torch.randn(3, dtype=torch.complex64).conj().imag,
    "zero": lambda: torch._efficientzerotensor((3,)),
}


@pytest.mark.parametrize("name", MARKED)
def test_gradients_that_are_marked(subject, name: str) -> None:
    gradient = MARKED[name]()
    x, y = (torch.arange(1.0, 4.0).requires_grad_() for _ in range(2))
    subject(x).backward(gradient)
    wave(y).backward(gradient)
    same(x.grad, y.grad)


def test_a_conjugated_gradient() -> None:
    """Of a result that is a number: its strides say nothing."""
    f = compiled(lambda x: x.sin().sum())
    x = torch.ones(3, requires_grad=True)
    (torch.complex(torch.tensor(0.0), f(x)).conj() * torch.tensor(1 + 2j)).imag.backward()
    same(x.grad, -torch.ones(3).cos())


def test_batches_of_gradients(subject) -> None:
    x, y = (torch.arange(1.0, 4.0).requires_grad_() for _ in range(2))
    found, wanted = (
        torch.autograd.grad(f(z), z, torch.eye(3), is_grads_batched=True)
        for f, z in ((subject, x), (wave, y))
    )
    same(found, wanted)
    jacobian = torch.autograd.functional.jacobian
    same(jacobian(subject, x.detach(), vectorize=True), torch.diagflat(wanted[0].diagonal()))


def test_forward_mode(subject) -> None:
    """A compiled graph has no forward derivative: the graph runs eagerly."""
    x, direction = torch.arange(1.0, 4.0), torch.full((3,), 2.0)
    same(subject(x), wave(x))
    with fa.dual_level():
        found, wanted = (fa.unpack_dual(f(fa.make_dual(x, direction))) for f in (subject, wave))
        same(found.tangent, wanted.tangent)


def test_forward_mode_in_place() -> None:
    f = compiled(lambda x: x.add_(1))
    with fa.dual_level():
        x = fa.make_dual(torch.ones(3), torch.ones(3)) * 2
        f(x)
        same(fa.unpack_dual(x).tangent, torch.full((3,), 2.0))


def test_arguments_without_memory(subject) -> None:
    same(subject(torch.ones(3)), wave(torch.ones(3)))
    same(subject(torch._efficientzerotensor((3,))), torch.zeros(3))
    with FakeTensorMode():
        assert subject(torch.empty(3)).shape == (3,)


COMPLEX = {
    "times": lambda x: x * 2j,
    "over": lambda x: x / (1 + 2j),
    "under": lambda x: 2j / x + (1 + 1j) ** x,
    "angle": lambda x: torch.exp(1j * x.real),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_gradients_of_complex_numbers(name: str) -> None:
    f = COMPLEX[name]
    x, y = (torch.tensor([1 + 2j, 3 - 1j, 0.5j], requires_grad=True) for _ in range(2))
    compiled(f)(x).abs().sum().backward()
    f(y).abs().sum().backward()
    same(x.grad, y.grad, tol=(1e-5, 1e-5))
