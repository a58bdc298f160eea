"""searchsorted and bucketize: a binary search at every point, written out.

    %r = aten.bucketize.Tensor(%x, %edges)              %edges: f32[6]
      -->  three halvings; the place is a checked index
    %buf0 = loop.nest (d0: 8) -> (%o : !aten.t<i64[8]>) origins ["bucketize"] {
      %0 = loop.load %x[d0] : f32
      .. %mid = (%low + %high) >> 1     %1 = loop.load %edges[%mid] : f32
         %2 = scalar.ge %1, %0     %low = %2 ? %low : %mid + 1     %high = %2 ? %mid : %high ..
      loop.store %low, %o[d0] }

The comparisons are those of eager's kernel, so that unsorted edges and NaN give its very answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from minductor.dialects.expr import Expr
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.promote import Operand, require_scalar
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import Declined, lower
from minductor.lowering.aten_to_loop.support import as_common


def _halvings(size: Expr) -> int:
    """Steps after which a search among `size` elements has ended."""
    whole = size.as_int
    if whole is None:
        raise Declined(f"a search among {size} elements: how many steps is data")
    return whole.bit_length()


def _search(
    b: NestBuilder, value: SSAValue, edges: Ref, sorter: Ref | None, row: Sequence[Expr], up: bool
) -> SSAValue:
    """How many of a row's elements come before the value; `up`: with those equal to it."""
    size = edges.sizes[-1]
    low, high = b.const(0, "i64"), b.index(size)
    for _ in range(_halvings(size)):
        open_ = b.op("lt", low, high)
        mid = b.op("shr", b.op("add", low, high), b.const(1, "i64"))
        # a search that has ended may stand behind the last element
        at = b.data(b.op("minimum", mid, b.index(size - 1)), size, wrap=False)
        if sorter is not None:
            at = b.data(b.load(sorter, [*row, at]), size, wrap=False)
        edge = b.opmath(b.load(edges, [*row, at]))
        behind = b.op("gt" if up else "ge", edge, value)
        after = b.op("add", mid, b.const(1, "i64"))
        low = b.op("select", b.op("and", open_, b.op("not", behind)), after, low)
        high = b.op("select", b.op("and", open_, behind), mid, high)
    return low


def _searched(call: Call, edges: Ref, value: Operand, sorter: Ref | None) -> list[Result]:
    require_scalar([edges.dtype])
    up = call.flag("right") or ("side" in call.args and call.text("side") == "right")
    b = call.nest()
    row = b.dims[:-1] if edges.rank > 1 else []
    found = _search(b, as_common(b, value, edges.dtype), edges, sorter, row, up)
    b.store(found)
    return call.done(b)


@lower("searchsorted.Tensor", "searchsorted.Scalar")
def searchsorted(call: Call) -> list[Result]:
    """Where each value would be put into a sorted row."""
    value, edges = call.operand("self"), call.ref("sorted_sequence")
    if isinstance(value, Ref) and value.dtype != edges.dtype:
        raise Declined(f"values of {value.dtype} among {edges.dtype}")
    return _searched(call, edges, value, call.opt_ref("sorter"))


@lower("bucketize.Tensor", "bucketize.Scalar")
def bucketize(call: Call) -> list[Result]:
    """The number of the bucket between two edges that each value falls in."""
    value, edges = call.operand("self"), call.ref("boundaries")
    if isinstance(value, Ref) and value.dtype != edges.dtype:
        raise Declined(f"values of {value.dtype} among {edges.dtype}")
    return _searched(call, edges, value, None)
