"""Result types of ops for which some torch's fake tensors promise what the kernels do not give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.ir import Attribute, SSAValue

from minductor.dialects.types import TensorType

Correct = Callable[[Mapping[str, Any], Sequence[Attribute]], list[Attribute]]


def corrected(
    packet: str, args: Mapping[str, Any], types: Sequence[Attribute]
) -> Sequence[Attribute]:
    """The types of an op's results, given its bound arguments and what fake tensors promise."""
    rule = RULES.get(packet)
    return types if rule is None else rule(args, types)


def _bincount(args: Mapping[str, Any], types: Sequence[Attribute]) -> list[Attribute]:
    """Counts are i64, sums of f32 weights f32, sums of all others f64 (torch 2.11: the input's)."""
    weights = args.get("weights")
    type_ = weights.type if isinstance(weights, SSAValue) else None
    dtype = "i64"
    if isinstance(type_, TensorType):
        dtype = "f32" if type_.dtype == "f32" else "f64"
    return [t.with_(dtype=dtype) if isinstance(t, TensorType) else t for t in types]


RULES: dict[str, Correct] = {"bincount": _bincount}
"""By the op's name without namespace and overload."""
