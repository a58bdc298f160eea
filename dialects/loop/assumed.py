"""Accesses that lie inside their tensor by facts on symbolic sizes which ranges do not show."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation

from minductor.dialects.expr import Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.loop.ops import LoadOp
from minductor.dialects.scalar.ops import BoundOp
from minductor.dialects.types import TensorType


def mark_assumed(
    access: Operation, index: Sequence[Expr], type_: TensorType, ranges: Ranges
) -> None:
    """Sets `assumed` where an index over symbols is not proved to be in range.

    `ranges` knows the index operands. Constant sizes and indices must always be proved.
    """
    for e, size in zip(index, type_.sizes, strict=True):
        if size.as_int is not None and not e.vars("su"):
            continue
        if not (ranges.nonneg(e) and ranges.lt(e, size)):
            access.attributes["assumed"] = UnitAttr()
            return


def mark_load(load: LoadOp, ranges: Ranges) -> None:
    """`mark_assumed` for a load that was under an `if` and is no longer."""
    type_ = load.source.type
    if "assumed" in load.attributes or not isinstance(type_, TensorType):
        return
    for k, value in enumerate(load.operands[1:]):
        if isinstance(value.owner, BoundOp):
            ranges = ranges.with_operand(k, 0, value.owner.size.data - 1)
    mark_assumed(load, load.index.data, type_, ranges)
