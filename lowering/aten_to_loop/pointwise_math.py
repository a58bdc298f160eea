"""Rounding, powers and transcendental functions.

    %r = aten.exp(%x)                               %x: i64[8]
      -->
    %buf0 = loop.nest (d0: 8) -> (%o : !aten.t<f32[8]>) origins ["exp"] {
      %0 = loop.load %x[d0] : i64     %1 = scalar.cast %0 : i64 to f32
      %2 = scalar.exp %1 : f32        loop.store %2, %o[d0] }

Integers and bool become the default floating dtype, which the result has; half types compute in
f32.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl.ir import SSAValue

from minductor.dialects.scalar.table import POLYNOMIALS
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder, dtype_of
from minductor.lowering.aten_to_loop.pointwise import one, pair
from minductor.lowering.aten_to_loop.promote import HALVES, Operand, is_float, is_integral
from minductor.lowering.aten_to_loop.refs import Result
from minductor.lowering.aten_to_loop.registry import Declined, Lowering, lower
from minductor.lowering.aten_to_loop.support import pointwise

FLOAT_UNARY = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "digamma", "erf", "erfc",
    "erfinv", "exp", "exp2", "expm1", "i0", "lgamma", "log", "log10", "log1p", "log2", "reciprocal",
    "rsqrt", "sigmoid", "sin", "sinh", "sqrt", "tan", "tanh",
)  # fmt: skip
"""`aten.NAME.default` (and `prims.NAME.default`) is the row NAME of the scalar table."""

RENAMED_UNARY = {
    **{
        f"special_{name}": name
        for name in (
            *("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1"),
            *("modified_bessel_k0", "modified_bessel_k1", "spherical_bessel_j0"),
            *("scaled_modified_bessel_k0", "scaled_modified_bessel_k1"),
        )
    },
    "special_modified_bessel_i0": "i0",
    "special_modified_bessel_i1": "i1",
    "prims.spherical_bessel_j0": "spherical_bessel_j0",
    "special_erfcx": "erfcx",
    "special_i0e": "i0e",
    "special_i1": "i1",
    "special_i1e": "i1e",
    "special_log_ndtr": "log_ndtr",
    "special_ndtri": "ndtri",
    "prims.bessel_i0": "i0",
    "prims.bessel_i0e": "i0e",
    "prims.bessel_i1": "i1",
    "prims.bessel_i1e": "i1e",
    "prims.bessel_j0": "bessel_j0",
    "prims.bessel_j1": "bessel_j1",
    "prims.erf_inv": "erfinv",
    "prims.erfcx": "erfcx",
    "prims.ndtri": "ndtri",
}
"""Ops whose row has another name."""

PRIMS_UNARY = tuple(n for n in FLOAT_UNARY if n not in ("erfinv", "i0", "sigmoid"))


def _unary(row: str) -> Lowering:
    def lowering(call: Call) -> list[Result]:
        return pointwise(call, lambda b, x: b.op(row, x), [one(call)])

    lowering.__doc__ = f"The row `{row}` of the scalar table."
    lowering.__module__ = __name__
    return lowering


def _polynomial(row: str) -> Lowering:
    def lowering(call: Call) -> list[Result]:
        names = ("x", "n")
        return pointwise(
            call, lambda b, x, n: b.op(row, x, n), [call.operand(name) for name in names]
        )

    lowering.__doc__ = f"The row `{row}` of the scalar table."
    lowering.__module__ = __name__
    return lowering


def _register() -> None:
    for name in FLOAT_UNARY:
        lower(f"{name}.default")(_unary(name))
    for name in PRIMS_UNARY:
        lower(f"prims.{name}.default")(_unary(name))
    for name, row in RENAMED_UNARY.items():
        lower(f"{name}.default")(_unary(row))
    for row in POLYNOMIALS:
        forms = (f"special_{row}.{own}" for own in ("default", "x_scalar", "n_scalar"))
        lower(*forms)(_polynomial(row))


_register()


# -- rounding -----------------------------------------------------------------------------------
def _rounding(name: str) -> Callable[[NestBuilder, SSAValue], SSAValue]:
    """Integers and bool are whole already."""
    return lambda b, x: b.op(name, x) if is_float(dtype_of(x)) else x


@lower("floor.default", "prims.floor.default")
def floor(call: Call) -> list[Result]:
    """The greatest whole number not above self."""
    return pointwise(call, _rounding("floor"), [one(call)])


@lower("ceil.default", "prims.ceil.default")
def ceil(call: Call) -> list[Result]:
    """The least whole number not below self."""
    return pointwise(call, _rounding("ceil"), [one(call)])


@lower("trunc.default", "fix.default", "prims.trunc.default")
def trunc(call: Call) -> list[Result]:
    """The whole part."""
    return pointwise(call, _rounding("trunc"), [one(call)])


@lower("round.default", "prims.round.default")
def round_(call: Call) -> list[Result]:
    """The nearest whole number, ties to even."""
    return pointwise(call, _rounding("round"), [one(call)])


@lower("round.decimals")
def round_decimals(call: Call) -> list[Result]:
    """Rounded to so many decimals, scaling by a power of ten as eager does."""
    decimals = call.int_("decimals")
    scale = float(10 ** abs(decimals))
    there, back = ("mul", "div") if decimals >= 0 else ("div", "mul")

    def body(b: NestBuilder, x: SSAValue) -> SSAValue:
        if not is_float(dtype_of(x)):
            return x
        if not decimals:
            return b.op("round", x)
        factor = b.like(scale, x)
        return b.op(back, b.op("round", b.op(there, x, factor)), factor)

    return pointwise(call, body, [call.ref("self")])


@lower("frac.default")
def frac(call: Call) -> list[Result]:
    """self - trunc(self)."""
    return pointwise(call, lambda b, x: b.op("sub", x, b.op("trunc", x)), [one(call)])


# -- powers -------------------------------------------------------------------------------------
def _power_by(b: NestBuilder, x: SSAValue, exponent: float, rooted: bool = True) -> SSAValue | None:
    """The cases that eager's kernel computes without pow; None for others.

    `rooted`: powers by 0.5 and -0.5 are roots, which differ from pow at -inf and -0.0.
    """
    if exponent == 2:
        return b.op("mul", x, x)
    if exponent == 3:
        return b.op("mul", b.op("mul", x, x), x)
    if not is_float(dtype_of(x)):
        return None
    if abs(exponent) == 0.5:
        return b.op("sqrt" if exponent > 0 else "rsqrt", x) if rooted else None
    if exponent == -1:
        return b.op("reciprocal", x)
    return b.op("reciprocal", b.op("mul", x, x)) if exponent == -2 else None


@lower("pow.Tensor_Scalar")
def pow_scalar(call: Call) -> list[Result]:
    """self ** exponent; small exponents by multiplication, as eager's kernel has them."""
    exponent = call.operand("exponent")
    if not isinstance(exponent, int | float):
        return _pow(call, call.operand("self"), exponent)
    if isinstance(exponent, bool):
        exponent = int(exponent)
    if exponent < 0 and call.type.info.kind in ("int", "uint"):
        raise Declined("eager raises: integers have no negative powers")
    if exponent == 0:
        return pointwise(call, lambda b, x: b.like(1, x), [call.ref("self")])
    if exponent == 1:
        return pointwise(call, lambda b, x: x, [call.ref("self")])

    rooted = call.type.dtype != "f16" or call.type.device != "cpu"

    def body(b: NestBuilder, x: SSAValue) -> SSAValue:
        short = _power_by(b, x, exponent, rooted)
        return b.op("pow", x, b.like(exponent, x)) if short is None else short

    _no_bool_power(call)
    return pointwise(call, body, [call.ref("self")])


def _no_bool_power(call: Call) -> None:
    if call.type.dtype == "bool":
        raise Declined("pow of bool")


@lower("pow.Tensor_Tensor", "pow.Scalar")
def pow_tensor(call: Call) -> list[Result]:
    """self ** exponent, elementwise."""
    return _pow(call, call.operand("self"), call.operand("exponent"))


@lower("prims.pow.default")
def prims_pow(call: Call) -> list[Result]:
    """a ** b."""
    return _pow(call, *pair(call))


def _pow(call: Call, base: Operand, exponent: Operand) -> list[Result]:
    _no_bool_power(call)
    return pointwise(call, lambda b, x, y: b.op("pow", x, y), [base, exponent])


# -- two operands -------------------------------------------------------------------------------
def _binary(call: Call, row: str) -> list[Result]:
    return pointwise(call, lambda b, x, y: b.op(row, x, y), pair(call))


@lower("atan2.default", "prims.atan2.default")
def atan2(call: Call) -> list[Result]:
    """The angle of (other, self)."""
    return _binary(call, "atan2")


@lower("hypot.default", "prims.hypot.default")
def hypot(call: Call) -> list[Result]:
    """sqrt(self^2 + other^2) without overflow."""
    return _binary(call, "hypot")


@lower("igamma.default")
def igamma(call: Call) -> list[Result]:
    """The regularised lower incomplete gamma function."""
    return _binary(call, "igamma")


@lower("igammac.default")
def igammac(call: Call) -> list[Result]:
    """The regularised upper incomplete gamma function."""
    return _binary(call, "igammac")


@lower(
    "special_zeta.default",
    "special_zeta.self_scalar",
    "special_zeta.other_scalar",
    "prims.zeta.default",
)
def zeta(call: Call) -> list[Result]:
    """Hurwitz's zeta function of exponent self at other."""
    return _binary(call, "zeta")


@lower("polygamma.default")
def polygamma(call: Call) -> list[Result]:
    """The n-th derivative of digamma: (-1)^(n + 1) n! zeta(n + 1, self) from n = 2 on."""
    n = call.int_("n")

    def body(b: NestBuilder, x: SSAValue) -> SSAValue:
        if n < 2:
            return b.op("trigamma" if n else "digamma", x)
        factor = math.factorial(n) if n <= 170 else math.inf
        whole = b.op("zeta", b.like(n + 1.0, x), x)
        return b.op("mul", b.like(factor if n % 2 else -factor, x), whole)

    return pointwise(call, body, [call.ref("self")])


@lower("copysign.Tensor", "copysign.Scalar")
def copysign(call: Call) -> list[Result]:
    """|self| with the sign of other."""
    return _binary(call, "copysign")


@lower("nextafter.default", "prims.nextafter.default")
def nextafter(call: Call) -> list[Result]:
    """The next representable number towards other; a half type steps in that type."""
    half = call.type.dtype
    if half not in HALVES:
        return _binary(call, "nextafter")

    def body(b: NestBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
        zero, one = b.const(0.0, "f32"), b.const(1, "i16")
        bits = b.bitcast(b.cast(x, half), "i16")
        away = b.op("eq", b.op("lt", x, y), b.op("gt", x, zero))
        step = b.op("select", away, b.op("add", bits, one), b.op("sub", bits, one))
        found = b.cast(b.bitcast(step, half), "f32")
        least = b.op("copysign", b.cast(b.bitcast(one, half), "f32"), y)
        found = b.op("select", b.op("eq", x, zero), least, found)
        found = b.op("select", b.op("eq", x, y), y, found)
        return b.op(
            "select", b.op("or", b.op("isnan", x), b.op("isnan", y)), b.op("add", x, y), found
        )

    return pointwise(call, body, pair(call))


@lower("angle.default")
def angle(call: Call) -> list[Result]:
    """pi below zero, else 0; NaN stays."""

    def body(b: NestBuilder, x: SSAValue) -> SSAValue:
        turned = b.op("select", b.op("lt", x, b.like(0, x)), b.like(math.pi, x), b.like(0, x))
        return b.op("select", b.op("isnan", x), x, turned)

    return pointwise(call, body, [call.ref("self")])


@lower("frexp.Tensor")
def frexp(call: Call) -> list[Result]:
    """Mantissa in [0.5, 1) and exponent; 0, infinities and NaN have exponent 0."""
    x = call.ref("self")
    b = call.nest()
    value = b.opmath(b.load(x, b.dims))
    double = dtype_of(value) == "f64"
    whole, digits, bias = ("i64", 52, 1022) if double else ("i32", 23, 126)
    scale = 2.0 ** (digits + 2)
    tiny = b.op("lt", b.op("abs", value), b.like(2.0 ** (1 - bias), value))
    normal = b.op("select", tiny, b.op("mul", value, b.like(scale, value)), value)
    bits = b.bitcast(normal, whole)
    mask = (1 << (11 if double else 8)) - 1
    biased = b.op("and", b.op("shr", bits, b.const(digits, whole)), b.const(mask, whole))
    shift = b.op("select", tiny, b.const(bias + digits + 2, whole), b.const(bias, whole))
    kept = b.op("and", bits, b.const(~(mask << digits), whole))
    mantissa = b.bitcast(b.op("or", kept, b.const(bias << digits, whole)), dtype_of(value))
    plain = b.op("and", b.op("isfinite", value), b.op("ne", value, b.like(0, value)))
    b.store(b.op("select", plain, mantissa, value), 0)
    exponent = b.op("select", plain, b.op("sub", biased, shift), b.const(0, whole))
    b.store(b.cast(exponent, "i32"), 1)
    return call.done(b)


@lower("logaddexp.default")
def logaddexp(call: Call) -> list[Result]:
    """log(exp(self) + exp(other)) about the greater; equal infinities stay."""
    return _log_sum(call, "exp", "log1p", None)


@lower("logaddexp2.default")
def logaddexp2(call: Call) -> list[Result]:
    """log2(2^self + 2^other) about the greater."""
    return _log_sum(call, "exp2", "log1p", 1.4426950408889634)


def _log_sum(call: Call, power: str, log1p: str, scale: float | None) -> list[Result]:
    def body(b: NestBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
        high, low = b.op("maximum", x, y), b.op("minimum", x, y)
        tail = b.op(log1p, b.op(power, b.op("sub", low, high)))
        if scale is not None:
            tail = b.op("mul", tail, b.like(scale, tail))
        same = b.op("and", b.op("eq", x, y), b.op("isinf", x))
        return b.op("select", same, x, b.op("add", high, tail))

    if is_integral(call.type.dtype):
        raise Declined("integers")
    return pointwise(call, body, pair(call))
