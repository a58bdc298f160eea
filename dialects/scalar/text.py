"""Text form of the `scalar` ops; the classes here are bases of the op classes in `ops.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr, UnitAttr, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.dtypes import dtype_of_scalar, is_scalar_type
from minductor.dialects.expr_text import IndexParser, print_expr, resolve_known
from minductor.dialects.scalar.number import float_text, literal
from minductor.dialects.scalar.table import ScalarRow


def parse_value(parser: Parser) -> SSAValue:
    """`%name`, which must be defined above."""
    unresolved = parser.parse_unresolved_operand()
    return resolve_known(parser, unresolved.operand_name, unresolved.index)


def parse_values(parser: Parser) -> list[SSAValue]:
    """`%a, %b`: one or more."""
    values = [parse_value(parser)]
    while parser.parse_optional_punctuation(","):
        values.append(parse_value(parser))
    return values


def parse_scalar_type(parser: Parser) -> Attribute:
    """A type that values of this dialect may have."""
    pos = parser.pos
    type_ = parser.parse_type()
    if not is_scalar_type(type_):
        parser.raise_error(f"`{type_}` is not a scalar type; use f32, i64, ui8, i1, ...", pos)
    return type_


def print_tail(printer: Printer, op: Operation) -> None:
    """Attributes outside the syntax, if any."""
    printer.print_op_attributes(op.attributes)


def parse_tail(parser: Parser, op: Operation) -> None:
    """Attributes outside the syntax, if any."""
    op.attributes.update(parser.parse_optional_attr_dict())


RANDOM_KINDS = ("philox", "philox_normal", "philox_bits")
_KINDS = {
    "num": ("float", "int", "uint"),
    "float": ("float",),
    "int": ("int", "uint", "bool"),
    "any": ("float", "int", "uint", "bool"),
}


class TableText(Operation):
    """`scalar.add %a, %b : f32`; the type is that of the last operand."""

    ROW: ClassVar[ScalarRow]

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        print_tail(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[-1].type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        pos = parser.pos
        args = parse_values(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parse_scalar_type(parser)
        if len(args) != len(cls.ROW.operands):
            parser.raise_error(
                f"`{cls.name}` takes {len(cls.ROW.operands)} operands, {len(args)} given", pos
            )
        result = i1 if cls.ROW.result == "i1" else type_
        op = cls.create(operands=args, result_types=[result], attributes=attributes)
        if args[-1].type != type_:
            parser.raise_error(f"operands are `{args[-1].type}`, the op says `{type_}`", pos)
        return op

    def verify_(self) -> None:
        type_ = self.operands[-1].type
        for kind, operand in zip(self.ROW.operands, self.operands, strict=True):
            want = i1 if kind == "i1" else type_
            if operand.type != want:
                raise VerifyException(
                    f"operand types differ: `{operand.type}` where `{want}` is needed; "
                    "insert a scalar.cast"
                )
            if kind != "i1" and dtype_of_scalar(type_).kind not in _KINDS[kind]:
                raise VerifyException(
                    f"`{self.name}` is for {kind} operands, not `{type_}`; cast first"
                )
        result = i1 if self.ROW.result == "i1" else type_
        if self.results[0].type != result:
            raise VerifyException(f"result must be `{result}`, not `{self.results[0].type}`")


class ConstantText(Operation):
    """`scalar.constant 2.0 : f32`."""

    if TYPE_CHECKING:
        value: Any

    def print(self, printer: Printer) -> None:
        value, type_ = self.value, self.results[0].type
        if isinstance(value, FloatAttr):
            text = float_text(value.value.data, dtype_of_scalar(type_).name)
        else:
            number = value.value.data
            text = str(number & 1 if type_ == i1 else number)
        printer.print_string(f" {text}")
        print_tail(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(type_)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        sign = -1 if parser.parse_optional_punctuation("-") else 1
        word = parser.parse_optional_keyword_in(("inf", "nan", "true", "false"))
        if word in ("true", "false"):
            number: float | int = int(word == "true")
        else:
            number = sign * (float(word) if word else parser.parse_number())
            if number == 0 and sign < 0:
                number = -0.0
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parse_scalar_type(parser)
        return cls.create(
            properties={"value": literal(number, type_)},
            result_types=[type_],
            attributes=attributes,
        )

    def verify_(self) -> None:
        if self.value.type != self.results[0].type:
            raise VerifyException("the literal's type differs from the result's type")


class CastText(Operation):
    """`scalar.cast %a : f32 to bf16 {storage}`."""

    if TYPE_CHECKING:
        storage: UnitAttr | None

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        if self.storage is not None:
            printer.print_string(" storage")
        print_tail(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)
        printer.print_string(" to ")
        printer.print_attribute(self.results[0].type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        arg = parse_value(parser)
        props: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("storage"):
            props["storage"] = UnitAttr()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        pos = parser.pos
        if parse_scalar_type(parser) != arg.type:
            parser.raise_error(f"the operand is `{arg.type}`", pos)
        parser.parse_keyword("to")
        to = parse_scalar_type(parser)
        return cls.create(
            operands=[arg], result_types=[to], properties=props, attributes=attributes
        )

    def verify_(self) -> None:
        if self.name != "scalar.bitcast":
            return
        sizes = [dtype_of_scalar(v.type).size for v in (self.operands[0], self.results[0])]
        if sizes[0] != sizes[1]:
            raise VerifyException("bitcast between types of different widths; use scalar.cast")


class IndexText(Operation):
    """`scalar.index d1 + %j : i64`."""

    if TYPE_CHECKING:
        expr: ExprAttr

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_expr(printer, self.expr.data, self.operands)
        print_tail(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        index = IndexParser(parser)
        e = index.expr()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(
            operands=index.operands,
            result_types=[parse_scalar_type(parser)],
            properties={"expr": ExprAttr(e)},
            attributes=attributes,
        )

    def verify_(self) -> None:
        verify_index_operands(self, [self.expr.data], self.operands)
        if dtype_of_scalar(self.results[0].type).kind not in ("int", "uint"):
            raise VerifyException("an index is an integer; cast it to get a float")


class WithinText(Operation):
    """`scalar.within d1 in 0 to 512`."""

    if TYPE_CHECKING:
        bounds: IndexAttr

    def print(self, printer: Printer) -> None:
        for word, e in zip((" ", " in ", " to "), self.bounds.data, strict=True):
            printer.print_string(word)
            print_expr(printer, e, self.operands)
        print_tail(printer, self)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        index = IndexParser(parser)
        e = index.expr()
        parser.parse_keyword("in")
        lo = index.expr()
        parser.parse_keyword("to")
        hi = index.expr()
        return cls.create(
            operands=index.operands,
            result_types=[i1],
            properties={"bounds": IndexAttr((e, lo, hi))},
            attributes=parser.parse_optional_attr_dict(),
        )

    def verify_(self) -> None:
        if len(self.bounds.data) != 3:
            raise VerifyException("`bounds` is [e, lo, hi]")
        verify_index_operands(self, self.bounds.data, self.operands)


class BoundText(Operation):
    """`scalar.bound %k to s1 wrap if %c`; the operand and the result are i64, the mask i1."""

    if TYPE_CHECKING:
        size: ExprAttr
        wrap: UnitAttr | None

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        printer.print_string(f" to {self.size.data}")
        if self.wrap is not None:
            printer.print_string(" wrap")
        if len(self.operands) > 1:
            printer.print_string(" if ")
            printer.print_operand(self.operands[1])
        print_tail(printer, self)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        arg = parse_value(parser)
        parser.parse_keyword("to")
        props: dict[str, Attribute] = {"size": ExprAttr(IndexParser(parser).expr())}
        if parser.parse_optional_keyword("wrap"):
            props["wrap"] = UnitAttr()
        masked = parser.parse_optional_keyword("if") is not None
        return cls.create(
            operands=[arg, parse_value(parser)] if masked else [arg],
            result_types=[i64],
            properties=props,
            attributes=parser.parse_optional_attr_dict(),
        )

    def verify_(self) -> None:
        if self.operands[0].type != i64 or self.results[0].type != i64:
            raise VerifyException("bound takes and gives i64; cast the index to i64 first")


class YieldText(Operation):
    """`scalar.yield %a, %b : f32, f32`."""

    def print(self, printer: Printer) -> None:
        if not self.operands:
            return
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_string(" : ")
        printer.print_list([v.type for v in self.operands], printer.print_attribute)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        first = parser.parse_optional_unresolved_operand()
        if first is None:
            return cls.create()
        args = [resolve_known(parser, first.operand_name, first.index)]
        while parser.parse_optional_punctuation(","):
            args.append(parse_value(parser))
        parser.parse_punctuation(":")
        pos = parser.pos
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        if types != [v.type for v in args]:
            parser.raise_error("the types written differ from the operands' types", pos)
        return cls.create(operands=args)


class IfText(Operation):
    """`scalar.if %c -> f32 {..} else {..}`."""

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        printer.print_string(" -> ")
        printer.print_list([r.type for r in self.results], printer.print_attribute)
        print_tail(printer, self)
        printer.print_string(" ")
        printer.print_region(self.regions[0])
        printer.print_string(" else ")
        printer.print_region(self.regions[1])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        cond = parse_value(parser)
        parser.parse_punctuation("->")
        types = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, lambda: parse_scalar_type(parser)
        )
        attributes = parser.parse_optional_attr_dict_with_keyword()
        then = parser.parse_region()
        parser.parse_keyword("else")
        return cls.create(
            operands=[cond],
            result_types=types,
            regions=[then, parser.parse_region()],
            attributes={} if attributes is None else attributes.data,
        )

    def verify_(self) -> None:
        types = [r.type for r in self.results]
        depth, parent = 1, self.parent_op()
        while isinstance(parent, IfText):
            depth, parent = depth + 1, parent.parent_op()
        if depth > 8:
            raise VerifyException("`if` is nested more than 8 deep; combine the conditions")
        for name, region in zip(("then", "else"), self.regions, strict=True):
            last = region.block.last_op
            if last is None or last.name != "scalar.yield":
                raise VerifyException(f"the {name} region must end with scalar.yield")
            if [v.type for v in last.operands] != types:
                raise VerifyException(f"the {name} region yields other types than the results'")


class LookupText(Operation):
    """`scalar.lookup %v -> bf16 { ^(%x : bf16): .. }`."""

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        printer.print_string(" -> ")
        printer.print_attribute(self.results[0].type)
        print_tail(printer, self)
        printer.print_string(" ")
        printer.print_region(self.regions[0])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parse_value(parser)
        parser.parse_punctuation("->")
        type_ = parse_scalar_type(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        return cls.create(
            operands=[value],
            result_types=[type_],
            regions=[parser.parse_region()],
            attributes={} if attributes is None else attributes.data,
        )

    def verify_(self) -> None:
        block, value, result = self.regions[0].block, self.operands[0], self.results[0]
        source, to = dtype_of_scalar(value.type), dtype_of_scalar(result.type)
        if source.size > 2 or source.name == "bool":
            raise VerifyException("a table has an entry for each value of 8 or 16 bits")
        if to.size > 4 or to.name == "bool":
            raise VerifyException("entries of a table are of 1, 2 or 4 bytes")
        if [a.type for a in block.args] != [value.type]:
            raise VerifyException("the region takes one value of the operand's type")
        last = block.last_op
        if last is None or last.name != "scalar.yield":
            raise VerifyException("the region must end with scalar.yield")
        if [v.type for v in last.operands] != [result.type]:
            raise VerifyException("the region yields another type than the result's")
        inside = {*block.args, *(r for op in block.ops for r in op.results)}
        if any(v not in inside for op in block.ops for v in op.operands):
            raise VerifyException("the region uses nothing from around it")
        if any(op.regions for op in block.ops):
            raise VerifyException("the region holds plain scalar ops only")


class RandomText(Operation):
    """`scalar.random philox %seed, e stream 3 -> f32`."""

    if TYPE_CHECKING:
        expr: ExprAttr
        stream: IntegerAttr[Any]
        kind: StringAttr

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.kind.data} ")
        printer.print_operand(self.operands[0])
        printer.print_string(", ")
        print_expr(printer, self.expr.data, self.operands[1:])
        printer.print_string(f" stream {self.stream.value.data}")
        print_tail(printer, self)
        printer.print_string(" -> ")
        printer.print_attribute(self.results[0].type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kind = parser.parse_keyword_in(RANDOM_KINDS)
        seed = parse_value(parser)
        parser.parse_punctuation(",")
        index = IndexParser(parser)
        e = index.expr()
        parser.parse_keyword("stream")
        stream = parser.parse_integer(allow_boolean=False, allow_negative=False)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation("->")
        return cls.create(
            operands=[seed, *index.operands],
            result_types=[parse_scalar_type(parser)],
            properties={
                "expr": ExprAttr(e),
                "stream": IntegerAttr(stream, 64),
                "kind": StringAttr(kind),
            },
            attributes=attributes,
        )

    def verify_(self) -> None:
        verify_index_operands(self, [self.expr.data], self.operands[1:])
        want = ("int",) if self.kind.data == "philox_bits" else ("float",)
        if self.kind.data not in RANDOM_KINDS:
            raise VerifyException(f"unknown random kind; one of {', '.join(RANDOM_KINDS)}")
        if dtype_of_scalar(self.results[0].type).kind not in want:
            raise VerifyException(f"`{self.kind.data}` gives {want[0]} values")


def verify_index_operands(
    op: Operation, exprs: Sequence[Any], operands: Sequence[SSAValue]
) -> None:
    """Every tN of the expressions has an i64 operand."""
    used = {a.index for e in exprs for a in e.vars("t")}
    if used and max(used) >= len(operands):
        raise VerifyException(
            f"index uses t{max(used)} but the op has {len(operands)} index operands"
        )
    for value in operands:
        if value.type != i64:
            raise VerifyException(f"index operand is `{value.type}`; indices are i64 (scalar.cast)")
