"""Pooling: windows over the last one to three dimensions.

    %v, %i = aten.max_pool2d_with_indices(%x, [2, 2])
      -->  small windows are written out, so the nest stays pointwise and vectorises
    %buf0, %buf1 = loop.nest (d0: n, d1: c, d2: h, d3: w) -> (%o0_ : .., %o1_ : ..) {
      %0 = loop.load %x[d0, d1, 2 * d2, 2 * d3] : f32
      %1 = loop.load %x[d0, d1, 2 * d2, 2 * d3 + 1] : f32
      .. the larger, its place in the plane ..

Elements of the padding are not read: their loads stand in a `scalar.if`, which goes where the
ranges show that a window is inside. Windows of more than 36 elements become reduce variables.
The order of comparisons and sums is eager's, NaN included.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr, ExprLike
from minductor.dialects.expr_simplify import contiguous_strides, flatten_index
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder, dtype_of
from minductor.lowering.aten_to_loop.promote import is_float, opmath
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import lower
from minductor.lowering.aten_to_loop.scatter import identity_of
from minductor.lowering.aten_to_loop.slice_scatter import guarded, within_all

WRITTEN_OUT = 36
"""Elements of a window that is written out in the body."""


@dataclass(frozen=True)
class Window:
    """Geometry of a pooling op: one entry per pooled dimension, the last `n` of the tensor."""

    sizes: tuple[Expr, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    pad: tuple[int, ...]
    dilation: tuple[int, ...]

    @property
    def n(self) -> int:
        """Number of pooled dimensions."""
        return len(self.kernel)

    @property
    def count(self) -> int:
        """Elements of a window."""
        return prod(self.kernel)

    def start(self, point: Sequence[Expr]) -> list[Expr]:
        """Where the window of an output point begins; may be negative."""
        return [s * e - p for s, e, p in zip(self.stride, point, self.pad, strict=True)]

    def at(self, point: Sequence[Expr], offset: Sequence[ExprLike]) -> list[Expr]:
        """The input position of an element of a window."""
        steps = zip(self.start(point), self.dilation, offset, strict=True)
        return [first + d * Expr.of(o) for first, d, o in steps]

    def inside(self, b: NestBuilder, position: Sequence[Expr]) -> list[SSAValue]:
        """The conditions under which a position is not in the padding; known ones left out."""
        return within_all(b, [(e, 0, n) for e, n in zip(position, self.sizes, strict=True)])

    def offsets(self) -> list[tuple[int, ...]]:
        """All elements of a window, in order."""
        return list(itertools.product(*(range(k) for k in self.kernel)))


def per_dim(values: Sequence[int], n: int, default: Sequence[int]) -> tuple[int, ...]:
    """One value for each of n dimensions; one stands for all, none for the default."""
    given = list(values) or list(default)
    return tuple(given * n if len(given) == 1 else given)


def window_of(call: Call, x: Ref, n: int) -> Window:
    """The geometry from the arguments kernel_size, stride, padding and dilation."""
    kernel = per_dim(call.ints("kernel_size"), n, [])
    stride = per_dim(call.ints("stride"), n, kernel)
    pad = per_dim(call.ints("padding"), n, [0])
    dilation = per_dim(call.ints("dilation") if "dilation" in call.args else [], n, [1])
    return Window(x.sizes[x.rank - n :], kernel, stride, pad, dilation)


def read_or(b: NestBuilder, w: Window, x: Ref, index: Sequence[Expr], other: float) -> SSAValue:
    """The element of x at `index` in the computation dtype, `other` in the padding."""
    dtype = opmath(x.dtype)
    return guarded(
        b,
        w.inside(b, index[len(index) - w.n :]),
        lambda: b.cast(b.load(x, index), dtype),
        lambda: b.const(other, dtype),
    )


# -- maximum ---------------------------------------------------------------
@lower("max_pool2d_with_indices.default", "max_pool3d_with_indices.default")
def max_pool(call: Call) -> list[Result]:
    """The largest element of each window and its flat place in the plane."""
    x = call.ref("self")
    w = window_of(call, x, 2 if "2d" in call.overload else 3)
    if w.count > WRITTEN_OUT:
        return _max_by_reduction(call, x, w)
    b = call.nest()
    head, point = b.dims[: -w.n], b.dims[-w.n :]
    strides = contiguous_strides(w.sizes)
    none = identity_of("max", x.dtype)
    best = b.const(none, opmath(x.dtype))
    first = [_first_inside(e, d) for e, d in zip(w.start(point), w.dilation, strict=True)]
    place = b.index(flatten_index(first, strides))
    for number, offset in enumerate(w.offsets()):
        at = w.at(point, offset)
        value = read_or(b, w, x, [*head, *at], none)
        if not number and not w.inside(b, at):
            best = value
            continue
        better = b.op("gt", value, best)
        if is_float(x.dtype):
            better = b.op("or", better, b.op("isnan", value))
        best, place = (
            b.op("select", better, value, best),
            b.op("select", better, b.index(flatten_index(at, strides)), place),
        )
    b.store(best, 0)
    b.store(place, 1)
    return call.done(b)


def _first_inside(start: Expr, dilation: int) -> Expr:
    """The first position of a window that is not negative."""
    return ex.emax(start, ex.mod(start, dilation))


def _max_by_reduction(call: Call, x: Ref, w: Window) -> list[Result]:
    b = call.nest(reduce=[ex.const(k) for k in w.kernel])
    head, point = b.dims[: -w.n], b.dims[-w.n :]
    at = w.at(point, b.rdims)
    value = read_or(b, w, x, [*head, *at], identity_of("max", x.dtype))
    first = [_first_inside(e, d) for e, d in zip(w.start(point), w.dilation, strict=True)]
    last = [n - 1 for n in w.sizes]
    kept = [ex.emin(ex.emax(e, f), n) for e, f, n in zip(at, first, last, strict=True)]
    store_largest(b, value, kept, w.sizes)
    return call.done(b)


def store_largest(
    b: NestBuilder, value: SSAValue, at: Sequence[Expr], sizes: Sequence[Expr]
) -> None:
    """Store the maximum over the reduce variables, and the flat place of the first one.

    Of several NaN the last is taken, as by eager's kernels.
    """
    flat = b.index(flatten_index(at, contiguous_strides(sizes)))
    best, place = b.reduce("argmax", value, flat)
    if is_float(dtype_of(value)):
        unset = b.index(-1)
        nan = b.reduce("max", b.op("select", b.op("isnan", value), flat, unset))[0]
        place = b.op("select", b.op("gt", nan, unset), nan, place)
    b.store(best, 0)
    b.store(place, 1)


# -- average ---------------------------------------------------------------
@lower("avg_pool1d.default", "avg_pool2d.default", "avg_pool3d.default")
def avg_pool(call: Call) -> list[Result]:
    """The mean of each window."""
    x = call.ref("self")
    w = window_of(call, x, int(call.overload[8]))
    written_out = w.count <= WRITTEN_OUT
    b = call.nest(reduce=[] if written_out else [ex.const(k) for k in w.kernel])
    head, point = b.dims[: -w.n], b.dims[-w.n :]
    if written_out:
        total: SSAValue | None = None
        for offset in w.offsets():
            value = read_or(b, w, x, [*head, *w.at(point, offset)], 0)
            total = value if total is None else b.op("add", total, value)
        assert total is not None
    else:
        value = read_or(b, w, x, [*head, *w.at(point, b.rdims)], 0)
        total = b.reduce("add", value)[0]
    divide = "div" if is_float(x.dtype) else "truncdiv"
    b.store(b.op(divide, total, divisor(call, b, w, point, opmath(x.dtype))))
    return call.done(b)


def divisor(call: Call, b: NestBuilder, w: Window, point: Sequence[Expr], dtype: str) -> SSAValue:
    """What the sum of a window is divided by: given, or its elements with or without padding."""
    given = call.opt_number("divisor_override") if "divisor_override" in call.args else None
    if given is not None:
        return b.const(given, dtype)
    total = ex.ONE
    with_pad = call.flag("count_include_pad")
    for start, k, p, n in zip(w.start(point), w.kernel, w.pad, w.sizes, strict=True):
        end = ex.emin(start + k, n + p)
        if not with_pad:
            start, end = ex.emax(start, 0), ex.emin(end, n)
        total = total * b.ranges.simplify(end - start)
    return b.index(total, dtype)


Contribution = Callable[[list[Expr]], SSAValue]


def spans(w: Window) -> list[int]:
    """How many windows may hold one input position, per pooled dimension."""
    return [(k - 1) * d // s + 1 for k, d, s in zip(w.kernel, w.dilation, w.stride, strict=True)]


def backward_nest(call: Call, w: Window) -> NestBuilder:
    """A nest over the input for `windows_over`; many candidates become reduce variables."""
    many = prod(spans(w)) > WRITTEN_OUT
    return call.nest(reduce=[ex.const(n) for n in spans(w)] if many else [])


def windows_over(b: NestBuilder, w: Window, outputs: Sequence[Expr], add: Contribution) -> SSAValue:
    """The sum of `add(window)` over the windows that may hold the nest's point, in order.

    `outputs` are the numbers of windows. `add` gives 0 for a candidate that does not hold the
    point after all.
    """
    point = b.dims[len(b.dims) - w.n :]
    last = [ex.floordiv(e + p, s) for e, p, s in zip(point, w.pad, w.stride, strict=True)]

    def candidate(back: Sequence[ExprLike]) -> SSAValue:
        at = [b.ranges.simplify(e - o) for e, o in zip(last, back, strict=True)]
        tests = [(e, 0, n) for e, n in zip(at, outputs, strict=True)]
        return guarded(b, within_all(b, tests), lambda: add(at), lambda: _zero(b))

    if b.rdims:
        return b.reduce(
            "add", candidate([n - 1 - r for n, r in zip(spans(w), b.rdims, strict=True)])
        )[0]
    total: SSAValue | None = None
    for offset in itertools.product(*(range(n - 1, -1, -1) for n in spans(w))):
        value = candidate(offset)
        total = value if total is None else b.op("add", total, value)
    assert total is not None
    return total


def _zero(b: NestBuilder) -> SSAValue:
    return b.const(0, opmath(b.types[0].dtype))


def same_rank_index(b: NestBuilder, w: Window, at: Sequence[Expr]) -> list[Expr]:
    """The nest's leading point with `at` in the pooled dimensions."""
    return [*b.dims[: len(b.dims) - w.n], *at]
