"""Pieces of syntax that the `loop` and `kernel` dialects share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

from minductor.dialects.attrs import IndexAttr
from minductor.dialects.expr_text import IndexParser, print_expr
from minductor.dialects.scalar.text import parse_value


def print_index(printer: Printer, index: IndexAttr, operands: Sequence[SSAValue]) -> None:
    """`[d0, %j + 1]`."""
    with printer.in_square_brackets():
        printer.print_list(index.data, lambda e: print_expr(printer, e, operands))


def parse_access(parser: Parser) -> tuple[SSAValue, IndexAttr, list[SSAValue]]:
    """`%x[d0, %j + 1]`: the tensor or buffer, the index and its operands."""
    base = parse_value(parser)
    index = IndexParser(parser)
    exprs = index.index_list()
    return base, IndexAttr(tuple(exprs)), index.operands


def print_types(printer: Printer, types: Sequence[Attribute]) -> None:
    """`f32, i64`."""
    printer.print_list(types, printer.print_attribute)


def parse_types(parser: Parser) -> list[Attribute]:
    """`f32, i64`: one or more."""
    out: list[Attribute] = parser.parse_comma_separated_list(
        parser.Delimiter.NONE, parser.parse_type
    )
    return out


def print_words_dict(printer: Printer, op: Operation, names: Sequence[str]) -> None:
    """Properties `names` that are present, as `{a, b = "x"}`; then extra attributes."""
    shown = {k: op.properties[k] for k in names if k in op.properties} | dict(op.attributes)
    if shown:
        printer.print_string(" ")
        printer.print_attr_dict(shown)


def parse_words_dict(
    parser: Parser, names: Sequence[str]
) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
    """Inverse of `print_words_dict`: (properties, attributes)."""
    found = parser.parse_optional_attr_dict()
    props = {k: v for k, v in found.items() if k in names}
    return props, {k: v for k, v in found.items() if k not in names}


def flag(present: bool) -> UnitAttr | None:
    """A unit attribute when present."""
    return UnitAttr() if present else None


def strings(values: Sequence[str]) -> ArrayAttr[StringAttr]:
    """An array of strings."""
    return ArrayAttr([StringAttr(v) for v in values])


def drop_none(props: dict[str, Attribute | None]) -> dict[str, Attribute]:
    """Properties without the absent ones."""
    return {k: v for k, v in props.items() if v is not None}


def empty_dict() -> DictionaryAttr:
    """An empty dictionary attribute."""
    no_items: dict[str, Any] = {}
    return DictionaryAttr(no_items)
