"""Text form of the `aten` ops; the classes here are bases of the op classes.

    %add = aten.add.Tensor(%a, %b, alpha = 2) {origin = "add m.py:3"} : !aten.t<f32[64]>
    %cat = aten.cat.default([%a, %b], dim = 1) : !aten.t<f32[64, 8]>
    %idx = aten.index.Tensor(%x, [none, %i]) : !aten.t<f32[64, 4]>
    %c = aten.scalar 2.0 : !aten.float

Tensors at the front are given by position, all else by name in schema order; what equals the
schema's default is left out. Operand types are those of their definitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

from minductor.dialects.aten.schema import MISSING, Arg, Schema, SchemaError, parse_schema
from minductor.dialects.aten.values import parse_value, print_value, to_attr
from minductor.dialects.attrs import IndexAttr
from minductor.dialects.expr import ONE, ZERO
from minductor.dialects.expr_text import resolve_known
from minductor.dialects.pyattrs import DynAttr

SEGMENTS = "operandSegmentSizes"
Given = dict[str, "SSAValue | list[SSAValue | None] | Attribute"]


def needs_segments(schema: Schema) -> bool:
    """The op states how many operands each tensor argument has."""
    return any(a.optional or a.is_list for a in schema.tensors)


def pack(
    schema: Schema, tensors: Given, dyn: Sequence[SSAValue]
) -> tuple[list[SSAValue], dict[str, Attribute]]:
    """Operands in order, and the properties that describe them (segments, hole masks)."""
    operands: list[SSAValue] = []
    sizes: list[int] = []
    props: dict[str, Attribute] = {}
    for arg in schema.tensors:
        value = tensors.get(arg.name)
        items = value if isinstance(value, list) else [] if value is None else [value]
        present = [v for v in items if isinstance(v, SSAValue)]
        if arg.holes and isinstance(value, list):
            mask = tuple(ONE if isinstance(v, SSAValue) else ZERO for v in items)
            props[arg.name] = IndexAttr(mask)
        operands += present
        sizes.append(len(present))
    if needs_segments(schema):
        props[SEGMENTS] = DenseArrayBase.from_list(i32, [*sizes, len(dyn)])
    return [*operands, *dyn], props


def unpack(op: Operation, schema: Schema) -> tuple[Given, Sequence[SSAValue]]:
    """Tensor operands by argument name (None for holes; absent ones left out), and `dyn`."""
    operands = op.operands
    given: Given = {}
    at = 0
    segments = op.properties.get(SEGMENTS)
    if segments is None:
        for arg in schema.tensors:
            given[arg.name] = operands[at]
            at += 1
        return given, operands[at:]
    sizes = cast(DenseArrayBase[Any], segments).get_values()
    for arg, size in zip(schema.tensors, sizes, strict=False):
        part = list(operands[at : at + size])
        at += size
        if arg.holes:
            mask = op.properties.get(arg.name)
            if isinstance(mask, IndexAttr):
                items = iter(part)
                given[arg.name] = [next(items, None) if m is ONE else None for m in mask.data]
        elif arg.is_list:
            if part or not arg.optional:
                given[arg.name] = list(part)
        elif part:
            given[arg.name] = part[0]
    return given, operands[at:]


class AtenText(Operation):
    """`aten.add.Tensor(%a, %b, alpha = 2) : T`."""

    if TYPE_CHECKING:

        @property
        def schema(self) -> Schema: ...

    def print(self, printer: Printer) -> None:
        self.print_head(printer)
        schema = self.schema
        given, dyn = unpack(self, schema)
        first, positional = True, True
        printer.print_string("(")
        for arg in schema.args:
            value = given.get(arg.name) if arg.is_tensor else self.properties.get(arg.name)
            if value is None:
                positional = False
                continue
            positional = positional and arg.is_tensor
            lead = "" if first else ", "
            printer.print_string(lead if positional else f"{lead}{arg.name} = ")
            first = False
            if isinstance(value, Attribute):
                print_value(printer, value, arg.kind, dyn)
            else:
                _print_tensors(printer, value)
        printer.print_string(")")
        printer.print_op_attributes(self.attributes)
        if self.results:
            printer.print_string(" : ")
            printer.print_list(self.results, lambda r: printer.print_attribute(r.type))

    def print_head(self, printer: Printer) -> None:
        """What stands between the op's name and the bracket."""

    @classmethod
    def parse_head(cls, parser: Parser) -> tuple[Schema, dict[str, Attribute]]:
        """The schema, and the properties that stand before the bracket."""
        return cast(Schema, cast(Any, cls).SCHEMA), {}

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        schema, props = cls.parse_head(parser)
        given, dyn = parse_arguments(parser, schema)
        tensors: Given = {k: v for k, v in given.items() if not isinstance(v, Attribute)}
        operands, packed = pack(schema, tensors, dyn)
        props |= packed
        props |= {k: v for k, v in given.items() if isinstance(v, Attribute)}
        attributes = parser.parse_optional_attr_dict()
        types: list[Attribute] = []
        if parser.parse_optional_punctuation(":"):
            types = list(
                parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
            )
        return cls.create(
            operands=operands, result_types=types, properties=props, attributes=attributes
        )


def _print_tensors(printer: Printer, value: SSAValue | list[SSAValue | None]) -> None:
    if isinstance(value, SSAValue):
        printer.print_operand(value)
        return

    def item(v: SSAValue | None) -> None:
        if v is None:
            printer.print_string("none")
        else:
            printer.print_operand(v)

    with printer.in_square_brackets():
        printer.print_list(value, item)


def parse_arguments(parser: Parser, schema: Schema) -> tuple[Given, list[SSAValue]]:
    """`(%a, alpha = 2, ..)`: what is given by name, and the run-time numbers in order."""
    given: Given = {}
    dyn: list[SSAValue] = []
    places = iter(schema.args)

    def operand() -> DynAttr | None:
        value = optional_operand(parser)
        if value is None:
            return None
        dyn.append(value)
        return DynAttr(len(dyn) - 1)

    def one() -> None:
        pos = parser.pos
        arg = _named_argument(parser, schema) or next(places, None)
        if arg is None or arg.name in given:
            parser.raise_error(f"too many arguments, or one twice; the schema: {schema.text}", pos)
        if arg.is_tensor:
            value = _parse_tensors(parser, arg)
            if value is not None:
                given[arg.name] = value
        else:
            attr = parse_value(parser, arg, operand)
            if not is_default(attr, arg):
                given[arg.name] = attr

    parser.parse_comma_separated_list(parser.Delimiter.PAREN, one)
    return given, dyn


def is_default(attr: Attribute, arg: Arg) -> bool:
    """The attribute says what the schema's default says."""
    return arg.default is not MISSING and attr == to_attr(arg.default, arg)


def _named_argument(parser: Parser, schema: Schema) -> Arg | None:
    """The argument of `name =` if that is next."""
    content, pos = parser.lexer.input.content, parser.pos
    if not (content[pos].isalpha() or content[pos] == "_"):
        return None
    end = pos
    while content[end].isalnum() or content[end] == "_":
        end += 1
    name = content[pos:end]
    while content[end] == " ":
        end += 1
    if content[end] != "=":
        return None
    arg = schema.by_name.get(name)
    if arg is None:
        parser.raise_error(f"no argument `{name}` in the schema {schema.text}", pos)
    parser.parse_identifier()
    parser.parse_punctuation("=")
    return arg


def optional_operand(parser: Parser) -> SSAValue | None:
    """`%name` if it is next; it must be defined above."""
    unresolved = parser.parse_optional_unresolved_operand()
    if unresolved is None:
        return None
    return resolve_known(parser, unresolved.operand_name, unresolved.index)


def _parse_tensors(parser: Parser, arg: Arg) -> SSAValue | list[SSAValue | None] | None:
    def one() -> SSAValue | None:
        if parser.parse_optional_keyword("none"):
            return None
        unresolved = parser.parse_unresolved_operand(
            f"`{arg.name}` is a tensor: expected an SSA value"
        )
        return resolve_known(parser, unresolved.operand_name, unresolved.index)

    if not arg.is_list or parser.parse_optional_keyword("none"):
        return one() if not arg.is_list else None
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, one)


class CustomText(AtenText):
    """`aten.custom "mylib::foo(Tensor x, float s) -> Tensor"(%x, s = 2.0) : T`."""

    def print_head(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.properties["declaration"])

    @classmethod
    def parse_head(cls, parser: Parser) -> tuple[Schema, dict[str, Attribute]]:
        pos = parser.pos
        text = parser.parse_str_literal(" with the schema of the op")
        try:
            schema = parse_schema(text)
        except SchemaError as error:
            parser.raise_error(str(error), pos)
        return schema, {"declaration": StringAttr(text)}


def tensor_operands(given: Given) -> Iterator[SSAValue]:
    """The present tensors of `unpack`, in order."""
    for value in given.values():
        if isinstance(value, SSAValue):
            yield value
        elif isinstance(value, list):
            yield from (v for v in value if v is not None)
