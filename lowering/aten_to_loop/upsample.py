"""Nearest-neighbour resampling, forward and backward.

    %r = aten.upsample_nearest2d(%x, [16, 16])          %x: 8 x 8
      -->
    %buf0 = loop.nest (d0: n, d1: c, d2: 16, d3: 16) -> (%o : ..) origins ["upsample_nearest2d"] {
      %0 = loop.load %x[d0, d1, d2 floordiv 2, d3 floordiv 2] : f32   loop.store %0, %o[..] }

A whole factor is index arithmetic. Any other factor follows eager's rounding: the position is
computed in f32 inside the nest and used as a checked index. Source: ATen/native/UpSample.h.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from xdsl.ir import SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.promote import opmath, require_scalar
from minductor.lowering.aten_to_loop.refs import Result
from minductor.lowering.aten_to_loop.registry import Declined, lower
from minductor.lowering.aten_to_loop.slice_scatter import guarded, within_all

_SCALES = (("scales",), ("scales_h", "scales_w"), ("scales_d", "scales_h", "scales_w"))


def _single(value: float) -> float:
    """A number rounded to f32, in which eager computes positions."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def scale_factors(call: Call, n: int) -> list[float | None]:
    """The user's factor per dimension, or None."""
    out: list[float | None] = []
    for name in _SCALES[n - 1]:
        value = call.opt_number(name)
        out.append(None if value is None or value <= 0 else float(value))
    return out


def whole_factor(size: Expr, out: Expr, scale: float | None) -> Expr | None:
    """k with out = k * size when that is the factor that eager uses."""
    quotient, rest = ex.split_multiple(out, size)
    if rest.terms or size is ex.ZERO:
        return None
    k = quotient.as_int
    if scale is None or (k is not None and scale == k):
        return quotient
    return None


def _nearest(
    b: NestBuilder, e: Expr, size: Expr, out: Expr, scale: float | None, exact: bool
) -> SSAValue:
    """The input position of output position `e`, by eager's rounding in f32."""
    if scale is not None:
        ratio = b.const(_single(1.0 / scale), "f32")
    else:
        ratio = b.op("div", b.index(size, "f32"), b.index(out, "f32"))
    place = b.index(e, "f32")
    if exact:
        place = b.op("add", place, b.const(0.5, "f32"))
    nearest = b.cast(b.op("floor", b.op("mul", place, ratio)), "i64")
    return b.op("minimum", nearest, b.index(size - 1))


def _position(
    b: NestBuilder, e: Expr, size: Expr, out: Expr, scale: float | None, exact: bool
) -> Expr:
    """The input position of output position `e`."""
    factor = whole_factor(size, out, scale)
    if factor is not None:
        return ex.floordiv(e, factor)
    return b.data(_nearest(b, e, size, out, scale, exact), size, wrap=False)


@lower(
    "upsample_nearest1d.default",
    "upsample_nearest2d.default",
    "upsample_nearest3d.default",
    "_upsample_nearest_exact1d.default",
    "_upsample_nearest_exact2d.default",
    "_upsample_nearest_exact3d.default",
)
def upsample_nearest(call: Call) -> list[Result]:
    """Every output element is the nearest input element."""
    x = call.ref("self")
    n = x.rank - 2
    exact = "exact" in call.overload
    b = call.nest()
    sizes = zip(b.dims[2:], x.sizes[2:], call.type.sizes[2:], scale_factors(call, n), strict=True)
    at = [_position(b, e, size, out, scale, exact) for e, size, out, scale in sizes]
    b.store(b.load(x, [*b.dims[:2], *at]))
    return call.done(b)


@lower(
    "upsample_nearest1d_backward.default",
    "upsample_nearest2d_backward.default",
    "upsample_nearest3d_backward.default",
    "_upsample_nearest_exact1d_backward.default",
    "_upsample_nearest_exact2d_backward.default",
    "_upsample_nearest_exact3d_backward.default",
)
def upsample_nearest_backward(call: Call) -> list[Result]:
    """Every input element sums the gradients of the output elements that it was copied to."""
    grad = call.ref("grad_output")
    n = grad.rank - 2
    sizes = call.type.sizes[2:]
    factors = [
        whole_factor(size, out, scale)
        for size, out, scale in zip(sizes, grad.sizes[2:], scale_factors(call, n), strict=True)
    ]
    require_scalar([grad.dtype])
    if any(f is None for f in factors):
        return _searched_back(call)
    whole = [f for f in factors if f is not None]
    b = call.nest(reduce=[f for f in whole if f is not ex.ONE])
    b.store(_summed(b, call, whole))
    return call.done(b)


def _summed(b: NestBuilder, call: Call, factors: Sequence[Expr]) -> SSAValue:
    inner = iter(b.rdims)
    at = [
        e if f is ex.ONE else e * f + next(inner) for e, f in zip(b.dims[2:], factors, strict=True)
    ]
    value = b.opmath(b.load(call.ref("grad_output"), [*b.dims[:2], *at]))
    return b.reduce("add", value)[0] if b.rdims else value


def _searched_back(call: Call) -> list[Result]:
    """Any factor: every output element that may be a copy is asked for its position."""
    grad = call.ref("grad_output")
    sizes, outs = call.type.sizes[2:], grad.sizes[2:]
    scales = scale_factors(call, len(sizes))
    counts = [_copies(*one) for one in zip(sizes, outs, scales, strict=True)]
    b = call.nest(reduce=[ex.const(n) for n in counts])
    dtype = opmath(grad.dtype)
    conditions: list[SSAValue] = []
    at: list[Expr] = []
    places = zip(b.dims[2:], sizes, outs, scales, b.rdims, strict=True)
    for i, size, out, scale, r in places:
        o = ex.floordiv(i * out, size) - 1 + r
        conditions += within_all(b, [(o, ex.ZERO, out)])
        mine = _nearest(b, o, size, out, scale, "exact" in call.overload)
        conditions.append(b.op("eq", mine, b.index(i)))
        at.append(o)
    value = guarded(
        b,
        conditions,
        lambda: b.opmath(b.load(grad, [*b.dims[:2], *at])),
        lambda: b.const(0, dtype),
    )
    b.store(b.reduce("add", value)[0])
    return call.done(b)


def _copies(size: Expr, out: Expr, scale: float | None) -> int:
    """How many neighbouring outputs may be copies of one element, with those next to them."""
    whole, many = size.as_int, out.as_int
    if not whole or many is None or (scale is not None and int(whole * scale) != many):
        raise Declined("the factor is not that of the sizes")
    return -(-many // whole) + 3
