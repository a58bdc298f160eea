"""Adaptive pooling, forward and backward: the input shared out among the outputs.

Output i of n covers floor(i * size / n) .. ceil((i + 1) * size / n). Where n divides the size, all
windows are alike:

    %r = aten._adaptive_avg_pool2d(%x, [1, 4])               %x: 8 x 8
      -->
    %buf0 = loop.nest (d0: n, d1: c, d2: 4) reduce (d3: 8, d4: 2) -> (%o : ..) {
      %0 = loop.load %x[d0, d1, d3, 2 * d2 + d4] : f32   %1 = loop.reduce add %0 : f32 -> f32
      %2 = scalar.div %1, 16.0   loop.store %2, %o[d0, d1, 0, d2] }

Otherwise the reduce variables run over the widest window, and a test leaves out what is beyond.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.pool import store_largest
from minductor.lowering.aten_to_loop.promote import HALVES, is_float, opmath
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import Declined, lower
from minductor.lowering.aten_to_loop.scatter import identity_of, scattered, zeros
from minductor.lowering.aten_to_loop.slice_scatter import guarded, within_all
from minductor.lowering.aten_to_loop.view_maps import numel, split_flat

Test = tuple[Expr, Expr, Expr]


@dataclass(frozen=True)
class Shares:
    """One dimension of `size` elements shared out among `parts` outputs."""

    size: Expr
    parts: Expr

    @property
    def each(self) -> Expr | None:
        """Elements of every share when all are alike."""
        quotient, rest = ex.split_multiple(self.size, self.parts)
        return None if rest.terms else quotient

    def first(self, part: Expr) -> Expr:
        """Where a share begins."""
        return ex.floordiv(part * self.size, self.parts)

    def end(self, part: Expr) -> Expr:
        """One past the end of a share."""
        return ex.floordiv((part + 1) * self.size + self.parts - 1, self.parts)

    def known(self) -> tuple[int, int]:
        """Size and number of shares. Declined if they are symbolic and do not divide."""
        size, parts = self.size.as_int, self.parts.as_int
        if size is None or parts is None:
            raise Declined(f"shares of {self.size} elements in {self.parts} differ in size")
        return size, parts

    def widest(self) -> Expr:
        """Elements of the widest share."""
        if self.each is not None:
            return self.each
        _, parts = self.known()
        ends = [(self.end(ex.const(i)), self.first(ex.const(i))) for i in range(parts)]
        return ex.const(max(int(b) - int(a) for b, a in ends))

    def owners(self) -> Expr:
        """At most so many shares hold one element."""
        if self.each is not None:
            return ex.ONE
        size, parts = self.known()
        holds = [((p + 1) * parts + size - 1) // size - p * parts // size for p in range(size)]
        return ex.const(max(holds))

    def count(self, part: Expr) -> Expr:
        """Elements of a share."""
        return self.each or self.end(part) - self.first(part)


def shares_of(whole: Ref, parts: Sequence[Expr], n: int) -> list[Shares]:
    """The last n dimensions."""
    return [Shares(s, p) for s, p in zip(whole.sizes[-n:], parts[-n:], strict=True)]


def _require_mean(x: Ref, n: int) -> None:
    if not is_float(x.dtype):
        raise Declined("an average of integers")
    if n == 3 and x.dtype in HALVES:
        raise Declined("eager sums in the half type")


def _variables(b: NestBuilder, extents: Sequence[Expr]) -> list[Expr]:
    """A reduce variable for every extent that is not 1."""
    inner = iter(b.rdims)
    return [ex.ZERO if e is ex.ONE else next(inner) for e in extents]


def _mean_divisor(b: NestBuilder, shares: Sequence[Shares], point: Sequence[Expr]) -> SSAValue:
    total = ex.ONE
    for s, e in zip(shares, point, strict=True):
        total = total * b.ranges.simplify(s.count(e))
    return b.index(total, opmath(b.types[0].dtype))


def _pooled_dims(overload: str) -> int:
    return next(n for n in (1, 2, 3) if f"pool{n}d" in overload)


def _members(
    b: NestBuilder, shares: Sequence[Shares], extents: Sequence[Expr]
) -> tuple[list[Expr], list[Test]]:
    """The position that the reduce variables stand at in the share of the nest's point, and the
    tests that it is inside."""
    point = b.dims[len(b.dims) - len(shares) :]
    at = [s.first(e) + r for s, e, r in zip(shares, point, _variables(b, extents), strict=True)]
    tests: list[Test] = [
        (e, ex.ZERO, s.end(p)) for s, e, p in zip(shares, at, point, strict=True) if s.each is None
    ]
    return at, tests


@lower(
    "_adaptive_avg_pool2d.default",
    "_adaptive_avg_pool3d.default",
    "adaptive_avg_pool1d.default",
)
def adaptive_avg_pool(call: Call) -> list[Result]:
    """The mean of every share."""
    x, n = call.ref("self"), _pooled_dims(call.overload)
    _require_mean(x, n)
    shares = shares_of(x, call.type.sizes, n)
    extents = [s.widest() for s in shares]
    b = call.nest(reduce=[e for e in extents if e is not ex.ONE])
    head, point = b.dims[:-n], b.dims[-n:]
    at = [s.first(e) + r for s, e, r in zip(shares, point, _variables(b, extents), strict=True)]
    tests: list[Test] = [
        (e, ex.ZERO, s.end(p)) for s, e, p in zip(shares, at, point, strict=True) if s.each is None
    ]
    value = guarded(
        b,
        within_all(b, tests),
        lambda: b.opmath(b.load(x, [*head, *at])),
        lambda: b.const(0, opmath(x.dtype)),
    )
    total = b.reduce("add", value)[0] if b.rdims else value
    b.store(b.op("div", total, _mean_divisor(b, shares, point)))
    return call.done(b)


@lower("_adaptive_avg_pool2d_backward.default", "_adaptive_avg_pool3d_backward.default")
def adaptive_avg_pool_backward(call: Call) -> list[Result]:
    """Every element sums the gradients of the shares that hold it, each divided by its size."""
    x, grad = call.ref("self"), call.ref("grad_output")
    n = _pooled_dims(call.overload)
    _require_mean(x, n)
    shares = shares_of(x, grad.sizes, n)
    extents = [s.owners() for s in shares]
    b = call.nest(reduce=[e for e in extents if e is not ex.ONE])
    head, point = b.dims[:-n], b.dims[-n:]
    at: list[Expr] = []
    tests: list[Test] = []
    for s, e, r in zip(shares, point, _variables(b, extents), strict=True):
        part = ex.floordiv(e, s.each) if s.each else ex.floordiv(e * s.parts, s.size) + r
        at.append(part)
        if s.each is None:
            tests += [(part, ex.ZERO, s.parts), (e, s.first(part), s.end(part))]

    def share() -> SSAValue:
        value = b.opmath(b.load(grad, [*head, *at]))
        return b.op("div", value, _mean_divisor(b, shares, at))

    zero = b.const(0, opmath(grad.dtype))
    value = guarded(b, within_all(b, tests), share, lambda: zero)
    b.store(b.reduce("add", value)[0] if b.rdims else value)
    return call.done(b)


@lower("adaptive_max_pool2d.default", "adaptive_max_pool3d.default")
def adaptive_max_pool(call: Call) -> list[Result]:
    """The largest element of every share, and its flat place in the plane."""
    x, n = call.ref("self"), _pooled_dims(call.overload)
    shares = shares_of(x, call.type.sizes, n)
    extents = [s.widest() for s in shares]
    b = call.nest(reduce=[e for e in extents if e is not ex.ONE] or [ex.ONE])
    point = b.dims[-n:]
    at, tests = _members(b, shares, extents)
    dtype = opmath(x.dtype)
    value = guarded(
        b,
        within_all(b, tests),
        lambda: b.cast(b.load(x, [*b.dims[:-n], *at]), dtype),
        lambda: b.const(identity_of("max", x.dtype), dtype),
    )
    kept = [
        e if s.each else ex.emin(e, s.end(p) - 1) for s, e, p in zip(shares, at, point, strict=True)
    ]
    store_largest(b, value, kept, x.sizes[-n:])
    return call.done(b)


@lower("adaptive_max_pool2d_backward.default", "adaptive_max_pool3d_backward.default")
def adaptive_max_pool_backward(call: Call) -> list[Result]:
    """The gradient goes to the element whose place was saved."""
    grad, places = call.ref("grad_output"), call.ref("indices")
    n = _pooled_dims(call.overload)
    sizes = call.type.sizes[-n:]

    def position(b: NestBuilder) -> list[Expr]:
        flat = b.data(b.load(places, b.dims), numel(sizes), wrap=False)
        return [*b.dims[:-n], *split_flat(flat, sizes, b.ranges)]

    def value(b: NestBuilder) -> SSAValue:
        return b.load(grad, b.dims)

    start = zeros(call, call.type)
    return [scattered(call, start, grad.sizes, position, value, "add", wide=True)]
