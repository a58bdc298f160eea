"""What guards say of sizes, brought into the fewest and simplest facts.

    s0 = [min 2], zero (11 * s0) mod 2          -->  s0 = [min 2, multiple 2]
    s0 = [min 2], nonzero (s0 floordiv 4) - 1,
    nonzero s0 floordiv 4                       -->  s0 = [min 8]
    zero s0 mod (s0 floordiv 4),
    zero (s0 floordiv (s0 floordiv 4)) - 4      -->  s0 = [multiple 4]

A fact that follows from the others is dropped, and so is one that no proof could use: text and
cache key hold nothing that does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd

from minductor.dialects import expr as ex
from minductor.dialects.attrs import Known, Symbol, known_ranges
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_facts import Fact, implied, no_rest
from minductor.dialects.expr_simplify import Ranges

TERMS = 4
"""Terms of an inequality at most: longer ones are never the missing part of a proof."""
ROUNDS = 6
"""Times that facts are simplified by one another at most."""
TRIED, MOST, LONGEST = 96, 16, 160
"""Facts that are looked at, facts that are kept, characters of one, at most; the simplest stay."""


def learn(rows: Sequence[Symbol], facts: Iterable[Fact]) -> Known:
    """The symbols with what the facts say of each alone, and the facts that relate them."""
    table = {row.atom: row for row in rows}
    live = _first(table, sorted(set(facts), key=lambda f: f.key)[:TRIED])
    for _ in range(ROUNDS):
        before = (dict(table), list(live))
        live = _round(table, live)
        if (table, live) == before:
            break
    return Known(tuple(table.values()), tuple(live[:MOST]))


def _first(rows: dict[Atom, Symbol], facts: Sequence[Fact]) -> list[Fact]:
    """The facts that those before them, simpler ones, do not make needless: most say again what a
    few say, at greater length, and proofs that look at all of them are dear."""
    kept: list[Fact] = []
    for given in facts:
        ranges = known_ranges(Known(tuple(rows.values()), tuple(kept)))
        fact = _simpler(ranges, given)
        if fact is None or implied(ranges, fact):
            continue
        kept.append(fact)
        if fact.kind == "zero":
            kept = _round(rows, kept)
    return kept


def _round(rows: dict[Atom, Symbol], facts: Sequence[Fact]) -> list[Fact]:
    """Each fact in the light of all others; what one symbol alone obeys goes into its row."""
    live: list[Fact | None] = list(facts)
    for i, given in enumerate(facts):
        others = tuple(f for k, f in enumerate(live) if f is not None and k != i)
        ranges = known_ranges(Known(tuple(rows.values()), others))
        fact = _simpler(ranges, given)
        row = None if fact is None else _row_of(fact, rows)
        if row is not None:
            rows[row.atom], fact = row, None
        elif fact is not None and implied(ranges, fact):
            fact = None
        live[i] = fact
    return sorted({f for f in live if f is not None}, key=lambda f: f.key)


def _simpler(ranges: Ranges, fact: Fact) -> Fact | None:
    """The fact in normal form; None when it says nothing that a proof could use."""
    kind, e = fact.kind, ranges.simplify(fact.expr)
    if kind == "nonzero":
        sign = next((s for s in (e, -e) if ranges.nonneg(s)), None)
        if sign is None:
            linear = all(len(mono) < 2 and not any(a.args for a in mono) for mono, _ in e.terms)
            return Fact(kind, e) if linear and len(e.vars()) > 1 else None
        kind, e = "nonneg", sign - 1
    if kind == "zero" and (rest := no_rest(e)) is not None:
        x, n = rest.args
        quotient = ranges.simplify(ex.floordiv(x, n))
        e = x - n * quotient if quotient.as_int is not None else Expr.of_atom(rest)
    e = _reduced(kind, e)
    usable = e.vars() and len(str(e)) <= LONGEST and (kind == "zero" or len(e.terms) <= TERMS)
    return Fact(kind, e) if usable else None


def _reduced(kind: str, e: Expr) -> Expr:
    """The expression of an equivalent fact with smaller coefficients, and quotients solved."""
    if kind == "nonneg":
        scale = ex.content(e, skip_constant=True)
        e = ex.floordiv(e, scale) if scale > 1 else e
        quotient = next(
            (a for m, c in e.terms for a in m if len(m) == 1 and c == 1 and a.args), None
        )
        if quotient is not None and quotient.kind == "floordiv" and len(e.vars()) > 0:
            rest = e - Expr.of_atom(quotient)
            if rest.as_int is not None:  # x floordiv n + k >= 0  <=>  x + n * k >= 0
                x, n = quotient.args
                return _reduced(kind, x + n * rest)
        return e
    return e if not e.terms or e.terms[0][1] > 0 or e.constant_term else -e


def _row_of(fact: Fact, rows: dict[Atom, Symbol]) -> Symbol | None:
    """The row of the one symbol that a fact bounds or divides, with that in it."""
    e = fact.expr
    if fact.kind == "zero":
        found = _multiple(e)
        if found is None:
            return None
        row = rows[found[0]]
        step = row.multiple * found[1] // gcd(row.multiple, found[1])
        return row._replace(multiple=step)
    variables = e.vars()
    if fact.kind != "nonneg" or len(variables) != 1 or len(e.terms) > 2:
        return None
    (atom,) = variables
    slope = e.coeff(atom).as_int
    if not e.is_linear_in(atom) or slope not in (1, -1):
        return None
    row, end = rows[atom], -slope * e.constant_term
    if slope > 0:
        return row._replace(lo=end if row.lo is None else max(row.lo, end))
    return row._replace(hi=end if row.hi is None else min(row.hi, end))


def _multiple(e: Expr) -> tuple[Atom, int] | None:
    """(s, 2) of `(11 * s) mod 2`, which is zero: s is a multiple of 2."""
    rest = no_rest(e)
    if rest is None:
        return None
    whole, modulus = rest.args
    if modulus.as_int is None or len(whole.terms) != 1 or len(whole.terms[0][0]) != 1:
        return None
    (atom,), factor = whole.terms[0]
    return (atom, int(modulus) // gcd(int(modulus), factor)) if atom.is_var else None
