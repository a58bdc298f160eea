"""Types of the three levels.

    !aten.t<f32[64, s0]>              a tensor: dtype, sizes; contiguous, on cpu
    !aten.t<f32[64, s0]:[1, 64]@cuda> the same with explicit strides and device
    !aten.int<s0>  !aten.float        Python numbers: known as an expression, or at run time only
    !kernel.buf<f32[1048576]>         flat memory of so many elements (`kernel` only)

Types are interned `Data` attributes: equality is identity, hashing is constant time. Sizes and
strides are index expressions over size symbols, counted in elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar

from xdsl.ir import Data, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from minductor.dialects.dtypes import DTYPES, DType, ScalarType, scalar_of
from minductor.dialects.expr import Expr, ExprLike
from minductor.dialects.expr_simplify import contiguous_strides, product
from minductor.dialects.expr_text import parse_expr

Shape = tuple[Expr, ...]
TensorData = tuple[str, Shape, Shape, str]
_PARSED: dict[str, TensorData] = {}


class InternedData:
    """Mixin of `Data` attributes whose instances are interned by their data."""

    _pool: ClassVar[dict[Any, Any]]
    data: Any
    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._pool = {}

    def __new__(cls, data: Any) -> Any:
        """The one instance that holds `data`."""
        found = cls._pool.get(data)
        if found is None:
            found = object.__new__(cls)
            object.__setattr__(found, "data", data)
            found = cls._pool.setdefault(data, found)
        return found

    def __init__(self, data: Any):
        """Nothing left to do: `__new__` has filled or found the instance."""

    @classmethod
    def new(cls, params: Any) -> Any:
        """The instance that holds `params` (the constructor that xDSL calls)."""
        return cls(params)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.data,))

    def __deepcopy__(self, memo: Any) -> Any:
        return self


@cache
def _span(sizes: Shape, strides: Shape) -> Expr:
    if any(s.as_int == 0 for s in sizes):
        return Expr.of(0)
    span = Expr.of(1)
    for size, stride in zip(sizes, strides, strict=True):
        span = span + (size - 1) * stride
    return span


def parse_shape(parser: AttrParser) -> Shape:
    """`[e, e, ..]`."""
    return tuple(
        parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_expr(parser))
    )


def parse_dtype(parser: AttrParser) -> str:
    """A dtype's short name."""
    pos = parser.pos
    name = parser.parse_identifier(context_msg=" as dtype")
    if name not in DTYPES:
        parser.raise_error(f"unknown dtype `{name}`; known: {', '.join(DTYPES)}", pos)
    return name


def shape_text(sizes: Sequence[Expr]) -> str:
    """`[64, s0]`."""
    return f"[{', '.join(map(str, sizes))}]"


@irdl_attr_definition
class TensorType(InternedData, Data[TensorData], TypeAttribute):
    """A strided tensor: `data` is (dtype, sizes, strides, device)."""

    name = "aten.t"

    @staticmethod
    def make(
        dtype: str,
        sizes: Sequence[ExprLike],
        strides: Sequence[ExprLike] | None = None,
        device: str = "cpu",
    ) -> TensorType:
        """A tensor type; contiguous unless strides (elements) are given."""
        shape = tuple(Expr.of(s) for s in sizes)
        if strides is None:
            return TensorType.new((dtype, shape, contiguous_strides(shape), device))
        return TensorType.new((dtype, shape, tuple(Expr.of(s) for s in strides), device))

    @property
    def dtype(self) -> str:
        """Short dtype name."""
        return self.data[0]

    @property
    def info(self) -> DType:
        """The dtype's row."""
        return DTYPES[self.data[0]]

    @property
    def sizes(self) -> Shape:
        """Sizes in elements."""
        return self.data[1]

    @property
    def strides(self) -> Shape:
        """Strides in elements."""
        return self.data[2]

    @property
    def device(self) -> str:
        """`cpu`, `cuda`, `cuda:1`, ..."""
        return self.data[3]

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.data[1])

    @property
    def scalar(self) -> ScalarType:
        """The type of one element as a value. TypeError for dtypes without one."""
        return scalar_of(self.data[0])

    @property
    def numel(self) -> Expr:
        """Number of elements."""
        return product(self.data[1])

    @property
    def is_contiguous(self) -> bool:
        """Strides are exactly the row-major ones."""
        return self.strides == contiguous_strides(self.sizes)

    @property
    def storage_elements(self) -> Expr:
        """Elements from the first to the last addressed one (0 strides cost nothing)."""
        return _span(self.sizes, self.strides)

    def dense(self, order: Sequence[int]) -> TensorType:
        """A copy without gaps, whose dimensions lie in this order in memory, outermost first."""
        strides = dict(zip(order, contiguous_strides([self.sizes[d] for d in order]), strict=True))
        return self.with_(strides=[strides[d] for d in range(self.rank)])

    def with_(
        self,
        dtype: str | None = None,
        sizes: Sequence[ExprLike] | None = None,
        strides: Sequence[ExprLike] | None = None,
        device: str | None = None,
    ) -> TensorType:
        """A copy with some fields replaced; new sizes without strides are contiguous."""
        if sizes is None and strides is None:
            strides = self.strides
        return TensorType.make(
            dtype or self.dtype,
            self.sizes if sizes is None else sizes,
            strides,
            device or self.device,
        )

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> TensorData:
        # types dominate parsing, and a graph repeats few of them: one lookup for text seen before
        content, start = parser.lexer.input.content, parser.pos
        body = content[start : content.find(">", start) + 1]
        found = _PARSED.get(body)
        if found is not None:
            parser._resume_from(start + len(body))
            return found
        data = cls._parse_body(parser)
        _PARSED[body] = data
        return data

    @classmethod
    def _parse_body(cls, parser: AttrParser) -> TensorData:
        with parser.in_angle_brackets():
            dtype = parse_dtype(parser)
            pos = parser.pos
            sizes = parse_shape(parser)
            if any((n := e.as_int) is not None and n < 0 for e in sizes):
                parser.raise_error(f"a negative size in {shape_text(sizes)}", pos)
            strides = contiguous_strides(sizes)
            if parser.parse_optional_punctuation(":"):
                strides = parse_shape(parser)
                if len(strides) != len(sizes):
                    parser.raise_error(
                        f"{len(strides)} strides for {len(sizes)} sizes; give one a dimension", pos
                    )
            device = parser.parse_optional_symbol_name()
            return (dtype, sizes, strides, "cpu" if device is None else device.data)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.body_text()}>")

    def body_text(self) -> str:
        """The text between the angle brackets."""
        found = _TEXTS.get(self)
        if found is None:
            found = _TEXTS.setdefault(self, self._body_text())
        return found

    def _body_text(self) -> str:
        text = self.dtype + shape_text(self.sizes)
        if not self.is_contiguous:
            text += f":{shape_text(self.strides)}"
        if self.device == "cpu":
            return text
        return f"{text}@{self.device}" if self.device.isalnum() else f'{text}@"{self.device}"'


_TEXTS: dict[TensorType, str] = {}


@irdl_attr_definition
class IntType(InternedData, Data[Expr], TypeAttribute):
    """A Python int whose value is the expression; an argument of this type binds its symbol."""

    name = "aten.int"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Expr:
        with parser.in_angle_brackets():
            return parse_expr(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")


@irdl_attr_definition
class FloatType(InternedData, Data[None], TypeAttribute):
    """A Python float known only at run time."""

    name = "aten.float"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> None:
        return None

    def print_parameter(self, printer: Printer) -> None:
        pass


@irdl_attr_definition
class AbsentType(InternedData, Data[None], TypeAttribute):
    """A result that the op does not give (a masked gradient), an argument that is None."""

    name = "aten.absent"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> None:
        return None

    def print_parameter(self, printer: Printer) -> None:
        pass


class TextData(InternedData, Data[str]):
    """Base of attributes that hold one string: `<"text">`."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        with parser.in_angle_brackets():
            return parser.parse_str_literal()

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.data)


@irdl_attr_definition
class ObjectType(TextData, TypeAttribute):
    """A Python object that a call is given, such as a user's kernel; `data` says what it is."""

    name = "aten.object"


@irdl_attr_definition
class BufType(InternedData, Data[tuple[str, Expr]], TypeAttribute):
    """Flat memory: `data` is (dtype, number of elements)."""

    name = "kernel.buf"

    @staticmethod
    def make(dtype: str, elements: ExprLike) -> BufType:
        """A buffer of so many elements."""
        return BufType.new((dtype, Expr.of(elements)))

    @property
    def dtype(self) -> str:
        """Short dtype name."""
        return self.data[0]

    @property
    def elements(self) -> Expr:
        """Number of elements."""
        return self.data[1]

    @property
    def scalar(self) -> ScalarType:
        """The type of one element as a value."""
        return scalar_of(self.data[0])

    @property
    def scalar_bytes(self) -> int:
        """Size of one element in bytes."""
        return DTYPES[self.data[0]].size

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[str, Expr]:
        with parser.in_angle_brackets():
            dtype = parse_dtype(parser)
            with parser.in_square_brackets():
                return (dtype, parse_expr(parser))

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.dtype}[{self.elements}]>")
