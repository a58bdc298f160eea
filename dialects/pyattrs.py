"""Attributes for Python values in argument lists of `aten` ops and `extern` calls.

None -> #aten.none            int -> 3 : i64          float -> 1.5 : f64      bool -> true
str -> "sum"                  [64, s0] -> #loop.index<[64, s0]>      list -> [..]
symbolic int -> #loop.expr<s0>    dtype -> #aten.dtype<f32>    device -> #aten.device<"cuda:0">
torch.contiguous_format -> #aten.enum<"contiguous_format">     complex -> #aten.complex<1.0, 2.0>
operand k -> #loop.arg<k>
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, StringAttr, f64, i1, i64
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.dtypes import DTYPES
from minductor.dialects.expr import Expr
from minductor.dialects.types import InternedData, TextData


@irdl_attr_definition
class NoneAttr(InternedData, Data[None]):
    """Python's None."""

    name = "aten.none"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> None:
        return None

    def print_parameter(self, printer: Printer) -> None:
        pass


@irdl_attr_definition
class DTypeAttr(InternedData, Data[str]):
    """A dtype as argument, by its short name."""

    name = "aten.dtype"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        with parser.in_angle_brackets():
            pos = parser.pos
            name = parser.parse_identifier()
            if name not in DTYPES:
                parser.raise_error(f"unknown dtype `{name}`; known: {', '.join(DTYPES)}", pos)
            return name

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")


@irdl_attr_definition
class DeviceAttr(TextData):
    """A device as argument: `cpu`, `cuda:0`."""

    name = "aten.device"


@irdl_attr_definition
class EnumAttr(TextData):
    """A torch layout, memory format or generator-like constant, by its name in `torch`."""

    name = "aten.enum"


@irdl_attr_definition
class ComplexAttr(InternedData, Data[tuple[float, float]]):
    """A complex number as argument."""

    name = "aten.complex"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[float, float]:
        with parser.in_angle_brackets():
            re = float(parser.parse_number())
            parser.parse_punctuation(",")
            return re, float(parser.parse_number())

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_float(self.data[0], f64)
            printer.print_string(", ")
            printer.print_float(self.data[1], f64)


@irdl_attr_definition
class ArgAttr(InternedData, Data[int]):
    """The op's k-th operand, as an entry of an argument list."""

    name = "loop.arg"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> int:
        with parser.in_angle_brackets():
            return parser.parse_integer(allow_boolean=False, allow_negative=False)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")


@irdl_attr_definition
class DynAttr(InternedData, Data[int]):
    """The k-th run-time scalar operand (of the trailing `dyn` group) in a property's place."""

    name = "aten.dyn"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> int:
        with parser.in_angle_brackets():
            return parser.parse_integer(allow_boolean=False, allow_negative=False)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")


def from_python(value: Any) -> Attribute:
    """The attribute of a Python value. TypeError for what has no form (tensors, torch objects)."""
    if value is None:
        return NoneAttr(None)
    if isinstance(value, Attribute):
        return value
    if isinstance(value, bool):
        return IntegerAttr(-1 if value else 0, i1)
    if isinstance(value, int):
        return IntegerAttr(value, i64)
    if isinstance(value, float):
        return FloatAttr(value, f64)
    if isinstance(value, complex):
        return ComplexAttr((value.real, value.imag))
    if isinstance(value, str):
        return StringAttr(value)
    if isinstance(value, Expr):
        whole = value.as_int
        return ExprAttr(value) if whole is None else IntegerAttr(whole, i64)
    if isinstance(value, list | tuple):
        items: Sequence[Any] = value
        if items and all(isinstance(v, int | Expr) and not isinstance(v, bool) for v in items):
            return IndexAttr(tuple(Expr.of(v) for v in items))
        return ArrayAttr([from_python(v) for v in items])
    raise TypeError(f"a {type(value).__name__} has no attribute form: {value!r}")


def to_python(attr: Attribute) -> Any:
    """Inverse of `from_python`; expressions, dtypes, devices and operands stay as they are."""
    if isinstance(attr, NoneAttr):
        return None
    if isinstance(attr, IntegerAttr):
        number = attr.value.data
        return bool(number) if attr.type == i1 else number
    if isinstance(attr, FloatAttr):
        return attr.value.data
    if isinstance(attr, StringAttr):
        return attr.data
    if isinstance(attr, ComplexAttr):
        return complex(*attr.data)
    if isinstance(attr, ExprAttr):
        return attr.data
    if isinstance(attr, IndexAttr):
        return [e if e.as_int is None else e.as_int for e in attr.data]
    if isinstance(attr, ArrayAttr):
        return [to_python(a) for a in attr]
    return attr
