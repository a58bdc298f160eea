"""Quotients by sums, and quotients without a rest, which facts on sizes make known.

2 * (s0 floordiv 2),            s0 a multiple of 2   -->  s0
s0 floordiv (s0 floordiv 2),    s0 a multiple of 2   -->  2
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom, Expr, Mono

if TYPE_CHECKING:
    from minductor.dialects.expr_simplify import Ranges

MOST_STEPS = 16
"""Terms of a quotient by a sum at most."""


def divide(x: Expr, n: Expr) -> tuple[Expr, Expr]:
    """(q, r) with x = n*q + r: long division, so that r is 0 where n is a factor of x.

    For an n of several terms, q takes what the leading terms say, and r need not be small.
    """
    if len(n.terms) < 2:
        return ex.split_multiple(x, n)
    quotient, rest = ex.ZERO, ex.ZERO
    lead = _leading(n)
    for _ in range(MOST_STEPS):
        if not x.terms:
            break
        term = _leading(x)
        part, left = ex.split_multiple(term, lead)
        if left.terms:
            rest, x = rest + term, x - term
        else:
            quotient, x = quotient + part, x - part * n
    return quotient, rest + x


def _leading(e: Expr) -> Expr:
    """The first term of the highest degree: that of a product is the product of its factors'.

    The first of all terms is not: it is s1 in s1 + 3, but 3 * s0 in (s1 + 3) * s0.
    """
    return ex.of_terms([max(e.terms, key=lambda term: len(term[0]))])


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
