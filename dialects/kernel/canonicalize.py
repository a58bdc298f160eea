"""Canonical forms of `kernel` loops.

parallel d0 : 1 { body }   ->  body with d0 = 0
parallel d0 : 0 { body }   ->  nothing
"""

from __future__ import annotations

from typing import cast

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint
from xdsl.traits import HasCanonicalizationPatternsTrait

from minductor.dialects import expr as ex
from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.kernel.attrs import VarAttr


class LoopCanonicalization(HasCanonicalizationPatternsTrait):
    """Gives `parallel` and `for` their pattern."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return (ShortLoop(),)


class ShortLoop(RewritePattern):
    """A loop of no iteration goes, of one iteration is its body."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        extent = cast(ExprAttr, op.properties["extent"]).data.as_int
        if extent == 0:
            rewriter.erase(op)
        elif extent == 1:
            atom = ex.dim_atom(cast(VarAttr, op.properties["var"]).data)
            for inner in op.regions[0].walk():
                _at_zero(inner, atom)
            rewriter.inline_block(op.regions[0].block, InsertPoint.before(op))
            rewriter.erase(op)


def _at_zero(op: Operation, atom: ex.Atom) -> None:
    env = {atom: ex.ZERO}
    for name, attr in list(op.properties.items()):
        if isinstance(attr, ExprAttr):
            op.properties[name] = ExprAttr(attr.data.subs(env))
        elif isinstance(attr, IndexAttr):
            op.properties[name] = IndexAttr(tuple(e.subs(env) for e in attr.data))
