"""Reads through data: index, gather, index_select, take, embedding.

    %r = aten.index.Tensor(%x, [none, %i])
      -->  a negative index counts from the end, one outside is a fault (IndexError)
    %buf0 = loop.nest (d0: 4, d1: s0) -> (%o : !aten.t<f32[4, s0]>) origins ["index"] {
      %0 = loop.load %i[d1] : i64   %1 = scalar.bound %0 to 8 wrap
      %2 = loop.load %x[d0, %1] : f32   loop.store %2, %o[d0, d1] }

Boolean masks select a number of elements that is known at run time only: those calls stay extern.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from minductor.dialects import expr as ex
from minductor.dialects.dtypes import DTYPES
from minductor.dialects.expr import Expr
from minductor.lowering.aten_to_loop import view_maps as maps
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.promote import require_scalar
from minductor.lowering.aten_to_loop.refs import Ref, Result, broadcast_index
from minductor.lowering.aten_to_loop.registry import Declined, lower


class Indexing(NamedTuple):
    """How `x[indices]` is laid out.

    indexed: dimension of x -> its index tensor. shape: the broadcast shape of the index tensors.
    at: where that shape stands in the result. kept: the dimensions of x that are not indexed.
    """

    indexed: dict[int, Ref]
    shape: tuple[Expr, ...]
    at: int
    kept: list[int]

    def sizes(self, x: Ref) -> list[Expr]:
        """Sizes of `x[indices]`."""
        rest = [x.sizes[k] for k in self.kept]
        return [*rest[: self.at], *self.shape, *rest[self.at :]]

    def position(self, b: NestBuilder, x: Ref, point: Sequence[Expr]) -> list[Expr]:
        """The index into x of a point of `x[indices]`; loads and checks the indices."""
        n = len(self.shape)
        inside = point[self.at : self.at + n]
        rest = iter([*point[: self.at], *point[self.at + n :]])
        out: list[Expr] = []
        for k in range(x.rank):
            tensor = self.indexed.get(k)
            if tensor is None:
                out.append(next(rest))
                continue
            value = b.load(tensor, broadcast_index(tensor.sizes, self.shape, inside))
            out.append(b.data(value, x.sizes[k]))
        return out


def broadcast_shape(shapes: Sequence[Sequence[Expr]]) -> tuple[Expr, ...]:
    """The common shape, aligned right. Declined where two symbolic sizes are not known equal."""
    rank = max((len(s) for s in shapes), default=0)
    out = [ex.ONE] * rank
    for shape in shapes:
        for k, size in enumerate(shape, rank - len(shape)):
            if out[k] is ex.ONE:
                out[k] = size
            elif size is not ex.ONE and size is not out[k]:
                raise Declined(f"index sizes {size} and {out[k]} are not known equal")
    return tuple(out)


def indexing(x: Ref, indices: Sequence[Ref | None]) -> Indexing:
    """The layout of `x[indices]`. Declined for masks."""
    given = {k: t for k, t in enumerate(indices) if t is not None}
    for t in given.values():
        if DTYPES[t.dtype].kind != "int":
            raise Declined(f"an index of dtype {t.dtype} is a mask: its result size is data")
    if not given or len(indices) > x.rank:
        raise Declined("no index tensor")
    numbers = sorted(given)
    together = numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    kept = [k for k in range(x.rank) if k not in given]
    shape = broadcast_shape([t.sizes for t in given.values()])
    return Indexing(given, shape, numbers[0] if together else 0, kept)


@lower("index.Tensor", "_unsafe_index.Tensor")
def index_tensor(call: Call) -> list[Result]:
    """`x[i, :, j]` with index tensors that broadcast."""
    x = call.ref("self")
    how = indexing(x, call.opt_refs("indices"))
    b = call.nest()
    b.store(b.load(x, how.position(b, x, b.dims)))
    return call.done(b)


def row(b: NestBuilder, index: Ref, at: Expr, size: Expr) -> Expr:
    """Element `at` of a 1-d (or 0-d) index tensor as a checked position, from 0 on."""
    value = b.load(index, [at] if index.rank else [])
    return b.data(value, size, wrap=False)


@lower("index_select.default")
def index_select(call: Call) -> list[Result]:
    """Whole slices picked along one dimension."""
    x, index = call.ref("self"), call.ref("index")
    b = call.nest()
    at = list(b.dims)
    if x.rank:
        dim = call.dim("dim", x.rank)
        at[dim] = row(b, index, at[dim], x.sizes[dim])
    b.store(b.load(x, at))
    return call.done(b)


@lower("gather.default")
def gather(call: Call) -> list[Result]:
    """One index per element of the result, along one dimension."""
    x, index = call.ref("self"), call.ref("index")
    dim = call.dim("dim", x.rank)
    b = call.nest()
    at = list(b.dims)
    found = b.data(b.load(index, b.dims), x.sizes[dim] if x.rank else 1, wrap=False)
    if x.rank:
        at = at or [ex.ZERO]
        at[dim] = found
    b.store(b.load(x, at[: x.rank]))
    return call.done(b)


@lower("take.default")
def take(call: Call) -> list[Result]:
    """Elements by flat index."""
    x, index = call.ref("self"), call.ref("index")
    b = call.nest()
    flat = b.data(b.load(index, b.dims), maps.numel(x.sizes))
    b.store(b.load(x, maps.split_flat(flat, x.sizes, b.ranges)))
    return call.done(b)


@lower("embedding.default")
def embedding(call: Call) -> list[Result]:
    """Rows of a table; an index outside 0 .. rows - 1 is a fault, negative ones too."""
    table, index = call.ref("weight"), call.ref("indices")
    require_scalar([index.dtype])
    b = call.nest()
    found = b.data(b.load(index, b.dims[:-1]), table.sizes[0], wrap=False)
    b.store(b.load(table, [found, b.dims[-1]]))
    return call.done(b)


@lower("one_hot.default")
def one_hot(call: Call) -> list[Result]:
    """1 where the class is the position in the last dimension, else 0."""
    x, classes = call.ref("self"), call.int_("num_classes")
    if classes <= 0:
        raise Declined("the number of classes is data")
    b = call.nest()
    found = b.data(b.load(x, b.dims[:-1]), classes, wrap=False)
    b.store(b.cast(b.op("eq", b.index(found), b.index(b.dims[-1])), "i64"))
    return call.done(b)
