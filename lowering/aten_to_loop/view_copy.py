"""Copies: a nest that reads through an index map.

    %f = aten.flip(%x) {dims = [1]}
      -->
    %buf0 = loop.nest (d0: 4, d1: 8) -> (%o : !aten.t<f32[4, 8]>) origins ["flip"] {
      %0 = loop.load %x[d0, 7 - d1] : f32   loop.store %0, %o[d0, d1] }

The layout asked for (`memory_format`) stands in the result's type. Whether a copy is made in
memory at all is loop-inline's decision: a copy with one reader becomes the reader's index.
"""

from __future__ import annotations

from collections.abc import Sequence

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.lowering.aten_to_loop import view
from minductor.lowering.aten_to_loop import view_maps as maps
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import Lowering, lower


def copied(call: Call, refs: Sequence[Result]) -> list[Result]:
    """Fresh tensors of the results' types that hold what `refs` show."""
    out: list[Result] = []
    for ref, type_ in zip(refs, call.types, strict=True):
        assert isinstance(ref, Ref)
        b = call.nest(type_.sizes, types=[type_])
        b.store(b.load(ref, b.dims))
        out += call.done(b)
    return out


@lower("flip.default")
def flip(call: Call) -> list[Result]:
    """Dimensions run backwards."""
    x = call.ref("self")
    dims = view.view_dims(call, "dims", x.rank)
    return copied(call, [view.viewed(call, maps.flip_index(x.sizes, dims if x.rank else []))])


@lower("roll.default")
def roll(call: Call) -> list[Result]:
    """Elements moved round; without `dims` over the flat tensor."""
    x = call.ref("self")
    shifts, dims = call.exprs("shifts"), view.view_dims(call, "dims", x.rank)
    if dims or not x.rank:
        index = maps.roll_index(x.sizes, shifts[: len(dims)], dims if x.rank else [])
        return copied(call, [view.viewed(call, index)])
    ranges = call.fn.ranges.with_extents(enumerate(x.sizes))
    count = maps.numel(x.sizes)
    flat = view.flat_position(x, maps.identity(x.rank))
    moved = ex.mod(flat - shifts[0], count)
    return copied(call, [view.viewed(call, maps.split_flat(moved, x.sizes, ranges))])


@lower("repeat.default", "tile.default")
def repeat(call: Call) -> list[Result]:
    """The tensor tiled."""
    x = call.ref("self")
    return copied(call, [view.viewed(call, maps.repeat_index(x.sizes, call.type.rank))])


@lower("rot90.default")
def rot90(call: Call) -> list[Result]:
    """k quarter turns from the first to the second of two dimensions."""
    x = call.ref("self")
    a, b = view.view_dims(call, "dims", x.rank)
    turns = call.int_("k") % 4
    at: list[Expr] = maps.identity(x.rank)
    da, db = ex.dim(a), ex.dim(b)
    if turns == 1:
        at[a], at[b] = db, x.sizes[b] - 1 - da
    elif turns == 2:
        at[a], at[b] = x.sizes[a] - 1 - da, x.sizes[b] - 1 - db
    elif turns == 3:
        at[a], at[b] = x.sizes[a] - 1 - db, da
    return copied(call, [view.viewed(call, at)])


_COPIES: dict[str, Lowering] = {
    "as_strided_copy.default": view.as_strided,
    "detach_copy.default": view.alias,
    "diagonal_copy.default": view.diagonal,
    "expand_copy.default": view.expand,
    "narrow_copy.default": view.narrow,
    "permute_copy.default": view.permute,
    "select_copy.int": view.select,
    "slice_copy.Tensor": view.slice_,
    "split_copy.Tensor": view.split,
    "split_with_sizes_copy.default": view.split,
    "squeeze_copy.default": view.squeeze,
    "squeeze_copy.dim": view.squeeze,
    "squeeze_copy.dims": view.squeeze,
    "t_copy.default": view.t,
    "transpose_copy.int": view.transpose,
    "unbind_copy.int": view.unbind,
    "unfold_copy.default": view.unfold,
    "unsqueeze_copy.default": view.unsqueeze,
    "view_copy.default": view.view,
}
"""Copying twins of view ops: the view's index map, then a copy."""


def _twin(viewer: Lowering) -> Lowering:
    def run(call: Call) -> list[Result]:
        return copied(call, viewer(call))

    return run


for _overload, _viewer in _COPIES.items():
    lower(_overload)(_twin(_viewer))
