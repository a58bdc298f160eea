"""Sizes that depend on a condition: `sym_ite`, in sympy a Piecewise.

    Piecewise((a, u0 < 0), (b, True))  -->  c * a + (1 - c) * b    with c = min(max(-u0, 0), 1)

A condition is an index expression that is 0 or 1, so index expressions need no new form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.lowering.fx_to_aten.errors import ImportRefused

Convert = Callable[[Any], Expr]


def piecewise(convert: Convert, e: Any) -> Expr:
    """The value of the first piece whose condition holds. ImportRefused on unknown conditions."""
    total, still = ex.ZERO, ex.ONE
    for value, condition in e.args:
        holds = indicator(convert, condition)
        total = total + still * holds * convert(value)
        still = still * (ex.ONE - holds)
    return total


def indicator(convert: Convert, e: Any) -> Expr:
    """1 where a condition on sizes holds, else 0. ImportRefused if it is not such a condition."""
    if e in (sympy.true, sympy.false):
        return ex.const(int(e == sympy.true))
    if isinstance(e, sympy.Not):
        return ex.ONE - indicator(convert, e.args[0])
    if isinstance(e, sympy.And | sympy.Or):
        parts = [indicator(convert, a) for a in e.args]
        join = ex.emin if isinstance(e, sympy.And) else ex.emax
        total = parts[0]
        for part in parts[1:]:
            total = join(total, part)
        return total
    if not isinstance(e, sympy.core.relational.Relational):
        raise ImportRefused(f"the condition `{e}` has no form as an index expression")
    a, b = convert(e.args[0]), convert(e.args[1])
    match e:
        case sympy.Gt():
            return _positive(a - b)
        case sympy.Lt():
            return _positive(b - a)
        case sympy.Ge():
            return ex.ONE - _positive(b - a)
        case sympy.Le():
            return ex.ONE - _positive(a - b)
        case _:
            differ = ex.emax(_positive(a - b), _positive(b - a))
            return differ if isinstance(e, sympy.Ne) else ex.ONE - differ


def _positive(e: Expr) -> Expr:
    """1 where e > 0, else 0."""
    return ex.emin(ex.emax(e, ex.ZERO), ex.ONE)
