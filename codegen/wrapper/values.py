"""Python text of expressions, types and argument attributes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, SymbolRefAttr
from xdsl.ir import Attribute
from xdsl.utils.exceptions import DiagnosticException

from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.dtypes import DTYPES
from minductor.dialects.expr import Expr, Style, render, str_atom
from minductor.dialects.pyattrs import (
    ArgAttr,
    ComplexAttr,
    DeviceAttr,
    DTypeAttr,
    EnumAttr,
    to_python,
)
from minductor.dialects.types import TensorType

_STYLE: Style = {
    "floordiv": "({0} // {1})",
    "mod": "({0} % {1})",
    "min": "min({0}, {1})",
    "max": "max({0}, {1})",
}


class EmitError(DiagnosticException):
    """An op or attribute that the wrapper cannot print; the text names it."""


def expr_text(e: Expr) -> str:
    """`s0 * (s1 // 2)`: Python's // and % round as floordiv and mod do."""
    return render(e, str_atom, _STYLE)


def tuple_text(items: Sequence[str]) -> str:
    """`(a, b)`, `(a,)`, `()`."""
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def shape_text(sizes: Sequence[Expr]) -> str:
    """Sizes or strides as a tuple."""
    return tuple_text([expr_text(e) for e in sizes])


def dtype_text(name: str) -> str:
    """`torch.float32` of `f32`."""
    return f"torch.{DTYPES[name].torch_name}"


def layout_text(name: str, type_: TensorType) -> str:
    """A layout as `host.inputs` takes it: dynamic sizes as strings."""
    shapes = [
        tuple_text([expr_text(e) if e.as_int is not None else f'"{expr_text(e)}"' for e in part])
        for part in (type_.sizes, type_.strides)
    ]
    return f'("{name}", {dtype_text(type_.dtype)}, "{type_.device}", {shapes[0]}, {shapes[1]})'


def dynamic_texts(types: Sequence[TensorType]) -> list[str]:
    """The texts that are strings in the layouts of `types`, in order of first appearance."""
    seen: dict[str, None] = {}
    for type_ in types:
        for e in (*type_.sizes, *type_.strides):
            if e.as_int is None:
                seen[expr_text(e)] = None
    return list(seen)


def _float_text(value: float) -> str:
    return repr(value) if math.isfinite(value) else f'float("{value}")'


def argument_text(attr: Attribute, operand: Callable[[int], str]) -> str:
    """An argument of an extern call; `operand` names the op's k-th operand."""
    if isinstance(attr, ArgAttr):
        return operand(attr.data)
    if isinstance(attr, SymbolRefAttr):
        return attr.string_value()
    if isinstance(attr, ExprAttr):
        return expr_text(attr.data)
    if isinstance(attr, IndexAttr):
        return f"[{', '.join(expr_text(e) for e in attr.data)}]"
    if isinstance(attr, DTypeAttr):
        return dtype_text(attr.data)
    if isinstance(attr, DeviceAttr):
        return f'torch.device("{attr.data}")'
    if isinstance(attr, EnumAttr):
        return f"torch.{attr.data}"
    if isinstance(attr, ComplexAttr):
        return f"complex({', '.join(_float_text(v) for v in attr.data)})"
    if isinstance(attr, FloatAttr):
        return _float_text(attr.value.data)
    if isinstance(attr, ArrayAttr):
        items = cast(ArrayAttr[Attribute], attr)
        return f"[{', '.join(argument_text(a, operand) for a in items)}]"
    value = to_python(attr)
    if value is None or isinstance(value, bool | int | str):
        return repr(value)
    raise EmitError(f"an extern call's argument `{attr}` has no Python form")


def is_constant(attr: Attribute) -> bool:
    """True when the text of an argument holds neither operands nor symbols."""
    if isinstance(attr, ArgAttr):
        return False
    if isinstance(attr, ExprAttr):
        return attr.data.as_int is not None
    if isinstance(attr, IndexAttr):
        return all(e.as_int is not None for e in attr.data)
    if isinstance(attr, ArrayAttr):
        return all(is_constant(a) for a in cast(ArrayAttr[Attribute], attr))
    return True
