"""masked_scatter: the k-th element under the mask takes the k-th element of a source.

%r = aten.masked_scatter(%x, %m, %s)
  -->  the numbers of the elements under the mask, then one selection
%buf0 = loop.nest () scan (d0: 8) -> (%o : !aten.t<i64[8]>) origins ["masked_scatter"] {
  %0 = loop.load %m[d0] : i1   %1 = scalar.cast %0 : i1 to i64
  %2 = loop.scan add %1 : i64 -> i64   loop.store %2, %o[d0] }
%buf1 = loop.nest (d0: 8) -> (%o : ..) { .. scalar.if %m -> load %s[%bound - 1] else load %x }
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from minductor.dialects.expr import Expr
from minductor.dialects.expr_simplify import contiguous_strides, flatten_index
from minductor.dialects.types import TensorType
from minductor.lowering.aten_to_loop import view_maps as maps
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.refs import Ref, Result, broadcast_index
from minductor.lowering.aten_to_loop.registry import Declined, lower
from minductor.lowering.aten_to_loop.scatter import scattered, zeros


def _numbers(call: Call, mask: Ref, sizes: Sequence[Expr]) -> Ref:
    """How many elements of a shape up to each one, in row-major order, are under the mask."""
    count = maps.numel(sizes)
    type_ = TensorType.make("i64", [count], device=call.type.device)
    b = call.nest([], scan=[count], types=[type_])
    point = maps.split_flat(b.sdims[0], sizes, b.ranges)
    value = b.load(mask, broadcast_index(mask.sizes, sizes, point))
    b.store(b.scan("add", b.cast(value, "i64"))[0], 0, b.sdims)
    return Ref.of(call.fn.emit(b.finish()).results[0])


@lower("masked_scatter.default")
def masked_scatter(call: Call) -> list[Result]:
    """A source with too few elements is a fault, as in eager."""
    x, mask, source = call.ref("self"), call.ref("mask"), call.ref("source")
    if mask.dtype != "bool" or x.sizes != call.type.sizes:
        raise Declined("a mask that is not bool, or wider than the tensor")
    numbers = _numbers(call, mask, call.type.sizes)
    b = call.nest()
    inside = b.load(mask, broadcast_index(mask.sizes, b.shape, b.dims))
    flat = flatten_index(b.dims, contiguous_strides(b.shape))

    def taken() -> SSAValue:
        last = b.op("sub", b.load(numbers, [flat]), b.const(1, "i64"))
        at = b.data(last, maps.numel(source.sizes), wrap=False)
        return b.load(source, maps.split_flat(at, source.sizes, b.ranges))

    b.store(b.if_(inside, taken, lambda: b.load(x, b.dims)))
    return call.done(b)


@lower("masked_scatter_backward.default")
def masked_scatter_backward(call: Call) -> list[Result]:
    """The gradients under the mask, one after the other, then zeros."""
    grad, mask = call.ref("grad_output"), call.ref("mask")
    if mask.dtype != "bool" or maps.is_empty(grad.sizes):
        raise Declined("a mask that is not bool, or no elements")
    numbers = _numbers(call, mask, grad.sizes)
    sizes = call.type.sizes
    count = maps.numel(sizes)

    def inside(b: NestBuilder) -> SSAValue:
        return b.load(mask, broadcast_index(mask.sizes, b.shape, b.dims))

    def position(b: NestBuilder) -> list[Expr]:
        flat = flatten_index(b.dims, contiguous_strides(b.shape))
        last = b.op("sub", b.load(numbers, [flat]), b.const(1, "i64"))
        # what is not under the mask adds nothing to the first element
        at = b.data(b.op("select", inside(b), last, b.const(0, "i64")), count, wrap=False)
        return maps.split_flat(at, sizes, b.ranges)

    def value(b: NestBuilder) -> SSAValue:
        found = b.load(grad, b.dims)
        return b.op("select", inside(b), found, b.like(0, found))

    start = zeros(call, call.type)
    return [scattered(call, start, grad.sizes, position, value, "add")]
