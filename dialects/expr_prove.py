"""Proofs that an index expression is never negative, by exact steps where there are any.

Each step replaces one part of e by something that makes e >= 0 follow (or equivalent), until the
rest is plain:

    min, max    e with one argument in its place: either one, or both, by the sign of its factor
    floordiv    r - (x floordiv n) >= 0  <=>  n*r + n - 1 - x >= 0;   r + (x floordiv n) likewise
    mod         bounded by 0 and n - 1
    dN, tN      replaced by the end of its range that makes e smallest

    s0 - 1 - (d0 floordiv s1), d0 < s0*s1   -->   s0*s1 - 1 - d0   -->   0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom, Expr, Mono
from minductor.dialects.expr_facts import prove_by_facts

if TYPE_CHECKING:
    from minductor.dialects.expr_simplify import Ranges

DEPTH = 24
"""Steps in a row at most."""


def prove_nonneg(ranges: Ranges, e: Expr, depth: int = DEPTH) -> bool:
    """True if e >= 0 follows from the ranges by the steps above."""
    low = ranges.interval(e)[0]
    if low is not None and low >= 0:
        return True
    if depth == 0:
        return False
    variables = e.vars("dt")
    if not variables and ranges.facts.floors and prove_by_facts(ranges, e):
        return True
    for kinds in (("min", "max"), ("floordiv", "mod")):
        for mono, c in e.terms:
            for a in mono:
                if a.kind in kinds:
                    return _function_step(ranges, e, mono, c, a, depth - 1)
    if variables:
        end = _at_end(ranges, e, variables[-1])
        return end is not None and prove_nonneg(ranges, end, depth - 1)
    return ranges.positive_by_shift(e)


def _function_step(ranges: Ranges, e: Expr, mono: Mono, c: int, atom: Atom, depth: int) -> bool:
    """One step that removes `atom` from the term c * mono."""
    factor = list(mono)
    factor.remove(atom)
    others = ex.ONE
    for a in factor:
        others = others * Expr.of_atom(a)
    low = ranges.interval(others)[0]
    if low is None or low < 0:
        return False
    scale = c * others
    rest = e - scale * Expr.of_atom(atom)
    grows = c > 0
    x, n = atom.args
    match atom.kind:
        case "min" | "max":
            both = (atom.kind == "min") == grows
            first = prove_nonneg(ranges, rest + scale * x, depth)
            if first != both:
                return first
            return prove_nonneg(ranges, rest + scale * n, depth)
        case "mod":
            return prove_nonneg(ranges, rest if grows else rest + scale * (n - 1), depth)
        case _:
            if not factor and abs(c) == 1:
                whole = n * rest + (x if grows else n - 1 - x)
            else:
                whole = n * rest + scale * (x - n + 1 if grows else x)
            return prove_nonneg(ranges, whole, depth)


def _at_end(ranges: Ranges, e: Expr, variable: Atom) -> Expr | None:
    """e with the variable at the end of its range where e is smallest; None if that is open."""
    if not e.is_linear_in(variable):
        return None
    slope = e.coeff(variable)
    low, high = ranges.of(variable)
    if prove_nonneg(ranges, slope, 4):
        end = low
    elif prove_nonneg(ranges, -slope, 4):
        end = high
    else:
        return None
    return None if end is None else e.subs({variable: end})
