"""Tensors made of numbers: full, arange, eye, and their kin.

    %r = aten.arange.start_step(2, 10, 2)
      -->
    %buf0 = loop.nest (d0: 4) -> (%o : !aten.t<i64[4]>) origins ["arange"] {
      %0 = scalar.index 2 * d0 + 2 : i64    loop.store %0, %o[d0] }

`empty` and its kin have no defined content; they are filled with 0, which inlining makes free.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.promote import Operand, is_float, opmath
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import Declined, lower
from minductor.lowering.aten_to_loop.support import as_dtype


def _filled(call: Call, value: Operand) -> list[Result]:
    b = call.nest()
    b.store(as_dtype(b, value, call.type.dtype))
    return call.done(b)


@lower("full.default", "full_like.default", "new_full.default")
def full(call: Call) -> list[Result]:
    """Every element is fill_value."""
    return _filled(call, call.stored("fill_value"))


@lower("fill.Scalar", "fill.Tensor")
def fill(call: Call) -> list[Result]:
    """A tensor like self, every element value."""
    return _filled(call, call.stored("value"))


@lower("scalar_tensor.default")
def scalar_tensor(call: Call) -> list[Result]:
    """A 0-d tensor of a number."""
    return _filled(call, call.stored("s"))


@lower("prims.scalar_tensor.default")
def prims_scalar_tensor(call: Call) -> list[Result]:
    """A 0-d tensor of a number."""
    return _filled(call, call.operand("s"))


@lower(
    "zeros.default",
    "zeros_like.default",
    "new_zeros.default",
    "empty.memory_format",
    "empty_like.default",
    "empty_strided.default",
    "empty_permuted.default",
    "new_empty.default",
    "new_empty_strided.default",
    "prims.empty_strided.default",
    "prims.empty_permuted.default",
)
def zeros(call: Call) -> list[Result]:
    """Every element is 0 (of `empty`: none is defined)."""
    return _filled(call, 0)


@lower("ones.default", "ones_like.default", "new_ones.default")
def ones(call: Call) -> list[Result]:
    """Every element is 1."""
    return _filled(call, 1)


# -- progressions -------------------------------------------------------------------------------
def _progression(call: Call, start: Operand, step: Operand) -> list[Result]:
    """start + step * i: integers exactly, floats in the dtype's wider form."""
    b = call.nest()
    b.store(_term(b, start, step, b.dims[0], call.type.dtype))
    return call.done(b)


def _term(b: NestBuilder, start: Operand, step: Operand, i: Expr, dtype: str) -> SSAValue:
    first, stride = _whole(start), _whole(step)
    if first is not None and stride is not None:
        return b.index(first + stride * i, dtype)
    if not is_float(dtype):
        raise Declined("a progression of integers with fractions")
    wide = "f64"
    scaled = b.op("mul", as_dtype(b, step, wide), b.index(i, wide))
    return b.cast(b.cast(b.op("add", as_dtype(b, start, wide), scaled), opmath(dtype)), dtype)


def _whole(x: Operand) -> Expr | None:
    """The operand as an index expression, if it is a whole number that i64 holds."""
    if isinstance(x, Expr):
        return x
    if isinstance(x, Ref) or (isinstance(x, float) and not x.is_integer()):
        return None
    return Expr.of(int(x)) if abs(x) < 2**53 else None


@lower("arange.default", "arange.start", "arange.start_step")
def arange(call: Call) -> list[Result]:
    """start, start + step, ..; as many as the result has."""
    start = call.operand("start") if call.has("start") else 0
    step = call.operand("step") if call.has("step") else 1
    return _progression(call, start, step)


@lower("prims.iota.default")
def iota(call: Call) -> list[Result]:
    """length terms of start + i * step."""
    return _progression(call, call.operand("start"), call.operand("step"))


@lower("linspace.default")
def linspace(call: Call) -> list[Result]:
    """steps points from start to end; the second half is counted from the end, as eager does."""
    dtype, count = call.type.dtype, call.type.sizes[0]
    steps = count.as_int
    start, end = call.operand("start"), call.operand("end")
    if steps is None or not is_float(dtype) or not _numbers(start, end):
        raise Declined("linspace of integers, tensors or an unknown number of points")
    assert isinstance(start, int | float)
    assert isinstance(end, int | float)
    b = call.nest()
    wide = opmath(dtype)
    first, last = b.const(float(start), wide), b.const(float(end), wide)
    if steps == 1:
        b.store(first)
        return call.done(b)
    gap = b.op("div", b.op("sub", last, first), b.const(float(steps - 1), wide))
    i = b.dims[0]
    low = b.op("add", first, b.op("mul", gap, b.index(i, wide)))
    high = b.op("sub", last, b.op("mul", gap, b.index(ex.const(steps - 1) - i, wide)))
    b.store(b.op("select", b.within(i, 0, steps // 2), low, high))
    return call.done(b)


def _numbers(*values: Operand) -> bool:
    return all(isinstance(v, int | float) for v in values)


@lower("eye.default", "eye.m")
def eye(call: Call) -> list[Result]:
    """1 on the diagonal, else 0."""
    b = call.nest()
    dtype = call.type.dtype
    row, column = b.dims
    on = b.within(row - column, 0, 1)
    b.store(b.op("select", on, b.const(1, dtype), b.const(0, dtype)))
    return call.done(b)
