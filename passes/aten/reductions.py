"""Gives reductions one form: no index that nobody uses, no permute before, one for both `keepdim`.

    before:
      %v, %i = aten.max.dim(%x, dim = 1) : !aten.t<f32[4]>, !aten.t<i64[4]>      // %i is not used
      %p = aten.permute.default(%x, dims = [1, 0]) : !aten.t<f32[8, 4]:[1, 8]>
      %s = aten.sum.dim_IntList(%p, dim = [0]) : !aten.t<f32[4]>
      %k = aten.sum.dim_IntList(%x, dim = [1], keepdim = true) : !aten.t<f32[4, 1]>
      %r = aten.div.Tensor(%s, %v) : !aten.t<f32[4]>
    after (with aten-dce):
      %v = aten.amax.default(%x, dim = [1]) : !aten.t<f32[4]>
      %s = aten.sum.dim_IntList(%x, dim = [1]) : !aten.t<f32[4]>
      %k = aten.view.default(%s, size = [4, 1]) : !aten.t<f32[4, 1]>
      %r = aten.div.Tensor(%s, %v) : !aten.t<f32[4]>

| rewrite | valid |
| --- | --- |
| max.dim, min.dim without their index -> amax, amin | any dtype: both give NaN where one is |
| reduce(permute(x)), reduce(clone(permute(x))) -> reduce(x) | the dimensions kept stay in order |
| the same reduction with the other `keepdim` -> a view of the first | as for any view |

The order in which a reduction takes its elements is free for the ops named here. A `max.dim` whose
index is used keeps it, and so does one that the backward needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from minductor.dialects.aten import AtenOp
from minductor.passes.aten._match import defined_by, remake, result_type, tensor_type
from minductor.passes.aten._rewriter import Ops, Outcome, Refusal, Rules, rewrite_module
from minductor.passes.base import MiniPass

OVER_DIMS = (
    "aten.sum.dim_IntList",
    "aten.mean.dim",
    "aten.amax.default",
    "aten.amin.default",
    "aten.any.dims",
)
"""Reductions over the dimensions `dim` (all when there are none), in any order."""


@dataclass(frozen=True)
class AtenReductionsPass(MiniPass):
    """Gives reductions one form."""

    name = "aten-reductions"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite_module(ctx, op, self.name, RULES)


def without_index(op: AtenOp) -> Outcome:
    """max.dim with an index that nobody uses -> amax."""
    values, index = op.results
    if index.first_use is not None:
        return Refusal("its index is used") if values.first_use is not None else None
    name = "amax.default" if op.name == "aten.max.dim" else "amin.default"
    args = {"self": op.operands[0], "dim": [op.arg("dim")], "keepdim": op.arg("keepdim")}
    new = AtenOp.make(name, args, [values.type])
    return Ops((new,), (new.results[0], None))


def reduced(op: AtenOp) -> list[int] | None:
    """The dimensions that a reduction takes away, from the front."""
    source = tensor_type(op.operands[0])
    dims = op.arg("dim")
    if source is None or not isinstance(dims, list | None):
        return None
    given: Sequence[int] = dims or range(source.rank)
    return sorted({d % max(source.rank, 1) for d in given})


def permuted(op: AtenOp) -> Outcome:
    """reduce(permute(x), dims) -> reduce(x, dims of x)."""
    dims = reduced(op)
    source = op.operands[0]
    copy = defined_by(source, "aten.clone.default")
    permute = defined_by(source if copy is None else copy.operands[0], "aten.permute.default")
    if permute is None or not dims:
        return None
    order = [d % len(permute.arg("dims")) for d in permute.arg("dims")]
    kept = [d for i, d in enumerate(order) if i not in dims]
    if kept != sorted(kept):
        return Refusal("the dimensions that stay come in another order")
    if op.arg("keepdim") and [i for i in range(len(order)) if i not in dims] != kept:
        return Refusal("the dimensions that stay come to other places")
    moved = sorted(order[d] for d in dims)
    if op.arg("keepdim") and moved != dims:
        return Refusal("the dimensions that stay come to other places")
    args = op.bind() | {"self": permute.operands[0], "dim": moved}
    return remake(op, op.overload, **args)


def again(op: AtenOp) -> Outcome:
    """The same reduction before, with the other `keepdim` -> a view of it."""
    result, dims = result_type(op), reduced(op)
    if result is None or not dims or not result.is_contiguous:
        return None
    for use in op.operands[0].uses:
        first = use.operation
        if first is op or first.name != op.name or not isinstance(first, AtenOp):
            continue
        if reduced(first) != dims or first.arg("keepdim") == op.arg("keepdim"):
            continue
        other = result_type(first)
        same = other is not None and other.dtype == result.dtype and other.is_contiguous
        if same and first.is_before_in_block(op):
            return _shown(op, first.results[0])
    return None


def _shown(op: AtenOp, value: SSAValue) -> Outcome:
    result = result_type(op)
    assert result is not None
    return remake(op, "view.default", self=value, size=list(result.sizes))


RULES: Rules = {
    "aten.max.dim": (without_index,),
    "aten.min.dim": (without_index,),
    **dict.fromkeys(OVER_DIMS, (permuted, again)),
}
"""Op name -> its rules, tried in order."""
