"""C++ spellings: element types, literals, identifiers."""

from __future__ import annotations

import math
import re
import struct
from typing import Any, cast

from xdsl.ir import Attribute, SSAValue

from minductor.codegen.cpp.fragments import fragments
from minductor.dialects.dtypes import dtype_of_scalar
from minductor.dialects.scalar.number import float_text, round_float

HALF = ("bf16", "f16")
_KEYWORDS = frozenset(
    "alignas and asm auto bool break case catch char class const continue default delete do double "
    "else enum explicit export extern false float for friend goto if inline int long mutable "
    "namespace new not operator or private protected public register return short signed sizeof "
    "static struct switch template this throw true try typedef typename union unsigned using "
    "virtual void volatile while xor L fault tid nt main linux unix i w old place".split()
)


def dtype_of(value: SSAValue) -> str:
    """Short dtype name of a scalar value (`bool` for i1)."""
    return dtype_of_scalar(value.type).name


def memory_type(dtype: str) -> str:
    """The C++ type of an element in memory: halves are 16 raw bits, a bool is a byte."""
    return "u16" if dtype in HALF else "u8" if dtype == "bool" else dtype


def value_type(dtype: str) -> str:
    """The C++ type of one value in a register: as in memory, but a bool is `bool`."""
    return "bool" if dtype == "bool" else memory_type(dtype)


def math_type(dtype: str) -> str:
    """The type arithmetic runs in: halves compute in f32, conditions as 0 and 1 in i32."""
    return "f32" if dtype in HALF else "i32" if dtype == "bool" else dtype


def _half_bits(value: float, dtype: str) -> int:
    if dtype == "f16":
        if math.isinf(value) or abs(value) > 65504:
            return 0x7C00 if value > 0 else 0xFC00
        return struct.unpack("<H", struct.pack("<e", value))[0]
    if math.isnan(value):
        return 0x7FC0
    return struct.unpack("<I", struct.pack("<f", round_float(value, "bf16")))[0] >> 16


def float_literal(value: float, dtype: str) -> str:
    """A float literal of exactly this value."""
    if dtype in HALF:
        return f"u16({_half_bits(value, dtype):#06x})"
    suffix = "f" if dtype == "f32" else ""
    if math.isnan(value):
        return f'__builtin_nan{suffix}("")'
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}__builtin_inf{suffix}()"
    return float_text(value, dtype) + suffix


def int_literal(value: int, dtype: str) -> str:
    """An integer literal of a type, as a cast where C would choose another."""
    if dtype == "bool":
        return "true" if value & 1 else "false"
    if dtype == "i64":
        return f"i64({value})" if value > -(2**63) else "(i64(-9223372036854775807) - 1)"
    if dtype == "i32":
        return f"{value}" if value > -(2**31) else "(-2147483647 - 1)"
    return f"{dtype}({value}ull)" if dtype == "u64" else f"{dtype}({value})"


def literal(attribute: Attribute, dtype: str) -> str:
    """The literal of a constant's attribute."""
    value: Any = cast(Any, attribute).value.data
    if isinstance(value, float):
        return float_literal(value, dtype)
    return int_literal(int(value), dtype)


def _reserved() -> frozenset[str]:
    names = {name for fragment in fragments() for name in fragment.defines}
    return frozenset(names | _KEYWORDS)


class Names:
    """Unique C++ identifiers, close to the hints; deterministic."""

    def __init__(self) -> None:
        self._taken: set[str] = set(_reserved())
        self._last: dict[str, int] = {}  # the number that a base was given last

    def new(self, hint: str | None) -> str:
        """A fresh identifier."""
        base = re.sub(r"\W", "_", hint or "v")
        if not re.match(r"[A-Za-z]", base):
            base = f"v{base}"
        if re.fullmatch(r"[dsuit]\d+|r\d+|w\d+", base):
            base += "_"
        n = self._last.get(base, 0)
        name = f"{base}_{n}" if n else base
        while name in self._taken:
            n += 1
            name = f"{base}_{n}"
        self._last[base] = n
        self._taken.add(name)
        return name
