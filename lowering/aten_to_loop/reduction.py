"""Reductions: sum, mean, prod, extremes, any and all.

    %r = aten.sum.dim_IntList(%x) {dim = [1], keepdim = true}      %x: bf16[4, 8]
      -->
    %buf0 = loop.nest (d0: 4) reduce (d1: 8) -> (%o : !aten.t<bf16[4, 1]>) origins ["sum"] {
      %0 = loop.load %x[d0, d1] : bf16         %1 = scalar.cast %0 : bf16 to f32
      %2 = loop.reduce add %1 : f32 -> f32     %3 = scalar.cast %2 storage : f32 to bf16
      loop.store %3, %o[d0, 0] }

Parallel variables first, in the result's order, then the reduced dimensions in the input's order.
Half types accumulate in f32, sums of integers in i64. `amax` and `amin` give NaN if an element is
NaN. Without dimensions (None, []) all are reduced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.dialects.expr_simplify import product
from minductor.dialects.types import TensorType
from minductor.lowering.aten_to_loop.call import Call, wrap_dims
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder, dtype_of
from minductor.lowering.aten_to_loop.promote import (
    Operand,
    is_float,
    require_scalar,
)
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import Declined, lower
from minductor.lowering.aten_to_loop.support import nonzero


@dataclass(frozen=True)
class Fold:
    """A reduction over `dims` (ascending) of `x` under construction."""

    x: Ref
    dims: tuple[int, ...]
    b: NestBuilder
    out: tuple[Expr, ...]

    @staticmethod
    def open(
        call: Call, x: Ref, dims: Sequence[int], types: Sequence[TensorType] | None = None
    ) -> Fold:
        """A nest over the kept dimensions with the others as reduce variables."""
        require_scalar([x.dtype])
        kept = [k for k in range(x.rank) if k not in dims]
        b = call.nest([x.sizes[k] for k in kept], reduce=[x.sizes[k] for k in dims], types=types)
        rank = (call.types if types is None else types)[0].rank
        at = dict(zip(kept, b.dims, strict=True))
        keepdim = rank == x.rank
        out = [at.get(k, ex.ZERO) for k in range(x.rank)] if keepdim else list(b.dims)
        return Fold(x, tuple(dims), b, tuple(out))

    @property
    def point(self) -> list[Expr]:
        """Index of the current element of x."""
        kept = iter(self.b.dims)
        inner = dict(zip(self.dims, self.b.rdims, strict=True))
        return [inner[k] if k in inner else next(kept) for k in range(self.x.rank)]

    @property
    def count(self) -> Expr:
        """Number of elements that go into one result."""
        return product(self.x.sizes[k] for k in self.dims)

    def element(self, dtype: str | None = None) -> SSAValue:
        """The current element, cast to a dtype if given; half types then go on to f32."""
        value = self.b.load(self.x, self.point)
        return self.b.opmath(value if dtype is None else self.b.cast(value, dtype))

    def reduced(self, kind: str, value: SSAValue) -> SSAValue:
        """The value collapsed; a reduction over no dimension is the value itself."""
        return self.b.reduce(kind, value)[0] if self.dims else value

    def store(self, value: SSAValue, result: int = 0) -> None:
        """Store to a result at the kept point."""
        self.b.store(value, result, self.out)


def number_of(b: NestBuilder, count: Expr, dtype: str, minus: Operand = 0) -> SSAValue:
    """max(count - minus, 0) as a value of a floating dtype; a literal when both are known."""
    whole = count.as_int
    if whole is not None and isinstance(minus, int | float):
        return b.const(max(float(whole - minus), 0.0), dtype)
    value = b.index(count, dtype)
    if isinstance(minus, int | float) and minus == 0:
        return value
    if isinstance(minus, Ref):
        raise Declined("a correction known at run time only")
    less = b.const(minus, dtype) if isinstance(minus, int | float) else b.index(minus, dtype)
    return b.op("maximum", b.op("sub", value, less), b.const(0.0, dtype))


def _fold(
    call: Call,
    kind: str,
    dims: Sequence[int],
    dtype: str | None = None,
    before: Callable[[NestBuilder, SSAValue], SSAValue] | None = None,
    after: Callable[[Fold, SSAValue], SSAValue] | None = None,
) -> list[Result]:
    """One nest: element in `dtype`, `before`, reduce, `after`, store."""
    fold = Fold.open(call, call.ref("self"), dims)
    value = fold.element(dtype)
    if before is not None:
        value = before(fold.b, value)
    value = fold.reduced(kind, value)
    fold.store(value if after is None else after(fold, value))
    return call.done(fold.b)


def _all(call: Call) -> list[int]:
    return list(range(call.ref("self").rank))


def named_dims(call: Call, name: str = "dim") -> list[int]:
    """Dimensions to reduce, ascending; all when none is given."""
    return wrap_dims(call.ints(name), call.ref("self").rank)


# -- sums ---------------------------------------------------------------------------------------
def _sum(call: Call, dims: Sequence[int]) -> list[Result]:
    return _fold(call, "add", dims, _summed_in(call))


def _summed_in(call: Call) -> str:
    """What elements of a sum are cast to: the result's dtype."""
    dtype = call.type.dtype
    require_scalar([dtype])
    if dtype == "bool":
        raise Declined("a sum as bool")
    return dtype


@lower("sum.default")
def sum_all(call: Call) -> list[Result]:
    """The sum of all elements."""
    return _sum(call, _all(call))


@lower("sum.dim_IntList")
def sum_dim(call: Call) -> list[Result]:
    """Sums over dimensions."""
    return _sum(call, named_dims(call))


@lower("prims.sum.default")
def prims_sum(call: Call) -> list[Result]:
    """Sums over dimensions; the result keeps the input's dtype."""
    fold = Fold.open(call, call.ref("inp"), wrap_dims(call.ints("dims"), call.ref("inp").rank))
    fold.store(fold.reduced("add", fold.element(_summed_in(call))))
    return call.done(fold.b)


@lower("nansum.default")
def nansum(call: Call) -> list[Result]:
    """Sums over dimensions, NaN counted as 0."""

    def zero(b: NestBuilder, v: SSAValue) -> SSAValue:
        return b.op("select", b.op("isnan", v), b.like(0, v), v) if is_float(dtype_of(v)) else v

    return _fold(call, "add", named_dims(call), _summed_in(call), before=zero)


def _mean(call: Call, dims: Sequence[int]) -> list[Result]:
    if not is_float(call.type.dtype):
        raise Declined("a mean of integers")
    return _fold(
        call,
        "add",
        dims,
        _summed_in(call),
        after=lambda f, v: f.b.op("div", v, number_of(f.b, f.count, dtype_of(v))),
    )


@lower("mean.default")
def mean_all(call: Call) -> list[Result]:
    """The mean of all elements."""
    return _mean(call, _all(call))


@lower("mean.dim")
def mean_dim(call: Call) -> list[Result]:
    """Means over dimensions."""
    return _mean(call, named_dims(call))


@lower("prod.default")
def prod_all(call: Call) -> list[Result]:
    """The product of all elements."""
    return _fold(call, "mul", _all(call), _summed_in(call))


@lower("prod.dim_int")
def prod_dim(call: Call) -> list[Result]:
    """Products over a dimension."""
    return _fold(call, "mul", named_dims(call), _summed_in(call))


# -- extremes, any, all -------------------------------------------------------------------------
def extreme(call: Call, kind: str, dims: Sequence[int]) -> list[Result]:
    """max or min over dimensions; for bool any or all. NaN if an element is."""
    if call.ref("self").dtype == "bool":
        kind = {"max": "any", "min": "all"}[kind]
    not_empty(call, dims)
    return _fold(call, kind, dims)


def not_empty(call: Call, dims: Sequence[int]) -> None:
    """An extreme of nothing is an error in eager, which raises it."""
    if any(call.ref("self").sizes[k].as_int == 0 for k in dims):
        raise Declined("an extreme over no elements")


@lower("amax.default")
def amax(call: Call) -> list[Result]:
    """Greatest elements over dimensions."""
    return extreme(call, "max", named_dims(call))


@lower("amin.default")
def amin(call: Call) -> list[Result]:
    """Least elements over dimensions."""
    return extreme(call, "min", named_dims(call))


@lower("max.default")
def max_all(call: Call) -> list[Result]:
    """The greatest element."""
    return extreme(call, "max", _all(call))


@lower("min.default")
def min_all(call: Call) -> list[Result]:
    """The least element."""
    return extreme(call, "min", _all(call))


@lower("aminmax.default")
def aminmax(call: Call) -> list[Result]:
    """Least and greatest elements, in one nest."""
    x = call.ref("self")
    dims = [call.dim("dim", x.rank)] if call.has("dim") and x.rank else _all(call)
    not_empty(call, dims)
    fold = Fold.open(call, x, dims)
    value = fold.element()
    low, high = ("all", "any") if x.dtype == "bool" else ("min", "max")
    fold.store(fold.reduced(low, value), 0)
    fold.store(fold.reduced(high, value), 1)
    return call.done(fold.b)


def _truths(call: Call, kind: str, dims: Sequence[int]) -> list[Result]:
    """any or all; u8 stays u8 in eager."""
    fold = Fold.open(call, call.ref("self"), dims)
    value = nonzero(fold.b, fold.element())
    fold.store(fold.reduced(kind, value))
    return call.done(fold.b)


@lower("any.default")
def any_all(call: Call) -> list[Result]:
    """Some element is non-zero."""
    return _truths(call, "any", _all(call))


@lower("any.dim", "any.dims")
def any_dim(call: Call) -> list[Result]:
    """Some element is non-zero, over dimensions."""
    return _truths(call, "any", _truth_dims(call))


@lower("all.default")
def all_all(call: Call) -> list[Result]:
    """Every element is non-zero."""
    return _truths(call, "all", _all(call))


@lower("all.dim", "all.dims")
def all_dim(call: Call) -> list[Result]:
    """Every element is non-zero, over dimensions."""
    return _truths(call, "all", _truth_dims(call))


def _truth_dims(call: Call) -> list[int]:
    """`any.dims` and `all.dims` reduce nothing for [] and everything for None."""
    if call.overload.endswith(".dims") and call.has("dim") and not call.ints("dim"):
        return []
    return named_dims(call)
