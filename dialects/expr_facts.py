"""Relations between sizes, and what follows from them.

A `Fact` says of an expression over size symbols that it is never negative, zero, or never zero:

    nonneg s0 - s1                     s1 <= s0
    zero (11 * s0) mod 2               11 * s0 is even
    nonzero s0 - s1                    the sizes differ

`Facts` answers what proofs and the simplifier ask: which expressions are >= 0, and which quotients
have no rest. Facts come from guards that hold at every call of a graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom, Expr, Mono
from minductor.dialects.expr_exact import fold_exact

if TYPE_CHECKING:
    from minductor.dialects.expr_simplify import Ranges

KINDS = ("nonneg", "zero", "nonzero")
VISITS = 48
"""Expressions that one proof looks at, at most."""
STEPS = 3
"""Facts that one proof adds up at most."""


class Fact(NamedTuple):
    """`kind` (nonneg, zero, nonzero) holds of `expr`, whose variables are size symbols."""

    kind: str
    expr: Expr

    def text(self) -> str:
        """`nonneg s0 - s1`."""
        return f"{self.kind} {self.expr}"

    @property
    def key(self) -> tuple[object, ...]:
        """Facts in a total order that structure alone decides: simple ones first."""
        return (len(str(self.expr)), KINDS.index(self.kind), self.expr.key)


class Facts:
    """Facts in the forms that are asked for.

    floors: expressions that are >= 0. rests: `mod` atoms that are 0. exact: the `floordiv` atoms
    of the same divisions. equal: functions and the simpler expressions that they equal.
    """

    def __init__(self, facts: Sequence[Fact] = ()) -> None:
        self.given = tuple(facts)
        self.floors: dict[Expr, None] = {}
        self.rests: dict[Atom, None] = {}
        self.exact: dict[Atom, None] = {}
        self.equal: dict[Atom, Expr] = {}
        self.nonzero: list[Expr] = []
        for fact in self.given:
            self._take(fact)

    def _take(self, fact: Fact) -> None:
        match fact.kind:
            case "nonneg":
                self._floor(fact.expr)
            case "nonzero":
                self.nonzero.append(fact.expr)
            case _:
                self._zero(fact.expr)

    def _zero(self, e: Expr) -> None:
        rest = no_rest(e)
        if rest is not None:
            self.rests[rest] = None
            quotient = ex.floordiv(*rest.args).as_atom
            # a quotient of a quotient has another normal form, which says less
            if quotient is not None and quotient.args == rest.args:
                self.exact[quotient] = None
            return
        for mono, c in e.terms:
            if len(mono) == 1 and mono[0].args and abs(c) == 1:
                other = Expr.of_atom(mono[0]) - c * e
                if len(str(other)) < len(str(mono[0])):
                    self.equal.setdefault(mono[0], other)
        self._floor(e)
        self._floor(-e)

    def _floor(self, e: Expr) -> None:
        """e >= 0; a minimum is two facts, and so is a maximum that is subtracted."""
        for mono, c in e.terms:
            if len(mono) == 1 and mono[0].kind == ("min" if c > 0 else "max"):
                rest = e - c * Expr.of_atom(mono[0])
                for arg in mono[0].args:
                    self._floor(rest + c * arg)
                return
        self.floors[e] = None

    def sharpened(self, ranges: Ranges) -> None:
        """Expressions that are not zero and have a known sign become floors."""
        for e in self.nonzero:
            for side in (e, -e):
                if ranges.nonneg(side):
                    self.floors[side - 1] = None
        self.nonzero = []


def no_rest(e: Expr) -> Atom | None:
    """The `x mod n` that is zero where e is: of `x mod n`, and of `x - n * (x floordiv n)`."""
    mono = e.terms[0][0] if len(e.terms) == 1 else ()
    if len(mono) == 1 and mono[0].kind == "mod":
        return mono[0]
    for mono, _ in e.terms:
        for atom in mono:
            if atom.kind == "floordiv":
                x, n = atom.args
                if (x - n * Expr.of_atom(atom)) in (e, -e):
                    return ex.mod(x, n).as_atom
    return None


def prove_by_facts(
    ranges: Ranges, e: Expr, steps: int = STEPS, failed: dict[Expr, int] | None = None
) -> bool:
    """True if e is a sum of facts, times what is >= 0, and something that ranges show to be >= 0.

    Each step takes a term that may be negative away by a fact that has one like it:

        s0 * s2 - s1 * s2,  nonneg s0 - s1   -->   0

    `failed` holds what was tried, with the steps that it had: `VISITS` expressions at most.
    """
    failed = {} if failed is None else failed
    e = fold_exact(ranges, e)
    if failed.get(e, -1) >= steps or len(failed) >= VISITS:
        return False
    if ranges.positive_by_shift(e):
        return True
    failed[e] = steps
    if not steps:
        return False
    for mono, c in e.terms:
        harmless = c > 0 and e.constant_term >= 0 and ranges.positive_by_shift(_term(mono, 1))
        if not mono or harmless:
            continue
        for fact in ranges.facts.floors:
            rest = _without_term(ranges, e, mono, c, fact)
            if rest is not None and prove_by_facts(ranges, rest, steps - 1, failed):
                return True
    return False


def _without_term(ranges: Ranges, e: Expr, mono: Mono, c: int, fact: Expr) -> Expr | None:
    """e less the multiple of a fact that takes the term c * mono away, or None."""
    for other, k in fact.terms:
        if not other or c % k or c // k < 1:
            continue
        quotient, rest = ex.split_multiple(_term(mono, 1), _term(other, 1))
        if rest.terms or not quotient.terms or not ranges.positive_by_shift(quotient):
            continue
        return e - c // k * quotient * fact
    return None


def _term(mono: Mono, c: int) -> Expr:
    out = ex.const(c)
    for a in mono:
        out = out * Expr.of_atom(a)
    return out


def implied(ranges: Ranges, fact: Fact) -> bool:
    """The ranges show the fact."""
    e = ranges.simplify(fact.expr)
    if fact.kind == "zero":
        return e is ex.ZERO
    if ranges.nonneg(e if fact.kind == "nonneg" else e - 1):
        return True
    return fact.kind == "nonzero" and ranges.nonneg(-e - 1)
