"""PyTorch's type promotion: which dtype an op computes in, and what it casts first.

Three ranks of operands: tensors with dimensions, 0-d tensors, Python numbers. A lower rank counts
only when its category (bool < integer < floating < complex) is above that of the ranks before it.
Source: torch/csrc, `result_type` of c10 and ATen/native/TypeProperties.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from minductor.dialects.dtypes import DTYPES
from minductor.dialects.expr import Expr
from minductor.lowering.aten_to_loop.refs import Number, Ref
from minductor.lowering.aten_to_loop.registry import Declined

Operand: TypeAlias = "Ref | Expr | bool | int | float"

DEFAULT_FLOAT = "f32"
HALVES = ("f16", "bf16")
_CATEGORY = {"bool": 0, "int": 1, "uint": 1, "float": 2, "complex": 3}
_SIGNED = ("i8", "i16", "i32", "i64")
_FLOATS = ("f16", "bf16", "f32", "f64")
_WIDE_UNSIGNED = ("u16", "u32", "u64")


def opmath(dtype: str) -> str:
    """What a kernel computes values of a dtype in: f32 for half types, else the dtype."""
    return "f32" if dtype in HALVES else dtype


def is_float(dtype: str) -> bool:
    """A floating dtype that nests can hold."""
    return DTYPES[dtype].is_float


def is_integral(dtype: str) -> bool:
    """An integer dtype; bool is none."""
    return DTYPES[dtype].kind in ("int", "uint")


def category(dtype: str) -> int:
    """0 bool, 1 integer, 2 floating, 3 complex."""
    return _CATEGORY[DTYPES[dtype].kind]


def promote_types(a: str, b: str) -> str:
    """The smallest dtype that both convert to, by PyTorch's lattice. Declined where it has none."""
    if a == b:
        return a
    if category(a) < category(b):
        a, b = b, a
    if category(a) != category(b):
        return a
    if a in _FLOATS and b in _FLOATS:
        return "f32" if {a, b} == set(HALVES) else max(a, b, key=_FLOATS.index)
    if a in _SIGNED and b in _SIGNED:
        return max(a, b, key=_SIGNED.index)
    if {a, b} & set(_SIGNED) and "u8" in (a, b):
        signed = a if a in _SIGNED else b
        return "i16" if signed == "i8" else signed
    raise Declined(f"no promotion of {a} and {b} inside a nest")


def number_dtype(value: Number | Expr) -> str:
    """The dtype that a Python number stands for in promotion."""
    if isinstance(value, bool):
        return "bool"
    return DEFAULT_FLOAT if isinstance(value, float) else "i64"


def result_type(operands: Iterable[Operand]) -> str:
    """`torch.result_type` of tensors and numbers."""
    ranks: list[str | None] = [None, None, None]
    for x in operands:
        if isinstance(x, Ref):
            rank, dtype = (2 if x.wrapped else 1 if x.rank == 0 else 0), x.dtype
            if x.wrapped and is_float(dtype):
                dtype = DEFAULT_FLOAT
        else:
            rank, dtype = 2, number_dtype(x)
        old = ranks[rank]
        ranks[rank] = dtype if old is None else promote_types(old, dtype)
    found: str | None = None
    for dtype in ranks:
        if dtype is None:
            continue
        if found is None:
            found = dtype
        elif category(dtype) > category(found):
            found = dtype
    if found is None:
        raise Declined("no operand to take a dtype from")
    return found


def float_type(dtype: str) -> str:
    """The dtype of a floating result: integers and bool give the default floating dtype."""
    return dtype if category(dtype) >= 2 else DEFAULT_FLOAT


def require_scalar(dtypes: Sequence[str]) -> None:
    """Declined when a dtype cannot be held by a nest (complex, float8, quantised)."""
    for dtype in dtypes:
        if DTYPES[dtype].scalar is None:
            raise Declined(f"dtype {dtype} has no scalar form")


def require_no_wide_unsigned(dtypes: Sequence[str]) -> None:
    """Declined for u16, u32 and u64, on which most eager kernels are not implemented."""
    for dtype in dtypes:
        if dtype in _WIDE_UNSIGNED:
            raise Declined(f"dtype {dtype}: left to eager")
