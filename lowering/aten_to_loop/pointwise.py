"""Pointwise arithmetic, where and clamp.

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

from xdsl.ir import SSAValue

from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder, dtype_of
from minductor.lowering.aten_to_loop.promote import (
    HALVES,
    Operand,
    is_float,
    is_integral,
)
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import Declined, lower
from minductor.lowering.aten_to_loop.support import (
    Body,
    as_common,
    pointwise,
    truth,
)


def pair(call: Call) -> list[Operand]:
    """The operands `self` and `other` (prims: `a` and `b`)."""
    names = ("self", "other") if "self" in call.args else ("a", "b")
    return [call.operand(n) for n in names]


def one(call: Call) -> Ref:
    """The operand: `self` (some special functions: `x`; prims: `a`)."""
    return call.ref(next(name for name in ("self", "x", "a") if name in call.args))


def scaled(b: NestBuilder, y: SSAValue, alpha: Operand) -> SSAValue:
    """alpha * y, in the computation dtype; y itself for 1."""
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
    return pointwise(call, lambda b, x, y: plus(b, x, scaled(b, y, alpha)), pair(call))


@lower("sub.Tensor", "sub.Scalar", "prims.sub.default")
def sub(call: Call) -> list[Result]:
    """self - alpha * other."""
    alpha = call.operand("alpha") if call.has("alpha") else 1
    return pointwise(call, lambda b, x, y: b.op("sub", x, scaled(b, y, alpha)), pair(call))


@lower("rsub.Tensor", "rsub.Scalar")
def rsub(call: Call) -> list[Result]:
    """other - alpha * self."""
    alpha = call.operand("alpha")
    return pointwise(call, lambda b, x, y: b.op("sub", y, scaled(b, x, alpha)), pair(call))


@lower("mul.Tensor", "mul.Scalar", "prims.mul.default")
def mul(call: Call) -> list[Result]:
    """self * other."""
    return pointwise(call, times, pair(call), exact_second=True)


@lower("div.Tensor", "div.Scalar")
def true_div(call: Call) -> list[Result]:
    """True division; integers are cast to the floating result dtype first."""
    return pointwise(call, lambda b, x, y: b.op("div", x, y), pair(call), exact_second=True)


@lower("prims.div.default")
def prims_div(call: Call) -> list[Result]:
    """Division of floats, C division of integers."""
    name = "truncdiv" if is_integral(call.type.dtype) else "div"
    return pointwise(call, lambda b, x, y: b.op(name, x, y), pair(call))


@lower("div.Tensor_mode", "div.Scalar_mode")
def div_mode(call: Call) -> list[Result]:
    """Division with rounding_mode None, "trunc" or "floor"."""
    mode = call.text("rounding_mode")
    if mode == "floor":
        return floor_divide(call)
    name = "div" if mode is None else "truncdiv"
    if mode is not None and _half_tensors(call):
        return pointwise(call, _half_truncdiv(call.type.dtype), pair(call))
    return pointwise(call, _numeric(name), pair(call), exact_second=True)


@lower("floor_divide.default", "floor_divide.Scalar")
def floor_divide(call: Call) -> list[Result]:
    """Division rounded to minus infinity."""
    if _half_tensors(call):
        return pointwise(call, _half_floordiv(call.type.dtype), pair(call))
    return pointwise(call, _numeric("floordiv"), pair(call), exact_second=True)


def _half_tensors(call: Call) -> bool:
    """Two tensors of a half type: eager rounds each step of such a division to that type."""
    other = pair(call)[1]
    return call.type.dtype in HALVES and isinstance(other, Ref) and other.rank > 0


def _half_truncdiv(half: str) -> Body:
    return lambda b, x, y: b.op("trunc", _rounded(b, b.op("div", x, y), half))


def _half_floordiv(half: str) -> Body:
    """c10's div_floor_floating, in half precision: the quotient by way of fmod, then corrected."""

    def body(b: NestBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
        zero, one = b.const(0.0, "f32"), b.const(1.0, "f32")
        plain = _rounded(b, b.op("div", x, y), half)
        rest = _rounded(b, b.op("fmod", x, y), half)
        whole = _rounded(b, b.op("div", _rounded(b, b.op("sub", x, rest), half), y), half)
        signs = b.op("xor", b.op("lt", y, zero), b.op("lt", rest, zero))
        less = b.op("and", b.op("ne", rest, zero), signs)
        whole = b.op("select", less, _rounded(b, b.op("sub", whole, one), half), whole)
        low = b.op("floor", whole)
        far = b.op("lt", b.const(0.5, "f32"), _rounded(b, b.op("sub", whole, low), half))
        low = b.op("select", far, _rounded(b, b.op("add", low, one), half), low)
        low = b.op("select", b.op("eq", whole, zero), b.op("copysign", zero, plain), low)
        return b.op("select", b.op("eq", y, zero), plain, low)

    return body


def _rounded(b: NestBuilder, value: SSAValue, half: str) -> SSAValue:
    """An f32 value rounded to a half type."""
    return b.cast(b.cast(value, half), "f32")


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
    if one(call).dtype == "bool":
        raise Declined("relu of bool: eager has none")
    return pointwise(call, lambda b, x: b.op("relu", x), [one(call)])


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
    operands = pair(call)
    # of two equal zeros the rows give the first, eager's kernel for bf16 the second
    turned = call.type.dtype == "bf16" and call.type.device == "cpu"
    return pointwise(call, _extreme(chosen, for_bool), operands[::-1] if turned else operands)


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
    """min(max(x, low), high): NaN of any operand stays, high wins over low.

    Of two equal zeros eager gives a bound that is a tensor, but x itself beside a number.
    """

    def limited(b: NestBuilder, name: str, x: SSAValue, by: SSAValue, bound: Operand) -> SSAValue:
        body = _extreme(name, "or" if name == "maximum" else "and")
        return body(b, x, by) if isinstance(bound, Ref) else body(b, by, x)

    def body(b: NestBuilder, x: SSAValue, *bounds: SSAValue) -> SSAValue:
        left = list(bounds)
        if low is not None:
            x = limited(b, "maximum", x, left.pop(0), low)
        return x if high is None else limited(b, "minimum", x, left.pop(0), high)

    given = [x for x in (low, high) if x is not None]
    return pointwise(call, body, [call.ref("self"), *given])


@lower("clamp.default", "clamp.Tensor")
def clamp(call: Call) -> list[Result]:
    """self limited to min .. max, either may be missing."""
    low = call.stored("min") if call.has("min") else None
    high = call.stored("max") if call.has("max") else None
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
    return _choose(call, call.ref("mask"), call.stored("value"), call.ref("self"))
