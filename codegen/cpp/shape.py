"""How a loop is printed: its vector form if it has one, header, tail, range of its variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.ir import Block, SSAValue

from minductor.codegen.cpp.scope import Lane, Scope
from minductor.codegen.cpp.vary import Variance, no_vector_form
from minductor.dialects import expr as ex
from minductor.dialects.attrs import Words
from minductor.dialects.expr import Expr
from minductor.dialects.kernel import ops as k

TAIL = {"none": 0, "mask": 1, "scalar": 2, "overlap": 4}
EXACT = 3


def words_of(op: Any) -> Words:
    """The schedule words of a loop."""
    return cast(Words, op.words.data)


def header(var: int, lo: str, hi: str) -> str:
    """`for (i64 d0 = lo; d0 < hi; ++d0) {`."""
    return f"for (i64 d{var} = {lo}; d{var} < {hi}; ++d{var}) {{"


def lane_of(
    scope: Scope, op: Any, blocks: list[Block], prefixes: Sequence[SSAValue] = ()
) -> Lane | None:
    """The vector loop that this loop opens; None when it runs (or has to run) element by element.

    Marks what varies in the body; a scan's `prefixes` do.
    """
    words = words_of(op)
    if scope.lane is not None or words.lanes == 1:
        return None
    var = op.var.data
    atom = ex.dim_atom(var)
    varying, locals_ = {*scope.varying, *prefixes}, set(scope.lane_locals)
    width = words.lanes * (words.unroll if is_nested(blocks) else 1)
    marks = Variance((atom, width), scope.index.ranges, varying, locals_)
    for block in blocks:
        marks.block(block)
    if any(no_vector_form(block, atom, varying) for block in blocks):
        return None
    scope.varying, scope.lane_locals = varying, locals_
    return Lane(var, width)


def is_nested(blocks: list[Block]) -> bool:
    """The body holds loops: it runs with all its vectors at once rather than copied for each."""
    return any(isinstance(op, k.ReduceOp | k.ScanOp | k.LoopOp) for b in blocks for op in b.ops)


def tail_of(op: Any, lanes: int, unroll: int, divided: bool = False) -> int:
    """The tail parameter of `lane_loop`; EXACT when the length is a known multiple."""
    words, extent = words_of(op), op.extent.data.as_int
    if extent is not None and extent % (lanes * unroll) == 0:
        return EXACT
    if words.tail == "none" and lanes > words.lanes:
        return TAIL["mask"]
    return TAIL[words.tail]


class ranged:
    """Within: the loop variable's range is known to the index printer."""

    def __init__(self, scope: Scope, var: int, extent: Expr):
        self.scope, self.var, self.extent = scope, var, extent
        self.before = scope.index.ranges

    def __enter__(self) -> None:
        self.scope.index.ranges = self.before.with_extents([(self.var, self.extent)])

    def __exit__(self, *_: object) -> None:
        self.scope.index.ranges = self.before
