"""Norms and variances: reductions with arithmetic before and after.

    %v, %m = aten.var_mean.correction(%x) {dim = [1], correction = 0, keepdim = true}
      -->
    %buf0, %buf1 = loop.nest (d0: 4) reduce (d1: 8) -> (%o0_ : .., %o1_ : ..) origins ["var_mean"] {
      %0 = loop.load %x[d0, d1] : f32    %1, %2, %3 = loop.reduce welford %0 : f32 -> f32, f32, f32
      %4 = scalar.constant 8.0 : f32     %5 = scalar.div %2, %4 : f32
      loop.store %5, %o0_[d0, 0]         loop.store %1, %o1_[d0, 0] }

Variances use Welford's method in the computation dtype (f32 for half types): stable for values far
from 0. Source of the norms: torch.linalg.vector_norm.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from minductor.dialects import expr as ex
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder, dtype_of
from minductor.lowering.aten_to_loop.promote import Operand, is_float
from minductor.lowering.aten_to_loop.reduction import Fold, named_dims, not_empty, number_of
from minductor.lowering.aten_to_loop.refs import Result
from minductor.lowering.aten_to_loop.registry import Declined, lower


# -- norms --------------------------------------------------------------------------------------
@lower("linalg_vector_norm.default", "norm.ScalarOpt_dim")
def vector_norm(call: Call) -> list[Result]:
    """(sum |x|^p)^(1/p): 0 counts, infinities are extremes."""
    name = "ord" if "ord" in call.args else "p"
    given = call.opt_number(name)
    order = 2.0 if given is None else float(given)
    dims = named_dims(call)
    if not is_float(call.type.dtype):
        raise Declined("a norm of integers")
    if abs(order) == float("inf"):
        not_empty(call, dims)
    x = call.ref("self")
    fold = Fold.open(call, x, dims)
    value = fold.element(call.type.dtype)
    if order != 0 and (dims or not x.rank) and all(x.sizes[d] is ex.ONE for d in dims):
        # of one element it is the magnitude, which no power has taken out of range
        fold.store(fold.reduced("add", fold.b.op("abs", value)))
    else:
        fold.store(_norm(fold, fold.b, value, order))
    return call.done(fold.b)


def _norm(fold: Fold, b: NestBuilder, x: SSAValue, order: float) -> SSAValue:
    if order == 0:
        return fold.reduced("add", b.cast(b.op("ne", x, b.like(0, x)), dtype_of(x)))
    size = b.op("abs", x)
    if order == float("inf"):
        return fold.reduced("max", size)
    if order == float("-inf"):
        return fold.reduced("min", size)
    if order == 1:
        return fold.reduced("add", size)
    if order == 2:
        return b.op("sqrt", fold.reduced("add", b.op("mul", x, x)))
    power = fold.reduced("add", b.op("pow", size, b.like(order, x)))
    return b.op("pow", power, b.like(1.0 / order, x))


# -- variance -----------------------------------------------------------------------------------
def _moments(call: Call, roots: bool, with_mean: bool) -> list[Result]:
    """Variance (or its root) by Welford's method, and the mean where it is a result."""
    x = call.ref("self")
    if not is_float(x.dtype):
        raise Declined("a variance of what is not floating")
    fold = Fold.open(call, x, named_dims(call))
    b = fold.b
    value = fold.element()
    kept = dtype = dtype_of(value)
    if roots and kept == "f32" and call.type.device == "cpu":
        # the root may be in range where the variance is not: eager takes it before it rounds
        dtype = "f64"
        value = b.cast(value, dtype)
    if fold.dims:
        mean, squares, _ = b.reduce("welford", value, types=[value.type] * 3)
    else:
        mean, squares = value, b.op("sub", value, value)
    spread = b.op("div", squares, number_of(b, fold.count, dtype, _correction(call)))
    fold.store(b.cast(b.op("sqrt", spread) if roots else spread, kept), 0)
    if with_mean:
        fold.store(b.cast(_of_some(fold, mean), kept), 1)
    return call.done(b)


def _of_some(fold: Fold, mean: SSAValue) -> SSAValue:
    """The mean, which is NaN over no elements."""
    b = fold.b
    if b.ranges.le(ex.ONE, fold.count):
        return mean
    some = b.within(fold.count, 1, fold.count + 1)
    return b.op("select", some, mean, b.like(float("nan"), mean))


def _correction(call: Call) -> Operand:
    if "correction" in call.args:
        return call.operand("correction") if call.has("correction") else 1
    return int(call.flag("unbiased"))


@lower("var.correction", "var.dim", "var.default")
def var(call: Call) -> list[Result]:
    """Sum of squared deviations over max(count - correction, 0)."""
    return _moments(call, roots=False, with_mean=False)


@lower("std.correction", "std.dim", "std.default")
def std(call: Call) -> list[Result]:
    """The root of the variance."""
    return _moments(call, roots=True, with_mean=False)


@lower("var_mean.correction", "var_mean.dim", "var_mean.default")
def var_mean(call: Call) -> list[Result]:
    """Variance and mean, in one nest."""
    return _moments(call, roots=False, with_mean=True)


@lower("std_mean.correction", "std_mean.dim", "std_mean.default")
def std_mean(call: Call) -> list[Result]:
    """Root of the variance and mean, in one nest."""
    return _moments(call, roots=True, with_mean=True)
