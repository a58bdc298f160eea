"""Text form of the ops inside a `kernel.func`; bases of the op classes in `ops.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser
from xdsl.printer import Printer

from minductor.dialects.attrs import (
    BytesAttr,
    ConfigAttr,
    ExprAttr,
    IndexAttr,
    OriginsAttr,
    Words,
    WordsAttr,
    parse_words,
)
from minductor.dialects.dtypes import dtype_of_scalar
from minductor.dialects.expr_text import parse_expr
from minductor.dialects.kernel.attrs import AccessAttr, VarAttr
from minductor.dialects.scalar.number import float_text, literal
from minductor.dialects.scalar.text import parse_scalar_type, parse_value, parse_values
from minductor.dialects.text import (
    parse_access,
    parse_types,
    parse_words_dict,
    print_index,
    print_types,
    print_words_dict,
    strings,
)
from minductor.dialects.types import parse_shape, shape_text

COMBINES = ("add", "mul", "min", "max", "last")


class FuncText(Operation):
    """`kernel.func @k(read %x : B, write %o : B) [s0] config {..} origins [..] bytes <..> {..}`."""

    if TYPE_CHECKING:
        sym_name: StringAttr
        access: AccessAttr
        symbols: IndexAttr
        config: ConfigAttr
        origins: OriginsAttr
        bytes_: BytesAttr | None

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name)
        with printer.in_parens():
            pairs = list(zip(self.access.data, self.regions[0].block.args, strict=True))
            for i, (access, arg) in enumerate(pairs):
                printer.print_string(f"{', ' if i else ''}{access} ")
                printer.print_ssa_value(arg)
                printer.print_string(" : ")
                printer.print_attribute(arg.type)
        printer.print_string(
            f" {shape_text(self.symbols.data)} config {{{self.config.items_text()}}}"
        )
        if self.origins.data:
            printer.print_string(" origins ")
            self.origins.print_list(printer)
        if self.bytes_ is not None:
            printer.print_string(" bytes ")
            self.bytes_.print_parameter(printer)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.regions[0], print_entry_block_args=False)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = parser.parse_symbol_name()
        access: list[str] = []
        args: list[Parser.Argument] = []

        def entry() -> None:
            access.append(parser.parse_keyword_in(AccessAttr.KINDS))
            arg = parser.parse_argument(expect_type=False)
            parser.parse_punctuation(":")
            args.append(arg.resolve(parser.parse_type()))

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, entry)
        props: dict[str, Attribute] = {
            "sym_name": name,
            "access": AccessAttr(tuple(access)),
            "symbols": IndexAttr(parse_shape(parser)),
        }
        parser.parse_keyword("config")
        props["config"] = ConfigAttr(ConfigAttr.parse_items(parser, parser.Delimiter.BRACES))
        keyword = parser.parse_optional_keyword("origins")
        props["origins"] = OriginsAttr(OriginsAttr.parse_list(parser) if keyword else ())
        if parser.parse_optional_keyword("bytes"):
            props["bytes_"] = BytesAttr(BytesAttr.parse_parameter(parser))
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region(args)
        return cls.create(
            properties=props,
            attributes={} if attributes is None else attributes.data,
            regions=[region],
        )


class LoopText(Operation):
    """`kernel.parallel d0 : n <words> [kinds] -> types {..} [do (%p : f32) {..}]`."""

    if TYPE_CHECKING:
        var: VarAttr
        extent: ExprAttr
        words: WordsAttr

    def print(self, printer: Printer) -> None:
        printer.print_string(f" d{self.var.data} : {self.extent.data} ")
        words = self.words.data.text()
        if words:
            printer.print_string(f"<{words}> ")
        kinds = self.properties.get("kinds")
        if isinstance(kinds, ArrayAttr):
            names = ", ".join(k.data for k in kinds if isinstance(k, StringAttr))
            printer.print_string(f"[{names}] ")
        if self.results:
            printer.print_string("-> ")
            print_types(printer, [r.type for r in self.results])
            printer.print_string(" ")
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)
            printer.print_string(" ")
        printer.print_region(self.regions[0])
        if len(self.regions) > 1:
            printer.print_string(" do (")
            printer.print_list(self.regions[1].block.args, printer.print_block_argument)
            printer.print_string(") ")
            printer.print_region(self.regions[1], print_entry_block_args=False)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        pos = parser.pos
        atom = parse_expr(parser).as_atom
        if atom is None or atom.kind != "d":
            parser.raise_error("expected the loop's variable dN", pos)
        parser.parse_punctuation(":")
        props: dict[str, Attribute] = {
            "var": VarAttr(atom.index),
            "extent": ExprAttr(parse_expr(parser)),
        }
        words = Words()
        if parser.parse_optional_punctuation("<"):
            words = parse_words(parser)
            parser.parse_punctuation(">")
        props["words"] = WordsAttr(words)
        if cls.name in ("kernel.reduce", "kernel.scan"):
            kinds = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_identifier
            )
            props["kinds"] = strings(kinds)
        types = parse_types(parser) if parser.parse_optional_punctuation("->") else []
        attributes = parser.parse_optional_attr_dict_with_keyword()
        regions = [parser.parse_region()]
        if cls.name == "kernel.scan":
            parser.parse_keyword("do")
            args = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
            regions.append(parser.parse_region(args))
        return cls.create(
            result_types=types,
            properties=props,
            regions=regions,
            attributes={} if attributes is None else attributes.data,
        )


class FoldText(Operation):
    """`kernel.fold max %a over d1 : f32 -> f32`."""

    if TYPE_CHECKING:
        kind: StringAttr
        over: VarAttr

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data} ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_string(f" over d{self.over.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        print_types(printer, [v.type for v in self.operands])
        printer.print_string(" -> ")
        print_types(printer, [r.type for r in self.results])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kind = parser.parse_identifier(context_msg=" as fold kind")
        args = parse_values(parser)
        parser.parse_keyword("over")
        pos = parser.pos
        atom = parse_expr(parser).as_atom
        if atom is None or atom.kind != "d":
            parser.raise_error("expected the tile's variable dN", pos)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        if parse_types(parser) != [v.type for v in args]:
            parser.raise_error("the types written differ from the operands' types", pos)
        parser.parse_punctuation("->")
        return cls.create(
            operands=args,
            result_types=parse_types(parser),
            properties={"kind": StringAttr(kind), "over": VarAttr(atom.index)},
            attributes=attributes,
        )


class LocalText(Operation):
    """`kernel.local stack = 0.0 : f32 : !kernel.buf<f32[768]>`."""

    if TYPE_CHECKING:
        space: StringAttr
        init: Attribute | None

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.space.data}")
        init: Any = self.init
        if isinstance(init, FloatAttr):
            value: float = init.value.data
            text = float_text(value, dtype_of_scalar(init.type).name)
            printer.print_string(f" = {text} : {init.type}")
        elif isinstance(init, IntegerAttr):
            printer.print_string(f" = {init.value.data} : {init.type}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        props: dict[str, Attribute] = {
            "space": StringAttr(parser.parse_keyword_in(("reg", "stack", "shared")))
        }
        if parser.parse_optional_punctuation("="):
            word = parser.parse_optional_keyword_in(("inf", "nan"))
            number: float | int
            if word is None and parser.parse_optional_punctuation("-"):
                parser.parse_keyword("inf")
                number = float("-inf")
            else:
                number = float(word) if word else parser.parse_number()
            parser.parse_punctuation(":")
            props["init"] = literal(number, parse_scalar_type(parser))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(
            result_types=[parser.parse_type()], properties=props, attributes=attributes
        )


class TransposeText(Operation):
    """`kernel.transpose %t[16, 16]`."""

    if TYPE_CHECKING:
        shape: IndexAttr

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        printer.print_string(shape_text(self.shape.data))
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        buffer = parse_value(parser)
        props: dict[str, Attribute] = {"shape": IndexAttr(parse_shape(parser))}
        return cls.create(
            operands=[buffer], properties=props, attributes=parser.parse_optional_attr_dict()
        )


LOAD_WORDS = ("nt", "evict", "pick", "ahead")
STORE_WORDS = ("nt", "evict", "by", "ahead")


class LoadText(Operation):
    """`kernel.load %x[e] [if %c else %z] {evict = "last"} : f32`."""

    if TYPE_CHECKING:
        index: IndexAttr
        masked: UnitAttr | None

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        print_index(printer, self.index, self.operands[1:])
        if self.masked is not None:
            printer.print_string(" if ")
            printer.print_operand(self.operands[-2])
            printer.print_string(" else ")
            printer.print_operand(self.operands[-1])
        print_words_dict(printer, self, LOAD_WORDS)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        base, index, extra = parse_access(parser)
        props: dict[str, Attribute] = {"index": index}
        if parser.parse_optional_keyword("if"):
            extra.append(parse_value(parser))
            parser.parse_keyword("else")
            extra.append(parse_value(parser))
            props["masked"] = UnitAttr()
        words, attributes = parse_words_dict(parser, LOAD_WORDS)
        parser.parse_punctuation(":")
        return cls.create(
            operands=[base, *extra],
            result_types=[parse_scalar_type(parser)],
            properties=props | words,
            attributes=attributes,
        )


class StoreText(Operation):
    """`kernel.store [add] %v, %o[e] [if %c] {nt, by = "atomic"}`."""

    if TYPE_CHECKING:
        index: IndexAttr
        combine: StringAttr | None
        masked: UnitAttr | None

    def print(self, printer: Printer) -> None:
        printer.print_string(" " if self.combine is None else f" {self.combine.data} ")
        printer.print_operand(self.operands[0])
        printer.print_string(", ")
        printer.print_operand(self.operands[1])
        print_index(printer, self.index, self.operands[2:])
        if self.masked is not None:
            printer.print_string(" if ")
            printer.print_operand(self.operands[-1])
        print_words_dict(printer, self, STORE_WORDS)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        combine = parser.parse_optional_keyword_in(COMBINES)
        value = parse_value(parser)
        parser.parse_punctuation(",")
        base, index, extra = parse_access(parser)
        props: dict[str, Attribute] = {"index": index}
        if parser.parse_optional_keyword("if"):
            extra.append(parse_value(parser))
            props["masked"] = UnitAttr()
        if combine is not None:
            props["combine"] = StringAttr(combine)
        words, attributes = parse_words_dict(parser, STORE_WORDS)
        return cls.create(
            operands=[value, base, *extra], properties=props | words, attributes=attributes
        )


class BarrierText(Operation):
    """`kernel.barrier`."""

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return cls.create(attributes=parser.parse_optional_attr_dict())
