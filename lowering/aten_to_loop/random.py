"""Random tensors: a pure function of (seed, stream, logical flat index), by Philox.

    %r = aten.rand_like(%x)                         %x: f32[4, 8]
      -->
    %seed = loop.extern "minductor.seed"() args [] kwargs {device = ..} {random, ordered} : () -> T
    %buf0 = loop.nest (d0: 4, d1: 8) -> (%o : !aten.t<f32[4, 8]>) origins ["rand_like"] {
      %0 = loop.load %seed[0] : i64
      %1 = scalar.random philox %0, 8 * d0 + d1 stream 0 -> f32     loop.store %1, %o[d0, d1] }

One seed a call of the function is drawn from the device's default generator, so `manual_seed`
holds; every random op has a stream of its own. Values differ from eager's, their distribution does
not; the pass option random = "eager" keeps eager's. A dropout mask that backward needs is saved by
the partitioner, so forward and backward see the same one.
"""

from __future__ import annotations

from math import log1p, pi

from xdsl.ir import SSAValue

from minductor.dialects.expr_simplify import contiguous_strides, flatten_index
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder, dtype_of
from minductor.lowering.aten_to_loop.promote import HALVES, is_float, opmath
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import Declined, lower
from minductor.lowering.aten_to_loop.support import loaded

_DIGITS = {"f16": 11, "bf16": 8}


def _drawn(call: Call, b: NestBuilder, dtype: str, kind: str = "philox") -> SSAValue:
    """The random value of the nest's point (the first result's logical place)."""
    place = flatten_index(b.dims, contiguous_strides(b.shape))
    if call.has("rng_seed"):
        # a seed of its own, so any stream will do, as long as the recomputation takes the same
        return b.random(call.fn.pointer(call.ref("rng_seed")), place, 0, dtype, kind)
    return b.random(call.fn.seed(call.type.device), place, call.fn.stream(), dtype, kind)


def uniform(call: Call, b: NestBuilder, dtype: str) -> SSAValue:
    """A value in [0, 1) that a dtype holds exactly, in the dtype's computation dtype."""
    value = _drawn(call, b, opmath(dtype))
    if dtype not in HALVES:
        return value
    steps = b.like(float(2 ** _DIGITS[dtype]), value)
    return b.op("div", b.op("floor", b.op("mul", value, steps)), steps)


def _float_result(call: Call) -> str:
    if not is_float(call.type.dtype):
        raise Declined("a result that is not floating")
    return call.type.dtype


def _own_generator(call: Call) -> None:
    if call.has("generator"):
        raise Declined("a generator of its own")


@lower("rand.default", "rand_like.default")
def rand(call: Call) -> list[Result]:
    """Uniform in [0, 1)."""
    dtype = _float_result(call)
    b = call.nest()
    b.store(uniform(call, b, dtype))
    return call.done(b)


@lower("randn.default", "randn_like.default")
def randn(call: Call) -> list[Result]:
    """Normal with mean 0 and deviation 1."""
    dtype = _float_result(call)
    b = call.nest()
    b.store(_drawn(call, b, opmath(dtype), "philox_normal"))
    return call.done(b)


@lower("uniform.default")
def uniform_(call: Call) -> list[Result]:
    """Uniform in [from, to)."""
    _own_generator(call)
    dtype = _float_result(call)
    low, high = float(call.number("from")), float(call.number("to"))
    b = call.nest()
    value = uniform(call, b, dtype)
    b.store(b.op("add", b.op("mul", value, b.like(high - low, value)), b.like(low, value)))
    return call.done(b)


@lower("normal_functional.default", "prims.normal.default")
def normal(call: Call) -> list[Result]:
    """Normal with a mean and a deviation known at compile time."""
    _own_generator(call)
    dtype = _float_result(call)
    mean, deviation = float(call.number("mean")), float(call.number("std"))
    b = call.nest()
    value = _drawn(call, b, opmath(dtype), "philox_normal")
    b.store(b.op("add", b.op("mul", value, b.like(deviation, value)), b.like(mean, value)))
    return call.done(b)


@lower("exponential.default")
def exponential(call: Call) -> list[Result]:
    """Exponential: -log(1 - u) / lambd."""
    _own_generator(call)
    dtype = _float_result(call)
    rate = float(call.number("lambd"))
    b = call.nest()
    value = _drawn(call, b, opmath(dtype))
    draw = b.op("neg", b.op("log1p", b.op("neg", value)))
    b.store(b.op("div", draw, b.like(rate, value)))
    return call.done(b)


@lower("log_normal.default")
def log_normal(call: Call) -> list[Result]:
    """exp of a normal value."""
    _own_generator(call)
    dtype = _float_result(call)
    mean, deviation = float(call.number("mean")), float(call.number("std"))
    b = call.nest()
    value = _drawn(call, b, opmath(dtype), "philox_normal")
    place = b.op("add", b.op("mul", value, b.like(deviation, value)), b.like(mean, value))
    b.store(b.op("exp", place))
    return call.done(b)


@lower("cauchy.default")
def cauchy(call: Call) -> list[Result]:
    """median + sigma * tan(pi * (u - 1/2))."""
    _own_generator(call)
    dtype = _float_result(call)
    median, sigma = float(call.number("median")), float(call.number("sigma"))
    b = call.nest()
    value = _drawn(call, b, opmath(dtype))
    angle = b.op("mul", b.op("sub", value, b.like(0.5, value)), b.like(pi, value))
    spread = b.op("mul", b.op("tan", angle), b.like(sigma, value))
    b.store(b.op("add", spread, b.like(median, value)))
    return call.done(b)


@lower("geometric.default")
def geometric(call: Call) -> list[Result]:
    """Trials up to the first success: ceil(log(1 - u) / log(1 - p)), at least 1."""
    _own_generator(call)
    p = float(call.number("p"))
    if not 0 < p < 1:
        raise Declined("a probability outside (0, 1)")
    b = call.nest()
    value = _drawn(call, b, "f32")
    tail = b.op("log1p", b.op("neg", value))
    trials = b.op("ceil", b.op("div", tail, b.like(log1p(-p), value)))
    whole = b.op("maximum", trials, b.like(1.0, value))
    b.store(b.cast(whole, opmath(call.type.dtype)))
    return call.done(b)


def _integers(call: Call, low: int, high: int) -> list[Result]:
    """low + bits mod (high - low); the bias of the modulus is below 2**-30 for ranges < 2**33."""
    if high <= low or high - low >= 2**33:
        raise Declined("an empty or huge range")
    b = call.nest()
    bits = _drawn(call, b, "i64", "philox_bits")
    value = b.op("remainder", bits, b.const(high - low, "i64"))
    b.store(b.op("add", value, b.const(low, "i64")) if low else value)
    return call.done(b)


@lower("randint.default", "randint_like.default")
def randint(call: Call) -> list[Result]:
    """Integers in 0 .. high - 1."""
    return _integers(call, 0, call.int_("high"))


@lower("randint.low", "randint_like.low_dtype")
def randint_low(call: Call) -> list[Result]:
    """Integers in low .. high - 1."""
    return _integers(call, call.int_("low"), call.int_("high"))


# -- bernoulli and dropout ----------------------------------------------------------------------
def _bernoulli(call: Call, chance: float | Ref) -> list[Result]:
    _own_generator(call)
    b = call.nest()
    value = _drawn(call, b, "f32")
    if isinstance(chance, Ref):
        if not is_float(chance.dtype):
            raise Declined("a probability that is not floating")
        limit = b.cast(loaded(b, chance), "f32")
    else:
        limit = b.like(chance, value)
    b.store(b.cast(b.op("lt", value, limit), call.type.dtype))
    return call.done(b)


@lower("bernoulli.default")
def bernoulli(call: Call) -> list[Result]:
    """1 with the probability that self says."""
    return _bernoulli(call, call.ref("self"))


@lower("bernoulli.p")
def bernoulli_p(call: Call) -> list[Result]:
    """1 with probability p."""
    return _bernoulli(call, float(call.number("p")))


@lower("bernoulli.Tensor")
def bernoulli_tensor(call: Call) -> list[Result]:
    """1 with the probability that p says."""
    return _bernoulli(call, call.ref("p"))


@lower("native_dropout.default")
def native_dropout(call: Call) -> list[Result]:
    """(self * mask / (1 - p), mask): one nest. Outside training a copy and a mask of ones."""
    x = call.ref("input")
    if not is_float(x.dtype):
        raise Declined("dropout of what is not floating")
    p = float(call.number("p"))
    training = not call.has("train") or call.flag("train")
    b = call.nest()
    value = b.opmath(loaded(b, x))
    if not training or p == 0:
        b.store(value, 0)
        b.store(b.const(True, "bool"), 1)
        return call.done(b)
    keep = b.op("le", b.const(p, "f32"), _drawn(call, b, "f32"))
    scale = b.like(0.0 if p == 1 else 1 / (1 - p), value)
    kept = b.op("mul", value, b.cast(keep, dtype_of(value)))
    b.store(b.op("mul", kept, scale), 0)
    b.store(keep, 1)
    return call.done(b)
