"""Backward of pooling, as a gather: each input element sums the windows that hold it.

    %g = aten.avg_pool2d_backward(%grad, %x, [2, 2], ..)
      -->
    %buf0 = loop.nest (d0: n, d1: c, d2: h, d3: w) -> (%o : ..) origins ["avg_pool2d_backward"] {
      %0 = loop.load %grad[d0, d1, d2 floordiv 2, d3 floordiv 2] : f32
      %1 = scalar.div %0, 4.0   loop.store %1, %o[d0, d1, d2, d3] }

The sum is the same whatever runs first, and no buffer is cleared. For max pooling, a window counts
where its saved place is this element. The order of sums is eager's (windows ascending).
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from minductor.dialects.expr import Expr
from minductor.dialects.expr_simplify import contiguous_strides, flatten_index
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.pool import (
    backward_nest,
    divisor,
    same_rank_index,
    window_of,
    windows_over,
)
from minductor.lowering.aten_to_loop.promote import is_float, opmath
from minductor.lowering.aten_to_loop.refs import Result
from minductor.lowering.aten_to_loop.registry import Declined, lower
from minductor.lowering.aten_to_loop.scatter import scattered, zeros
from minductor.lowering.aten_to_loop.slice_scatter import guarded, within_all
from minductor.lowering.aten_to_loop.view_maps import numel, split_flat


@lower("max_pool2d_with_indices_backward.default", "max_pool3d_with_indices_backward.default")
def max_pool_backward(call: Call) -> list[Result]:
    """The gradient goes to the element whose place was saved."""
    x, grad, places = call.ref("self"), call.ref("grad_output"), call.ref("indices")
    n = 2 if "2d" in call.overload else 3
    w = window_of(call, x, n)
    b = backward_nest(call, w)
    dtype = opmath(call.type.dtype)
    mine = b.index(flatten_index(b.dims[-n:], contiguous_strides(w.sizes)))

    def add(at: list[Expr]) -> SSAValue:
        index = same_rank_index(b, w, at)
        hit = b.op("eq", b.load(places, index), mine)
        return b.op("select", hit, b.cast(b.load(grad, index), dtype), b.const(0, dtype))

    b.store(windows_over(b, w, grad.sizes[-n:], add))
    return call.done(b)


@lower("max_unpool2d.default", "max_unpool3d.default")
def max_unpool(call: Call) -> list[Result]:
    """Every element goes to its saved place; the others are 0. Of several the last one stays."""
    x, places = call.ref("self"), call.ref("indices")
    n = 2 if "2d" in call.overload else 3
    sizes = call.type.sizes[-n:]
    if tuple(x.type.strides) != tuple(contiguous_strides(x.sizes)):
        raise Declined("eager keeps the input's layout, which the result's type does not")

    def position(b: NestBuilder) -> list[Expr]:
        flat = b.data(b.load(places, b.dims), numel(sizes), wrap=False)
        return [*b.dims[:-n], *split_flat(flat, sizes, b.ranges)]

    start = zeros(call, call.type)
    return [scattered(call, start, x.sizes, position, lambda b: b.load(x, b.dims), ordered=True)]


@lower("avg_pool2d_backward.default", "avg_pool3d_backward.default")
def avg_pool_backward(call: Call) -> list[Result]:
    """The gradient of a mean goes to every element of the window alike."""
    x, grad = call.ref("self"), call.ref("grad_output")
    n = 2 if "2d" in call.overload else 3
    w = window_of(call, x, n)
    b = backward_nest(call, w)
    dtype = opmath(call.type.dtype)
    if not is_float(call.type.dtype):
        raise Declined("an average of integers")

    def add(at: list[Expr]) -> SSAValue:
        def share() -> SSAValue:
            value = b.cast(b.load(grad, same_rank_index(b, w, at)), dtype)
            return b.op("div", value, divisor(call, b, w, at, dtype))

        place = [e - s for e, s in zip(b.dims[-n:], w.start(at), strict=True)]
        tests = [(e, 0, k) for e, k in zip(place, w.kernel, strict=True)]
        return guarded(b, within_all(b, tests), share, lambda: b.const(0, dtype))

    b.store(windows_over(b, w, grad.sizes[-n:], add))
    return call.done(b)
