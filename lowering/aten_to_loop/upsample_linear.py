"""Linear and cubic resampling, forward and backward.

Output o of a dimension stands at position (a o + b) / d of the input, all three whole numbers: a
factor of 2 gives (2 o - 1) / 4. What it reads is index arithmetic, and the weights are exact:

    %r = aten.upsample_linear1d(%x, [16])               %x: 1 x 2 x 8
      -->
    %buf0 = loop.nest (d0: 2, d1: 16) -> (%o : ..) origins ["upsample_linear1d"] {
      %0 = loop.load %x[0, d0, max(2 * d1 - 1, 0) floordiv 4] : f32
      %1 = loop.load %x[0, d0, min(max(2 * d1 - 1, 0) floordiv 4 + 1, 7)] : f32
      .. weights max(2 * d1 - 1, 0) mod 4 / 4 .. }

The backward is a gather as well: an input element sums the gradients of the outputs near it, by
the weight that they gave it. A factor that no ratio of the sizes equals goes the way of eager:
positions in floating point, checked indices; its backward stays a call.

Source: ATen/native/UpSample.h.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod

from xdsl.ir import SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.pool import WRITTEN_OUT
from minductor.lowering.aten_to_loop.promote import is_float, opmath
from minductor.lowering.aten_to_loop.refs import Result
from minductor.lowering.aten_to_loop.registry import Declined, lower
from minductor.lowering.aten_to_loop.slice_scatter import guarded, within_all
from minductor.lowering.aten_to_loop.upsample import scale_factors, whole_factor

Tap = tuple[Expr, SSAValue]
"""A position in the input and its weight."""


@dataclass(frozen=True)
class Axis:
    """One resampled dimension; `scale` is the user's factor where he gave one."""

    size: Expr
    out: Expr
    scale: float | None
    aligned: bool
    cubic: bool

    @property
    def reach(self) -> int:
        """An input element matters to positions nearer than this."""
        return 2 if self.cubic else 1

    def line(self) -> tuple[Expr, Expr, Expr] | None:
        """(a, b, d) of the position; None where the factor is no ratio of the sizes."""
        if self.size is self.out and (self.aligned or self.scale in (None, 1)):
            return ex.ONE, ex.ZERO, ex.ONE
        if self.aligned:
            if ex.ONE in (self.size, self.out):
                return ex.ZERO, ex.ZERO, ex.ONE
            return _reduced(self.size - 1, ex.ZERO, self.out - 1)
        up = whole_factor(self.size, self.out, self.scale)
        if up is not None:
            return _reduced(ex.const(2), 1 - up, 2 * up)
        size, out = self.size.as_int, self.out.as_int
        if self.scale is not None and (None in (size, out) or self.scale * int(size or 0) != out):
            return None
        return _reduced(2 * self.size, self.size - self.out, 2 * self.out)

    def taps(self, b: NestBuilder, o: Expr, dtype: str) -> list[Tap]:
        """What output `o` reads."""
        line = self.line()
        if line is None:
            first, t = self._rounded(b, o, dtype)
        else:
            scale, shift, d = line
            place = scale * o + shift
            if not self.cubic:
                place = b.ranges.simplify(ex.emax(place, 0))
            first = b.ranges.simplify(ex.floordiv(place, d))
            if d is ex.ONE:
                return [(first, b.const(1, dtype))]
            t = b.op("div", b.index(ex.mod(place, d), dtype), b.index(d, dtype))
        one = b.const(1, dtype)
        if not self.cubic:
            return [(first, b.op("sub", one, t)), (ex.emin(first + 1, self.size - 1), t)]
        u = b.op("sub", one, t)
        far, near = b.op("add", t, one), b.op("add", u, one)
        weights = [
            outer_weight(b, far),
            inner_weight(b, t),
            inner_weight(b, u),
            outer_weight(b, near),
        ]
        return [
            (ex.emin(ex.emax(first + j - 1, 0), self.size - 1), w) for j, w in enumerate(weights)
        ]

    def _rounded(self, b: NestBuilder, o: Expr, dtype: str) -> tuple[Expr, SSAValue]:
        """Position and fraction in floating point, as eager computes them."""
        assert self.scale is not None
        half = b.const(0.5, dtype)
        ratio = b.op("div", b.const(1, dtype), b.const(self.scale, dtype))
        place = b.op("mul", ratio, b.op("add", b.index(o, dtype), half))
        place = b.op("sub", place, half)
        if not self.cubic:
            place = b.op("maximum", place, b.const(0, dtype))
        low = b.op("minimum", b.op("floor", place), b.index(self.size - 1, dtype))
        t = b.op(
            "minimum", b.op("maximum", b.op("sub", place, low), b.const(0, dtype)), _one(b, low)
        )
        # the position before the first, of which cubic taps are the neighbours, counts as index 0
        shift = 1 if self.cubic else 0
        whole = b.op("add", b.cast(low, "i64"), b.const(shift, "i64"))
        return b.data(whole, self.size + shift, wrap=False) - shift, t

    def candidates(self) -> int:
        """At most so many outputs read one input element. Declined if that is not known."""
        line = self.line()
        if line is None:
            raise Declined("the factor is no ratio of the sizes")
        scale, _, d = line[0].as_int, line[1], line[2].as_int
        if scale == 0:
            scale, d = 1, self.out.as_int
        if scale is None or d is None:
            raise Declined(f"outputs of {self.size} elements resampled to {self.out}: no number")
        if scale == d == 1 and self.size is self.out:
            return 1
        return d if self.size is ex.ONE else -(-2 * self.reach * d // scale)

    def output(self, b: NestBuilder, i: Expr, number: Expr) -> Expr:
        """The `number`-th output that may read input element `i`."""
        scale, shift, d = self._line()
        if scale is ex.ZERO:
            return number
        if self.size is self.out and d is ex.ONE:
            return i
        return b.ranges.simplify(ex.floordiv(d * (i - self.reach) - shift, scale) + 1 + number)

    def _line(self) -> tuple[Expr, Expr, Expr]:
        line = self.line()
        assert line is not None
        return line

    def weight(self, b: NestBuilder, i: Expr, o: Expr, dtype: str) -> SSAValue | None:
        """What output `o` takes of input element `i`; None for all of it."""
        scale, shift, d = self._line()
        if self.size is self.out and d is ex.ONE:
            return None
        away = b.index(b.ranges.simplify(scale * o + shift - d * i), dtype)
        x = b.op("div", away, b.index(d, dtype))
        total = self._kernel(b, x)
        # positions beyond an end read the end itself
        for end, sign in ((ex.ZERO, 1), (self.size - 1, -1)):
            here = b.op("eq", b.index(i), b.index(end))
            beyond = total
            for m in range(1, self.reach + 1):
                beyond = b.op(
                    "add", beyond, self._kernel(b, b.op("add", x, b.const(sign * m, dtype)))
                )
            total = b.op("select", here, beyond, total)
        return total

    def _kernel(self, b: NestBuilder, x: SSAValue) -> SSAValue:
        """The weight of an element at a distance."""
        x, one, zero = b.op("abs", x), _one(b, x), b.like(0, x)
        if not self.cubic:
            return b.op("maximum", b.op("sub", one, x), zero)
        outer = b.op("select", b.op("lt", x, b.like(2, x)), outer_weight(b, x), zero)
        return b.op("select", b.op("le", x, one), inner_weight(b, x), outer)


def _reduced(scale: Expr, shift: Expr, d: Expr) -> tuple[Expr, Expr, Expr]:
    """The line in lowest terms, where the numbers are known."""
    whole = [e.as_int for e in (scale, shift, d)]
    by = gcd(*(w for w in whole if w is not None))
    if None in whole or by < 2:
        return scale, shift, d
    return ex.floordiv(scale, by), ex.floordiv(shift, by), ex.floordiv(d, by)


def _one(b: NestBuilder, like: SSAValue) -> SSAValue:
    return b.like(1, like)


_A = -0.75


def inner_weight(b: NestBuilder, x: SSAValue) -> SSAValue:
    """The cubic weight for distances up to 1."""
    p = b.op("sub", b.op("mul", b.like(_A + 2, x), x), b.like(_A + 3, x))
    return b.op("add", b.op("mul", b.op("mul", p, x), x), _one(b, x))


def outer_weight(b: NestBuilder, x: SSAValue) -> SSAValue:
    """The cubic weight for distances from 1 to 2."""
    p = b.op("sub", b.op("mul", b.like(_A, x), x), b.like(5 * _A, x))
    p = b.op("add", b.op("mul", p, x), b.like(8 * _A, x))
    return b.op("sub", b.op("mul", p, x), b.like(4 * _A, x))


def _axes(call: Call, sizes: Sequence[Expr], outs: Sequence[Expr]) -> list[Axis]:
    scales, aligned = scale_factors(call, len(sizes)), call.flag("align_corners")
    cubic = "bicubic" in call.overload
    return [
        Axis(size, out, None if aligned else scale, aligned, cubic)
        for size, out, scale in zip(sizes, outs, scales, strict=True)
    ]


@lower(
    "upsample_linear1d.default",
    "upsample_bilinear2d.default",
    "upsample_trilinear3d.default",
    "upsample_bicubic2d.default",
)
def upsample_linear(call: Call) -> list[Result]:
    """Weighted sums of the nearest elements, outermost dimension last."""
    x = call.ref("self")
    if not is_float(x.dtype):
        raise Declined(f"resampling of {x.dtype} rounds in its own way")
    dtype = opmath(x.dtype)
    b = call.nest()
    axes = _axes(call, x.sizes[2:], call.type.sizes[2:])
    taps = [a.taps(b, o, dtype) for a, o in zip(axes, b.dims[2:], strict=True)]

    def value(at: list[Expr]) -> SSAValue:
        if len(at) == len(taps):
            return b.opmath(b.load(x, [*b.dims[:2], *at]))
        total: SSAValue | None = None
        for place, weight in taps[len(at)]:
            part = value([*at, place])
            if len(taps[len(at)]) > 1:
                part = b.op("mul", part, weight)
            total = part if total is None else b.op("add", total, part)
        assert total is not None
        return total

    b.store(value([]))
    return call.done(b)


@lower(
    "upsample_linear1d_backward.default",
    "upsample_bilinear2d_backward.default",
    "upsample_trilinear3d_backward.default",
    "upsample_bicubic2d_backward.default",
)
def upsample_linear_backward(call: Call) -> list[Result]:
    """Every input element sums the gradients of the outputs that read it."""
    grad = call.ref("grad_output")
    if not is_float(grad.dtype):
        raise Declined(f"resampling of {grad.dtype}")
    axes = _axes(call, call.type.sizes[2:], grad.sizes[2:])
    counts = [a.candidates() for a in axes]
    written_out = prod(counts) <= WRITTEN_OUT
    b = call.nest(reduce=[] if written_out else [ex.const(n) for n in counts])
    dtype = opmath(grad.dtype)

    def part(numbers: Sequence[Expr]) -> SSAValue:
        at = [a.output(b, i, n) for a, i, n in zip(axes, b.dims[2:], numbers, strict=True)]
        factors = [a.weight(b, i, o, dtype) for a, i, o in zip(axes, b.dims[2:], at, strict=True)]
        tests = [(o, ex.ZERO, a.out) for a, o in zip(axes, at, strict=True)]
        value = guarded(
            b,
            within_all(b, tests),
            lambda: b.opmath(b.load(grad, [*b.dims[:2], *at])),
            lambda: b.const(0, dtype),
        )
        weight: SSAValue | None = None
        for f in factors:
            if f is not None:
                weight = f if weight is None else b.op("mul", weight, f)
        if weight is None:
            return value
        nothing = b.op("eq", weight, b.like(0, weight))
        return b.op("select", nothing, b.like(0, weight), b.op("mul", value, weight))

    if not written_out:
        b.store(b.reduce("add", part(b.rdims))[0])
        return call.done(b)
    total: SSAValue | None = None
    for numbers in itertools.product(*(range(n) for n in counts)):
        value = part([ex.const(n) for n in numbers])
        total = value if total is None else b.op("add", total, value)
    assert total is not None
    b.store(total)
    return call.done(b)
