"""Element types: the one table that relates short names, sizes and scalar IR types.

A dtype is a short name (`f32`, `i64`, `u8`, `bool`, ...). In memory a `bool` is one byte; as a
value of the `scalar` dialect it is `i1`. Types without a scalar form (complex, float8, quantised)
exist in tensor types only, so ops on them stay `extern`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute

ScalarType = BFloat16Type | Float16Type | Float32Type | Float64Type | IntegerType


@dataclass(frozen=True)
class DType:
    """One element type: `size` in bytes in memory, `kind` float, int, uint, bool or complex."""

    name: str
    size: int
    kind: str
    scalar: ScalarType | None
    torch_name: str

    @property
    def is_float(self) -> bool:
        """A floating dtype with a scalar form."""
        return self.kind == "float" and self.scalar is not None


def _unsigned(bits: int) -> IntegerType:
    return IntegerType(bits, Signedness.UNSIGNED)


_ROWS = (
    DType("f64", 8, "float", f64, "float64"),
    DType("f32", 4, "float", f32, "float32"),
    DType("f16", 2, "float", f16, "float16"),
    DType("bf16", 2, "float", bf16, "bfloat16"),
    DType("i8", 1, "int", i8, "int8"),
    DType("i16", 2, "int", i16, "int16"),
    DType("i32", 4, "int", i32, "int32"),
    DType("i64", 8, "int", i64, "int64"),
    DType("u8", 1, "uint", _unsigned(8), "uint8"),
    DType("u16", 2, "uint", _unsigned(16), "uint16"),
    DType("u32", 4, "uint", _unsigned(32), "uint32"),
    DType("u64", 8, "uint", _unsigned(64), "uint64"),
    DType("bool", 1, "bool", i1, "bool"),
    DType("c32", 4, "complex", None, "complex32"),
    DType("c64", 8, "complex", None, "complex64"),
    DType("c128", 16, "complex", None, "complex128"),
    DType("f8e4m3fn", 1, "float", None, "float8_e4m3fn"),
    DType("f8e5m2", 1, "float", None, "float8_e5m2"),
    DType("f8e4m3fnuz", 1, "float", None, "float8_e4m3fnuz"),
    DType("f8e5m2fnuz", 1, "float", None, "float8_e5m2fnuz"),
    DType("f8e8m0fnu", 1, "float", None, "float8_e8m0fnu"),
)
DTYPES: dict[str, DType] = {row.name: row for row in _ROWS}
BY_TORCH_NAME: dict[str, DType] = {row.torch_name: row for row in _ROWS}
_BY_SCALAR: dict[Attribute, DType] = {row.scalar: row for row in _ROWS if row.scalar is not None}


def dtype_of_scalar(type_: Attribute) -> DType:
    """The dtype whose values have this scalar IR type. KeyError text names the type."""
    found = _BY_SCALAR.get(type_)
    if found is None:
        raise KeyError(f"`{type_}` is not the scalar type of a dtype")
    return found


def scalar_of(dtype: str) -> ScalarType:
    """The scalar IR type of a dtype. TypeError if it has none (complex, float8)."""
    scalar = DTYPES[dtype].scalar
    if scalar is None:
        raise TypeError(f"dtype {dtype} has no scalar form; the op must stay extern")
    return scalar


def is_scalar_type(type_: Attribute) -> bool:
    """True for types that values of the `scalar` dialect may have."""
    return type_ in _BY_SCALAR


def accumulator_dtype(dtype: str) -> str:
    """What sums of a dtype accumulate in: f32 for half types, i64 for small integers (PyTorch)."""
    row = DTYPES[dtype]
    if row.name in ("bf16", "f16"):
        return "f32"
    return "i64" if row.kind in ("int", "uint", "bool") else row.name
