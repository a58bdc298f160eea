"""Padding and cropping.

    %r = aten.constant_pad_nd(%x, [1, 2], 0.5)
      -->  what lies outside is not read
    %buf0 = loop.nest (d0: 11) -> (%o : !aten.t<f32[11]>) origins ["constant_pad_nd"] {
      %c = scalar.within d0 in 1 to 9
      %v = scalar.if %c -> f32 { %0 = loop.load %x[d0 - 1] : f32   scalar.yield %0 : f32 }
           else { %1 = scalar.constant 0.5 : f32   scalar.yield %1 : f32 }
      loop.store %v, %o[d0] }

Reflection and replication only move the index, so every read is inside; their backward adds every
gradient to the element that was read.
"""

from __future__ import annotations

from collections.abc import Callable

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.lowering.aten_to_loop import view_maps as maps
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import lower
from minductor.lowering.aten_to_loop.scatter import scattered, zeros
from minductor.lowering.aten_to_loop.slice_scatter import guarded, within_all
from minductor.lowering.aten_to_loop.support import as_dtype


def padding_before(x: Ref, pad: list[Expr]) -> list[Expr]:
    """Elements put before each dimension; `pad` lists (before, after) from the last one on."""
    out = [ex.ZERO] * x.rank
    for k, before in enumerate(pad[::2]):
        out[x.rank - 1 - k] = before
    return out


@lower("constant_pad_nd.default")
def constant_pad(call: Call) -> list[Result]:
    """A value around the tensor; negative padding crops."""
    x, pad = call.ref("self"), call.exprs("pad")
    before = padding_before(x, pad)
    b = call.nest()
    tests = [(d, p, p + n) for d, p, n in zip(b.dims, before, x.sizes, strict=True)]
    conditions = within_all(b, tests)
    dtype = call.type.dtype
    index = [d - start for d, start in zip(b.dims, before, strict=True)]
    value = 0 if not call.has("value") else call.stored("value")
    b.store(guarded(b, conditions, lambda: b.load(x, index), lambda: as_dtype(b, value, dtype)))
    return call.done(b)


Move = Callable[[Expr, Expr], Expr]


def _position(call: Call, b: NestBuilder, x: Ref, move: Move) -> list[Expr]:
    """The position in x that the padded tensor's point is a copy of."""
    pad = call.exprs("padding")
    index = [d - p for d, p in zip(b.dims, padding_before(x, pad), strict=True)]
    for k in range(x.rank - len(pad) // 2, x.rank):
        index[k] = move(index[k], x.sizes[k])
    return index


def _moved(call: Call, move: Move) -> list[Result]:
    x = call.ref("self")
    b = call.nest()
    b.store(b.load(x, _position(call, b, x, move)))
    return call.done(b)


def _gathered_back(call: Call, move: Move) -> list[Result]:
    grad = call.ref("grad_output")
    start = zeros(call, call.type)
    return [
        scattered(
            call,
            start,
            grad.sizes,
            lambda b: _position(call, b, start, move),
            lambda b: b.load(grad, b.dims),
            "add",
            wide=True,
        )
    ]


def _reflected(e: Expr, size: Expr) -> Expr:
    return maps.clamp_position(maps.reflect_position(e, size), size)


@lower("reflection_pad1d.default", "reflection_pad2d.default", "reflection_pad3d.default")
def reflection_pad(call: Call) -> list[Result]:
    """Mirrored at the first and last element."""
    return _moved(call, _reflected)


@lower("replication_pad1d.default", "replication_pad2d.default", "replication_pad3d.default")
def replication_pad(call: Call) -> list[Result]:
    """The outermost element repeated."""
    return _moved(call, maps.clamp_position)


@lower(
    "reflection_pad1d_backward.default",
    "reflection_pad2d_backward.default",
    "reflection_pad3d_backward.default",
)
def reflection_pad_backward(call: Call) -> list[Result]:
    """Every element sums the gradients of its mirror images."""
    return _gathered_back(call, _reflected)


@lower(
    "replication_pad1d_backward.default",
    "replication_pad2d_backward.default",
    "replication_pad3d_backward.default",
)
def replication_pad_backward(call: Call) -> list[Result]:
    """The outermost elements sum the gradients of their copies."""
    return _gathered_back(call, maps.clamp_position)
