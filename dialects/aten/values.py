"""Arguments that are not tensors: Python values, attributes, and their text inside an op.

| kind in the schema | attribute | text |
| --- | --- | --- |
| int, SymInt | i64 integer, #loop.expr | `2`, `2 * s0` |
| int[] | #loop.index | `[1, s0]` |
| float | f64 float | `1.0e-05`, `inf` |
| bool | i1 | `true` |
| Scalar | any of these, #aten.complex | `2`, `2.0`, `true`, `s0` |
| str | string | `"mean"` |
| ScalarType | #aten.dtype | `f32` |
| Layout, MemoryFormat | #aten.enum | `channels_last` |
| Device | #aten.device | `"cuda:0"` |
| None | #aten.none | `none` |

A run-time number is #aten.dyn<k> and prints as its operand `%k`. Any other attribute prints in full
(`#aten.complex<..>`), so every property has a text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, StringAttr, f64, i1, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

from minductor.dialects.aten.schema import Arg
from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.dtypes import BY_TORCH_NAME, DTYPES
from minductor.dialects.expr import Expr
from minductor.dialects.expr_text import parse_expr
from minductor.dialects.pyattrs import (
    ComplexAttr,
    DeviceAttr,
    DTypeAttr,
    DynAttr,
    EnumAttr,
    NoneAttr,
    to_python,
)
from minductor.dialects.scalar.number import float_text

TRUE, FALSE = IntegerAttr(-1, i1), IntegerAttr(0, i1)
NONE = NoneAttr(None)
EMPTY_INTS = IndexAttr(())


def to_attr(value: Any, arg: Arg) -> Attribute:
    """The attribute of a Python value in the place of `arg`. TypeError if it does not fit."""
    if value is None:
        return NONE
    if isinstance(value, Attribute):
        return value
    if arg.is_list:
        if not isinstance(value, list | tuple):
            value = [value] * (arg.length or 1)
        if arg.kind == "int":
            return IndexAttr(tuple(Expr.of(v) for v in value)) if value else EMPTY_INTS
        return ArrayAttr([_element(v, arg.kind) for v in value])
    return _element(value, arg.kind)


def _element(value: Any, kind: str) -> Attribute:
    if isinstance(value, Attribute):
        return value
    match value:
        case None:
            return NONE
        case bool():
            return TRUE if value else FALSE
        case int():
            if kind == "bool":
                return TRUE if value else FALSE
            return FloatAttr(float(value), f64) if kind == "float" else IntegerAttr(value, i64)
        case float():
            return FloatAttr(value, f64)
        case complex():
            return ComplexAttr((value.real, value.imag))
        case Expr():
            whole = value.as_int
            return ExprAttr(value) if whole is None else _element(whole, kind)
        case str():
            return _named(value, kind)
        case _:
            raise TypeError(f"a {type(value).__name__} has no form as a {kind} argument: {value!r}")


def _named(value: str, kind: str) -> Attribute:
    if kind == "dtype":
        known = BY_TORCH_NAME.get(value) or DTYPES.get(value)
        if known is None:
            raise TypeError(f"unknown dtype `{value}`; known: {', '.join(DTYPES)}")
        return DTypeAttr(known.name)
    if kind == "enum":
        return EnumAttr(value)
    return DeviceAttr(value) if kind == "device" else StringAttr(value)


def from_attr(attr: Attribute, operand: Callable[[int], Any]) -> Any:
    """The Python value of a property; `operand(k)` gives what stands for #aten.dyn<k>."""
    if isinstance(attr, DynAttr):
        return operand(attr.data)
    if isinstance(attr, ArrayAttr):
        return [from_attr(a, operand) for a in attr]
    return to_python(attr)


# -- text -----------------------------------------------------------------------------------------
def print_value(printer: Printer, attr: Attribute, kind: str, dyn: Sequence[SSAValue]) -> None:
    """The text of a property of an argument of this kind."""
    match attr:
        case DynAttr():
            printer.print_operand(dyn[attr.data])
        case ArrayAttr():
            with printer.in_square_brackets():
                printer.print_list(attr.data, lambda a: print_value(printer, a, kind, dyn))
        case _:
            text = value_text(attr, kind)
            if text is None:
                printer.print_attribute(attr)
            else:
                printer.print_string(text)


def value_text(attr: Attribute, kind: str) -> str | None:
    """The short text of an attribute, or None when only its full form says what it is."""
    match attr:
        case IntegerAttr() if attr.type == i1:
            return "true" if attr.value.data else "false"
        case IntegerAttr() if attr.type == i64 and kind in ("int", "scalar"):
            return str(attr.value.data)
        case FloatAttr() if attr.type == f64 and kind in ("float", "scalar"):
            return float_text(attr.value.data, "f64")
        case ExprAttr() if kind in ("int", "scalar"):
            return str(attr.data)
        case IndexAttr() if kind == "int":
            return f"[{', '.join(map(str, attr.data))}]"
        case DTypeAttr() if kind == "dtype":
            return attr.data
        case EnumAttr() if kind == "enum" and attr.data.isidentifier():
            return attr.data
        case DeviceAttr() if kind == "device":
            return f'"{attr.data}"'
        case StringAttr() if kind == "str" and attr.data.isprintable() and '"' not in attr.data:
            return None if "\\" in attr.data else f'"{attr.data}"'
        case NoneAttr():
            return "none"
        case _:
            return None


_WORDS: dict[str, Attribute] = {
    "true": TRUE,
    "false": FALSE,
    "none": NONE,
    "inf": FloatAttr(float("inf"), f64),
    "nan": FloatAttr(float("nan"), f64),
}


def parse_value(parser: Parser, arg: Arg, operand: Callable[[], DynAttr | None]) -> Attribute:
    """Inverse of `print_value`; `operand` takes `%name` if it is next."""
    if arg.is_list:
        if parser.parse_optional_keyword("none"):
            return NONE
        pos = parser.pos
        items = parser.parse_optional_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: _parse_element(parser, arg.kind, operand)
        )
        if items is not None:
            return _list_attr(items, arg.kind)
        if parser.lexer.input.content[pos] != "#":
            parser.raise_error("expected a list in square brackets", pos)
        return parser.parse_attribute()
    return _parse_element(parser, arg.kind, operand)


def _list_attr(items: list[Attribute], kind: str) -> Attribute:
    if kind != "int":
        return ArrayAttr(items)
    exprs: list[Expr] = []
    for item in items:
        if isinstance(item, ExprAttr):
            exprs.append(item.data)
        elif isinstance(item, IntegerAttr):
            exprs.append(Expr.of(item.value.data))
        else:
            return ArrayAttr(items)
    return IndexAttr(tuple(exprs))


def _parse_element(parser: Parser, kind: str, operand: Callable[[], DynAttr | None]) -> Attribute:
    found = operand()
    if found is not None:
        return found
    text = parser.parse_optional_str_literal()
    if text is not None:
        return _named(text, kind)
    word = parser.parse_optional_keyword_in(tuple(_WORDS))
    if word is not None:
        return _WORDS[word]
    if kind in ("dtype", "enum"):
        pos = parser.pos
        name = parser.parse_optional_identifier()
        if name is None:
            return parser.parse_attribute()
        if kind == "dtype" and name not in DTYPES:
            parser.raise_error(f"unknown dtype `{name}`; known: {', '.join(DTYPES)}", pos)
        return DTypeAttr(name) if kind == "dtype" else EnumAttr(name)
    if kind in ("int", "float", "scalar"):
        return _parse_number(parser, kind)
    return parser.parse_attribute()


def _parse_number(parser: Parser, kind: str) -> Attribute:
    content, pos = parser.lexer.input.content, parser.pos
    if content[pos] == "#":
        return parser.parse_attribute()
    if kind != "int":
        if content.startswith("-inf", pos):
            parser.parse_punctuation("-")
            parser.parse_keyword("inf")
            return FloatAttr(float("-inf"), f64)
        number = _try_float(parser)
        if number is not None:
            return FloatAttr(number, f64)
    return _element(parse_expr(parser), kind)


def _try_float(parser: Parser) -> float | None:
    """A float literal if one is next, with its sign; the parser stays where it is otherwise."""
    content, pos = parser.lexer.input.content, parser.pos
    end = pos + (content[pos] == "-")
    start = end
    while end < len(content) and content[end].isdigit():
        end += 1
    if end == start or end >= len(content) or content[end] != ".":
        return None
    value = parser.parse_float()
    return -0.0 if value == 0 and content[pos] == "-" else value
