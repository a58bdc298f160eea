"""argmax, argmin, and extremes with their places.

    %v, %i = aten.max.dim(%x) {dim = 1}             %x: f32[4, 8]
      -->
    %buf0, %buf1 = loop.nest (d0: 4) reduce (d1: 8) -> (%o0_ : .., %o1_ : ..) origins ["max"] {
      %0 = loop.load %x[d0, d1] : f32               %1 = scalar.index d1 : i64
      %2, %3 = loop.reduce argmax %0, %1 : f32, i64 -> f32, i64
      loop.store %2, %o0_[d0]                       loop.store %3, %o1_[d0] }

The index is logical: no later change of loop order alters it. Of equal elements the first counts,
NaN counts as the extreme. Without a dimension the index is that of the flattened tensor.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from minductor.dialects.expr_simplify import contiguous_strides, flatten_index
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.reduction import Fold, not_empty
from minductor.lowering.aten_to_loop.refs import Result
from minductor.lowering.aten_to_loop.registry import Declined, lower


def _searched(fold: Fold, kind: str) -> tuple[SSAValue, SSAValue]:
    """(extreme, flat index over the reduced dimensions) at the kept point."""
    b = fold.b
    value = fold.element()
    if fold.x.dtype == "bool":
        value = b.cast(value, "u8")
    if not fold.dims:
        return value, b.const(0, "i64")
    sizes = [fold.x.sizes[k] for k in fold.dims]
    place = b.index(flatten_index(b.rdims, contiguous_strides(sizes)))
    found = b.reduce(kind, value, place, types=[value.type, i64])
    return found[0], found[1]


def _place(call: Call, kind: str) -> list[Result]:
    x = call.ref("self")
    if x.dtype == "bool":
        raise Declined(f"{kind} of bool: eager has none")
    dims = [call.dim("dim", x.rank)] if call.has("dim") and x.rank else list(range(x.rank))
    not_empty(call, dims)
    fold = Fold.open(call, x, dims)
    fold.store(_searched(fold, kind)[1])
    return call.done(fold.b)


@lower("argmax.default")
def argmax(call: Call) -> list[Result]:
    """The index of the greatest element."""
    return _place(call, "argmax")


@lower("argmin.default")
def argmin(call: Call) -> list[Result]:
    """The index of the least element."""
    return _place(call, "argmin")


def _with_place(call: Call, kind: str) -> list[Result]:
    x = call.ref("self")
    dims = [call.dim("dim", x.rank)] if x.rank else []
    not_empty(call, dims)
    fold = Fold.open(call, x, dims)
    value, place = _searched(fold, kind)
    fold.store(value, 0)
    fold.store(place, 1)
    return call.done(fold.b)


@lower("max.dim")
def max_dim(call: Call) -> list[Result]:
    """Greatest elements over a dimension, and where they stand."""
    return _with_place(call, "argmax")


@lower("min.dim")
def min_dim(call: Call) -> list[Result]:
    """Least elements over a dimension, and where they stand."""
    return _with_place(call, "argmin")
