"""Writes through data: index_put, scatter, scatter_add, scatter_reduce, index_add, index_copy, put.

    %r = aten.index_put(%x, [%i], %v) {accumulate = true}
      -->  the result starts as %x; memory planning decides whether a copy is made
    %buf0 = loop.nest (d0: s0, d1: 64) -> (%o = %x : !aten.t<f32[s1, 64]>) origins ["index_put"] {
      %0 = loop.load %i[d0] : i64   %1 = scalar.bound %0 to s1 wrap
      %2 = loop.load %v[d0, d1] : f32   loop.store add %2, %o[%1, d1] }

Without accumulation the last of several writes to one element wins, as in eager on the CPU: such
stores are `{ordered}` there. `index_put` with a mask and one value is a plain selection.
Half types that eager sums in f32 are widened before and rounded once after.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from xdsl.ir import SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.dtypes import DTYPES
from minductor.dialects.expr import Expr
from minductor.dialects.expr_simplify import contiguous_strides, flatten_index
from minductor.dialects.types import TensorType
from minductor.lowering.aten_to_loop import view_maps as maps
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.index import indexing, row
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder, dtype_of
from minductor.lowering.aten_to_loop.promote import HALVES, Operand, is_float
from minductor.lowering.aten_to_loop.refs import Number, Ref, Result, broadcast_index
from minductor.lowering.aten_to_loop.registry import Declined, lower
from minductor.lowering.aten_to_loop.slice_scatter import base_to_update
from minductor.lowering.aten_to_loop.support import as_dtype

Position = Callable[[NestBuilder], list[Expr]]
Value = Callable[[NestBuilder], SSAValue]


def converted(call: Call, x: Ref, type_: TensorType) -> Ref:
    """A copy in another dtype and layout."""
    b = call.nest(type_.sizes, types=[type_])
    b.store(b.cast(b.load(x, b.dims), type_.dtype))
    return Ref.of(call.fn.emit(b.finish()).results[0])


def zeros(call: Call, type_: TensorType) -> Ref:
    """A tensor of zeros to add to."""
    b = call.nest(type_.sizes, types=[type_])
    b.store(b.const(0, type_.dtype))
    return Ref.of(call.fn.emit(b.finish()).results[0])


def scattered(
    call: Call,
    x: Ref,
    domain: Sequence[Expr],
    position: Position,
    value: Value,
    combine: str | None = None,
    ordered: bool = False,
    wide: bool = False,
) -> Ref:
    """`x` with values stored at positions, over a domain; see the module's docstring."""
    type_ = call.type
    if combine and type_.dtype == "bool":
        raise Declined("a combining scatter of bool")
    if maps.is_empty(domain):
        return converted(call, x, type_)
    if wide and type_.dtype in HALVES:
        x = converted(call, x, type_.with_(dtype="f32"))
    kept = x.type.with_(sizes=type_.sizes, strides=type_.strides)
    base = base_to_update(call, x, kept)
    b = call.nest(domain, types=[kept], updates={0: base})
    index = position(b)
    b.store(value(b), index=index, combine=combine, ordered=ordered and type_.device == "cpu")
    out = Ref.of(call.fn.emit(b.finish()).results[0])
    return out if kept is type_ else converted(call, out, type_)


# -- index_put ---------------------------------------------------------------
@lower("index_put.default", "_unsafe_index_put.default")
def index_put(call: Call) -> list[Result]:
    """`x[i, :, j] = values` or `+=`."""
    x, values = call.ref("self"), call.ref("values")
    indices = call.opt_refs("indices")
    accumulate = call.flag("accumulate")
    masks = [t for t in indices if t is not None and DTYPES[t.dtype].kind == "bool"]
    if masks:
        return _masked_put(call, x, indices, values, accumulate)
    how = indexing(x, indices)
    sizes = how.sizes(x)

    def value(b: NestBuilder) -> SSAValue:
        return b.load(values, broadcast_index(values.sizes, sizes, b.dims))

    return [
        scattered(
            call,
            x,
            sizes,
            lambda b: how.position(b, x, b.dims),
            value,
            "add" if accumulate else None,
            ordered=not accumulate,
            wide=call.type.device != "cpu",
        )
    ]


def _masked_put(
    call: Call, x: Ref, indices: Sequence[Ref | None], values: Ref, accumulate: bool
) -> list[Result]:
    """`x[:, mask] = value` where the value does not depend on the position in the mask."""
    at = next(k for k, t in enumerate(indices) if t is not None)
    mask = indices[at]
    if mask is None or any(t is not None for t in indices[at + 1 :]):
        raise Declined("a mask beside other indices")
    after = at + mask.rank
    sizes = [*x.sizes[:at], ex.ONE, *x.sizes[after:]]
    if values.rank >= len(sizes) - at and values.sizes[values.rank - len(sizes) + at] is not ex.ONE:
        raise Declined("masked values that differ: their places are data")
    b = call.nest()
    point = [*b.dims[:at], ex.ZERO, *b.dims[after:]]
    new = b.load(values, broadcast_index(values.sizes, sizes, point))
    old = b.load(x, b.dims)
    if accumulate:
        if call.type.dtype == "bool":
            raise Declined("a combining scatter of bool")
        new = b.cast(b.op("add", b.opmath(old), b.opmath(new)), call.type.dtype)
    inside = b.load(mask, b.dims[at:after])
    b.store(b.op("select", inside, b.cast(new, call.type.dtype), old))
    return call.done(b)


# -- one index per element ---------------------------------------------------------------
def _along(call: Call, x: Ref, index: Ref) -> Position:
    """The point of the domain with dimension `dim` replaced by the index there."""
    dim = call.dim("dim", x.rank)

    def position(b: NestBuilder) -> list[Expr]:
        size = x.sizes[dim] if x.rank else ex.ONE
        found = b.data(b.load(index, b.dims[: index.rank]), size, wrap=False)
        if not x.rank:
            return []
        at = list(b.dims) or [ex.ZERO]
        at[dim] = found
        return at

    return position


def _source(call: Call, source: Operand) -> Value:
    def value(b: NestBuilder) -> SSAValue:
        if not isinstance(source, Ref):
            return as_dtype(b, source, b.types[0].dtype)
        return b.cast(b.load(source, b.dims[: source.rank]), b.types[0].dtype)

    return value


_REDUCES = {"add": "add", "multiply": "mul", "sum": "add", "prod": "mul", "amax": "max",
            "amin": "min"}  # fmt: skip


@lower("scatter.src", "scatter.value", "scatter.reduce", "scatter.value_reduce")
def scatter(call: Call) -> list[Result]:
    """`x[.., index, ..] = src`, or combined by `reduce`."""
    x, index = call.ref("self"), call.ref("index")
    source = call.operand("src" if "src" in call.args else "value")
    word = call.text("reduce") if "reduce" in call.args else None
    if word is not None and word not in _REDUCES:
        raise Declined(f"reduce = {word}")
    combine = None if word is None else _REDUCES[word]
    ordered = combine is None and isinstance(source, Ref)
    position, value = _along(call, x, index), _source(call, source)
    return [scattered(call, x, index.sizes, position, value, combine, ordered, wide=True)]


@lower("scatter_add.default")
def scatter_add(call: Call) -> list[Result]:
    """`x[.., index, ..] += src`."""
    x, index = call.ref("self"), call.ref("index")
    position, value = _along(call, x, index), _source(call, call.ref("src"))
    return [scattered(call, x, index.sizes, position, value, "add", wide=True)]


def identity_of(combine: str, dtype: str) -> Number:
    """The value that changes nothing under a combine word."""
    if combine in ("add", "mul"):
        return 0 if combine == "add" else 1
    if is_float(dtype):
        return -inf if combine == "max" else inf
    bits = DTYPES[dtype].size * 8
    signed = DTYPES[dtype].kind == "int"
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return low if combine == "max" else high


@lower("scatter_reduce.two")
def scatter_reduce(call: Call) -> list[Result]:
    """`x[.., index, ..]` combined with src: sum, prod, mean, amax or amin."""
    x, index, source = call.ref("self"), call.ref("index"), call.ref("src")
    return _reduced(call, x, index.sizes, _along(call, x, index), source, wide=True)


def _reduced(
    call: Call, x: Ref, domain: Sequence[Expr], position: Position, source: Ref, wide: bool
) -> list[Result]:
    """`reduce` over the old elements (`include_self`) and the source's."""
    word, own = call.text("reduce"), call.flag("include_self")
    mean = word == "mean"
    combine = "add" if mean else _REDUCES.get(word or "")
    if combine is None or call.type.dtype == "bool":
        raise Declined(f"reduce = {word} of {call.type.dtype}")
    if not own:
        reset = identity_of(combine, call.type.dtype)
        x = scattered(call, x, domain, position, _source(call, reset))
    total = scattered(call, x, domain, position, _source(call, source), combine, wide=wide)
    return _divided(call, total, _count(call, domain, position, own)) if mean else [total]


def _count(call: Call, domain: Sequence[Expr], position: Position, own: bool) -> Ref:
    """How many values went to each element."""
    dtype = "f32" if is_float(call.type.dtype) else "i64"
    type_ = TensorType.make(dtype, call.type.sizes, call.type.strides, call.type.device)
    b = call.nest(type_.sizes, types=[type_])
    b.store(b.const(int(own), dtype))
    start = call.fn.emit(b.finish()).results[0]
    if maps.is_empty(domain):
        return Ref.of(start)
    b = call.nest(domain, types=[type_], updates={0: start})
    at = position(b)
    b.store(b.const(1, dtype), index=at, combine="add")
    return Ref.of(call.fn.emit(b.finish()).results[0])


def _divided(call: Call, total: Ref, count: Ref) -> list[Result]:
    """total / count; elements that got nothing are divided by 1; integers round down."""
    b = call.nest()
    dtype = call.type.dtype
    n = b.opmath(b.cast(b.load(count, b.dims), dtype))
    n = b.op("select", b.op("eq", n, b.like(0, n)), b.like(1, n), n)
    value = b.opmath(b.load(total, b.dims))
    b.store(b.op("div" if is_float(dtype) else "floordiv", value, n))
    return call.done(b)


# -- one index per slice ---------------------------------------------------------------
def _slices(call: Call, x: Ref, index: Ref, wrap: bool = False) -> Position:
    """The point of the domain (the source) with dimension `dim` replaced by the index there."""
    if not x.rank:
        return lambda b: []
    dim = call.dim("dim", x.rank)

    def position(b: NestBuilder) -> list[Expr]:
        at = list(b.dims)
        if wrap:
            at[dim] = b.data(b.load(index, [at[dim]] if index.rank else []), x.sizes[dim])
        else:
            at[dim] = row(b, index, at[dim], x.sizes[dim])
        return at

    return position


def _slice_domain(call: Call, x: Ref, index: Ref) -> list[Expr]:
    if not x.rank:
        return []
    sizes = list(x.sizes)
    sizes[call.dim("dim", x.rank)] = index.sizes[0] if index.rank else ex.ONE
    return sizes


@lower("index_add.default")
def index_add(call: Call) -> list[Result]:
    """`x[.., index, ..] += alpha * source`, slice by slice."""
    x, index, source = call.ref("self"), call.ref("index"), call.ref("source")
    alpha = call.operand("alpha")

    def value(b: NestBuilder) -> SSAValue:
        found = b.load(source, b.dims[: source.rank])
        if isinstance(alpha, int | float) and alpha == 1:
            return found
        found = b.opmath(found)
        return b.op("mul", found, b.cast(as_dtype(b, alpha, call.type.dtype), dtype_of(found)))

    domain, position = _slice_domain(call, x, index), _slices(call, x, index)
    return [scattered(call, x, domain, position, value, "add", wide=call.type.device != "cpu")]


@lower("index_reduce.default")
def index_reduce(call: Call) -> list[Result]:
    """`x[.., index, ..]` combined with source, slice by slice: prod, mean, amax or amin."""
    x, index, source = call.ref("self"), call.ref("index"), call.ref("source")
    domain, position = _slice_domain(call, x, index), _slices(call, x, index)
    return _reduced(call, x, domain, position, source, wide=call.type.device != "cpu")


@lower("index_copy.default")
def index_copy(call: Call) -> list[Result]:
    """`x[.., index, ..] = source`, slice by slice."""
    x, index, source = call.ref("self"), call.ref("index"), call.ref("source")
    domain, position = _slice_domain(call, x, index), _slices(call, x, index)
    return [scattered(call, x, domain, position, _source(call, source), ordered=True)]


@lower("index_fill.int_Scalar", "index_fill.int_Tensor")
def index_fill(call: Call) -> list[Result]:
    """`x[.., index, ..] = value`; negative indices count from the end."""
    x, index, value = call.ref("self"), call.ref("index"), call.operand("value")
    domain, position = _slice_domain(call, x, index), _slices(call, x, index, wrap=True)
    return [scattered(call, x, domain, position, lambda b: as_dtype(b, value, b.types[0].dtype))]


@lower("put.default")
def put(call: Call) -> list[Result]:
    """Elements written by flat index."""
    x, index, source = call.ref("self"), call.ref("index"), call.ref("source")
    accumulate = call.flag("accumulate")

    def position(b: NestBuilder) -> list[Expr]:
        flat = b.data(b.load(index, b.dims), maps.numel(x.sizes))
        return maps.split_flat(flat, x.sizes, b.ranges)

    def value(b: NestBuilder) -> SSAValue:
        flat = flatten_index(b.dims, contiguous_strides(index.sizes))
        return b.load(source, maps.split_flat(flat, source.sizes, b.ranges))

    combine = "add" if accumulate else None
    return [scattered(call, x, index.sizes, position, value, combine, ordered=not accumulate)]
