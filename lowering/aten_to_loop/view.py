"""Views: no loop op, only another index map.

    %t = aten.permute(%x) {dims = [1, 0]}           Ref(%x, [d1, d0])
    %s = aten.slice.Tensor(%t) {dim = 0, start = 2}  Ref(%x, [d1, d0 + 2])
    %v = aten.view(%s) {size = [8]}                  Ref(%x, [d0 mod 4, (d0 floordiv 4) + 2])

Strides come from the result's `aten` type. All of these alias their operand in eager, so two
outputs over one base alias in the compiled function too.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.aten import COPIES_STORAGE
from minductor.dialects.expr import Expr, ExprLike
from minductor.dialects.expr_simplify import flatten_index
from minductor.dialects.loop.ops import ExternOp, ViewOp
from minductor.dialects.types import TensorType
from minductor.lowering.aten_to_loop import view_maps as maps
from minductor.lowering.aten_to_loop.call import Call, wrap_dim
from minductor.lowering.aten_to_loop.refs import Ref, Result, broadcast_index
from minductor.lowering.aten_to_loop.registry import Declined, lower


def viewed(call: Call, index: Sequence[ExprLike], result: int = 0) -> Ref:
    """`self` through an index map (over the result's variables), typed as a result of the op."""
    return call.ref("self").view(call.types[result], index, call.fn.ranges)


def view_dims(call: Call, name: str, rank: int) -> list[int]:
    """A list of dimensions, wrapped."""
    return [wrap_dim(d, rank) for d in call.ints(name)]


@lower("alias.default", "detach.default", "lift_fresh.default", "lift.default")
def alias(call: Call) -> list[Result]:
    """The same tensor: alias, detach."""
    return [call.ref("self").retyped(call.type)]


@lower("view.default", "_unsafe_view.default", "_reshape_alias.default")
def view(call: Call) -> list[Result]:
    """The same elements in row-major order under other sizes."""
    x = call.ref("self")
    return [viewed(call, maps.reshape_index(x.sizes, call.type.sizes, call.fn.ranges))]


@lower("reshape.default")
def reshape(call: Call) -> list[Result]:
    """A view where eager makes one (the layout allows it), else a copy."""
    ref = view(call)[0]
    assert isinstance(ref, Ref)
    if ref.affine(call.fn.ranges):
        return [ref]
    b = call.nest()
    b.store(b.load(ref, b.dims))
    return call.done(b)


@lower("permute.default")
def permute(call: Call) -> list[Result]:
    """Dimensions in another order."""
    return [viewed(call, maps.permute_index(view_dims(call, "dims", call.type.rank)))]


@lower("transpose.int", "swapaxes.default", "swapdims.default")
def transpose(call: Call) -> list[Result]:
    """Two dimensions exchanged."""
    rank = call.type.rank
    names = ("dim0", "dim1") if "dim0" in call.args else ("axis0", "axis1")
    a, b = (call.dim(n, rank) for n in names)
    order = list(range(rank))
    if rank:
        order[a], order[b] = order[b], order[a]
    return [viewed(call, maps.permute_index(order))]


@lower("t.default", "numpy_T.default")
def t(call: Call) -> list[Result]:
    """All dimensions reversed (`t`: at most two)."""
    return [viewed(call, maps.permute_index(list(range(call.type.rank))[::-1]))]


@lower("movedim.intlist", "movedim.int")
def movedim(call: Call) -> list[Result]:
    """Dimensions moved to new places, the others in order."""
    rank = call.type.rank
    source = view_dims(call, "source", rank)
    target = view_dims(call, "destination", rank)
    placed = dict(zip(target, source, strict=True))
    others = iter([k for k in range(rank) if k not in source])
    order = [placed[k] if k in placed else next(others) for k in range(rank)]
    return [viewed(call, maps.permute_index(order))]


@lower("unsqueeze.default")
def unsqueeze(call: Call) -> list[Result]:
    """A new dimension of size 1."""
    x = call.ref("self")
    at = wrap_dim(call.int_("dim"), x.rank + 1)
    return [viewed(call, maps.insert_index(x.rank, at))]


@lower("squeeze.default", "squeeze.dim", "squeeze.dims")
def squeeze(call: Call) -> list[Result]:
    """Dimensions of size 1 left out; a symbolic size is not 1 (the front end specialises 1)."""
    x = call.ref("self")
    asked = view_dims(call, "dim", x.rank) if "dim" in call.args else range(x.rank)
    kept = [k for k in range(x.rank) if k not in asked or x.sizes[k] is not ex.ONE]
    if len(kept) != call.type.rank:
        raise Declined("which dimensions go is not known")
    return [viewed(call, maps.drop_index(x.rank, kept))]


@lower("expand.default", "broadcast_to.default")
def expand(call: Call) -> list[Result]:
    """Dimensions of size 1 repeated with stride 0."""
    x, sizes = call.ref("self"), call.type.sizes
    return [viewed(call, broadcast_index(x.sizes, sizes, maps.identity(len(sizes))))]


@lower("slice.Tensor")
def slice_(call: Call) -> list[Result]:
    """Every step-th element between two bounds; the result's size is in its type."""
    x = call.ref("self")
    dim = call.dim("dim", x.rank)
    start = maps.slice_start(call.opt_expr("start"), x.sizes[dim], call.fn.ranges)
    return [viewed(call, maps.slice_index(x.rank, dim, start, call.expr("step")))]


@lower("narrow.default")
def narrow(call: Call) -> list[Result]:
    """`length` elements from `start` on."""
    x = call.ref("self")
    dim = call.dim("dim", x.rank)
    start = maps.wrap_position(call.expr("start"), x.sizes[dim], call.fn.ranges)
    return [viewed(call, maps.slice_index(x.rank, dim, start))]


@lower("select.int")
def select(call: Call) -> list[Result]:
    """One position of a dimension, which goes."""
    x = call.ref("self")
    dim = call.dim("dim", x.rank)
    at = maps.wrap_position(call.expr("index"), x.sizes[dim], call.fn.ranges)
    return [viewed(call, maps.select_index(x.rank, dim, at))]


@lower(
    "split.Tensor",
    "split.sizes",
    "split_with_sizes.default",
    "chunk.default",
    "unsafe_split.Tensor",
    "unsafe_split_with_sizes.default",
    "unsafe_chunk.default",
)
def split(call: Call) -> list[Result]:
    """Consecutive slices; their sizes are in the results' types."""
    x = call.ref("self")
    dim = call.dim("dim", x.rank)
    out: list[Result] = []
    start = ex.ZERO
    for k, type_ in enumerate(call.types):
        out.append(viewed(call, maps.slice_index(x.rank, dim, start), k))
        start = start + type_.sizes[dim]
    return out


@lower("unbind.int")
def unbind(call: Call) -> list[Result]:
    """Every position of a dimension as a tensor of its own."""
    x = call.ref("self")
    dim = call.dim("dim", x.rank)
    return [
        viewed(call, maps.select_index(x.rank, dim, ex.const(k)), k) for k in range(len(call.types))
    ]


@lower("diagonal.default", "linalg_diagonal.default")
def diagonal(call: Call) -> list[Result]:
    """A diagonal of two dimensions, as the last dimension."""
    name = "self" if "self" in call.args else "A"
    x = call.ref(name)
    a, b = call.dim("dim1", x.rank), call.dim("dim2", x.rank)
    index = maps.diagonal_index(x.rank, call.int_("offset"), a, b)
    return [x.view(call.type, index, call.fn.ranges)]


@lower("unfold.default")
def unfold(call: Call) -> list[Result]:
    """Windows over one dimension."""
    x = call.ref("self")
    dim = call.dim("dimension", x.rank)
    return [viewed(call, maps.unfold_index(x.rank, dim, call.expr("step")))]


def storage_offset(call: Call, x: Ref) -> Expr:
    """The offset of a strided view in the storage of `x`'s base, in elements.

    A number given by the user counts from the start of the storage. A buffer of ours begins there;
    where an argument of the function begins is known at run time only, so that case is declined.
    """
    given = call.opt_expr("storage_offset")
    if given is None:
        return x.offset()
    if begins_elsewhere(x.base):
        raise Declined("the storage offset of an argument is known at run time only")
    return given


def begins_elsewhere(base: SSAValue) -> bool:
    """Whether a tensor may begin anywhere in its storage: an argument, a view, what shares one's
    storage, or torch's copy of the whole storage of such an operand."""
    owner = base.owner
    if (
        isinstance(owner, Block | ViewOp)
        or "aliases" in owner.properties
        or "mutates" in owner.properties
    ):
        return True
    copied = isinstance(owner, ExternOp) and _packet(owner.callee.data) in COPIES_STORAGE
    return copied and begins_elsewhere(owner.operands[0])


def _packet(callee: str) -> str:
    """`torch.ops.aten.slice_scatter.default` -> `slice_scatter`."""
    return callee.rpartition(".")[0].rpartition(".")[2]


def strided_view(call: Call, x: Ref, type_: TensorType, offset: Expr) -> Ref:
    """Any strided layout over the storage of the base of `x`."""
    if not x.shares or x.dtype != x.base_type.dtype:
        raise Declined("the storage is not that of the base")
    base, inner = x.base_type, call.fn.ranges.with_extents(enumerate(type_.sizes))
    strides = call.exprs("stride")
    flat = maps.strided_offset(type_.rank, strides, offset)
    if maps.is_empty(base.sizes) or maps.is_empty(type_.sizes):
        raise Declined("no elements")
    direct = _same_layout(x, type_, strides, offset)
    index = direct or maps.storage_index(flat, base.sizes, base.strides, inner)
    return Ref(x.base, tuple(index), type_)


def _same_layout(
    x: Ref, type_: TensorType, strides: Sequence[Expr], offset: Expr
) -> list[Expr] | None:
    """The identity map when the view has the very layout of the base, gaps and all."""
    base = x.base_type
    same = (tuple(strides), type_.sizes) == (base.strides, base.sizes) and offset is ex.ZERO
    return maps.identity(type_.rank) if same else None


@lower("as_strided.default")
def as_strided(call: Call) -> list[Result]:
    """A strided window on the storage."""
    x = call.ref("self")
    return [strided_view(call, x, call.type, storage_offset(call, x))]


def flat_position(x: Ref, index: Sequence[Expr]) -> Expr:
    """The row-major flat index of a point of a value."""
    return flatten_index(index, maps.contiguous_strides(x.sizes))
