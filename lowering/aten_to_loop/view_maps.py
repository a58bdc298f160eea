"""The index maths of views, as pure functions.

Every function answers one question: given the point d0, d1, .. of the view, which element of the
viewed tensor is that? It returns one expression per dimension of the *viewed* tensor over the
view's variables:

    permute_index([1, 0])            [d1, d0]
    slice_index(2, 1, 3, 2)          [d0, 2 * d1 + 3]
    reshape_index([6, 4], [24])      [d0 floordiv 4, d0 mod 4]

Sizes may be symbolic; `Ranges` knows their symbols. Where a sign must be known and is not, the
functions raise `Declined`.
"""

from __future__ import annotations

from collections.abc import Sequence

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr, ExprLike
from minductor.dialects.expr_simplify import Ranges, contiguous_strides, flatten_index, product
from minductor.lowering.aten_to_loop.registry import Declined

Index = list[Expr]


def identity(rank: int) -> Index:
    """d0, d1, ..: the tensor as it is."""
    return [ex.dim(k) for k in range(rank)]


def is_empty(sizes: Sequence[Expr]) -> bool:
    """Some size is 0 for sure."""
    return any(s is ex.ZERO for s in sizes)


def permute_index(order: Sequence[int]) -> Index:
    """View dimension k shows dimension `order[k]`."""
    out = identity(len(order))
    for k, dim in enumerate(order):
        out[dim] = ex.dim(k)
    return out


def drop_index(rank: int, kept: Sequence[int]) -> Index:
    """View dimension k shows dimension `kept[k]`; the others are at 0 (squeeze, select of 0)."""
    out = [ex.ZERO] * rank
    for k, dim in enumerate(kept):
        out[dim] = ex.dim(k)
    return out


def insert_index(rank: int, at: int) -> Index:
    """A view with one more dimension, of size 1, at `at` (unsqueeze)."""
    return [ex.dim(k if k < at else k + 1) for k in range(rank)]


def select_index(rank: int, dim: int, at: Expr) -> Index:
    """The view without dimension `dim`, which stands at `at`."""
    out = [ex.dim(k if k < dim else k - 1) for k in range(rank)]
    out[dim] = at
    return out


def slice_index(rank: int, dim: int, start: Expr, step: ExprLike = 1) -> Index:
    """Every `step`-th element of dimension `dim` from `start` on."""
    out = identity(rank)
    out[dim] = start + step * ex.dim(dim)
    return out


def wrap_position(at: Expr, size: Expr, ranges: Ranges) -> Expr:
    """A position that may count from the end, from the start. Declined if its sign is unknown."""
    if ranges.nonneg(at):
        return at
    if ranges.nonneg(-1 - at):
        return ranges.simplify(at + size)
    raise Declined(f"the sign of position `{at}` is not known")


def slice_start(start: Expr | None, size: Expr, ranges: Ranges) -> Expr:
    """Where a slice begins. One past the end needs no clamp: such a slice has no elements."""
    if start is None:
        return ex.ZERO
    first = wrap_position(start, size, ranges)
    if first is start or ranges.nonneg(first):
        return first
    return ranges.simplify(ex.emax(first, 0))


def diagonal_index(rank: int, offset: int, dim1: int, dim2: int) -> Index:
    """The diagonal of dimensions dim1 and dim2; it becomes the last dimension."""
    others = [k for k in range(rank) if k not in (dim1, dim2)]
    out = drop_index(rank, others)
    last = ex.dim(len(others))
    out[dim1] = last + max(0, -offset)
    out[dim2] = last + max(0, offset)
    return out


def unfold_index(rank: int, dim: int, step: ExprLike) -> Index:
    """Windows that begin every `step` elements of `dim`; the place in a window comes last."""
    if rank == 0:
        return []
    out = identity(rank)
    out[dim] = step * ex.dim(dim) + ex.dim(rank)
    return out


def flip_index(sizes: Sequence[Expr], dims: Sequence[int]) -> Index:
    """The given dimensions run backwards."""
    out = identity(len(sizes))
    for k in dims:
        out[k] = sizes[k] - 1 - ex.dim(k)
    return out


def roll_index(sizes: Sequence[Expr], shifts: Sequence[Expr], dims: Sequence[int]) -> Index:
    """Element i of dimension `dims[k]` moves to (i + shifts[k]) mod size."""
    out = identity(len(sizes))
    for shift, k in zip(shifts, dims, strict=True):
        out[k] = ex.ZERO if sizes[k] is ex.ONE else ex.mod(out[k] - shift, sizes[k])
    return out


def repeat_index(sizes: Sequence[Expr], rank: int) -> Index:
    """The tensor tiled; new leading dimensions repeat the whole."""
    skip = rank - len(sizes)
    return [
        ex.ZERO if size is ex.ONE else ex.mod(ex.dim(skip + k), size)
        for k, size in enumerate(sizes)
    ]


def reshape_index(sizes: Sequence[Expr], to: Sequence[Expr], ranges: Ranges) -> Index:
    """Row-major order kept: the flat index of the view, split by `sizes`.

    Dimensions are matched in groups of equal products first, so a part that does not change stays
    a plain variable. Products are equal over all by contract.
    """
    if is_empty(sizes):
        zero = next((ex.dim(k) for k, s in enumerate(to) if s is ex.ZERO), ex.ZERO)
        return [zero if s is ex.ZERO else ex.ZERO for s in sizes]
    out = [ex.ZERO] * len(sizes)
    mine = [k for k, s in enumerate(sizes) if s is not ex.ONE]
    other = [k for k, s in enumerate(to) if s is not ex.ONE]
    inner = ranges.with_extents(enumerate(to))
    for left, right in _groups([sizes[k] for k in mine], [to[k] for k in other]):
        old, new = [mine[k] for k in left], [other[k] for k in right]
        if len(old) == len(new) == 1:
            out[old[0]] = ex.dim(new[0])
            continue
        strides = contiguous_strides([to[k] for k in new])
        flat = flatten_index([ex.dim(k) for k in new], strides)
        for k, e in zip(old, split_flat(flat, [sizes[k] for k in old], inner), strict=True):
            out[k] = e
    return out


def split_flat(flat: Expr, sizes: Sequence[Expr], ranges: Ranges) -> Index:
    """The row-major index into `sizes` whose flat index is `flat` (0 <= flat < product)."""
    out: Index = []
    for k, (size, stride) in enumerate(zip(sizes, contiguous_strides(sizes), strict=True)):
        e = ranges.simplify(ex.floordiv(flat, stride))
        out.append(ranges.simplify(ex.mod(e, size)) if k else e)
    return out


def _groups(a: Sequence[Expr], b: Sequence[Expr]) -> list[tuple[list[int], list[int]]]:
    """Shortest runs of a and b, in step, with equal products; the last takes what is left."""
    out: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(a) and j < len(b):
        left, right = [i], [j]
        pa, pb = a[i], b[j]
        i, j = i + 1, j + 1
        while pa is not pb:
            side = _shorter(pa, pb)
            if side is None or (side and i == len(a)) or (not side and j == len(b)):
                left += range(i, len(a))
                right += range(j, len(b))
                i, j = len(a), len(b)
                break
            if side:
                left.append(i)
                pa, i = pa * a[i], i + 1
            else:
                right.append(j)
                pb, j = pb * b[j], j + 1
        out.append((left, right))
    if i < len(a) or j < len(b):
        out.append((list(range(i, len(a))), list(range(j, len(b)))))
    return out


def _shorter(pa: Expr, pb: Expr) -> bool | None:
    """True if the run with product pa must grow, False if the other, None if that is open."""
    ia, ib = pa.as_int, pb.as_int
    if ia is not None and ib is not None:
        return ia < ib
    if _divides(pa, pb):
        return True
    return False if _divides(pb, pa) else None


def _divides(a: Expr, b: Expr) -> bool:
    quotient, rest = ex.split_multiple(b, a)
    return not rest.terms and bool(quotient.terms)


def storage_order(sizes: Sequence[Expr], strides: Sequence[Expr]) -> list[int] | None:
    """Dimensions from the slowest to the fastest if the layout has no gap and no overlap.

    None if that is not so or not known. Dimensions of size 1 are left out.
    """
    left = [k for k, s in enumerate(sizes) if s is not ex.ONE]
    order: list[int] = []
    step = ex.ONE
    while left:
        found = next((k for k in left if strides[k] is step), None)
        if found is None:
            return None
        left.remove(found)
        order.append(found)
        step = step * sizes[found]
    return order[::-1]


def is_injective(sizes: Sequence[Expr], strides: Sequence[Expr], ranges: Ranges) -> bool:
    """Whether all points of a strided window surely have places of their own.

    Taken from the fastest dimension to the slowest, each must step over all that the ones before
    it reach. Enough, not needed: windows of interleaved dimensions are answered with False.
    """
    left = [k for k, s in enumerate(sizes) if s is not ex.ONE]
    reach = ex.ZERO
    while left:
        found = next(
            (k for k in left if all(ranges.le(strides[k], strides[o]) for o in left)), None
        )
        if found is None or not ranges.lt(reach, strides[found]):
            return False
        left.remove(found)
        reach = reach + (sizes[found] - 1) * strides[found]
    return True


def storage_index(
    flat: Expr, sizes: Sequence[Expr], strides: Sequence[Expr], ranges: Ranges
) -> Index:
    """The index of the element at offset `flat` in the storage of a dense tensor.

    `ranges` knows the variables of `flat`. Declined if the layout is not dense.
    """
    order = storage_order(sizes, strides)
    if order is None:
        raise Declined("the storage has gaps or overlaps")
    out = [ex.ZERO] * len(sizes)
    for k, e in zip(order, split_flat(flat, [sizes[k] for k in order], ranges), strict=True):
        out[k] = e
    return out


def strided_offset(rank: int, strides: Sequence[Expr], offset: ExprLike) -> Expr:
    """offset + d0 * strides[0] + ..: the storage offset of a point of a strided view."""
    return Expr.of(offset) + flatten_index(identity(rank), strides)


def reflect_position(e: Expr, size: Expr) -> Expr:
    """`e` outside 0 .. size - 1 mirrored at the first or last element, which is not repeated."""
    once = ex.emax(e, -e)
    return ex.emin(once, 2 * (size - 1) - once)


def clamp_position(e: Expr, size: Expr) -> Expr:
    """`e` moved into 0 .. size - 1."""
    return ex.emin(ex.emax(e, 0), size - 1)


def numel(sizes: Sequence[ExprLike]) -> Expr:
    """The number of elements."""
    return product(sizes)
