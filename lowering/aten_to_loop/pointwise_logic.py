"""Logic, bits and shifts.

    %r = aten.logical_and(%x, %y)                   %x: f32[8], %y: bool[8]
      -->
    %buf0 = loop.nest (d0: 8) -> (%o : !aten.t<bool[8]>) origins ["logical_and"] {
      %0 = loop.load %x[d0] : f32      %1 = scalar.constant 0.0 : f32    %2 = scalar.ne %0, %1 : f32
      %3 = loop.load %y[d0] : i1       %4 = scalar.and %2, %3 : i1       loop.store %4, %o[d0] }

Bits of bool are truths. What a shift by a negative or too large count gives, the table says.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.pointwise import one, pair
from minductor.lowering.aten_to_loop.promote import Operand, is_integral, promote_types, result_type
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import Declined, lower
from minductor.lowering.aten_to_loop.support import (
    as_common,
    logical_not,
    nonzero,
    pointwise,
    truth,
)


def _logical(call: Call, name: str) -> list[Result]:
    b, operands = call.nest(), pair(call)
    common = result_type(operands)
    b.store(b.op(name, *(_common_truth(b, x, common) for x in operands)))
    return call.done(b)


def _common_truth(b: NestBuilder, x: Operand, common: str) -> SSAValue:
    """Whether `x` is non-zero as a `common`, which a wider one without dimensions may not be."""
    if isinstance(x, Ref) and promote_types(x.dtype, common) != common:
        return nonzero(b, as_common(b, x, common))
    return truth(b, x)


@lower("logical_and.default")
def logical_and(call: Call) -> list[Result]:
    """Both are non-zero."""
    return _logical(call, "and")


@lower("logical_or.default")
def logical_or(call: Call) -> list[Result]:
    """One is non-zero."""
    return _logical(call, "or")


@lower("logical_xor.default")
def logical_xor(call: Call) -> list[Result]:
    """Exactly one is non-zero."""
    return _logical(call, "xor")


@lower("logical_not.default")
def logical_not_(call: Call) -> list[Result]:
    """self is zero."""
    b = call.nest()
    b.store(logical_not(b, truth(b, one(call))))
    return call.done(b)


def _bits(call: Call, name: str, operands: Sequence[Operand]) -> list[Result]:
    return pointwise(call, lambda b, *v: b.op(name, *v), operands)


@lower(
    "bitwise_and.Tensor",
    "bitwise_and.Scalar",
    "bitwise_and.Scalar_Tensor",
    "prims.bitwise_and.default",
)
def bitwise_and(call: Call) -> list[Result]:
    """self & other."""
    return _bits(call, "and", pair(call))


@lower(
    "bitwise_or.Tensor",
    "bitwise_or.Scalar",
    "bitwise_or.Scalar_Tensor",
    "prims.bitwise_or.default",
)
def bitwise_or(call: Call) -> list[Result]:
    """self | other."""
    return _bits(call, "or", pair(call))


@lower(
    "bitwise_xor.Tensor",
    "bitwise_xor.Scalar",
    "bitwise_xor.Scalar_Tensor",
    "prims.bitwise_xor.default",
)
def bitwise_xor(call: Call) -> list[Result]:
    """self ^ other."""
    return _bits(call, "xor", pair(call))


@lower("bitwise_not.default", "prims.bitwise_not.default")
def bitwise_not(call: Call) -> list[Result]:
    """~self; for bool, not."""
    return _bits(call, "not", [one(call)])


@lower(
    "bitwise_left_shift.Tensor",
    "bitwise_left_shift.Tensor_Scalar",
    "bitwise_left_shift.Scalar_Tensor",
    "__lshift__.Tensor",
    "__lshift__.Scalar",
    "prims.shift_left.default",
)
def shift_left(call: Call) -> list[Result]:
    """self << other."""
    return _shift(call, "shl")


@lower(
    "bitwise_right_shift.Tensor",
    "bitwise_right_shift.Tensor_Scalar",
    "bitwise_right_shift.Scalar_Tensor",
    "__rshift__.Tensor",
    "__rshift__.Scalar",
    "prims.shift_right_arithmetic.default",
)
def shift_right(call: Call) -> list[Result]:
    """self >> other, arithmetic."""
    return _shift(call, "shr")


def _shift(call: Call, name: str) -> list[Result]:
    if not is_integral(call.type.dtype):
        raise Declined(f"a shift of {call.type.dtype}")
    return _bits(call, name, pair(call))
