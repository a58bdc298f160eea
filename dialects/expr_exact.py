"""Quotients without a rest, which facts on sizes make known.

2 * (s0 floordiv 2),            s0 a multiple of 2   -->  s0
s0 floordiv (s0 floordiv 2),    s0 a multiple of 2   -->  2
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom, Expr, Mono

if TYPE_CHECKING:
    from minductor.dialects.expr_simplify import Ranges


def fold_exact(ranges: Ranges, e: Expr) -> Expr:
    """e with `n * (x floordiv n)` as x where n divides x."""
    for mono, c in e.terms:
        for atom in mono:
            if atom.kind != "floordiv" or not ranges.is_exact(atom):
                continue
            whole, divisor = atom.args
            quotient, rest = ex.split_multiple(_others(mono, c, atom), divisor)
            if quotient.terms and not rest.terms:
                left = e - _others(mono, c, atom) * Expr.of_atom(atom)
                return fold_exact(ranges, left + quotient * whole)
    return e


def expand_exact(ranges: Ranges, x: Expr, n: Expr) -> tuple[Expr, Expr]:
    """(x, n) less a common factor: a quotient `y floordiv k` in n, where x is a multiple of y.

    n is a divisor, so its factors are not zero.
    """
    if len(n.terms) != 1:
        return x, n
    mono, c = n.terms[0]
    for atom in mono:
        if atom.kind == "floordiv" and ranges.is_exact(atom):
            whole, divisor = atom.args
            quotient, rest = ex.split_multiple(x, whole)
            if quotient.terms and not rest.terms:
                return expand_exact(ranges, quotient * divisor, _others(mono, c, atom))
    return x, n


def _others(mono: Mono, c: int, atom: Atom) -> Expr:
    """The term c * mono without one factor `atom`."""
    left = list(mono)
    left.remove(atom)
    out = ex.const(c)
    for a in left:
        out = out * Expr.of_atom(a)
    return out
