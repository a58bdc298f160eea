"""cat and stack.

Few inputs: one nest that picks its source; balanced, so that depth grows with the logarithm.

    %r = aten.cat([%x, %y], 1)
      -->
    %buf0 = loop.nest (d0: s0, d1: 768) -> (%o : !aten.t<f32[s0, 768]>) origins ["cat"] {
      %c = scalar.within d1 in 0 to 512
      %v = scalar.if %c -> f32 { %0 = loop.load %x[d0, d1] : f32   scalar.yield %0 : f32 }
           else { %1 = loop.load %y[d0, d1 - 512] : f32   scalar.yield %1 : f32 }
      loop.store %v, %o[d0, d1] }

Many inputs: a chain of nests over one buffer, each of which updates its slice.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.dialects.loop.ops import ExternOp
from minductor.dialects.pyattrs import DeviceAttr, DTypeAttr, from_python
from minductor.dialects.types import TensorType
from minductor.lowering.aten_to_loop import view_maps as maps
from minductor.lowering.aten_to_loop.call import Call, wrap_dim
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.promote import require_scalar
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import lower

FEW = 16
"""So many inputs are picked from inside one nest; more make a chain of nests."""


@lower("cat.default", "concatenate.default", "concat.default")
def cat(call: Call) -> list[Result]:
    """Tensors one after the other along a dimension, in the result's dtype."""
    rank = call.type.rank
    dim = wrap_dim(call.int_("dim"), rank)
    inputs = [x for x in call.refs("tensors") if x.rank == rank and not maps.is_empty(x.sizes)]
    return joined(call, inputs, dim)


@lower("stack.default")
def stack(call: Call) -> list[Result]:
    """Tensors of equal sizes along a new dimension."""
    dim = wrap_dim(call.int_("dim"), call.type.rank)
    inputs: list[Ref] = []
    for x in call.refs("tensors"):
        sizes = [*x.sizes[:dim], ex.ONE, *x.sizes[dim:]]
        strides = [*x.type.strides[:dim], ex.ONE, *x.type.strides[dim:]]
        type_ = x.type.with_(sizes=sizes, strides=strides)
        inputs.append(x.view(type_, maps.insert_index(x.rank, dim), call.fn.ranges))
    return joined(call, inputs, dim)


def joined(call: Call, inputs: Sequence[Ref], dim: int) -> list[Result]:
    """The inputs along `dim`: one nest or a chain."""
    require_scalar([call.type.dtype, *(x.dtype for x in inputs)])
    starts = [ex.ZERO]
    for x in inputs:
        starts.append(starts[-1] + x.sizes[dim])
    if len(inputs) > FEW:
        return [_chain(call, inputs, dim, starts)]
    b = call.nest()
    b.store(_pick(b, inputs, dim, starts))
    return call.done(b)


def _pick(b: NestBuilder, inputs: Sequence[Ref], dim: int, starts: Sequence[Expr]) -> SSAValue:
    """The element at the nest's point; `starts` has the bounds of the inputs, last end included."""
    if len(inputs) == 1:
        index = list(b.dims)
        index[dim] = index[dim] - starts[0]
        return b.cast(b.load(inputs[0], index), b.types[0].dtype)
    half = len(inputs) // 2
    low = b.within(b.dims[dim], starts[0], starts[half])
    return b.if_(
        low,
        lambda: _pick(b, inputs[:half], dim, starts[: half + 1]),
        lambda: _pick(b, inputs[half:], dim, starts[half:]),
    )


def _chain(call: Call, inputs: Sequence[Ref], dim: int, starts: Sequence[Expr]) -> Ref:
    """Every input written to its slice of one buffer."""
    value = uninitialised(call, call.type)
    for x, start in zip(inputs, starts[:-1], strict=True):
        b = call.nest(x.sizes, types=[call.type], updates={0: value})
        index = list(b.dims)
        index[dim] = index[dim] + start
        b.store(b.load(x, b.dims), index=index)
        value = call.fn.emit(b.finish()).results[0]
    return Ref.of(value)


def uninitialised(call: Call, type_: TensorType) -> SSAValue:
    """A buffer whose elements are all written later."""
    keywords = {"dtype": DTypeAttr(type_.dtype), "device": DeviceAttr(type_.device)}
    args = [from_python(list(type_.sizes)), from_python(list(type_.strides))]
    op = ExternOp.of("aten.empty_strided.default", [], args, keywords, [type_])
    return call.fn.emit(op).results[0]
