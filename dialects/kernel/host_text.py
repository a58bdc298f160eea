"""Text form of the host ops; bases of the op classes in `host.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.expr_text import IndexParser, parse_expr, print_expr
from minductor.dialects.scalar.text import parse_value, parse_values
from minductor.dialects.types import parse_shape, shape_text


class CheckText(Operation):
    """`kernel.check %x align 16 : T`."""

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        align: Any = self.properties.get("align")
        if align is not None:
            printer.print_string(f" align {align.value.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parse_value(parser)
        props: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("align"):
            props["align"] = IntegerAttr(parser.parse_integer(), 64)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        pos = parser.pos
        if parser.parse_type() != value.type:
            parser.raise_error("the type written differs from the operand's type", pos)
        return cls.create(operands=[value], properties=props, attributes=attributes)


class AllocText(Operation):
    """`kernel.alloc : T`, `kernel.size : !aten.int<e>`."""

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(result_types=[parser.parse_type()], attributes=attributes)


class ReinterpretText(Operation):
    """`kernel.reinterpret %b offset e : T to U`, `kernel.reuse %b : T to U`."""

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        offset = self.properties.get("offset")
        if isinstance(offset, ExprAttr):
            printer.print_string(" offset ")
            print_expr(printer, offset.data)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)
        printer.print_string(" to ")
        printer.print_attribute(self.results[0].type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parse_value(parser)
        props: dict[str, Attribute] = {}
        if cls.name == "kernel.reinterpret":
            parser.parse_keyword("offset")
            props["offset"] = ExprAttr(parse_expr(parser))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        pos = parser.pos
        if parser.parse_type() != source.type:
            parser.raise_error("the type written differs from the operand's type", pos)
        parser.parse_keyword("to")
        return cls.create(
            operands=[source],
            result_types=[parser.parse_type()],
            properties=props,
            attributes=attributes,
        )


class LaunchText(Operation):
    """`kernel.launch @k(%x, %o)[s0] [when (e) else @k2]`."""

    if TYPE_CHECKING:
        callee: Any
        symbols: IndexAttr

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.callee)
        with printer.in_parens():
            printer.print_list(self.operands, printer.print_operand)
        printer.print_string(shape_text(self.symbols.data))
        when = self.properties.get("when")
        if isinstance(when, ExprAttr):
            printer.print_string(f" when ({when.data}) else ")
            printer.print_attribute(self.properties["orelse"])
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        props: dict[str, Attribute] = {"callee": parser.parse_attribute()}
        operands: list[SSAValue] = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parse_value(parser)
        )
        props["symbols"] = IndexAttr(parse_shape(parser))
        if parser.parse_optional_keyword("when"):
            with parser.in_parens():
                props["when"] = ExprAttr(IndexParser(parser).expr())
            parser.parse_keyword("else")
            props["orelse"] = parser.parse_attribute()
        return cls.create(
            operands=operands, properties=props, attributes=parser.parse_optional_attr_dict()
        )


class FreeText(Operation):
    """`kernel.free %b`."""

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return cls.create(
            operands=parse_values(parser), attributes=parser.parse_optional_attr_dict()
        )


class VariantsText(Operation):
    """`kernel.variants @k [@k.0, @k.1]`."""

    def print(self, printer: Printer) -> None:
        props: Any = self.properties
        printer.print_string(" ")
        printer.print_symbol_name(props["sym_name"])
        printer.print_string(" ")
        printer.print_attribute(props["candidates"])
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name()
        candidates = parser.parse_attribute()
        return cls.create(
            properties={"sym_name": name, "candidates": candidates},
            attributes=parser.parse_optional_attr_dict(),
        )
