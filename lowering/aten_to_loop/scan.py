"""Prefix reductions along a dimension.

    %r = aten.cumsum(%x) {dim = 0}                  %x: f32[4, 8]
      -->
    %buf0 = loop.nest (d0: 8) scan (d1: 4) -> (%o : !aten.t<f32[4, 8]>) origins ["cumsum"] {
      %0 = loop.load %x[d1, d0] : f32    %1 = scalar.cast %0 : f32 to f64
      %2 = loop.scan add %1 : f64 -> f64 %3 = scalar.cast %2 : f64 to f32
      loop.store %3, %o[d1, d0] }

Half types accumulate in f32, f32 on CPU in f64 (as eager does, except for logcumsumexp), integers
in the result's dtype. cummax and cummin take the last of equal elements, as eager does, and NaN
stays once met.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.promote import is_float, require_scalar
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import Declined, lower


def _open(call: Call, x: Ref, dim: int) -> tuple[NestBuilder, list[Expr]]:
    """A nest that scans `dim`, and the current point of x."""
    others = [s for k, s in enumerate(x.sizes) if k != dim]
    b = call.nest(others, scan=[x.sizes[dim]])
    point = list(b.dims)
    point.insert(dim, b.sdims[0])
    return b, point


def _scan(call: Call, kind: str) -> list[Result]:
    """Elements are cast to the result's dtype first; half types accumulate in f32."""
    x, dtype = call.ref("self"), call.type.dtype
    require_scalar([x.dtype, dtype])
    if dtype == "bool":
        raise Declined("a prefix sum as bool")
    if not x.rank:
        b = call.nest()
        b.store(b.cast(b.load(x, []), dtype))
        return call.done(b)
    b, point = _open(call, x, call.dim("dim", x.rank))
    value = b.cast(b.load(x, point), dtype)
    wide = dtype == "f32" and kind != "logaddexp" and call.type.device == "cpu"
    value = b.cast(value, "f64") if wide else b.opmath(value)
    b.store(b.scan(kind, value)[0], 0, point)
    return call.done(b)


@lower("cumsum.default")
def cumsum(call: Call) -> list[Result]:
    """Sums of the elements up to each place."""
    return _scan(call, "add")


@lower("cumprod.default")
def cumprod(call: Call) -> list[Result]:
    """Products of the elements up to each place."""
    return _scan(call, "mul")


@lower("logcumsumexp.default")
def logcumsumexp(call: Call) -> list[Result]:
    """log of the sums of exp up to each place."""
    if not is_float(call.type.dtype):
        raise Declined("integers")
    return _scan(call, "logaddexp")


def _with_place(call: Call, kind: str) -> list[Result]:
    x = call.ref("self")
    require_scalar([x.dtype])
    if not x.rank:
        b = call.nest([])
        b.store(b.load(x, []), 0, [])
        b.store(b.const(0, "i64"), 1, [])
        return call.done(b)
    b, point = _open(call, x, call.dim("dim", x.rank))
    value: SSAValue = b.opmath(b.load(x, point))
    if x.dtype == "bool":
        value = b.cast(value, "u8")
    place = b.index(b.sdims[0] if x.sizes[call.dim("dim", x.rank)] is not ex.ONE else ex.ZERO)
    best, where = b.scan(kind, value, place, types=[value.type, i64])
    b.store(best, 0, point)
    b.store(where, 1, point)
    return call.done(b)


@lower("cummax.default")
def cummax(call: Call) -> list[Result]:
    """Greatest element so far, and where it stands."""
    return _with_place(call, "cummax")


@lower("cummin.default")
def cummin(call: Call) -> list[Result]:
    """Least element so far, and where it stands."""
    return _with_place(call, "cummin")
