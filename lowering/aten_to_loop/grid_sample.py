"""Reads at positions that a grid gives, forward and backward: 2d and 3d.

    %r = aten.grid_sampler_2d(%x, %grid, 0, 0, false)
      -->  every tap is a checked read with a weight; what lies outside counts 0
    %buf0 = loop.nest (d0: n, d1: c, d2: h, d3: w) -> (%o : ..) origins ["grid_sampler_2d"] {
      %0 = loop.load %grid[d0, d2, d3, 0] : f32    .. ((x + 1) * size - 1) / 2, floor, weights ..
      %9 = scalar.bound .. to size                 %10 = loop.load %x[d0, d1, %8, %9] : f32 .. }

The gradient of the grid is a sum over the channels; that of the input stays a call.
Source: ATen/native/GridSampler.h.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.dialects.types import TensorType
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.promote import is_float, opmath
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import Declined, lower
from minductor.lowering.aten_to_loop.upsample_linear import inner_weight, outer_weight

BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)


@dataclass(frozen=True)
class Tap:
    """One read along one dimension: position, whether it is inside, weight, its slope."""

    at: SSAValue
    inside: SSAValue
    weight: SSAValue
    slope: SSAValue | None = None


@dataclass(frozen=True)
class Sampler:
    """How positions are made; `grid` holds the last dimension's coordinate first."""

    b: NestBuilder
    grid: Ref
    sizes: tuple[Expr, ...]
    mode: int
    padding: int
    aligned: bool

    @property
    def dtype(self) -> str:
        """What positions are computed in."""
        return opmath(self.grid.dtype)

    def number(self, value: float) -> SSAValue:
        """A literal of that dtype."""
        return self.b.const(value, self.dtype)

    def ops(self, x: SSAValue, *steps: tuple[str, SSAValue | float]) -> SSAValue:
        """x, then one binary op after the other."""
        for name, y in steps:
            x = self.b.op(name, x, y if isinstance(y, SSAValue) else self.number(y))
        return x

    def position(self, batch: Expr, point: Sequence[Expr], d: int) -> tuple[SSAValue, SSAValue]:
        """Where a point of the output looks along dimension d, and the slope by the grid."""
        b, n = self.b, len(self.sizes)
        x = b.opmath(b.load(self.grid, [batch, *point, ex.const(n - 1 - d)]))
        size = self.sizes[d]
        moved = self.ops(x, ("add", 1.0))
        if self.aligned:
            last = b.index(size - 1, self.dtype)
            place = self.ops(moved, ("div", 2.0), ("mul", last))
            return place, self.ops(last, ("div", 2.0))
        whole = b.index(size, self.dtype)
        place = self.ops(moved, ("mul", whole), ("sub", 1.0), ("div", 2.0))
        return place, self.ops(whole, ("div", 2.0))

    def padded(self, x: SSAValue, d: int) -> tuple[SSAValue, SSAValue | None]:
        """The position brought inside by the padding mode, and the slope of that (None: 1)."""
        if self.padding == ZEROS:
            return x, None
        slope: SSAValue | None = None
        if self.padding == REFLECTION:
            x, slope = self._reflected(x, d)
        b, last = self.b, self.b.index(self.sizes[d] - 1, self.dtype)
        zero = self.number(0.0)
        kept = b.op("minimum", last, b.op("maximum", x, zero))
        free = b.op("and", b.op("gt", x, zero), b.op("lt", x, last))
        one = self.number(1.0) if slope is None else slope
        return kept, b.op("select", free, one, zero)

    def _reflected(self, x: SSAValue, d: int) -> tuple[SSAValue, SSAValue]:
        b, size = self.b, self.sizes[d]
        low, span = (ex.ZERO, size - 1) if self.aligned else (ex.const(-1), size)
        if span.as_int == 0:
            return self.number(0.0), self.number(0.0)
        start = self.ops(b.index(low, self.dtype), ("div", 2.0))
        away = b.op("sub", x, start)
        dist, width = b.op("abs", away), b.index(span, self.dtype)
        rest = b.op("fmod", dist, width)
        flips = b.op("floor", b.op("div", dist, width))
        half = self.ops(flips, ("mul", 0.5))
        even = b.op("eq", b.op("floor", half), half)
        there = b.op("add", rest, start)
        back = b.op("add", b.op("sub", width, rest), start)
        sign = b.op("select", b.op("lt", away, self.number(0.0)), self.number(-1), self.number(1))
        slope = b.op("select", even, sign, b.op("neg", sign))
        return b.op("select", even, there, back), slope

    def tap(self, x: SSAValue, d: int, weight: SSAValue, slope: SSAValue | None = None) -> Tap:
        """A read at a whole position."""
        b, last = self.b, self.b.index(self.sizes[d] - 1, self.dtype)
        zero = self.number(0.0)
        inside = b.op("and", b.op("ge", x, zero), b.op("le", x, last))
        at = b.cast(b.op("select", inside, x, zero), "i64")
        return Tap(at, inside, weight, slope)

    def taps(self, batch: Expr, point: Sequence[Expr], d: int) -> list[Tap]:
        """The reads along a dimension; slopes are by the grid's coordinate."""
        b = self.b
        x, factor = self.position(batch, point, d)
        one = self.number(1.0)
        if self.mode == BICUBIC:
            low = b.op("floor", x)
            t = b.op("sub", x, low)
            u = b.op("sub", one, t)
            weights = [
                outer_weight(b, b.op("add", t, one)),
                inner_weight(b, t),
                inner_weight(b, u),
                outer_weight(b, b.op("add", u, one)),
            ]
            return [
                self.tap(self.padded(self.ops(low, ("add", float(k - 1))), d)[0], d, w)
                for k, w in enumerate(weights)
            ]
        x, inner = self.padded(x, d)
        if inner is not None:
            factor = b.op("mul", factor, inner)
        if self.mode == NEAREST:
            return [self.tap(b.op("round", x), d, one, self.number(0.0))]
        low = b.op("floor", x)
        t = b.op("sub", x, low)
        return [
            self.tap(low, d, b.op("sub", one, t), b.op("neg", factor)),
            self.tap(b.op("add", low, one), d, t, factor),
        ]

    def place(self, taps: Sequence[Tap]) -> tuple[list[Expr], SSAValue]:
        """The checked index of a combination of taps, and whether it is inside."""
        b = self.b
        at = [b.data(t.at, size, wrap=False) for t, size in zip(taps, self.sizes, strict=True)]
        return at, b.all_of([t.inside for t in taps])

    def weight(self, taps: Sequence[Tap], slope_of: int | None = None) -> SSAValue:
        """The product of the weights, or its slope along one dimension."""
        out: SSAValue | None = None
        for d, t in enumerate(taps):
            w = t.slope if d == slope_of and t.slope is not None else t.weight
            out = w if out is None else self.b.op("mul", out, w)
        assert out is not None
        return out


def _sampler(call: Call, b: NestBuilder, x: Ref, grid: Ref) -> Sampler:
    return Sampler(
        b,
        grid,
        x.sizes[2:],
        call.int_("interpolation_mode"),
        call.int_("padding_mode"),
        call.flag("align_corners"),
    )


def _require(x: Ref, grid: Ref) -> None:
    if not is_float(x.dtype) or x.dtype != grid.dtype:
        raise Declined("a grid of another dtype, or no floating one")
    if any(size is ex.ZERO for size in x.sizes[2:]):
        raise Declined("no elements to read")


@lower("grid_sampler_2d.default", "grid_sampler_3d.default")
def grid_sampler(call: Call) -> list[Result]:
    """Weighted sums of the elements about each position."""
    x, grid = call.ref("input"), call.ref("grid")
    _require(x, grid)
    b = call.nest()
    s = _sampler(call, b, x, grid)
    n = len(s.sizes)
    every = [s.taps(b.dims[0], b.dims[2:], d) for d in range(n)]
    total: SSAValue | None = None
    for taps in itertools.product(*every):
        at, inside = s.place(taps)
        value = b.opmath(b.load(x, [*b.dims[:2], *at]))
        value = b.op("select", inside, value, b.like(0, value))
        part = b.op("mul", value, s.weight(taps))
        total = part if total is None else b.op("add", total, part)
    assert total is not None
    b.store(total)
    return call.done(b)


@lower("grid_sampler_2d_backward.default", "grid_sampler_3d_backward.default")
def grid_sampler_backward(call: Call) -> list[Result]:
    """The gradient by the grid alone; that by the input is a scatter, of which eager makes one pass
    with the grid's."""
    x, grid, grad = call.ref("input"), call.ref("grid"), call.ref("grad_output")
    _require(x, grid)
    if call.int_("interpolation_mode") == BICUBIC:
        raise Declined("the gradient of cubic reads")
    mask = call.args["output_mask"]
    wanted = [bool(m) for m in mask] if isinstance(mask, list | tuple) else [True, True]
    if wanted[0]:
        raise Declined("the gradient of the input is a scatter")
    return [None, _grid_gradient(call, x, grid, grad) if wanted[1] else None]


def _counts(call: Call, n: int) -> list[tuple[int, ...]]:
    """Which tap of each dimension, for every combination."""
    each = 1 if call.int_("interpolation_mode") == NEAREST else 2
    return list(itertools.product(range(each), repeat=n))


def _grid_gradient(call: Call, x: Ref, grid: Ref, grad: Ref) -> Ref:
    """A sum over the channels; the last dimension of the grid is chosen from."""
    type_ = call.result_types[1]
    assert isinstance(type_, TensorType)
    b = call.nest(grid.sizes, reduce=[x.sizes[1]], types=[type_])
    s = _sampler(call, b, x, grid)
    n, batch, point, channel = len(s.sizes), b.dims[0], b.dims[1:-1], b.rdims[0]
    every = [s.taps(batch, point, d) for d in range(n)]
    tangent = b.opmath(b.load(grad, [batch, channel, *point]))
    sums: list[SSAValue] = [s.number(0.0)] * n
    for choice in _counts(call, n):
        taps = [every[d][k] for d, k in enumerate(choice)]
        at, inside = s.place(taps)
        value = b.opmath(b.load(x, [batch, channel, *at]))
        value = b.op("select", inside, b.op("mul", value, tangent), b.like(0, value))
        for d in range(n):
            sums[d] = b.op("add", sums[d], b.op("mul", value, s.weight(taps, d)))
    chosen = sums[n - 1]
    which = b.index(b.dims[-1])
    for d in range(n - 1):
        here = b.op("eq", which, b.index(ex.const(n - 1 - d)))
        chosen = b.op("select", here, sums[d], chosen)
    b.store(b.reduce("add", chosen)[0])
    return Ref.of(call.fn.emit(b.finish()).results[0])
