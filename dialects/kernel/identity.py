"""Reduction kinds whose running value is one element: the store that combines, the start."""

from __future__ import annotations

from xdsl.ir import Attribute

from minductor.dialects.dtypes import dtype_of_scalar
from minductor.dialects.scalar.number import Number

COMBINE = {"add": "add", "mul": "mul", "min": "min", "max": "max", "any": "max", "all": "min"}
"""Reduction kind -> the combine word of a store that does the same."""


def identity(kind: str, type_: Attribute) -> Number:
    """What joins with any value of a type to give that value."""
    info = dtype_of_scalar(type_)
    match kind:
        case "add" | "any":
            return 0
        case "mul" | "all":
            return 1
        case _:
            pass
    if info.is_float:
        return float("inf") if kind == "min" else float("-inf")
    if info.kind == "bool":
        return kind == "min"
    bits = 8 * info.size
    if info.kind == "uint":
        return 2**bits - 1 if kind == "min" else 0
    return 2 ** (bits - 1) - 1 if kind == "min" else -(2 ** (bits - 1))
