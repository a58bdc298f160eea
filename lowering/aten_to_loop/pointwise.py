"""Pointwise arithmetic, bit and logic ops, where and clamp.

    %r = aten.add.Tensor(%x, %y) {alpha = 2}        %x: bf16[4, 8], %y: bf16[8]
      -->
    %buf0 = loop.nest (d0: 4, d1: 8) -> (%o : !aten.t<bf16[4, 8]>) origins ["add"] {
      %0 = loop.load %x[d0, d1] : bf16     %1 = scalar.cast %0 : bf16 to f32
      %2 = loop.load %y[d1] : bf16         %3 = scalar.cast %2 : bf16 to f32
      %4 = scalar.constant 2.0 : f32       %5 = scalar.mul %3, %4 : f32
      %6 = scalar.add %1, %5 : f32         %7 = scalar.cast %6 storage : f32 to bf16
      loop.store %7, %o[d0, d1] }

Operands are cast to the promoted dtype, which is the result's; half types compute in f32. Integers
wrap around; integer division by zero is a fault, as eager raises.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder, dtype_of
from minductor.lowering.aten_to_loop.promote import (
    Operand,
    is_float,
    is_integral,
)
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import Declined, lower
from minductor.lowering.aten_to_loop.support import (
    Body,
    as_common,
    logical_not,
    pointwise,
    truth,
)


def pair(call: Call) -> list[Operand]:
    """The operands `self` and `other` (prims: `a` and `b`)."""
    names = ("self", "other") if "self" in call.args else ("a", "b")
    return [call.operand(n) for n in names]


def one(call: Call) -> Ref:
    """The operand `self` (prims: `a`)."""
    return call.ref("self" if "self" in call.args else "a")


def _scaled(b: NestBuilder, y: SSAValue, alpha: Operand) -> SSAValue:
    if isinstance(alpha, int | float) and alpha == 1:
        return y
    scale = as_common(b, alpha, dtype_of(y))
    return b.op("and" if dtype_of(y) == "bool" else "mul", y, scale)


def plus(b: NestBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """x + y; for bool, or."""
    return b.op("or" if dtype_of(x) == "bool" else "add", x, y)


def times(b: NestBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """x * y; for bool, and."""
    return b.op("and" if dtype_of(x) == "bool" else "mul", x, y)


def _numeric(name: str) -> Body:
    """A row of the table that bool operands have no part in."""

    def body(b: NestBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
        if dtype_of(x) == "bool":
            raise Declined(f"{name} of bool")
        return b.op(name, x, y)

    return body


# -- arithmetic ---------------------------------------------------------------------------------
@lower("add.Tensor", "add.Scalar", "prims.add.default")
def add(call: Call) -> list[Result]:
    """self + alpha * other."""
    alpha = call.operand("alpha") if call.has("alpha") else 1
    return pointwise(call, lambda b, x, y: plus(b, x, _scaled(b, y, alpha)), pair(call))


@lower("sub.Tensor", "sub.Scalar", "prims.sub.default")
def sub(call: Call) -> list[Result]:
    """self - alpha * other."""
    alpha = call.operand("alpha") if call.has("alpha") else 1
    return pointwise(call, lambda b, x, y: b.op("sub", x, _scaled(b, y, alpha)), pair(call))


@lower("rsub.Tensor", "rsub.Scalar")
def rsub(call: Call) -> list[Result]:
    """other - alpha * self."""
    alpha = call.operand("alpha")
    return pointwise(call, lambda b, x, y: b.op("sub", y, _scaled(b, x, alpha)), pair(call))


@lower("mul.Tensor", "mul.Scalar", "prims.mul.default")
def mul(call: Call) -> list[Result]:
    """self * other."""
    return pointwise(call, times, pair(call))


@lower("div.Tensor", "div.Scalar")
def true_div(call: Call) -> list[Result]:
    """True division; integers are cast to the floating result dtype first."""
    return pointwise(call, lambda b, x, y: b.op("div", x, y), pair(call))


@lower("prims.div.default")
def prims_div(call: Call) -> list[Result]:
    """Division of floats, C division of integers."""
    name = "truncdiv" if is_integral(call.type.dtype) else "div"
    return pointwise(call, lambda b, x, y: b.op(name, x, y), pair(call))


@lower("div.Tensor_mode", "div.Scalar_mode")
def div_mode(call: Call) -> list[Result]:
    """Division with rounding_mode None, "trunc" or "floor"."""
    mode = call.text("rounding_mode")
    name = {None: "div", "trunc": "truncdiv", "floor": "floordiv"}[mode]
    return pointwise(call, _numeric(name), pair(call))


@lower("floor_divide.default", "floor_divide.Scalar")
def floor_divide(call: Call) -> list[Result]:
    """Division rounded to minus infinity."""
    return pointwise(call, _numeric("floordiv"), pair(call))


@lower("remainder.Tensor", "remainder.Scalar", "remainder.Scalar_Tensor", "prims.remainder.default")
def remainder(call: Call) -> list[Result]:
    """Python's modulus: the sign of the divisor."""
    return pointwise(call, _numeric("remainder"), pair(call))


@lower("fmod.Tensor", "fmod.Scalar", "prims.fmod.default")
def fmod(call: Call) -> list[Result]:
    """C's modulus: the sign of the dividend."""
    return pointwise(call, _numeric("fmod"), pair(call))



@lower("neg.default", "prims.neg.default")
def neg(call: Call) -> list[Result]:
    """-self."""
    return pointwise(call, lambda b, x: b.op("neg", x), [one(call)])


def _unless_bool(name: str) -> Body:
    """A unary row that leaves bool as it is."""
    return lambda b, x: x if dtype_of(x) == "bool" else b.op(name, x)


@lower("abs.default", "prims.abs.default")
def abs_(call: Call) -> list[Result]:
    """|self|; the smallest integer stays as it is."""
    return pointwise(call, _unless_bool("abs"), [one(call)])


@lower("sign.default", "sgn.default", "prims.sign.default")
def sign(call: Call) -> list[Result]:
    """-1, 0 or 1; NaN gives what the table says."""
    return pointwise(call, _unless_bool("sign"), [one(call)])


@lower("relu.default")
def relu(call: Call) -> list[Result]:
    """max(self, 0); NaN stays NaN."""
    return pointwise(call, _unless_bool("relu"), [one(call)])


@lower("positive.default")
def positive(call: Call) -> list[Result]:
    """+self."""
    return pointwise(call, lambda b, x: x, [one(call)])


def _extreme(name: str, for_bool: str) -> Body:
    return lambda b, x, y: b.op(for_bool if dtype_of(x) == "bool" else name, x, y)


@lower("maximum.default", "prims.maximum.default")
def maximum(call: Call) -> list[Result]:
    """The greater; NaN if either is."""
    return pointwise(call, _extreme("maximum", "or"), pair(call))


@lower("minimum.default", "prims.minimum.default")
def minimum(call: Call) -> list[Result]:
    """The lesser; NaN if either is."""
    return pointwise(call, _extreme("minimum", "and"), pair(call))


def _float_extreme(call: Call, name: str, integer: str, for_bool: str) -> list[Result]:
    chosen = name if is_float(call.type.dtype) else integer
    return pointwise(call, _extreme(chosen, for_bool), pair(call))


@lower("fmax.default", "prims.fmax.default")
def fmax(call: Call) -> list[Result]:
    """The greater; a NaN beside a number is ignored."""
    return _float_extreme(call, "fmax", "maximum", "or")


@lower("fmin.default", "prims.fmin.default")
def fmin(call: Call) -> list[Result]:
    """The lesser; a NaN beside a number is ignored."""
    return _float_extreme(call, "fmin", "minimum", "and")


# -- clamp and where ----------------------------------------------------------------------------
def _clamp(call: Call, low: Operand | None, high: Operand | None) -> list[Result]:
    """min(max(x, low), high): NaN of any operand stays, high wins over low."""

    def body(b: NestBuilder, x: SSAValue, *bounds: SSAValue) -> SSAValue:
        left = list(bounds)
        if low is not None:
            x = _extreme("maximum", "or")(b, x, left.pop(0))
        return x if high is None else _extreme("minimum", "and")(b, x, left.pop(0))

    given = [x for x in (low, high) if x is not None]
    return pointwise(call, body, [call.ref("self"), *given])


@lower("clamp.default", "clamp.Tensor")
def clamp(call: Call) -> list[Result]:
    """self limited to min .. max, either may be missing."""
    low = call.operand("min") if call.has("min") else None
    high = call.operand("max") if call.has("max") else None
    return _clamp(call, low, high)


@lower("clamp_min.default", "clamp_min.Tensor")
def clamp_min(call: Call) -> list[Result]:
    """self, but at least min."""
    return _clamp(call, call.operand("min"), None)


@lower("clamp_max.default", "clamp_max.Tensor")
def clamp_max(call: Call) -> list[Result]:
    """self, but at most max."""
    return _clamp(call, None, call.operand("max"))


def _choose(call: Call, cond: Operand, x: Operand, y: Operand) -> list[Result]:
    b = call.nest()
    dtype = call.type.dtype
    test = truth(b, cond)
    b.store(b.op("select", test, as_common(b, x, dtype), as_common(b, y, dtype)))
    return call.done(b)


@lower("where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar")
def where(call: Call) -> list[Result]:
    """self where condition holds, else other."""
    return _choose(call, call.ref("condition"), call.operand("self"), call.operand("other"))


@lower("prims.where.default")
def prims_where(call: Call) -> list[Result]:
    """a where pred holds, else b."""
    return _choose(call, call.ref("pred"), call.operand("a"), call.operand("b"))


@lower("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(call: Call) -> list[Result]:
    """value where mask holds, else self."""
    return _choose(call, call.ref("mask"), call.operand("value"), call.ref("self"))


# -- logic and bits -----------------------------------------------------------------------------
def _logical(call: Call, name: str) -> list[Result]:
    b = call.nest()
    b.store(b.op(name, *(truth(b, x) for x in pair(call))))
    return call.done(b)


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


# -- compositions that the decomposition table may leave whole ----------------------------------
@lower("addcmul.default")
def addcmul(call: Call) -> list[Result]:
    """self + value * tensor1 * tensor2."""
    value = call.operand("value")
    tensors = [call.ref(n) for n in ("self", "tensor1", "tensor2")]

    def body(b: NestBuilder, x: SSAValue, y: SSAValue, z: SSAValue) -> SSAValue:
        return plus(b, x, times(b, _scaled(b, y, value), z))

    return pointwise(call, body, tensors)


@lower("addcdiv.default")
def addcdiv(call: Call) -> list[Result]:
    """self + value * tensor1 / tensor2."""
    value = call.operand("value")
    tensors = [call.ref(n) for n in ("self", "tensor1", "tensor2")]
    if not is_float(call.type.dtype):
        raise Declined("addcdiv of integers")

    def body(b: NestBuilder, x: SSAValue, y: SSAValue, z: SSAValue) -> SSAValue:
        return b.op("add", x, b.op("div", _scaled(b, y, value), z))

    return pointwise(call, body, tensors)


@lower("heaviside.default")
def heaviside(call: Call) -> list[Result]:
    """0 below zero, 1 above, values at zero; NaN as eager's kernel has it (0 < x is false: 0)."""

    def body(b: NestBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
        step = b.cast(b.op("lt", b.like(0, x), x), dtype_of(x))
        return b.op("select", b.op("eq", x, b.like(0, x)), y, step)

    return pointwise(call, body, [call.operand("self"), call.operand("values")])


@lower("lerp.Scalar", "lerp.Tensor")
def lerp(call: Call) -> list[Result]:
    """start + weight * (end - start), from the nearer end as eager does."""

    def body(b: NestBuilder, x: SSAValue, y: SSAValue, w: SSAValue) -> SSAValue:
        gap = b.op("sub", y, x)
        near = b.op("lt", b.op("abs", w), b.like(0.5, w))
        low = b.op("add", x, b.op("mul", w, gap))
        high = b.op("sub", y, b.op("mul", gap, b.op("sub", b.like(1, w), w)))
        return b.op("select", near, low, high)

    if not is_float(call.type.dtype):
        raise Declined("lerp of integers")
    return pointwise(call, body, [call.ref("self"), call.ref("end"), call.operand("weight")])


@lower("xlogy.Tensor", "xlogy.Scalar_Self", "xlogy.Scalar_Other")
def xlogy(call: Call) -> list[Result]:
    """self * log(other); 0 where self is 0 unless other is NaN."""

    def body(b: NestBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
        product = b.op("mul", x, b.op("log", y))
        out = b.op("select", b.op("eq", x, b.like(0, x)), b.like(0, x), product)
        return b.op("select", b.op("isnan", y), y, out)

    return pointwise(call, body, pair(call))


@lower("nan_to_num.default")
def nan_to_num(call: Call) -> list[Result]:
    """NaN and infinities replaced; the defaults are 0 and the dtype's extremes."""
    dtype = call.type.dtype
    if not is_float(dtype):
        return pointwise(call, lambda b, x: x, [call.ref("self")])
    top = FLOAT_MAX[dtype]
    nan, high, low = (
        default if (given := call.opt_number(name)) is None else given
        for name, default in (("nan", 0.0), ("posinf", top), ("neginf", -top))
    )

    def body(b: NestBuilder, x: SSAValue) -> SSAValue:
        inf = b.like(float("inf"), x)
        out = b.op("select", b.op("isnan", x), b.like(nan, x), x)
        out = b.op("select", b.op("eq", x, inf), b.like(high, x), out)
        return b.op("select", b.op("eq", x, b.op("neg", inf)), b.like(low, x), out)

    return pointwise(call, body, [call.ref("self")])


FLOAT_MAX = {
    "f64": 1.7976931348623157e308,
    "f32": 3.4028234663852886e38,
    "f16": 65504.0,
    "bf16": 3.3895313892515355e38,
}
"""The greatest finite value of each floating dtype."""
