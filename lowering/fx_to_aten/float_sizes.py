"""Sizes that come from float arithmetic: `int(1.5 * n)` of an upsampling by a factor.

    TruncToInt(1.5 * ToFloat(s0))   -->  (3 * s0) floordiv 2      by a short binary fraction
    TruncToInt(1.7 * ToFloat(s0))   -->  u0, bound by
        %f = aten.py "mul"(1.7, s0)
        %t = aten.scalar_tensor.default(%f, dtype = i64)
        %u = aten._local_scalar_dense.default(%t) : !aten.int<u0>

The second form rounds as Python does, in double precision, which no integer expression can say.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy
from xdsl.ir import Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.aten.ops import AtenOp
from minductor.dialects.aten.special import PyOp
from minductor.dialects.expr import Expr
from minductor.dialects.pyattrs import DTypeAttr
from minductor.dialects.types import IntType, TensorType
from minductor.lowering.fx_to_aten.errors import ImportRefused

if TYPE_CHECKING:
    from minductor.lowering.fx_to_aten.symbols import SymbolTable

ROUNDINGS = {
    "TruncToInt": "trunc",
    "FloorToInt": "floor",
    "CeilToInt": "ceil",
    "RoundToInt": "round",
}
"""torch's functions from a float to an int, and the function of `aten.py` before the cast."""
SHORT = 2**20
"""Numerator and denominator up to which products with sizes are exact in double precision."""
_ARITHMETIC = {
    "Mul": "mul",
    "Add": "add",
    "Pow": "pow",
    "FloatPow": "pow",
    "FloatTrueDiv": "truediv",
    "IntTrueDiv": "truediv",
}


def is_float(e: Any) -> bool:
    """Float arithmetic occurs in a sympy expression."""
    return bool(e.atoms(sympy.Float)) or any(
        type(a).__name__ in ("ToFloat", "FloatPow") for a in sympy.preorder_traversal(e)
    )


def exact_rounding(table: SymbolTable, e: Any, nonneg: bool) -> Expr | None:
    """A rounded product of a size and a short binary fraction, as integer arithmetic; else None.

    `nonneg`: the size is known to be >= 0, where truncation is the floor.
    """
    name, inner = type(e).__name__, e.args[0]
    if name == "RoundToInt" or (name == "TruncToInt" and not nonneg):
        return None
    factors = inner.args if isinstance(inner, sympy.Mul) else (inner,)
    scale, whole = Fraction(1), ex.ONE
    for factor in factors:
        if isinstance(factor, sympy.Float | sympy.Integer):
            scale *= Fraction(float(factor))
        elif type(factor).__name__ == "ToFloat":
            whole = whole * table.convert(factor.args[0])
        else:
            return None
    top, bottom = scale.numerator, scale.denominator
    if not 0 < top < SHORT or bottom > SHORT or len(factors) > 2:
        return None
    if name == "CeilToInt":
        return -ex.floordiv(-top * whole, bottom)
    return ex.floordiv(top * whole, bottom)


class FloatSizes:
    """Writes the ops that bind such sizes: `add` appends one, `scalar` makes a number a value."""

    def __init__(
        self,
        table: SymbolTable,
        add: Callable[[Operation], None],
        scalar: Callable[[Any], SSAValue],
    ) -> None:
        self.table = table
        self.add = add
        self.scalar = scalar

    def bind(self, e: Any, symbol: Expr) -> SSAValue:
        """Ops after which `symbol` has the value of a rounded float expression."""
        value = self._value(e.args[0])
        function = ROUNDINGS[type(e).__name__]
        if function != "trunc":
            value = self._op(PyOp.of(function, [value]))
        given = {"s": value, "dtype": DTypeAttr("i64")}
        tensor = self._op(
            AtenOp.make("scalar_tensor.default", given, [TensorType.make("i64", [])], "")
        )
        args = {"self": tensor}
        return self._op(AtenOp.make("_local_scalar_dense.default", args, [IntType(symbol)], ""))

    def _op(self, op: Operation) -> SSAValue:
        self.add(op)
        return op.results[0]

    def _value(self, e: Any) -> SSAValue:
        if isinstance(e, sympy.Integer | sympy.Float | sympy.Rational):
            return self.scalar(int(e) if isinstance(e, sympy.Integer) else float(e))
        name = type(e).__name__
        if name == "ToFloat":
            return self.scalar(self.table.convert(e.args[0]))
        function = _ARITHMETIC.get(name)
        if function is None:
            if is_float(e):
                raise ImportRefused(f"the float `{e}` inside a size")
            return self.scalar(self.table.convert(e))
        value = self._value(e.args[0])
        for arg in e.args[1:]:
            value = self._op(PyOp.of(function, [value, self._value(arg)]))
        return value
