"""Canonical forms of `loop` ops.

view of a view            ->  one view of the base
view with offset 0 to the same type  ->  its source
"""

from __future__ import annotations

from typing import cast

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait

from minductor.dialects.attrs import ExprAttr
from minductor.dialects.types import TensorType


class ViewCanonicalization(HasCanonicalizationPatternsTrait):
    """Gives `view` its pattern."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return (MergeViews(),)


class MergeViews(RewritePattern):
    """Compose views of one dtype; drop the view that changes nothing."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        source, result = op.operands[0], op.results[0]
        offset = cast(ExprAttr, op.properties["offset"]).data
        if source.type == result.type and offset.as_int == 0:
            rewriter.replace(op, [], [source])
            return
        inner = source.owner
        if not isinstance(inner, Operation) or inner.name != op.name:
            return
        types = [source.type, inner.operands[0].type]
        if any(cast(TensorType, t).dtype != cast(TensorType, result.type).dtype for t in types):
            return
        total = offset + cast(ExprAttr, inner.properties["offset"]).data
        new = type(op).create(
            operands=[inner.operands[0]],
            result_types=[result.type],
            properties={"offset": ExprAttr(total)},
        )
        new.location = op.location
        rewriter.replace(op, new)
