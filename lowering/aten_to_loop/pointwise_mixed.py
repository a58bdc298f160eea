"""Pointwise ops of several steps that the decomposition table may leave whole.

    %r = aten.lerp.Scalar(%x, %y, 0.25)             %x, %y: f32[8]
      -->
    one nest: x + 0.25 * (y - x)

Order of operations and special cases are eager's.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder, dtype_of
from minductor.lowering.aten_to_loop.pointwise import pair, plus, scaled, times
from minductor.lowering.aten_to_loop.promote import is_float
from minductor.lowering.aten_to_loop.refs import Result
from minductor.lowering.aten_to_loop.registry import Declined, lower
from minductor.lowering.aten_to_loop.support import pointwise


@lower("addcmul.default")
def addcmul(call: Call) -> list[Result]:
    """self + value * tensor1 * tensor2."""
    value = call.operand("value")
    tensors = [call.ref(n) for n in ("self", "tensor1", "tensor2")]

    def body(b: NestBuilder, x: SSAValue, y: SSAValue, z: SSAValue) -> SSAValue:
        return plus(b, x, times(b, scaled(b, y, value), z))

    return pointwise(call, body, tensors)


@lower("prims.fma.default")
def fma(call: Call) -> list[Result]:
    """a * b + c; Dynamo makes it of addcmul_, addcdiv_ and add_ with a factor. Its own definition
    rounds the product, as eager's kernels of these do."""
    operands = [call.operand(n) for n in ("a", "b", "c")]
    return pointwise(call, lambda b, x, y, z: plus(b, times(b, x, y), z), operands)


@lower("addcdiv.default")
def addcdiv(call: Call) -> list[Result]:
    """self + value * tensor1 / tensor2."""
    value = call.operand("value")
    tensors = [call.ref(n) for n in ("self", "tensor1", "tensor2")]
    if not is_float(call.type.dtype):
        raise Declined("addcdiv of integers")

    def body(b: NestBuilder, x: SSAValue, y: SSAValue, z: SSAValue) -> SSAValue:
        return b.op("add", x, b.op("div", scaled(b, y, value), z))

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


@lower("softshrink.default")
def softshrink(call: Call) -> list[Result]:
    """self moved by lambd towards 0, which all that is nearer becomes; NaN stays."""
    lambd = call.operand("lambd")

    def body(b: NestBuilder, x: SSAValue, gap: SSAValue) -> SSAValue:
        far = b.op("select", b.op("lt", b.like(0, x), x), b.op("sub", x, gap), b.op("add", x, gap))
        return b.op("select", b.op("le", b.op("abs", x), gap), b.like(0, x), far)

    return pointwise(call, body, [call.ref("self"), lambd])


@lower("hardshrink.default")
def hardshrink(call: Call) -> list[Result]:
    """self, but 0 within lambd of 0; NaN stays."""

    def body(b: NestBuilder, x: SSAValue, gap: SSAValue) -> SSAValue:
        return b.op("select", b.op("le", b.op("abs", x), gap), b.like(0, x), x)

    return pointwise(call, body, [call.ref("self"), call.operand("lambd")])


@lower("ldexp.Tensor")
def ldexp(call: Call) -> list[Result]:
    """self * 2 ** other."""

    def body(b: NestBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
        return b.op("mul", x, b.op("pow", b.like(2.0, y), y))

    if not is_float(call.type.dtype):
        raise Declined("ldexp of integers")
    return pointwise(call, body, pair(call))


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
