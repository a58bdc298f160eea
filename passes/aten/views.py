"""Merges chains of views, and removes views and copies that show nothing new.

    before:
      %a = aten.alias.default(%x) : !aten.t<f32[4, 8]>
      %b = aten.permute.default(%a, dims = [1, 0]) : !aten.t<f32[8, 4]:[1, 8]>
      %c = aten.permute.default(%b, dims = [1, 0]) : !aten.t<f32[4, 8]>
      %d = aten.view.default(%c, size = [32]) : !aten.t<f32[32]>
      %e = aten.view.default(%d, size = [8, 4]) : !aten.t<f32[8, 4]>
      %f = aten.clone.default(%e) : !aten.t<f32[8, 4]>
      %g = aten.relu.default(%f) : !aten.t<f32[8, 4]>
    after (with aten-dce):
      %e = aten.view.default(%x, size = [8, 4]) : !aten.t<f32[8, 4]>
      %g = aten.relu.default(%e) : !aten.t<f32[8, 4]>

`alias`, `detach`, and views that show the whole operand in its own order go always: they share its
storage anyway. A clone goes only where nobody can tell its storage from the operand's (see
`_aliases.py`): not when both reach the caller, not when the operand is overwritten before a read.
Layouts are not chosen here: a clone that changes strides stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from minductor.dialects.aten import AtenOp, always_view
from minductor.dialects.expr import ONE
from minductor.dialects.types import TensorType
from minductor.passes.aten._match import defined_by, remake, result_type, tensor_type
from minductor.passes.aten._rewriter import Outcome, Refusal, Rules, Same, rewrite_module
from minductor.passes.base import MiniPass


@dataclass(frozen=True)
class AtenViewsPass(MiniPass):
    """Merges chains of views, removes copies that show nothing new."""

    name = "aten-views"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite_module(ctx, op, self.name, RULES)


RESHAPES = (
    "aten.view.default",
    "aten._unsafe_view.default",
    "aten.unsqueeze.default",
    "aten.squeeze.default",
    "aten.squeeze.dim",
    "aten.squeeze.dims",
)
"""Views that keep the row-major order of the elements."""


def identity(op: AtenOp) -> Outcome:
    """A view that shows its operand as it is."""
    return op.operands[0] if op.operands[0].type is op.results[0].type else None


def whole_slice(op: AtenOp) -> Outcome:
    """A slice of step 1 that is as long as its operand."""
    return identity(op) if op.arg("step") == 1 else None


def reshape_chain(op: AtenOp) -> Outcome:
    """reshape(reshape(x)) -> view(x), or x where the sizes are x's own."""
    result = result_type(op)
    if result is None:
        return None
    if op.operands[0].type is result:
        return op.operands[0]
    inner = defined_by(op.operands[0], *RESHAPES)
    if inner is None:
        return None
    x = inner.operands[0]
    if x.type is result:
        return x
    if not mergeable(tensor_type(x), tensor_type(inner.results[0]), result):
        return Refusal("the storage of the first operand is not row-major")
    return remake(op, "view.default", self=x, size=list(result.sizes))


def mergeable(first: TensorType | None, middle: TensorType | None, last: TensorType) -> bool:
    """One view can replace the two: all are contiguous, or only size-1 dimensions come and go."""
    if first is None or middle is None:
        return False
    if first.is_contiguous and middle.is_contiguous and last.is_contiguous:
        return True
    return _dense(first) == _dense(middle) == _dense(last)


def _dense(type_: TensorType) -> list[Any]:
    """Sizes and strides of the dimensions that are not 1."""
    return [p for p in zip(type_.sizes, type_.strides, strict=True) if p[0] is not ONE]


def permute_chain(op: AtenOp) -> Outcome:
    """permute(permute(x)) -> permute(x), or x."""
    dims = wrapped(op.arg("dims"), op)
    if dims == list(range(len(dims))):
        return identity(op)
    inner = defined_by(op.operands[0], "aten.permute.default")
    if inner is None:
        return None
    before = wrapped(inner.arg("dims"), inner)
    merged = [before[d] for d in dims]
    x = inner.operands[0]
    if merged == list(range(len(merged))) and x.type is op.results[0].type:
        return x
    return remake(op, "permute.default", self=x, dims=merged)


def wrapped(dims: list[int], op: AtenOp) -> list[int]:
    """Dimensions counted from the front."""
    type_ = result_type(op)
    rank = 0 if type_ is None else type_.rank
    return [d % rank if rank else d for d in dims]


def transpose(op: AtenOp) -> Outcome:
    """transpose(x, a, b), t(x) -> permute(x)."""
    type_ = result_type(op)
    if type_ is None:
        return None
    dims = list(range(type_.rank))
    if op.name == "aten.transpose.int":
        if not dims:
            return identity(op)
        a, b = op.arg("dim0") % type_.rank, op.arg("dim1") % type_.rank
        dims[a], dims[b] = dims[b], dims[a]
    else:
        dims.reverse()
    return remake(op, "permute.default", self=op.operands[0], dims=dims)


def expand_chain(op: AtenOp) -> Outcome:
    """expand(expand(x)) -> expand(x), or x."""
    result = result_type(op)
    if result is None or op.operands[0].type is result:
        return identity(op)
    inner = defined_by(op.operands[0], "aten.expand.default")
    if inner is None:
        return None
    return remake(op, "expand.default", self=inner.operands[0], size=list(result.sizes))


def reshape(op: AtenOp) -> Outcome:
    """reshape(x) of a contiguous x -> view(x): that is what eager does."""
    source, result = tensor_type(op.operands[0]), result_type(op)
    if source is None or result is None:
        return None
    if source is result:
        return op.operands[0]
    if not source.is_contiguous:
        return Refusal("reshape of a tensor that is not contiguous may copy")
    return remake(op, "view.default", self=op.operands[0], size=list(result.sizes))


def copy(op: AtenOp) -> Outcome:
    """clone(x) -> x where nobody can tell."""
    source, result = tensor_type(op.operands[0]), result_type(op)
    if source is None or result is None:
        return None
    if source is not result:
        return Refusal("the copy has other strides")
    return Same(op.operands[0])


def window(op: AtenOp) -> Outcome:
    """as_strided(view(x), .., offset) -> as_strided(x, .., offset): it counts from the storage."""
    owner = op.operands[0].owner
    if not isinstance(owner, AtenOp) or not always_view(owner):
        return None
    if op.arg("storage_offset") is None:
        return Refusal("the window starts where the view does")
    x = owner.operands[0]
    if not _same_items(tensor_type(x), tensor_type(op.operands[0])):
        return Refusal("the view counts in items of another size")
    given = {name: op.arg(name) for name in ("size", "stride", "storage_offset")}
    return remake(op, "as_strided.default", self=x, **given)


def _same_items(one: TensorType | None, other: TensorType | None) -> bool:
    return one is not None and other is not None and one.dtype == other.dtype


RULES: Rules = {
    "aten.alias.default": (identity,),
    "aten.detach.default": (identity,),
    "aten.lift.default": (identity,),
    "aten.lift_fresh.default": (identity,),
    "aten.contiguous.default": (identity,),
    **dict.fromkeys(RESHAPES, (reshape_chain,)),
    "aten.slice.Tensor": (whole_slice,),
    "aten.reshape.default": (reshape,),
    "aten.permute.default": (permute_chain,),
    "aten.transpose.int": (transpose,),
    "aten.t.default": (transpose,),
    "aten.expand.default": (expand_chain,),
    "aten.as_strided.default": (window,),
    "aten.clone.default": (copy,),
    "aten.lift_fresh_copy.default": (copy,),
}
"""Op name -> its rules, tried in order."""
