"""Writes into a part of a tensor, as new tensors: slice_scatter, select_scatter, triangles.

%r = aten.slice_scatter(%x, %s) {dim = 0, start = 2, end = 4}
  -->  one pass that picks its source, and fuses with its readers
%buf0 = loop.nest (d0: 8) -> (%o : !aten.t<f32[8]>) origins ["slice_scatter"] {
  %c = scalar.within d0 in 2 to 4
  %v = scalar.if %c -> f32 { %0 = loop.load %s[d0 - 2] : f32   scalar.yield %0 : f32 }
       else { %1 = loop.load %x[d0] : f32   scalar.yield %1 : f32 }
  loop.store %v, %o[d0] }
  -->  where %x is an argument that ends up holding the result (a cache, say): only the part
%buf0 = loop.nest (d0: 2) -> (%o = %x : !aten.t<f32[8]>) origins ["slice_scatter"] {
  %0 = loop.load %s[d0] : f32   loop.store %0, %o[d0 + 2] }
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from xdsl.ir import BlockArgument, Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.aten import AtenOp
from minductor.dialects.expr import Expr, ExprLike
from minductor.dialects.types import TensorType
from minductor.lowering.aten_to_loop import view_maps as maps
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import Declined, lower
from minductor.lowering.aten_to_loop.view import begins_elsewhere, storage_offset

PARTIAL = ("slice_scatter", "select_scatter", "diagonal_scatter", "as_strided_scatter", "index_put")
"""Packets whose result is their first operand with a part replaced."""


def updates_argument(op: Operation) -> bool:
    """The first operand is a function argument, and the result (after further partial writes) is
    copied back to it: then nothing but the part need be written."""
    arg = op.operands[0]
    if not isinstance(arg, BlockArgument):
        return False
    value: SSAValue = op.results[0]
    for _ in range(64):
        users = [(use.operation, use.index) for use in value.uses]
        if any(_packet(u) == "copy_" and k == 1 and u.operands[0] is arg for u, k in users):
            return True
        further = [u for u, k in users if k == 0 and _packet(u) in PARTIAL]
        if len(further) != 1:
            return False
        value = further[0].results[0]
    return False


def _packet(op: Operation) -> str:
    return op.schema.packet if isinstance(op, AtenOp) else ""


def base_to_update(call: Call, x: Ref, type_: TensorType) -> SSAValue:
    """A loop tensor that an updating nest of result `type_` may start from."""
    if x.is_whole and x.dtype == type_.dtype:
        return x.base
    return call.fn.copy(x, type_)


def decline_storage(call: Call, x: Ref) -> None:
    """Declines where the storage of the result is read and has more in it than the elements."""
    if call.op.results[0] not in call.fn.storages_read:
        return
    if not x.is_whole or not x.type.is_contiguous or begins_elsewhere(x.base):
        raise Declined("as_strided reads the storage of the operand, which is copied too")


def replace_part(
    call: Call,
    x: Ref,
    source: Ref,
    inverse: Callable[[NestBuilder], tuple[list[SSAValue], list[Expr]]],
    forward: Sequence[Expr],
) -> list[Result]:
    """`x` with a part replaced by `source`.

    inverse: at a point of the result, the conditions under which it belongs to the part, and the
    index into `source` there. forward: the index into the result of a point of `source`.
    """
    if not maps.is_injective(x.sizes, call.type.strides, call.fn.ranges):
        raise Declined("elements of the result share places: the order of writes counts")
    decline_storage(call, x)
    if x.is_whole and updates_argument(call.op):
        b = call.nest(source.sizes, updates={0: x.base})
        at = [
            e.subs(dict(zip(map(ex.dim_atom, range(source.rank)), b.dims, strict=True)))
            for e in forward
        ]
        b.store(b.load(source, b.dims), index=at)
        return call.done(b)
    b = call.nest()
    dtype = call.type.dtype
    conditions, index = inverse(b)
    b.store(
        guarded(
            b,
            conditions,
            lambda: b.cast(b.load(source, index), dtype),
            lambda: b.cast(b.load(x, b.dims), dtype),
        )
    )
    return call.done(b)


def guarded(
    b: NestBuilder,
    conditions: Sequence[SSAValue],
    then: Callable[[], SSAValue],
    orelse: Callable[[], SSAValue],
) -> SSAValue:
    """`then` where all conditions hold; an `if` for each, so that loops can be split there."""
    if not conditions:
        return then()
    return b.if_(conditions[0], lambda: guarded(b, conditions[1:], then, orelse), orelse)


def within_all(
    b: NestBuilder, tests: Iterable[tuple[ExprLike, ExprLike, ExprLike]]
) -> list[SSAValue]:
    """lo <= e < hi for each (e, lo, hi); what the ranges prove is left out."""
    out: list[SSAValue] = []
    for e, lo, hi in tests:
        low, at, high = (b.ranges.simplify(Expr.of(x)) for x in (lo, e, hi))
        if not (b.ranges.le(low, at) and b.ranges.lt(at, high)):
            out.append(b.within(at, low, high))
    return out


@lower("slice_scatter.default")
def slice_scatter(call: Call) -> list[Result]:
    """`src` in the place of a slice."""
    x, source = call.ref("self"), call.ref("src")
    dim = call.dim("dim", x.rank)
    start = maps.slice_start(call.opt_expr("start"), x.sizes[dim], call.fn.ranges)
    step = call.expr("step")
    count = source.sizes[dim]

    def inverse(b: NestBuilder) -> tuple[list[SSAValue], list[Expr]]:
        place = b.dims[dim] - start
        tests = [(b.dims[dim], start, start + step * (count - 1) + 1), (ex.mod(place, step), 0, 1)]
        conditions = within_all(b, tests)
        index = list(b.dims)
        index[dim] = ex.floordiv(place, step)
        return conditions, index

    forward = maps.slice_index(x.rank, dim, start, step)
    return replace_part(call, x, source, inverse, forward)


@lower("select_scatter.default")
def select_scatter(call: Call) -> list[Result]:
    """`src` in the place of one position of a dimension."""
    x, source = call.ref("self"), call.ref("src")
    dim = call.dim("dim", x.rank)
    at = maps.wrap_position(call.expr("index"), x.sizes[dim], call.fn.ranges)

    def inverse(b: NestBuilder) -> tuple[list[SSAValue], list[Expr]]:
        inside = within_all(b, [(b.dims[dim], at, at + 1)])
        return inside, [e for k, e in enumerate(b.dims) if k != dim]

    return replace_part(call, x, source, inverse, maps.select_index(x.rank, dim, at))


@lower("diagonal_scatter.default")
def diagonal_scatter(call: Call) -> list[Result]:
    """`src` in the place of a diagonal."""
    x, source = call.ref("self"), call.ref("src")
    offset = call.int_("offset")
    one, two = call.dim("dim1", x.rank), call.dim("dim2", x.rank)

    def inverse(b: NestBuilder) -> tuple[list[SSAValue], list[Expr]]:
        inside = within_all(b, [(b.dims[two] - b.dims[one] - offset, 0, 1)])
        others = [e for k, e in enumerate(b.dims) if k not in (one, two)]
        return inside, [*others, b.dims[one] - max(0, -offset)]

    forward = maps.diagonal_index(x.rank, offset, one, two)
    return replace_part(call, x, source, inverse, forward)


@lower("as_strided_scatter.default")
def as_strided_scatter(call: Call) -> list[Result]:
    """`src` in the place of a strided window on the storage."""
    x, source = call.ref("self"), call.ref("src")
    decline_storage(call, x)
    offset = storage_offset(call, x)
    if not x.is_whole or maps.is_empty(x.sizes):
        raise Declined("the storage is not that of the operand alone")
    if not maps.is_injective(source.sizes, call.exprs("stride"), call.fn.ranges):
        raise Declined("elements of the window may share a place: the library says which one stays")
    b = call.nest(source.sizes, updates={0: x.base})
    flat = offset
    for d, stride in zip(b.dims, call.exprs("stride"), strict=True):
        flat = flat + d * stride
    index = maps.storage_index(flat, x.sizes, x.type.strides, b.ranges)
    b.store(b.load(source, b.dims), index=index)
    return call.done(b)


@lower("diag_embed.default")
def diag_embed(call: Call) -> list[Result]:
    """The last dimension on a diagonal of two new dimensions, 0 elsewhere."""
    x, rank = call.ref("self"), call.type.rank
    offset = call.int_("offset")
    one, two = call.dim("dim1", rank), call.dim("dim2", rank)
    b = call.nest()
    others = [e for k, e in enumerate(b.dims) if k not in (one, two)]
    place = b.dims[one] - max(0, -offset)
    tests = [(b.dims[two] - b.dims[one] - offset, 0, 1), (place, 0, x.sizes[-1])]
    b.store(
        guarded(
            b,
            within_all(b, tests),
            lambda: b.load(x, [*others, place]),
            lambda: b.const(0, call.type.dtype),
        )
    )
    return call.done(b)


@lower("tril.default", "triu.default")
def triangle(call: Call) -> list[Result]:
    """One side of a diagonal kept, 0 elsewhere; what is dropped is not read."""
    x, k = call.ref("self"), call.int_("diagonal")
    b = call.nest()
    row, column = b.dims[-2], b.dims[-1]
    rows, columns = x.sizes[-2], x.sizes[-1]
    if call.overload.startswith("tril"):
        kept = (row - column + k, 0, ex.emax(rows + k, 0))
    else:
        kept = (column - row - k, 0, ex.emax(columns - k, 0))
    b.store(
        guarded(
            b,
            within_all(b, [kept]),
            lambda: b.load(x, b.dims),
            lambda: b.const(0, call.type.dtype),
        )
    )
    return call.done(b)
