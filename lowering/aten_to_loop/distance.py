"""Distances between rows: cdist with its gradient, pdist, dist.

    %r = aten._cdist_forward(%x, %y, 1.0, none)     %x: f32[4, 3], %y: f32[5, 3]
      -->
    %buf0 = loop.nest (d0: 4, d1: 5) reduce (d2: 3) -> (%o : !aten.t<f32[4, 5]>) {
      %0 = loop.load %x[d0, d2] : f32   %1 = loop.load %y[d1, d2] : f32   %2 = scalar.sub %0, %1
      %3 = scalar.abs %2 : f32          %4 = loop.reduce add %3 : f32 -> f32
      loop.store %4, %o[d0, d1] }

Many Euclidean distances are a matrix product, which eager's kernel makes of them: they stay calls.
Source: ATen/native/cpu/DistanceOpsKernel.cpp.
"""

from __future__ import annotations

from math import inf

from xdsl.ir import SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder, dtype_of
from minductor.lowering.aten_to_loop.promote import is_float
from minductor.lowering.aten_to_loop.refs import Ref, Result, broadcast_index
from minductor.lowering.aten_to_loop.registry import Declined, lower

BY_MATRIX = 25
"""Euclidean distances of more rows than this are a matrix product in eager."""


def _distance(b: NestBuilder, away: SSAValue, p: float) -> SSAValue:
    """The p-norm over the reduce variables."""
    size = b.op("abs", away)
    if p == 0:
        count = b.cast(b.op("ne", away, b.like(0, away)), dtype_of(away))
        return b.reduce("add", count)[0]
    if p == inf:
        return b.reduce("max", size)[0]
    if p == 1:
        return b.reduce("add", size)[0]
    if p == 2:
        return b.op("sqrt", b.reduce("add", b.op("mul", away, away))[0])
    total = b.reduce("add", b.op("pow", size, b.like(p, away)))[0]
    return b.op("pow", total, b.like(1 / p, away))


def _element(b: NestBuilder, x: Ref, row: Expr, column: Expr) -> SSAValue:
    """x[.., row, column], its leading dimensions broadcast to the nest's."""
    head = broadcast_index(x.sizes[:-2], b.shape[:-2], b.dims[:-2])
    return b.opmath(b.load(x, [*head, row, column]))


@lower("_cdist_forward.default")
def cdist(call: Call) -> list[Result]:
    """Distances between every row of x1 and every row of x2."""
    x, y, p = call.ref("x1"), call.ref("x2"), float(call.number("p"))
    _require_float(x, y)
    mode = call.int_("compute_mode") if call.has("compute_mode") else 0
    rows = [s.as_int or BY_MATRIX + 1 for s in (x.sizes[-2], y.sizes[-2])]
    if p == 2 and (mode == 1 or (mode == 0 and max(rows) > BY_MATRIX)):
        raise Declined("many Euclidean distances are a matrix product")
    b = call.nest(reduce=[x.sizes[-1]])
    one, two = (_element(b, t, d, b.rdims[0]) for t, d in ((x, b.dims[-2]), (y, b.dims[-1])))
    b.store(_distance(b, b.op("sub", one, two), p))
    return call.done(b)


def _require_float(*refs: Ref) -> None:
    for x in refs:
        if not is_float(x.dtype):
            raise Declined(f"distances of {x.dtype}")


@lower("_cdist_backward.default")
def cdist_backward(call: Call) -> list[Result]:
    """The gradient by the rows of x1."""
    x, y, p = call.ref("x1"), call.ref("x2"), float(call.number("p"))
    grad, found = call.ref("grad"), call.ref("cdist")
    _require_float(x, y, grad)
    b = call.nest(reduce=[y.sizes[-2]])
    row, column, other = b.dims[-2], b.dims[-1], b.rdims[0]
    away = b.op("sub", _element(b, x, row, column), _element(b, y, other, column))
    tangent, dist = (_element(b, t, row, other) for t in (grad, found))
    b.store(b.reduce("add", _slope(b, away, tangent, dist, p))[0])
    return call.done(b)


def _slope(b: NestBuilder, away: SSAValue, tangent: SSAValue, dist: SSAValue, p: float) -> SSAValue:
    """The derivative of a p-norm by one difference, times the tangent."""
    zero, size = b.like(0, away), b.op("abs", away)
    none = b.op("eq", dist, zero)
    if p == 0:
        return zero
    if p == 1:
        return b.op("mul", tangent, b.op("sign", away))
    if p == inf:
        extreme = b.cast(b.op("eq", size, dist), dtype_of(away))
        return b.op("mul", b.op("mul", tangent, b.op("sign", away)), extreme)
    if p == 2:
        return b.op("select", none, zero, b.op("div", b.op("mul", tangent, away), dist))
    below = b.op("pow", dist, b.like(p - 1, dist))
    if p < 2:
        power = b.op("mul", b.op("sign", away), b.op("pow", size, b.like(p - 1, size)))
        none = b.op("or", none, b.op("eq", away, zero))
    else:
        power = b.op("mul", away, b.op("pow", size, b.like(p - 2, size)))
    return b.op("select", none, zero, b.op("div", b.op("mul", power, tangent), below))


@lower("_pdist_forward.default")
def pdist(call: Call) -> list[Result]:
    """Distances between the rows of a matrix, each pair once, in row-major order."""
    x, p = call.ref("self"), float(call.number("p"))
    _require_float(x)
    rows = x.sizes[0]
    b = call.nest(reduce=[x.sizes[1]])
    k, n = b.index(b.dims[0], "f64"), b.index(rows, "f64")
    # k = n i - i (i + 1) / 2 + j - i - 1, solved for i
    half = b.op("sub", n, b.like(0.5, n))
    inner = b.op("sub", b.op("mul", half, half), b.op("mul", b.like(2, k), k))
    root = b.op("sqrt", b.op("sub", inner, b.like(1, inner)))
    i = b.cast(b.op("floor", b.op("sub", half, root)), "i64")
    before = b.op("shr", b.op("mul", i, b.op("add", i, b.like(1, i))), b.like(1, i))
    start = b.op("sub", b.op("mul", b.index(rows), i), before)
    j = b.op("sub", b.op("add", b.index(b.dims[0] + 1), i), start)
    first, second = (b.data(v, rows, wrap=False) for v in (i, j))
    one, two = (b.opmath(b.load(x, [at, b.rdims[0]])) for at in (first, second))
    b.store(_distance(b, b.op("sub", one, two), p))
    return call.done(b)


@lower("_pdist_backward.default")
def pdist_backward(call: Call) -> list[Result]:
    """The gradient by the rows: each pairs with every other one."""
    x, p = call.ref("self"), float(call.number("p"))
    grad, found = call.ref("grad"), call.ref("pdist")
    _require_float(x, grad)
    rows, pairs = x.sizes[0], grad.sizes[0]
    if pairs.as_int == 0:
        raise Declined("no pairs of rows")
    b = call.nest(reduce=[rows])
    row, column, other = b.dims[0], b.dims[1], b.rdims[0]
    low, high = ex.emin(row, other), ex.emax(row, other)
    place = rows * low - ex.floordiv(low * (low + 1), 2) + high - low - 1
    # a row beside itself is no pair: its difference is 0, and so is what it adds
    kept = b.op("minimum", b.op("maximum", b.index(place), b.const(0, "i64")), b.index(pairs - 1))
    at = b.data(kept, pairs, wrap=False)
    away = b.op("sub", *(b.opmath(b.load(x, [i, column])) for i in (row, other)))
    tangent, dist = (b.opmath(b.load(t, [at])) for t in (grad, found))
    part = _slope(b, away, tangent, dist, p)
    alone = b.op("eq", b.index(row), b.index(other))
    b.store(b.reduce("add", b.op("select", alone, b.like(0, part), part))[0])
    return call.done(b)


@lower("dist.default")
def dist(call: Call) -> list[Result]:
    """The p-norm of a difference."""
    x, y, p = call.ref("self"), call.ref("other"), float(call.number("p"))
    if not is_float(call.type.dtype) or x.dtype != y.dtype or p < 0:
        raise Declined("a distance of integers, mixed dtypes or a negative order")
    shape = x.sizes if x.rank >= y.rank else y.sizes
    if any(t.sizes != shape[len(shape) - t.rank :] for t in (x, y)) or not shape:
        raise Declined("a distance of tensors that broadcast")
    b = call.nest([], reduce=shape)
    one, two = (b.opmath(b.load(t, broadcast_index(t.sizes, shape, b.rdims))) for t in (x, y))
    b.store(_distance(b, b.op("sub", one, two), p))
    return call.done(b)
