"""Compiled f32 code is about as accurate as eager's, against f64, over wide ranges of inputs."""

from __future__ import annotations

import pytest
import torch

from bench.numerics.composites import OPERATIONS, error, exact_of, inputs, scale
from bench.numerics.samples import points, ulps

INPUTS = inputs(rows=48, columns=771)
# Sums in another order: an input where eager is lucky decides nothing.
SLACK = 2.0
POINTWISE = {
    "erf": torch.erf, "exp": torch.exp, "tanh": torch.tanh, "log": torch.log,
    "expm1": torch.expm1, "log1p": torch.log1p, "sigmoid": torch.sigmoid,
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_is_about_as_accurate_as_eager(name):
    """At most twice eager's greatest error over all inputs of the operation, plus a few ulp."""
    fn = OPERATIONS[name]
    torch.compiler.reset()
    compiled = torch.compile(fn, backend="minductor", options={"strict": True})
    ours, eager = 0.0, 0.0
    for label, x in INPUTS.items():
        if (name, label) == ("std", "subnormal"):
            continue  # the squares underflow in f32; eager takes the root in f64
        exact = exact_of(name, x)
        unit = scale(exact, x, name)
        ours = max(ours, error(compiled(x), exact, unit))
        eager = max(eager, error(fn(x), exact, unit))
    assert ours <= 2 * eager + SLACK


@pytest.mark.parametrize("name", POINTWISE)
def test_function_is_about_as_accurate_as_eager(name):
    """At most twice eager's greatest error over special values, subnormals and random bits."""
    fn = POINTWISE[name]
    torch.compiler.reset()
    compiled = torch.compile(fn, backend="minductor", options={"strict": True})
    x = points(torch.float32, 5000, seed=2)
    exact = fn(x.double()).numpy()
    assert ulps(compiled(x), exact).max() <= 2 * ulps(fn(x), exact).max() + 0.2


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("first", [0.0, 3e4])
def test_variance_is_stable(offset, first):
    """A great mean, or an outlier at the start, costs no digits: eager sums in f64, so do we."""
    x = torch.randn(64, 2049) + offset
    x[:, 0] += first
    compiled = torch.compile(torch.var, backend="minductor", options={"strict": True})
    exact = torch.var(x.double(), -1)
    assert ((compiled(x, -1) - exact).abs() / exact).max() < 2e-7


def test_a_deviation_is_in_range_where_the_variance_is_not() -> None:
    """Squares of 1e30 overflow f32, those of 1e-30 vanish: the root is taken before rounding."""
    x = torch.linspace(-1, 1, 40).reshape(2, 20) * torch.tensor([[1e30], [1e-30]])
    ours = torch.compile(lambda x: x.std(1), backend="minductor")
    torch.testing.assert_close(ours(x), x.double().std(1).float())


def test_the_norm_of_one_element_is_its_magnitude() -> None:
    x = torch.tensor([[1e30], [-1e-30], [torch.nan], [-torch.inf]])
    for order in (2.0, 3.0, 0.5, 0.0, torch.inf):
        ours = torch.compile(
            lambda x, p=order: torch.linalg.vector_norm(x, p, dim=1), backend="minductor"
        )
        torch.testing.assert_close(
            ours(x), torch.linalg.vector_norm(x, order, dim=1), equal_nan=True
        )
    scalar = torch.compile(lambda x: torch.linalg.vector_norm(x), backend="minductor")
    assert scalar(torch.tensor(-1e30)) == torch.tensor(1e30)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_the_short_gelu_is_exact_in_its_tail(dtype):
    """`1 + tanh` is next to 0 there: the function's error may not become the sum's."""
    x = torch.cat([torch.linspace(-12, 4, 4099), torch.tensor([-100.0, -1e4])])
    x = x.to(dtype)
    fn = lambda x: torch.nn.functional.gelu(x, approximate="tanh")  # noqa: E731
    ours = torch.compile(fn, backend="minductor", options={"strict": True})(x).double()
    exact = torch.nn.functional.gelu(x.double(), approximate="tanh")
    unit = torch.finfo(dtype).eps * (4 if dtype == torch.float32 else 0.6)
    assert ((ours - exact).abs() <= unit * exact.abs() + 1e-6).all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["gelu", "silu", "softmax", "tanh", "sin", "cos", "log", "exp"])
def test_half_precision_rounds_about_once(name, dtype):
    """The short functions of half-precision kernels err as eager does, in units of the dtype."""
    fn = getattr(torch.nn.functional, name, None) or getattr(torch, name)
    fn = (lambda x: torch.softmax(x, -1)) if name == "softmax" else fn
    torch.compiler.reset()
    x = (torch.randn(64, 771) * 4).to(dtype)
    ours = torch.compile(fn, backend="minductor", options={"strict": True})(x).double()
    exact, eager = fn(x.double()), fn(x).double()
    unit = torch.finfo(dtype).eps * exact.abs() + 1e-6
    worst = [((got - exact).abs() / unit).nan_to_num(0).max() for got in (ours, eager)]
    assert worst[0] <= worst[1] + 0.1
