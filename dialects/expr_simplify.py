"""Facts about index expressions that need the ranges of their variables.

`Ranges` maps a variable to inclusive bounds, themselves expressions (an iteration variable of
extent `s1` runs over `0 .. s1 - 1`) or None where unknown. Everything here is conservative: a
missed fact may cost a fusion, never a wrong result.

    (8 * d0 + d1) floordiv 8, 0 <= d1 < 8   -->  d0
    (8 * d0 + d1) mod 8,      0 <= d1 < 8   -->  d1
    min(d0, s0),              0 <= d0 < s0  -->  d0
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom, Expr, ExprLike
from minductor.dialects.expr_exact import divide, expand_exact, fold_exact
from minductor.dialects.expr_facts import Fact, Facts
from minductor.dialects.expr_prove import prove_nonneg

Bound = tuple[Expr | None, Expr | None]
NO_FACTS = Facts()


class Ranges:
    """Inclusive bounds and known divisors of variables, with memoised simplification.

    `bounds[v] = (lo, hi)`; a size symbol without an entry is taken as >= 0. `multiples[v] = k`
    says that v is divisible by k. `facts` relate the size symbols.
    """

    def __init__(
        self,
        bounds: Mapping[Atom, Bound] | None = None,
        multiples: Mapping[Atom, int] | None = None,
        facts: Facts = NO_FACTS,
    ):
        self.bounds: dict[Atom, Bound] = dict(bounds or {})
        self.multiples: dict[Atom, int] = dict(multiples or {})
        self.facts = facts
        self._memo: dict[Expr, Expr] = {}
        self._nonneg: dict[Expr, bool] = {}
        self._derived: dict[tuple[tuple[int, Expr], ...], Ranges] = {}

    def with_facts(self, facts: Sequence[Fact]) -> Ranges:
        """These bounds and divisors, with other facts."""
        out = Ranges(self.bounds, self.multiples, Facts(facts))
        out.facts.sharpened(out)
        return Ranges(self.bounds, self.multiples, out.facts)

    def with_bound(self, atom: Atom, low: Expr | None, high: Expr | None) -> Ranges:
        """These ranges, with other bounds of one variable."""
        out = Ranges(self.bounds, self.multiples, self.facts)
        out.bounds[atom] = (low, high)
        return out

    def with_extents(self, extents: Iterable[tuple[int, ExprLike]]) -> Ranges:
        """These ranges and iteration variables `(number, extent)` running over 0 .. extent-1.

        The same extents give the same object (with what it has memoised): do not change its bounds.
        """
        key = tuple((number, Expr.of(extent)) for number, extent in extents)
        out = self._derived.get(key)
        if out is None:
            out = Ranges(self.bounds, self.multiples, self.facts)
            for number, extent in key:
                out.bounds[ex.dim_atom(number)] = (ex.ZERO, extent - 1)
            self._derived[key] = out
        return out

    def with_operand(self, number: int, lo: ExprLike | None, hi: ExprLike | None) -> Ranges:
        """These ranges and the index operand tN within lo .. hi."""
        low, high = (None if e is None else Expr.of(e) for e in (lo, hi))
        return self.with_bound(ex.var_atom("t", number), low, high)

    def of(self, atom: Atom) -> Bound:
        """Bounds of a variable or a function atom."""
        found = self.bounds.get(atom)
        if found is not None:
            return found
        if atom.kind in ("s", "u"):
            return (ex.ZERO, None)
        if atom.kind == "mod":
            return (ex.ZERO, atom.args[1] - 1)
        return (None, None)

    # -- integer intervals -----------------------------------------------------------------------
    def interval(self, e: Expr) -> tuple[int | None, int | None]:
        """Integer bounds of an expression, None for unbounded."""
        lo: int | None = 0
        hi: int | None = 0
        for mono, c in e.terms:
            tlo, thi = self._mono_interval(mono)
            if c < 0:
                tlo, thi = thi, tlo
            lo = None if lo is None or tlo is None else lo + c * tlo
            hi = None if hi is None or thi is None else hi + c * thi
        return lo, hi

    def _mono_interval(self, mono: tuple[Atom, ...]) -> tuple[int | None, int | None]:
        lo: int | None = 1
        hi: int | None = 1
        for a in mono:
            alo, ahi = self._atom_interval(a)
            if lo is not None and lo >= 0 and alo is not None and alo >= 0:
                lo, hi = lo * alo, None if hi is None or ahi is None else hi * ahi
            elif lo is None or hi is None or alo is None or ahi is None:
                lo, hi = None, None
            else:
                corners = (lo * alo, lo * ahi, hi * alo, hi * ahi)
                lo, hi = min(corners), max(corners)
        return lo, hi

    def _atom_interval(self, a: Atom) -> tuple[int | None, int | None]:
        if a.is_var:
            lo, hi = self.of(a)
            return (
                None if lo is None else self.interval(lo)[0],
                None if hi is None else self.interval(hi)[1],
            )
        (xlo, xhi), (ylo, yhi) = self.interval(a.args[0]), self.interval(a.args[1])
        match a.kind:
            case "floordiv":
                return _div_interval((xlo, xhi), (ylo, yhi))
            case "mod":
                top = None if yhi is None else yhi - 1
                if xlo is not None and xlo >= 0 and xhi is not None:
                    top = xhi if top is None else min(top, xhi)
                return 0, top
            case "min":
                tops = [h for h in (xhi, yhi) if h is not None]
                lows = None if xlo is None or ylo is None else min(xlo, ylo)
                return lows, min(tops) if tops else None
            case _:
                lows = [v for v in (xlo, ylo) if v is not None]
                tops_ = None if xhi is None or yhi is None else max(xhi, yhi)
                return max(lows) if lows else None, tops_

    # -- proofs ----------------------------------------------------------------------------------
    def nonneg(self, e: Expr) -> bool:
        """True if e >= 0 is proved for all values in the ranges."""
        found = self._nonneg.get(e)
        if found is None:
            found = self._prove_nonneg(e)
            self._nonneg[e] = found
        return found

    def _prove_nonneg(self, e: Expr) -> bool:
        floor = self.interval(e)[0]
        if floor is not None and floor >= 0:
            return True
        if prove_nonneg(self, e):
            return True
        low = self._extreme(e)
        return low is not None and (self.positive_by_shift(low) or self._split_minmax(low))

    def _extreme(self, e: Expr) -> Expr | None:
        """A lower bound of e free of iteration variables and operands, by monotone endpoints."""
        for atom in reversed(e.vars("dt")):
            if not e.is_linear_in(atom):
                e = self._drop_functions(e, atom)
                if not e.is_linear_in(atom):
                    return None
            factor = e.coeff(atom)
            if not factor.terms:
                continue
            lo, hi = self.of(atom)
            if self._sign(factor) >= 0:
                end = lo
            elif self._sign(-factor) >= 0:
                end = hi
            else:
                return None
            if end is None:
                return None
            e = e.subs({atom: end})
        return e

    def _sign(self, e: Expr) -> int:
        low = self.interval(e)[0]
        return 1 if (low is not None and low >= 0) or self.positive_by_shift(e) else -1

    def _drop_functions(self, e: Expr, atom: Atom) -> Expr:
        """Bound terms `c * f(atom)` below by their integer interval."""
        out = ex.ZERO
        for mono, c in e.terms:
            term = Expr._make({mono: c})  # pyright: ignore[reportPrivateUsage]
            hidden = any(a.args and atom in Expr.of_atom(a).vars() for a in mono)
            low = self.interval(term)[0] if hidden else None
            out = out + (term if low is None else low)
        return out

    def positive_by_shift(self, e: Expr) -> bool:
        """e >= 0 when all coefficients are >= 0 after shifting variables to their lower bounds."""
        env: dict[Atom, Expr] = {}
        for mono, _ in e.terms:
            for a in mono:
                low = self._atom_interval(a)[0]
                if low is None or (not a.is_var and low < 0):
                    return False
                if a.is_var:
                    env[a] = Expr.of_atom(a) + low
        return all(c >= 0 for _, c in e.subs(env).terms)

    def _split_minmax(self, e: Expr) -> bool:
        """Case split on one min or max that occurs as a plain factor."""
        for mono, _ in e.terms:
            for a in mono:
                if a.kind in ("min", "max"):
                    one = _replace_atom(e, a, a.args[0])
                    two = _replace_atom(e, a, a.args[1])
                    return self.nonneg(one) and self.nonneg(two)
        return False

    def le(self, a: ExprLike, b: ExprLike) -> bool:
        """a <= b is proved."""
        return self.nonneg(Expr.of(b) - Expr.of(a))

    def lt(self, a: ExprLike, b: ExprLike) -> bool:
        """a < b is proved."""
        return self.nonneg(Expr.of(b) - Expr.of(a) - 1)

    def divides(self, k: int, e: Expr) -> bool:
        """Every value of e is a multiple of k."""
        for mono, c in e.terms:
            for a in mono:
                c *= self.multiples.get(a, 1)
            if c % k:
                return False
        return True

    def is_exact(self, atom: Atom) -> bool:
        """The division of a floordiv atom has no rest."""
        if atom in self.facts.exact:
            return True
        divisor = atom.args[1].as_int
        return divisor is not None and self.divides(divisor, atom.args[0])

    # -- simplification --------------------------------------------------------------------------
    def simplify(self, e: Expr) -> Expr:
        """The normal form of e under these ranges (memoised)."""
        found = self._memo.get(e)
        if found is None:
            found = e
            for _ in range(4):
                new = self._once(found)
                if new is found:
                    break
                found = new
            self._memo[e] = found
        return found

    def _once(self, e: Expr) -> Expr:
        out, changed = ex.ZERO, False
        for mono, c in e.terms:
            term = ex.const(c)
            for a in mono:
                new = self._simplify_atom(a)
                changed = changed or new.as_atom is not a
                term = term * new
            out = out + term
        out = out if changed else e
        return fold_exact(self, out) if self.facts.exact or self.multiples else out

    def _simplify_atom(self, a: Atom) -> Expr:
        if a.is_var:
            lo, hi = self.of(a)
            return lo if lo is not None and lo is hi else Expr.of_atom(a)
        if a in self.facts.equal:
            return self.facts.equal[a]
        x, y = self.simplify(a.args[0]), self.simplify(a.args[1])
        match a.kind:
            case "floordiv":
                return self._floordiv(x, y)
            case "mod":
                return self._mod(x, y)
            case "min":
                return x if self.le(x, y) else y if self.le(y, x) else ex.emin(x, y)
            case _:
                return y if self.le(x, y) else x if self.le(y, x) else ex.emax(x, y)

    def _floordiv(self, x: Expr, n: Expr) -> Expr:
        if self.facts.exact or self.multiples:
            x, n = expand_exact(self, x, n)
        q, r = ex.split_multiple(x, n)
        if self.nonneg(r) and self.lt(r, n):
            return q
        if not self.nonneg(r) and self.nonneg(r + n) and self.nonneg(-1 - r):
            return q - 1
        only = _only_quotient(self, r, n)
        if only is not None:
            return q + only
        split = _split_by_divisor(self, r, n)
        if split is not None:
            high, g, _ = split
            return q + ex.floordiv(high, int(n) // g)
        by_sum = _by_sum(self, x, n)
        return ex.floordiv(x, n) if by_sum is None else by_sum[0]

    def _mod(self, x: Expr, n: Expr) -> Expr:
        if self.facts.rests:
            known = ex.mod(x, n)
            left = {m: c for m, c in known.terms if not self.facts.rests.keys() & set(m)}
            if len(left) < len(known.terms):
                return Expr._make(left)  # pyright: ignore[reportPrivateUsage]
        if (self.facts.exact or self.multiples) and expand_exact(self, x, n)[1] is ex.ONE:
            return ex.ZERO
        _, r = ex.split_multiple(x, n)
        if self.nonneg(r) and self.lt(r, n):
            return r
        ni = n.as_int
        if ni is not None and self.divides(ni, r):
            return ex.ZERO
        if not self.nonneg(r) and self.nonneg(r + n) and self.nonneg(-1 - r):
            return r + n
        only = _only_quotient(self, r, n)
        if only is not None:
            return r - n * only
        split = _split_by_divisor(self, r, n)
        if split is not None:
            high, g, low = split
            return g * ex.mod(high, int(n) // g) + low
        by_sum = _by_sum(self, x, n)
        return ex.mod(x, n) if by_sum is None else by_sum[1]


def _div_interval(
    x: tuple[int | None, int | None], y: tuple[int | None, int | None]
) -> tuple[int | None, int | None]:
    (xlo, xhi), (ylo, yhi) = x, y
    ylo = max(1, ylo or 1)
    if xlo is None:
        lo = None
    elif xlo >= 0:
        lo = 0 if yhi is None else xlo // max(1, yhi)
    else:
        lo = xlo // ylo
    if xhi is None:
        return lo, None
    if xhi >= 0:
        return lo, xhi // ylo
    return lo, -1 if yhi is None else xhi // max(1, yhi)


def _only_quotient(ranges: Ranges, x: Expr, n: Expr) -> int | None:
    """x floordiv n where the bounds of x leave one: 2 <= x <= 3, n = 2."""
    low, high = ranges.interval(x)
    by = n.as_int
    if by is None or by <= 0 or low is None or high is None or low // by != high // by:
        return None
    return low // by


def _split_by_divisor(ranges: Ranges, r: Expr, n: Expr) -> tuple[Expr, int, Expr] | None:
    """r = g*high + low, 0 <= low < g, g divides the constant n; None if there is none."""
    ni = n.as_int
    if ni is None:
        return None
    for g in sorted({abs(c) for m, c in r.terms if m and abs(c) > 1 and ni % abs(c) == 0}):
        high, low = ex.split_multiple(r, ex.const(g))
        if g < ni and high.terms and low.terms and ranges.nonneg(low) and ranges.lt(low, g):
            return high, g, low
    return None


def _by_sum(ranges: Ranges, x: Expr, n: Expr) -> tuple[Expr, Expr] | None:
    """(x floordiv n, x mod n) for an n of several terms, where long division proves them."""
    if len(n.terms) < 2:
        return None
    q, r = divide(x, n)
    return (q, r) if q.terms and ranges.nonneg(r) and ranges.lt(r, n) else None


def _replace_atom(e: Expr, atom: Atom, by: Expr) -> Expr:
    out = ex.ZERO
    for mono, c in e.terms:
        term = ex.const(c)
        for a in mono:
            term = term * (by if a is atom else Expr.of_atom(a))
        out = out + term
    return out


def product(values: Iterable[ExprLike]) -> Expr:
    """The product of expressions (1 for none)."""
    return _product(tuple(values))


@cache
def _product(values: tuple[ExprLike, ...]) -> Expr:
    out = ex.ONE
    for v in values:
        out = out * v
    return out


def contiguous_strides(sizes: Sequence[ExprLike]) -> tuple[Expr, ...]:
    """Row-major strides of the sizes, as PyTorch has them (a size of 0 counts as 1)."""
    out: list[Expr] = []
    step = ex.ONE
    for size in reversed(sizes):
        out.append(step)
        size = Expr.of(size)
        step = step * (ex.ONE if size.as_int == 0 else size)
    return tuple(reversed(out))


def flatten_index(index: Sequence[Expr], strides: Sequence[Expr]) -> Expr:
    """Offset in elements: the sum of index_k * stride_k."""
    total = ex.ZERO
    for i, s in zip(index, strides, strict=True):
        total = total + i * s
    return total
