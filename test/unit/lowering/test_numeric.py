"""Arithmetic lowerings, run by the loop interpreter, against torch: bits, dtypes, strides."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from numeric_cases import (
    BINARY,
    EXACT,
    FACTORIES,
    FLOATS,
    I32,
    I64,
    LAST_PLACE,
    NUMERIC,
    SCALAR,
    U8,
    UNARY,
    aten,
    cast_to,
    dim_cases,
    finite,
    overload,
    polygamma_of,
    sample,
)
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx
from xdsl.utils.exceptions import VerifyException

from minductor.dialects.loop.ops import ExternOp
from minductor.interpreters.loop import run_loop
from minductor.lowering.aten_to_loop.convert import AtenToLoopPass
from minductor.lowering.fx_to_aten.graph import import_graph
from minductor.passes.context import MiniContext


def lowered(fn: Any, inputs: tuple[Tensor, ...]) -> Any:
    """The verified `loop` module of a function; all of it in nests."""
    module = import_graph(make_fx(fn, tracing_mode="fake")(*inputs)).module
    AtenToLoopPass().apply(MiniContext(), module)
    module.verify()
    called = [op.callee.data for op in module.walk() if isinstance(op, ExternOp)]
    assert not called
    return module


def check(fn: Any, inputs: tuple[Tensor, ...], tolerance: float | None = None) -> None:
    """The same bits as torch (or within a tolerance), dtypes, strides."""
    found = run_loop(lowered(fn, inputs), list(inputs))
    want = fn(*inputs)
    want = list(want) if isinstance(want, list | tuple) else [want]
    for a, b in zip(found, want, strict=True):
        bound = tolerance or 0.0
        torch.testing.assert_close(a, b, equal_nan=True, rtol=bound, atol=bound)
        if tolerance is None and b.is_floating_point():
            zero = b == 0
            assert torch.equal(torch.signbit(a)[zero], torch.signbit(b)[zero])
        kept = [k for k in range(b.dim()) if b.shape[k] > 1 and b.numel()]
        assert [a.stride(k) for k in kept] == [b.stride(k) for k in kept]


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    """Layouts too: a transposed input gives a transposed result."""
    op = overload(name)
    for dtype in UNARY[name]:
        rough = None if name in EXACT else LAST_PLACE.get(dtype, 1e-6)
        check(op, (sample(dtype, 4, 6).t(),), rough)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str) -> None:
    op = overload(name)
    for dtype in BINARY[name]:
        rough = 1e-12 if "log" in name and dtype == torch.float64 else None
        check(op, (sample(dtype, 5, 4), sample(dtype, 4, seed=2)), rough)


@pytest.mark.parametrize("order", [0, 1, 2, 5])
def test_polygamma(order: int) -> None:
    """Beyond order 1 a multiple of the zeta function, which half types round once."""
    for dtype in (torch.float32, torch.float64, torch.bfloat16, I64):
        check(polygamma_of(order), (sample(dtype, 30),), LAST_PLACE.get(dtype, 1e-6))


@pytest.mark.parametrize("name", SCALAR)
@pytest.mark.parametrize("number", [3, 0.1, -2.5])
def test_number(name: str, number: float) -> None:
    op = overload(name)
    for dtype in SCALAR[name]:
        if dtype == U8 and number < 0:
            continue
        rough = LAST_PLACE[dtype] if "pow" in name else None
        check(lambda x: op(x, number), (sample(dtype, 30),), rough)


@pytest.mark.parametrize("exponent", [-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3, 4, 1.7])
def test_powers(exponent: float) -> None:
    """The half types round between factors in eager; a root of -inf is another one in f16."""
    for dtype in FLOATS:
        x = finite(dtype, 30).abs() if dtype == torch.float16 else sample(dtype, 30)
        check(lambda x: aten.pow(x, exponent), (x,), LAST_PLACE[dtype])
    if exponent in (0, 1, 2, 3, 4):
        for dtype in (I32, I64, U8):
            check(lambda x: aten.pow(x, int(exponent)), (sample(dtype, 30),))


@pytest.mark.parametrize("mode", [None, "trunc", "floor"])
def test_division(mode: str | None) -> None:
    """Of floats with zeros and infinities; of integers with signs; of tensors and numbers."""
    for dtype in NUMERIC:
        x = sample(dtype, 8, 8)
        y = sample(dtype, 8, 8, seed=3)
        if not dtype.is_floating_point:
            y = torch.where((y == 0) | (y == -1), torch.ones_like(y), y)
        check(lambda x, y: aten.div.Tensor_mode(x, y, rounding_mode=mode), (x, y))
        check(lambda x: aten.div.Tensor_mode(x, 3, rounding_mode=mode), (x,))


def test_mixed_operands() -> None:
    """Promotion between dtypes, 0-d tensors and numbers."""
    x, point = sample(torch.bfloat16, 6), torch.tensor(0.3)
    for other in (sample(I64, 6), sample(torch.float32, 6), point, sample(torch.float16, 6)):
        check(aten.add.Tensor, (x, other))
        check(aten.mul.Tensor, (x, other))
        check(aten.lt.Tensor, (x, other))
        check(lambda x, y: aten.where.self(x > 0, x, y), (x, other))
    check(lambda a, b: aten.add.Tensor(a, b, alpha=3), (sample(U8, 5), sample(I32, 5)))
    check(lambda a: aten.eq.Scalar(a, -1), (sample(U8, 5),))
    check(lambda a: aten.add.Tensor(a, 1.5), (sample(I32, 5),))


def test_clamp() -> None:
    for dtype in NUMERIC:
        x = sample(dtype, 20)
        check(lambda x: aten.clamp(x, 1, 3), (x,))
        check(lambda x: aten.clamp(x, None, 2), (x,))
        check(lambda x, lo: aten.clamp.Tensor(x, lo), (x, sample(dtype, 20, seed=5)))


@pytest.mark.parametrize("dtype", [*NUMERIC, torch.bool], ids=str)
def test_reductions(dtype: torch.dtype) -> None:
    """Sums differ by their order alone; places and extremes do not differ."""
    x = finite(dtype, 3, 4, 5)
    rough = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 2e-2, torch.float16: 2e-3}
    for case in dim_cases(x).values():
        check(case, (x,), rough.get(dtype, 1e-5))


@pytest.mark.parametrize("name", ["amax", "amin", "max", "min", "argmax", "argmin", "cummax"])
def test_extremes_with_nan(name: str) -> None:
    x = sample(torch.float32, 3, 4, 5)
    check(dim_cases(x)[name], (x,))


@pytest.mark.parametrize("shape", [(), (1,), (0,), (0, 3), (3, 0), (1, 1)])
def test_small_shapes(shape: tuple[int, ...]) -> None:
    x = finite(torch.float32, *shape)
    check(lambda x: aten.sum(x), (x,))
    check(lambda x: aten.mean(x, [0], True) if x.dim() else aten.mean(x), (x,))
    check(lambda x: aten.prod(x), (x,))
    check(lambda x: aten.any(x), (x,))
    check(lambda x: aten.exp(x) + 1, (x,))
    if x.dim():
        check(lambda x: aten.cumsum(x, 0), (x,))
        check(lambda x: aten.sum(x, [-1], True), (x,))
    if x.numel():
        check(lambda x: aten.argmax(x), (x,))


@pytest.mark.parametrize("name", FACTORIES)
def test_factories(name: str) -> None:
    check(lambda: FACTORIES[name](), ())


def test_integer_division_by_zero_is_a_fault() -> None:
    x = torch.tensor([1, 2])
    module = lowered(lambda x, y: aten.div.Tensor_mode(x, y, rounding_mode="floor"), (x, x))
    with pytest.raises((ZeroDivisionError, RuntimeError)):
        run_loop(module, [x, torch.tensor([1, 0])])


def test_casts() -> None:
    for source in (*NUMERIC, torch.bool):
        for to in (*NUMERIC, torch.bool):
            check(cast_to(to), (finite(source, 12),))
    check(lambda x: aten.view.dtype(x, I32), (sample(torch.float32, 12),))


def test_results_verify_against_promises() -> None:
    """The verifier refuses a nest that does not cover its result."""
    module = lowered(lambda x: aten.exp(x), (sample(torch.float32, 4, 6),))
    nest = next(op for op in module.walk() if op.name == "loop.nest")
    last = nest.regions[0].block.last_op
    assert last is not None
    last.detach()
    last.erase()
    with pytest.raises(VerifyException, match="never stored"):
        module.verify()
