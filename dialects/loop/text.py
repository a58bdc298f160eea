"""Text form of the `loop` ops; bases of the op classes in `ops.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

from minductor.dialects import expr as ex
from minductor.dialects.attrs import (
    BytesAttr,
    DomainAttr,
    ExprAttr,
    IndexAttr,
    OriginsAttr,
    domain_text,
    parse_domain,
)
from minductor.dialects.expr import Expr
from minductor.dialects.expr_text import parse_expr
from minductor.dialects.scalar.text import parse_scalar_type, parse_value, parse_values
from minductor.dialects.text import (
    empty_dict,
    parse_access,
    parse_types,
    parse_words_dict,
    print_index,
    print_types,
    print_words_dict,
)


class NestText(Operation):
    """`loop.nest (d0: 64) reduce (d1: s1) -> (%o : T, %p = %acc : T) origins [..] {..}`."""

    if TYPE_CHECKING:
        domain: DomainAttr
        tied: IndexAttr
        origins: OriginsAttr

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {domain_text(self.domain.data)} -> (")
        for i, (arg, tie) in enumerate(
            zip(self.regions[0].block.args, self.tied.data, strict=True)
        ):
            printer.print_string(", " if i else "")
            printer.print_ssa_value(arg)
            if int(tie) >= 0:
                printer.print_string(" = ")
                printer.print_operand(self.operands[int(tie)])
            printer.print_string(" : ")
            printer.print_attribute(arg.type)
        printer.print_string(")")
        if self.origins.data:
            printer.print_string(" origins ")
            self.origins.print_list(printer)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.regions[0], print_entry_block_args=False)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        domain = parse_domain(parser)
        parser.parse_punctuation("->")
        operands: list[SSAValue] = []
        ties: list[int] = []
        args: list[Parser.Argument] = []

        def entry() -> None:
            name = parser.parse_argument(expect_type=False)
            if parser.parse_optional_punctuation("="):
                ties.append(len(operands))
                operands.append(parse_value(parser))
            else:
                ties.append(-1)
            parser.parse_punctuation(":")
            args.append(name.resolve(parser.parse_type()))

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, entry)
        keyword = parser.parse_optional_keyword("origins")
        origins = OriginsAttr.parse_list(parser) if keyword else ()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region(args)
        return cls.create(
            operands=operands,
            result_types=[a.type for a in args],
            properties={
                "domain": DomainAttr(domain),
                "tied": IndexAttr(tuple(ex.const(t) for t in ties)),
                "origins": OriginsAttr(origins),
            },
            attributes={} if attributes is None else attributes.data,
            regions=[region],
        )


class LoadText(Operation):
    """`loop.load %x[d0, %j] : f32`."""

    if TYPE_CHECKING:
        index: IndexAttr

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        print_index(printer, self.index, self.operands[1:])
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        base, index, extra = parse_access(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(
            operands=[base, *extra],
            result_types=[parse_scalar_type(parser)],
            properties={"index": index},
            attributes=attributes,
        )


class StoreText(Operation):
    """`loop.store [add] %v, %o[d0] {ordered}`."""

    if TYPE_CHECKING:
        index: IndexAttr
        combine: StringAttr | None

    def print(self, printer: Printer) -> None:
        printer.print_string(" " if self.combine is None else f" {self.combine.data} ")
        printer.print_operand(self.operands[0])
        printer.print_string(", ")
        printer.print_operand(self.operands[1])
        print_index(printer, self.index, self.operands[2:])
        print_words_dict(printer, self, ("ordered",))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        combine = parser.parse_optional_keyword_in(COMBINES)
        value = parse_value(parser)
        parser.parse_punctuation(",")
        base, index, extra = parse_access(parser)
        props, attributes = parse_words_dict(parser, ("ordered",))
        props["index"] = index
        if combine is not None:
            props["combine"] = StringAttr(combine)
        return cls.create(operands=[value, base, *extra], properties=props, attributes=attributes)


COMBINES = ("add", "mul", "min", "max", "last")


class CollapseText(Operation):
    """`loop.reduce add %a : f32 -> f32`, `loop.scan cummax %a : f32 -> f32, i64`."""

    if TYPE_CHECKING:
        kind: StringAttr

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data} ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        print_types(printer, [v.type for v in self.operands])
        printer.print_string(" -> ")
        print_types(printer, [r.type for r in self.results])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kind = parser.parse_identifier(context_msg=" as reduction kind")
        args = parse_values(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        pos = parser.pos
        if parse_types(parser) != [v.type for v in args]:
            parser.raise_error("the types written differ from the operands' types", pos)
        parser.parse_punctuation("->")
        return cls.create(
            operands=args,
            result_types=parse_types(parser),
            properties={"kind": StringAttr(kind)},
            attributes=attributes,
        )


class ViewText(Operation):
    """`loop.view %x offset e : T to U`."""

    if TYPE_CHECKING:
        offset: ExprAttr

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        printer.print_string(f" offset {self.offset.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)
        printer.print_string(" to ")
        printer.print_attribute(self.results[0].type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parse_value(parser)
        parser.parse_keyword("offset")
        offset = ExprAttr(parse_expr(parser))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        pos = parser.pos
        if parser.parse_type() != source.type:
            parser.raise_error("the type written differs from the operand's type", pos)
        parser.parse_keyword("to")
        return cls.create(
            operands=[source],
            result_types=[parser.parse_type()],
            properties={"offset": offset},
            attributes=attributes,
        )


EXTERN_WORDS = (
    "mutates", "aliases", "needs", "out", "random", "ordered", "workspace", "origins",
)  # fmt: skip


class ExternText(Operation):
    """`extern "aten.mm.default"(%a, %b) args [..] kwargs {..} {out} : (T, T) -> T`."""

    if TYPE_CHECKING:
        callee: StringAttr
        args_: ArrayAttr[Attribute]
        kwargs: DictionaryAttr

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.callee.data)
        with printer.in_parens():
            printer.print_list(self.operands, printer.print_operand)
        printer.print_string(" args ")
        printer.print_attribute(self.args_)
        if self.kwargs.data:
            printer.print_string(" kwargs ")
            printer.print_attribute(self.kwargs)
        print_words_dict(printer, self, EXTERN_WORDS)
        for region in self.regions:
            printer.print_string(" ")
            printer.print_region(region)
        printer.print_string(" : ")
        printer.print_operation_type(self)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        callee = parser.parse_str_literal()
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parse_value(parser)
        )
        parser.parse_keyword("args")
        args = parser.parse_attribute()
        kwargs = (
            parser.parse_attribute() if parser.parse_optional_keyword("kwargs") else empty_dict()
        )
        props, attributes = parse_words_dict(parser, EXTERN_WORDS)
        regions: list[Region] = []
        while (region := parser.parse_optional_region()) is not None:
            regions.append(region)
        parser.parse_punctuation(":")
        pos = parser.pos
        type_ = parser.parse_function_type()
        if list(type_.inputs) != [v.type for v in operands]:
            parser.raise_error("the operand types written differ from the operands' types", pos)
        return cls.create(
            operands=operands,
            result_types=list(type_.outputs),
            properties={"callee": StringAttr(callee), "args_": args, "kwargs": kwargs, **props},
            attributes=attributes,
            regions=regions,
        )


class CommitText(Operation):
    """`loop.commit %new to %arg : T, T`."""

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        printer.print_string(" to ")
        printer.print_operand(self.operands[1])
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        print_types(printer, [v.type for v in self.operands])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        new = parse_value(parser)
        parser.parse_keyword("to")
        arg = parse_value(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        pos = parser.pos
        if parse_types(parser) != [new.type, arg.type]:
            parser.raise_error("the types written differ from the operands' types", pos)
        return cls.create(operands=[new, arg], attributes=attributes)


class GroupText(Operation):
    """`loop.group "name" -> T bytes <..> across [2] {.. yield %buf1 }`."""

    if TYPE_CHECKING:
        sym: StringAttr
        bytes_: BytesAttr | None
        across: IndexAttr | None

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.sym.data)
        printer.print_string(" -> ")
        print_types(printer, [r.type for r in self.results])
        if self.bytes_ is not None:
            printer.print_string(" bytes ")
            self.bytes_.print_parameter(printer)
        if self.across is not None:
            printer.print_string(f" across [{', '.join(map(str, self.across.data))}]")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.regions[0])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        name = StringAttr(parser.parse_str_literal())
        parser.parse_punctuation("->")
        types = parse_types(parser)
        props: dict[str, Any] = {"sym": name}
        if parser.parse_optional_keyword("bytes"):
            props["bytes_"] = BytesAttr(BytesAttr.parse_parameter(parser))
        if parser.parse_optional_keyword("across"):
            places = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: Expr.of(parser.parse_integer())
            )
            props["across"] = IndexAttr(tuple(places))
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region()
        return cls.create(
            result_types=types,
            properties=props,
            attributes={} if attributes is None else attributes.data,
            regions=[region],
        )


class TensorYieldText(Operation):
    """`loop.yield %a, %b`: types are those of the values."""

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return cls.create(operands=parse_values(parser))
