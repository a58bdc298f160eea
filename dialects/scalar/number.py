"""Numbers of the scalar types: rounding, wrapping, literals and their text."""

from __future__ import annotations

import math
import struct
from typing import Any, cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute

from minductor.dialects.dtypes import dtype_of_scalar

Number = float | int | bool


def round_float(value: float, dtype: str) -> float:
    """`value` rounded to nearest even in f32, f16 or bf16; overflow gives inf, NaN stays NaN."""
    if dtype == "f64" or not math.isfinite(value):
        return value
    try:
        if dtype == "f16":
            return struct.unpack("<e", struct.pack("<e", value))[0]
        single = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return single if dtype == "f32" else _round_bf16(value)


def _round_bf16(value: float) -> float:
    """Round a double to 8 significant bits directly, so that f32 does not round first."""
    mantissa, exponent = math.frexp(value)
    exponent = max(exponent, -125)
    scale = math.ldexp(1.0, 8 - exponent) if exponent > -1000 else 0.0
    rounded = round(math.ldexp(mantissa, math.frexp(value)[1] + 8 - exponent)) / scale
    top = 3.3895313892515355e38
    if abs(rounded) > top:
        return math.copysign(math.inf, value)
    return math.copysign(rounded, value)


def wrap_int(value: int, type_: IntegerType) -> int:
    """`value` wrapped to the width and signedness of an integer type (i1: 0 or 1)."""
    bits = type_.width.data
    low = value & ((1 << bits) - 1)
    if dtype_of_scalar(type_).kind == "int" and low >> (bits - 1):
        low -= 1 << bits
    return low


def literal(value: Number, type_: Attribute) -> FloatAttr[Any] | IntegerAttr[Any]:
    """The attribute of a number in a scalar type, with PyTorch's conversion."""
    info = dtype_of_scalar(type_)
    if info.is_float:
        return FloatAttr(round_float(float(value), info.name), cast(Any, type_))
    if info.kind == "bool":
        return IntegerAttr(-1 if value else 0, cast(Any, type_))
    whole = int(value) if math.isfinite(value) else 0
    return IntegerAttr(wrap_int(whole, cast(IntegerType, type_)), cast(Any, type_))


def float_text(value: float, dtype: str) -> str:
    """The shortest literal that reads back as the same value of the dtype."""
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    text = repr(value)
    if dtype != "f64":
        for digits in range(1, 17):
            short = f"{value:.{digits}g}"
            if round_float(float(short), dtype) == value:
                text = short
                break
    mantissa, e, exponent = text.partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return mantissa + (f"e{exponent}" if e else "")
