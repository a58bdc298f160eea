"""Comparisons and tests: the result is bool, the computation dtype is the promoted one.

    %r = aten.gt.Scalar(%x) {other = 0.5}           %x: f32[8]
      -->
    %buf0 = loop.nest (d0: 8) -> (%o : !aten.t<bool[8]>) origins ["gt"] {
      %0 = loop.load %x[d0] : f32     %1 = scalar.constant 0.5 : f32
      %2 = scalar.gt %0, %1 : f32     loop.store %2, %o[d0] }

Comparisons with NaN are false, except `ne`. Numbers are rounded to the promoted dtype first.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder, dtype_of
from minductor.lowering.aten_to_loop.pointwise import one, pair
from minductor.lowering.aten_to_loop.promote import is_float, require_scalar, result_type
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import lower
from minductor.lowering.aten_to_loop.support import as_common, loaded


def _compare(call: Call, name: str) -> list[Result]:
    operands = pair(call)
    require_scalar([x.dtype for x in operands if isinstance(x, Ref)])
    common = result_type(operands)
    b = call.nest()
    b.store(b.op(name, *(as_common(b, x, common) for x in operands)))
    return call.done(b)


@lower("eq.Tensor", "eq.Scalar", "prims.eq.default")
def eq(call: Call) -> list[Result]:
    """self == other."""
    return _compare(call, "eq")


@lower("ne.Tensor", "ne.Scalar", "prims.ne.default")
def ne(call: Call) -> list[Result]:
    """self != other."""
    return _compare(call, "ne")


@lower("lt.Tensor", "lt.Scalar", "prims.lt.default")
def lt(call: Call) -> list[Result]:
    """self < other."""
    return _compare(call, "lt")


@lower("le.Tensor", "le.Scalar", "prims.le.default")
def le(call: Call) -> list[Result]:
    """self <= other."""
    return _compare(call, "le")


@lower("gt.Tensor", "gt.Scalar", "prims.gt.default")
def gt(call: Call) -> list[Result]:
    """self > other."""
    return _compare(call, "gt")


@lower("ge.Tensor", "ge.Scalar", "prims.ge.default")
def ge(call: Call) -> list[Result]:
    """self >= other."""
    return _compare(call, "ge")


# -- tests of one operand -----------------------------------------------------------------------
def _test(call: Call, name: str, of_integers: bool) -> list[Result]:
    """A test of the table on floats; a constant on integers."""
    x = one(call)
    b = call.nest()
    if is_float(x.dtype):
        b.store(b.op(name, b.opmath(loaded(b, x))))
    else:
        require_scalar([x.dtype])
        b.store(b.const(of_integers, "bool"))
    return call.done(b)


@lower("isnan.default")
def isnan(call: Call) -> list[Result]:
    """self is NaN."""
    return _test(call, "isnan", False)


@lower("isinf.default")
def isinf(call: Call) -> list[Result]:
    """self is infinite."""
    return _test(call, "isinf", False)


@lower("isfinite.default", "prims.isfinite.default")
def isfinite(call: Call) -> list[Result]:
    """self is finite."""
    return _test(call, "isfinite", True)


def _is_infinity(call: Call, sign: int) -> list[Result]:
    x = one(call)
    b = call.nest()
    require_scalar([x.dtype])
    value = b.opmath(loaded(b, x))
    infinite = b.op("eq", value, b.like(sign * float("inf"), value)) if is_float(x.dtype) else None
    b.store(b.const(False, "bool") if infinite is None else infinite)
    return call.done(b)


@lower("isposinf.default")
def isposinf(call: Call) -> list[Result]:
    """self is +infinity."""
    return _is_infinity(call, 1)


@lower("isneginf.default")
def isneginf(call: Call) -> list[Result]:
    """self is -infinity."""
    return _is_infinity(call, -1)


@lower("signbit.default", "prims.signbit.default")
def signbit(call: Call) -> list[Result]:
    """The sign bit is set: -0.0 too."""
    x = one(call)
    b = call.nest()
    require_scalar([x.dtype])
    b.store(_signbit(b, b.opmath(loaded(b, x))))
    return call.done(b)


def _signbit(b: NestBuilder, value: SSAValue) -> SSAValue:
    dtype = dtype_of(value)
    if is_float(dtype):
        return b.op("signbit", value)
    return b.const(False, "bool") if dtype == "bool" else b.op("lt", value, b.like(0, value))
