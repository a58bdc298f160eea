"""Questions that rules ask of operands."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import SSAValue

from minductor.dialects.aten import AtenOp, ScalarOp
from minductor.dialects.pyattrs import to_python
from minductor.dialects.types import TensorType


def defined_by(value: Any, *names: str) -> AtenOp | None:
    """The op that gives a value, when it is one of these (full names, `aten.neg.default`)."""
    owner = value.owner if isinstance(value, SSAValue) else None
    return owner if isinstance(owner, AtenOp) and owner.name in names else None


def tensor_type(value: Any) -> TensorType | None:
    """The tensor type of a value, else None."""
    type_ = value.type if isinstance(value, SSAValue) else None
    return type_ if isinstance(type_, TensorType) else None


def result_type(op: AtenOp) -> TensorType | None:
    """The type of an op's single tensor result, else None."""
    return tensor_type(op.results[0]) if len(op.results) == 1 else None


def number(op: AtenOp, position: int, name: str) -> float | int | None:
    """The number (no truth value) in the place `name`: a property, or operand `position`."""
    attr = op.properties.get(name)
    if attr is None and position < len(op.operands):
        owner = op.operands[position].owner
        attr = owner.value if isinstance(owner, ScalarOp) else None
    if not isinstance(attr, FloatAttr | IntegerAttr):
        return None
    value = to_python(attr)
    return None if isinstance(value, bool) else value


def remake(op: AtenOp, overload: str, **args: Any) -> AtenOp:
    """An op of the same result types; it takes location and origin of `op` when inserted."""
    return AtenOp.make(overload, args, [r.type for r in op.results])
