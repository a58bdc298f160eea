"""The ops of `aten` that have no schema: numbers, small constants, Python arithmetic.

    %c = aten.scalar 2.0                        a Python number in a tensor's place
    %n = aten.scalar 2 * s0                     the same, known as an expression
    %t = aten.py "truediv"(%a, %b)              arithmetic on Python numbers at run time
    %k = aten.constant [1.0, 2.0] : !aten.t<f32[2]>   a small tensor by its content
    aten.assert u0 - 2, "too few"               a check of sizes at run time
    %s = aten.seed : !aten.t<i64[1]>            a seed for random ops that are drawn twice

Each has a class with a constructor `of`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from minductor.dialects.aten.schema import Arg
from minductor.dialects.aten.text import optional_operand
from minductor.dialects.aten.traits import Ordered, Random
from minductor.dialects.aten.values import parse_value, print_value, to_attr
from minductor.dialects.attrs import ExprAttr
from minductor.dialects.expr import Expr
from minductor.dialects.expr_text import parse_expr
from minductor.dialects.pyattrs import to_python
from minductor.dialects.types import FloatType, IntType, TensorType

NUMBER = Arg("value", "scalar")
NUMBERS = Arg("values", "scalar", is_list=True)

PY_FUNCTIONS = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "neg", "pow", "abs", "min", "max",
    "sqrt", "exp", "log", "sin", "cos", "tan", "floor", "ceil", "trunc", "round", "float",
)  # fmt: skip
"""Functions of `aten.py`, with Python's meaning on floats."""


def _no_operand() -> None:
    return None


class ScalarText(Operation):
    """`aten.scalar 2.0`; the type follows from the number."""

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_value(printer, self.properties["value"], "scalar", ())
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parse_value(parser, NUMBER, _no_operand)
        attributes = parser.parse_optional_attr_dict()
        return cls.create(
            properties={"value": value}, result_types=[scalar_type(value)], attributes=attributes
        )

    def verify_(self) -> None:
        want = scalar_type(self.properties["value"])
        if self.results[0].type != want:
            raise VerifyException(
                f"result of type `{self.results[0].type}`, the number's is `{want}`"
            )


def scalar_type(value: Attribute) -> IntType | FloatType:
    """The type of a number: !aten.int<e> for ints and bools, !aten.float for floats, complex."""
    if isinstance(value, ExprAttr):
        return IntType(value.data)
    if isinstance(value, IntegerAttr):
        number = value.value.data
        return IntType(Expr.of(int(bool(number)) if value.type == i1 else number))
    return FloatType(None)


@irdl_op_definition
class ScalarOp(ScalarText, IRDLOperation):
    """`aten.scalar 2.0`: a Python number as a value, for a tensor's place or a function's result.

    It promotes as a Python number does (weakly), unlike a 0-d tensor.
    """

    name = "aten.scalar"
    value = prop_def()
    result = result_def()
    traits = traits_def(Pure())

    @staticmethod
    def of(value: float | int | bool | complex | Expr) -> ScalarOp:
        """The op of a Python number or an integer expression."""
        attr = to_attr(value, NUMBER)
        return ScalarOp.create(properties={"value": attr}, result_types=[scalar_type(attr)])

    @property
    def number(self) -> Any:
        """The Python number, or the Expr."""
        return to_python(self.value)


class PyText(Operation):
    """`aten.py "truediv"(%a, %b)`; the result is a float."""

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.properties["function"])
        with printer.in_parens():
            printer.print_list(self.operands, printer.print_operand)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        function = StringAttr(parser.parse_str_literal())

        def one() -> SSAValue:
            value = optional_operand(parser)
            return parser.raise_error("expected an SSA value") if value is None else value

        operands = parser.parse_comma_separated_list(parser.Delimiter.PAREN, one)
        return cls.create(
            operands=operands,
            properties={"function": function},
            result_types=[FloatType(None)],
            attributes=parser.parse_optional_attr_dict(),
        )

    def verify_(self) -> None:
        function = self.properties["function"]
        if not isinstance(function, StringAttr) or function.data not in PY_FUNCTIONS:
            raise VerifyException(f"unknown function; one of {', '.join(PY_FUNCTIONS)}")
        for value in self.operands:
            if not isinstance(value.type, IntType | FloatType):
                raise VerifyException(f"operand `{value.type}`; aten.py works on Python numbers")


@irdl_op_definition
class PyOp(PyText, IRDLOperation):
    """`aten.py "truediv"(%a, %b)`: float arithmetic on Python numbers, in double precision."""

    name = "aten.py"
    function = prop_def(StringAttr)
    args = var_operand_def()
    result = result_def(FloatType)
    traits = traits_def(Pure())

    @staticmethod
    def of(function: str, args: Sequence[SSAValue]) -> PyOp:
        """`function` of numbers; a float."""
        return PyOp.create(
            operands=list(args),
            properties={"function": StringAttr(function)},
            result_types=[FloatType(None)],
        )


class ConstantText(Operation):
    """`aten.constant [1.0, 2.0] : T`: the elements in logical (row-major) order."""

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_value(printer, self.properties["values"], "scalar", ())
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        values = parse_value(parser, NUMBERS, _no_operand)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(
            properties={"values": values},
            result_types=[parser.parse_type()],
            attributes=attributes,
        )

    def verify_(self) -> None:
        type_, values = self.results[0].type, self.properties["values"]
        assert isinstance(type_, TensorType)
        count = len(values.data) if isinstance(values, ArrayAttr) else 0
        if type_.numel.as_int != count:
            raise VerifyException(f"{count} elements for `{type_}`; give one an element")


@irdl_op_definition
class ConstantOp(ConstantText, IRDLOperation):
    """`aten.constant [1.0, 2.0] : T`: a small tensor; larger ones are arguments of the function."""

    name = "aten.constant"
    values = prop_def(ArrayAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    @staticmethod
    def of(values: Sequence[float | int | bool | complex], type_: TensorType) -> ConstantOp:
        """Elements in row-major order, converted to the dtype of `type_`."""
        attr = to_attr(list(values), NUMBERS)
        return ConstantOp.create(properties={"values": attr}, result_types=[type_])

    @property
    def numbers(self) -> list[Any]:
        """The elements as Python numbers, in row-major order."""
        return to_python(self.values)


class AssertText(Operation):
    """`aten.assert u0 - 2, "message"`."""

    def print(self, printer: Printer) -> None:
        expr, message = self.properties["expr"], self.properties["message"]
        assert isinstance(expr, ExprAttr)
        printer.print_string(f" {expr.data}, ")
        printer.print_attribute(message)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        expr = ExprAttr(parse_expr(parser))
        parser.parse_punctuation(",")
        message = StringAttr(parser.parse_str_literal())
        return cls.create(
            properties={"expr": expr, "message": message},
            attributes=parser.parse_optional_attr_dict(),
        )


@irdl_op_definition
class AssertOp(AssertText, IRDLOperation):
    """`aten.assert e, "message"`: at run time e >= 0, else a RuntimeError with the message."""

    name = "aten.assert"
    expr = prop_def(ExprAttr)
    message = prop_def(StringAttr)
    traits = traits_def(Ordered())

    @staticmethod
    def of(e: Expr, message: str) -> AssertOp:
        """A check of sizes."""
        return AssertOp.create(properties={"expr": ExprAttr(e), "message": StringAttr(message)})


class SeedText(Operation):
    """`aten.seed : !aten.t<i64[1]>`."""

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return cls.create(result_types=[parser.parse_type()], attributes=attributes)

    def verify_(self) -> None:
        type_ = self.results[0].type
        if (
            not isinstance(type_, TensorType)
            or (type_.dtype, type_.rank) != ("i64", 1)
            or type_.numel.as_int is None
        ):
            raise VerifyException(f"a seed is `!aten.t<i64[1]>`, a state i64[n], not `{type_}`")


@irdl_op_definition
class SeedOp(SeedText, IRDLOperation):
    """`aten.seed : !aten.t<i64[1]>`: a seed from the device's default generator.

    With more than one element it is the generator's state before the op that draws next. It goes
    to the `rng_seed` of random ops whose numbers are drawn again in another graph.
    """

    name = "aten.seed"
    result = result_def(TensorType)
    traits = traits_def(Random())

    @staticmethod
    def of(device: str = "cpu", words: int = 1) -> SeedOp:
        """A seed on a device, or a state of so many words."""
        return SeedOp.create(result_types=[TensorType.make("i64", [words], device=device)])


SPECIAL_OPS: tuple[type[Operation], ...] = (
    ScalarOp,
    PyOp,
    ConstantOp,
    AssertOp,
    SeedOp,
)
