"""Cleans up `cat` of slices and slices of `cat`.

    before:
      %a, %b = aten.split_with_sizes.default(%x, split_sizes = [4, 8], dim = 1)
      %c = aten.cat.default([%a, %b], dim = 1) : !aten.t<f32[4, 12]>
      %d = aten.cat.default([%c, %y], dim = 1) : !aten.t<f32[4, 16]>
      %e = aten.slice.Tensor(%d, dim = 1, start = 12, end = 16) : !aten.t<f32[4, 4]:[16, 1]>
      %f = aten.relu.default(%e) : !aten.t<f32[4, 4]>
    after (with aten-dce):
      %f = aten.relu.default(%y) : !aten.t<f32[4, 4]>

| rewrite | valid |
| --- | --- |
| split, split_with_sizes -> a slice for each piece | always: the same views |
| cat of neighbouring slices -> one slice, or the tensor itself | as for a clone of it |
| cat(cat(x, y), z) -> cat(x, y, z) | when the inner cat is used here alone |
| slice(cat(.., y, ..)) that shows just y -> y | only pointwise ops read it, in y's order |

A `cat` is a fresh tensor: it goes only where its storage cannot be told from the slices' base (see
`_aliases.py`), and one slice of many columns is written out, since a `cat` is contiguous.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from minductor.dialects.aten import AtenOp, Elementwise
from minductor.dialects.expr import ZERO, Expr
from minductor.dialects.types import TensorType
from minductor.passes.aten._match import defined_by, result_type, tensor_type
from minductor.passes.aten._rewriter import Ops, Outcome, Refusal, Rules, Same, rewrite_module
from minductor.passes.base import MiniPass

SLICE = "aten.slice.Tensor"
CAT = "aten.cat.default"
SPLITS = ("aten.split_with_sizes.default", "aten.split.Tensor")


@dataclass(frozen=True)
class AtenCatPass(MiniPass):
    """Cleans up cat of slices and slices of cat."""

    name = "aten-cat"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite_module(ctx, op, self.name, RULES)


@dataclass(frozen=True)
class Piece:
    """Elements `start` to `start + length` of `base` along `dim`; the whole of it too."""

    base: SSAValue
    dim: int
    start: Expr
    length: Expr

    def before(self, other: Piece) -> bool:
        """The other one follows at once in the same tensor."""
        same = self.base is other.base and self.dim == other.dim
        return same and other.start is self.start + self.length


def piece_of(value: SSAValue, dim: int) -> Piece | None:
    """What a value shows along `dim`."""
    type_ = tensor_type(value)
    if type_ is None or type_.rank == 0:
        return None
    op = defined_by(value, SLICE)
    if op is not None and op.arg("step") == 1 and op.arg("dim") % type_.rank == dim:
        start = _known_start(op)
        if start is not None:
            return Piece(op.operands[0], dim, start, type_.sizes[dim])
    return Piece(value, dim, ZERO, type_.sizes[dim])


def _known_start(op: AtenOp) -> Expr | None:
    """Where a slice starts, when no bound has to be put right for that."""
    start = op.arg("start")
    if start is None:
        return ZERO
    if not isinstance(start, int):
        return start if isinstance(start, Expr) else None
    length = result_type(op)
    assert length is not None
    size = length.sizes[op.arg("dim") % length.rank].as_int
    # an empty slice may start anywhere
    return Expr.of(start) if start >= 0 and (start == 0 or size != 0) else None


def slices_of_split(op: AtenOp) -> Outcome:
    """split(x) -> slices of x."""
    source = tensor_type(op.operands[0])
    if source is None:
        return None
    dim = op.arg("dim") % source.rank
    start, made = ZERO, list[AtenOp]()
    for result in op.results:
        type_ = tensor_type(result)
        if type_ is None:
            return None
        made.append(cut(op.operands[0], dim, start, type_))
        start = start + type_.sizes[dim]
    return Ops(tuple(made), tuple(one.results[0] for one in made))


def cut(base: SSAValue, dim: int, start: Expr, type_: TensorType) -> AtenOp:
    """The slice of `base` that begins at `start`."""
    args = {"self": base, "dim": dim, "start": start, "end": start + type_.sizes[dim]}
    return AtenOp.make("slice.Tensor", args, [type_])


def cat(op: AtenOp) -> Outcome:
    """cat(cat(x, y), z) -> cat(x, y, z); cat of neighbours -> one slice."""
    result = result_type(op)
    tensors = op.bind()["tensors"]
    if result is None or not all(_like(t, result) for t in tensors):
        return None
    dim = op.arg("dim") % result.rank
    flat = list(_flat(tensors, dim))
    pieces = [piece_of(value, dim) for value in flat]
    runs = list(_runs([p for p in pieces if p is not None]))
    if len(runs) == len(tensors) or len(pieces) != len(flat):
        return _shared_inner(tensors, dim)
    if len(runs) == 1:
        return _one_slice(op, runs[0], result)
    made = [_cut_of(run) for run in runs]
    new = [one for one in made if isinstance(one, AtenOp)]
    values = [one.results[0] if isinstance(one, AtenOp) else one for one in made]
    return Ops.chain(*new, AtenOp.make("cat.default", {"tensors": values, "dim": dim}, [result]))


def _like(value: object, result: TensorType) -> bool:
    """A tensor of the result's dtype and rank: `cat` converts others, and skips empty 1-d ones."""
    type_ = tensor_type(value)
    return type_ is not None and (type_.dtype, type_.rank) == (result.dtype, result.rank)


def _flat(tensors: Sequence[SSAValue], dim: int) -> Iterator[SSAValue]:
    for value in tensors:
        inner = defined_by(value, CAT)
        if inner is None or not _same_dim(inner, dim) or not value.has_one_use():
            yield value
        else:
            yield from inner.bind()["tensors"]


def _same_dim(inner: AtenOp, dim: int) -> bool:
    type_ = result_type(inner)
    tensors = inner.bind()["tensors"]
    return (
        type_ is not None
        and inner.arg("dim") % type_.rank == dim
        and all(_like(t, type_) for t in tensors)
    )


def _shared_inner(tensors: Sequence[SSAValue], dim: int) -> Refusal | None:
    for value in tensors:
        inner = defined_by(value, CAT)
        if inner is not None and _same_dim(inner, dim) and not value.has_one_use():
            return Refusal(f"the cat inside, %{value.name_hint}, is used elsewhere too")
    return None


def _runs(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Neighbours of one tensor as one piece."""
    run: Piece | None = None
    for piece in pieces:
        if run is not None and run.before(piece):
            run = Piece(run.base, run.dim, run.start, run.length + piece.length)
            continue
        if run is not None:
            yield run
        run = piece
    if run is not None:
        yield run


def _is_whole(piece: Piece) -> bool:
    type_ = tensor_type(piece.base)
    assert type_ is not None
    return piece.start is ZERO and piece.length is type_.sizes[piece.dim]


def _cut_of(piece: Piece) -> AtenOp | SSAValue:
    base = tensor_type(piece.base)
    assert base is not None
    if _is_whole(piece):
        return piece.base
    sizes = [*base.sizes[: piece.dim], piece.length, *base.sizes[piece.dim + 1 :]]
    return cut(piece.base, piece.dim, piece.start, base.with_(sizes=sizes, strides=base.strides))


def _one_slice(op: AtenOp, piece: Piece, result: TensorType) -> Outcome:
    one = _cut_of(piece)
    if isinstance(one, SSAValue):
        if one.type is result:
            return Same(one)
        return Ops.chain(_copy(one, result))
    return Ops.chain(one, _copy(one.results[0], result))


def _copy(value: SSAValue, result: TensorType) -> AtenOp:
    args: dict[str, object] = {"self": value}
    if result.is_contiguous:
        args["memory_format"] = "contiguous_format"
    return AtenOp.make("clone.default", args, [result])


def slice_of_cat(op: AtenOp) -> Outcome:
    """slice(cat(.., y, ..)) -> y."""
    result = result_type(op)
    inner = defined_by(op.operands[0], CAT)
    if inner is None or result is None or not _same_dim(inner, op.arg("dim") % result.rank):
        return None
    dim = op.arg("dim") % result.rank
    shown = piece_of(op.results[0], dim)
    if shown is None or shown.base is not op.operands[0]:
        return None
    starts = [ZERO]
    tensors: list[SSAValue] = inner.bind()["tensors"]
    for value in tensors:
        type_ = tensor_type(value)
        assert type_ is not None
        starts.append(starts[-1] + type_.sizes[dim])
    for value, (start, end) in zip(tensors, pairwise(starts), strict=True):
        if start is shown.start and end is start + shown.length:
            return _instead(op, value)
    return Refusal("it shows parts of several tensors, or a part of one")


def _instead(op: AtenOp, value: SSAValue) -> Outcome:
    type_ = tensor_type(value)
    assert type_ is not None
    if type_ is not op.results[0].type:
        whole = tensor_type(op.operands[0])
        if not type_.is_contiguous or whole is None or not whole.is_contiguous:
            return Refusal("the tensor that was put there has another order of elements")
        if not all(use.operation.has_trait(Elementwise) for use in op.results[0].uses):
            return Refusal("what reads it may depend on its strides")
    return Ops((), (value,))


RULES: Rules = {
    **dict.fromkeys(SPLITS, (slices_of_split,)),
    CAT: (cat,),
    SLICE: (slice_of_cat,),
}
"""Op name -> its rules, tried in order."""
