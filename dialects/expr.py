"""Index expressions: the one language of sizes, strides, extents and addresses.

An `Expr` is a polynomial with integer coefficients over atoms:

    dN  iteration variable        sN  size symbol (>= 0 if not `signed`)
    uN  unbacked size symbol      tN  the N-th index operand of the op that holds the expression
    (e floordiv e)  (e mod e)  min(e, e)  max(e, e)        divisors are positive by contract

Expressions are interned: two equal expressions are one object, so `is` and `==` agree, hashing is
constant time and dictionaries keyed by expressions are cheap. Terms stand in a total order that
depends on structure alone, never on hashes. The constructors keep a normal form in which
`n * (e floordiv n) + e mod n` is `e`; what needs ranges lives in `expr_simplify`.

Semantics: mathematical integers; `floordiv` and `mod` go down, as in MLIR's affine expressions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from math import gcd
from typing import Any, TypeAlias

ExprLike: TypeAlias = "Expr | int"
Mono: TypeAlias = "tuple[Atom, ...]"
Key: TypeAlias = "tuple[Any, ...]"

_EVAL = {"floordiv": operator.floordiv, "mod": operator.mod, "min": min, "max": max}
_RANK = {"d": 0, "t": 1, "floordiv": 2, "mod": 2, "min": 2, "max": 2, "u": 3, "s": 4}


class Atom:
    """A variable (`kind` one of d, s, u, t with `index`) or a function of two expressions."""

    __slots__ = ("args", "index", "key", "kind")
    kind: str
    index: int
    args: tuple[Expr, ...]
    key: Key

    def __reduce__(self) -> tuple[object, ...]:
        return (_atom, (self.kind, self.index, self.args))

    def __repr__(self) -> str:
        return str(Expr.of_atom(self))

    @property
    def is_var(self) -> bool:
        """True for d, s, u and t atoms."""
        return not self.args


_ATOMS: dict[tuple[object, ...], Atom] = {}
_EXPRS: dict[tuple[tuple[Mono, int], ...], Expr] = {}


def _atom(kind: str, index: int, args: tuple[Expr, ...] = ()) -> Atom:
    ident = (kind, index, args)
    found = _ATOMS.get(ident)
    if found is None:
        found = object.__new__(Atom)
        found.kind, found.index, found.args = kind, index, args
        found.key = (_RANK[kind], kind, index, *(a.key for a in args))
        found = _ATOMS.setdefault(ident, found)
    return found


def _term_key(mono: Mono) -> Key:
    return (0 if mono else 1, tuple(a.key for a in mono))


class Expr:
    """An interned polynomial; `terms`: ordered (atoms with repetition, coefficient) pairs."""

    __slots__ = ("_text", "key", "terms")
    terms: tuple[tuple[Mono, int], ...]
    key: Key
    _text: str | None

    @staticmethod
    def _make(terms: dict[Mono, int]) -> Expr:
        items = [(m, c) for m, c in terms.items() if c]
        if len(items) > 1:
            items.sort(key=lambda t: _term_key(t[0]))
        ident = tuple(items)
        found = _EXPRS.get(ident)
        if found is None:
            found = object.__new__(Expr)
            found.terms = ident
            found.key = tuple((_term_key(m), c) for m, c in ident)
            found._text = None
            found = _EXPRS.setdefault(ident, found)
        return found

    @staticmethod
    def of(value: ExprLike) -> Expr:
        """The expression of an int; an expression is returned as it is."""
        return value if isinstance(value, Expr) else const(value)

    @staticmethod
    def of_atom(atom: Atom) -> Expr:
        """The expression that is just this atom."""
        return Expr._make({(atom,): 1})

    def __reduce__(self) -> tuple[object, ...]:
        return (of_terms, (self.terms,))

    # -- questions -------------------------------------------------------------------------------
    @property
    def as_int(self) -> int | None:
        """The value of a constant expression, else None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and not self.terms[0][0]:
            return self.terms[0][1]
        return None

    @property
    def as_atom(self) -> Atom | None:
        """The atom when the expression is exactly one atom, else None."""
        if len(self.terms) == 1:
            mono, coeff = self.terms[0]
            if coeff == 1 and len(mono) == 1:
                return mono[0]
        return None

    def __index__(self) -> int:
        if self.as_int is None:
            raise TypeError(f"index expression `{self}` is not a constant")
        return self.as_int

    @property
    def constant_term(self) -> int:
        """The coefficient of the empty monomial."""
        return self.terms[-1][1] if self.terms and not self.terms[-1][0] else 0

    def vars(self, kinds: str = "dsut") -> list[Atom]:
        """All variables of the given kinds, nested ones too, in total order."""
        seen: dict[Atom, None] = {}
        _collect(self, kinds, seen)
        return sorted(seen, key=lambda a: a.key)

    def coeff(self, atom: Atom) -> Expr:
        """The factor of `atom` in the terms linear in it (functions are not looked into)."""
        out: dict[Mono, int] = {}
        for mono, c in self.terms:
            if mono.count(atom) == 1:
                out[_without(mono, atom)] = c
        return Expr._make(out)

    def is_linear_in(self, atom: Atom) -> bool:
        """True if every occurrence of `atom` is as a factor to the first power."""
        for mono, _ in self.terms:
            if mono.count(atom) > 1:
                return False
            for a in mono:
                if a.args and any(atom in e.vars() for e in a.args):
                    return False
        return True

    # -- arithmetic ------------------------------------------------------------------------------
    def __add__(self, other: ExprLike) -> Expr:
        other = Expr.of(other)
        if not other.terms:
            return self
        if not self.terms:
            return other
        out = dict(self.terms)
        for mono, c in other.terms:
            out[mono] = out.get(mono, 0) + c
        return _fold_mod(out)

    __radd__ = __add__

    def __neg__(self) -> Expr:
        return Expr._make({m: -c for m, c in self.terms})

    def __sub__(self, other: ExprLike) -> Expr:
        return self + -Expr.of(other)

    def __rsub__(self, other: ExprLike) -> Expr:
        return Expr.of(other) + -self

    def __mul__(self, other: ExprLike) -> Expr:
        other = Expr.of(other)
        out: dict[Mono, int] = {}
        for m1, c1 in self.terms:
            for m2, c2 in other.terms:
                mono = tuple(sorted(m1 + m2, key=lambda a: a.key)) if m1 and m2 else m1 or m2
                out[mono] = out.get(mono, 0) + c1 * c2
        return _fold_mod(out)

    __rmul__ = __mul__

    # -- substitution and evaluation -------------------------------------------------------------
    def subs(self, env: Mapping[Atom, ExprLike]) -> Expr:
        """Simultaneous substitution of variables by expressions."""
        if not env:
            return self
        return self.map_atoms(lambda a: Expr.of(env[a]) if a in env else None)

    def map_atoms(self, fn: Callable[[Atom], Expr | None]) -> Expr:
        """Rebuild bottom-up; `fn` gives a variable's replacement, or None to keep it."""
        return _map(self, fn, {})

    def eval(self, env: Mapping[Atom, int]) -> int:
        """The integer value under an assignment of all variables."""
        total = 0
        for mono, c in self.terms:
            for a in mono:
                c *= env[a] if a.is_var else _EVAL[a.kind](*(x.eval(env) for x in a.args))
            total += c
        return total

    # -- text ------------------------------------------------------------------------------------
    def __str__(self) -> str:
        if self._text is None:
            self._text = render(self, str_atom)
        return self._text

    __repr__ = __str__


def of_terms(terms: Iterable[tuple[Mono, int]]) -> Expr:
    """The sum of terms: (atoms of a monomial, coefficient) pairs, each monomial once."""
    return Expr._make(dict(terms))


def _collect(e: Expr, kinds: str, seen: dict[Atom, None]) -> None:
    for mono, _ in e.terms:
        for a in mono:
            if a.args:
                for arg in a.args:
                    _collect(arg, kinds, seen)
            elif a.kind in kinds:
                seen[a] = None


def _map(e: Expr, fn: Callable[[Atom], Expr | None], memo: dict[Atom, Expr]) -> Expr:
    if not e.terms or e.as_int is not None:
        return e
    out, changed = ZERO, False
    for mono, c in e.terms:
        term = const(c)
        for a in mono:
            new = memo.get(a)
            if new is None:
                new = _map_atom(a, fn, memo)
                memo[a] = new
            changed = changed or new.as_atom is not a
            term = term * new
        out = out + term
    return out if changed else e


def _map_atom(a: Atom, fn: Callable[[Atom], Expr | None], memo: dict[Atom, Expr]) -> Expr:
    if a.is_var:
        new = fn(a)
        return Expr.of_atom(a) if new is None else new
    args = tuple(_map(x, fn, memo) for x in a.args)
    if all(x is y for x, y in zip(args, a.args, strict=True)):
        return Expr.of_atom(a)
    return FUNCS[a.kind](args[0], args[1])


def _fold_mod(terms: dict[Mono, int]) -> Expr:
    """Normal form of a sum: `c*n*(e floordiv n) + c*(e mod n)` becomes `c*e`."""
    for mono, c in terms.items():
        if not c:
            continue
        for a in mono:
            if a.kind != "mod":
                continue
            e, n = a.args
            rest = Expr._make({_without(mono, a): c})
            partner = rest * n * floordiv(e, n)
            have = {m: terms.get(m, 0) for m, _ in partner.terms}
            if partner.terms and all(have[m] == k for m, k in partner.terms):
                left = dict(terms)
                left[mono] = 0
                for m, k in partner.terms:
                    left[m] -= k
                return Expr._make(left) + rest * e
    return Expr._make(terms)


# -- constructors ---------------------------------------------------------------------------------
@cache
def const(value: int) -> Expr:
    """A constant."""
    return Expr._make({(): int(value)})


ZERO = const(0)
ONE = const(1)


def dim(index: int) -> Expr:
    """Iteration variable dN."""
    return Expr.of_atom(_atom("d", index))


def sym(index: int) -> Expr:
    """Size symbol sN."""
    return Expr.of_atom(_atom("s", index))


def unbacked(index: int) -> Expr:
    """Unbacked size symbol uN."""
    return Expr.of_atom(_atom("u", index))


def operand(index: int) -> Expr:
    """Index operand tN of the op that holds the expression."""
    return Expr.of_atom(_atom("t", index))


def var_atom(kind: str, index: int) -> Atom:
    """The atom of a variable, for substitutions."""
    return _atom(kind, index)


def dim_atom(index: int) -> Atom:
    """The atom dN, for substitutions."""
    return _atom("d", index)


def split_multiple(e: Expr, n: Expr) -> tuple[Expr, Expr]:
    """(q, r) with e = n*q + r where q takes every term that is a syntactic multiple of n."""
    if len(n.terms) != 1:
        return (ONE, ZERO) if e is n else (ZERO, e)
    nmono, ncoeff = n.terms[0]
    quotient: dict[Mono, int] = {}
    rest: dict[Mono, int] = {}
    for mono, c in e.terms:
        left = _divide_mono(mono, nmono)
        q, r = divmod(c, ncoeff)
        if left is None or (r and mono):
            rest[mono] = c
            continue
        if q:
            quotient[left] = q
        if r:
            rest[mono] = r
    return Expr._make(quotient), Expr._make(rest)


def _without(mono: Mono, atom: Atom) -> Mono:
    i = mono.index(atom)
    return mono[:i] + mono[i + 1 :]


def _divide_mono(mono: Mono, by: Mono) -> Mono | None:
    for a in by:
        if a not in mono:
            return None
        mono = _without(mono, a)
    return mono


def content(e: Expr, skip_constant: bool = False) -> int:
    """The greatest common divisor of the coefficients (0 for zero)."""
    g = 0
    for mono, c in e.terms:
        if mono or not skip_constant:
            g = gcd(g, c)
    return g


def floordiv(a: ExprLike, b: ExprLike) -> Expr:
    """a floordiv b for b > 0, in normal form."""
    a, b = Expr.of(a), Expr.of(b)
    bi = b.as_int
    if bi is not None:
        if bi == 0:
            raise ZeroDivisionError(f"index expression `{a} floordiv 0`")
        if a.as_int is not None:
            return const(a.as_int // bi)
        if bi == 1:
            return a
    q, r = split_multiple(a, b)
    if not r.terms:
        return q
    if bi is not None:
        g = gcd(content(r, skip_constant=True), bi)
        if g > 1:
            k = r.constant_term
            return q + floordiv(Expr._make({m: c // g for m, c in (r - k).terms}) + k // g, bi // g)
        inner = r.as_atom
        if inner is not None and inner.kind == "floordiv" and inner.args[1].as_int is not None:
            return q + floordiv(inner.args[0], inner.args[1] * b)
    return q + Expr.of_atom(_atom("floordiv", 0, (r, b)))


def mod(a: ExprLike, b: ExprLike) -> Expr:
    """a mod b for b > 0, in normal form."""
    a, b = Expr.of(a), Expr.of(b)
    bi = b.as_int
    if bi is not None:
        if bi == 0:
            raise ZeroDivisionError(f"index expression `{a} mod 0`")
        ai = a.as_int
        if ai is not None:
            return const(ai % bi)
        if bi == 1:
            return ZERO
    _, r = split_multiple(_without_mods(a, b), b)
    if not r.terms:
        return ZERO
    if bi is not None:
        if r.as_int is not None:
            return const(r.as_int % bi)
        g = gcd(content(r, skip_constant=True), bi)
        if g > 1:
            k = r.constant_term
            low = Expr._make({m: c // g for m, c in (r - k).terms}) + k // g
            return g * mod(low, bi // g) + k % g
    return Expr.of_atom(_atom("mod", 0, (r, b)))


def _without_mods(e: Expr, n: Expr) -> Expr:
    """e with terms `c * (x mod m)` as `c * x` where n divides m: equal modulo n."""
    ni = n.as_int
    for mono, c in e.terms:
        if len(mono) == 1 and mono[0].kind == "mod":
            x, m = mono[0].args
            mi = m.as_int
            if m is n or (ni is not None and mi is not None and mi % ni == 0):
                return _without_mods(e + c * (x - Expr.of_atom(mono[0])), n)
    return e


def _extreme(kind: str, pick: Callable[[int, int], int], a: ExprLike, b: ExprLike) -> Expr:
    a, b = Expr.of(a), Expr.of(b)
    if a is b:
        return a
    gap = (a - b).as_int
    if gap is not None:
        return a if pick(gap, 0) == gap else b
    if b.key < a.key:
        a, b = b, a
    return Expr.of_atom(_atom(kind, 0, (a, b)))


def emin(a: ExprLike, b: ExprLike) -> Expr:
    """min(a, b)."""
    return _extreme("min", min, a, b)


def emax(a: ExprLike, b: ExprLike) -> Expr:
    """max(a, b)."""
    return _extreme("max", max, a, b)


FUNCS = {"floordiv": floordiv, "mod": mod, "min": emin, "max": emax}


# -- text -----------------------------------------------------------------------------------------
def str_atom(atom: Atom) -> str:
    """`d0`, `s1`, ...: the text of a variable."""
    return f"{atom.kind}{atom.index}"


Style: TypeAlias = Mapping[str, str]
MLIR_STYLE: Style = {
    "floordiv": "({0} floordiv {1})",
    "mod": "({0} mod {1})",
    "min": "min({0}, {1})",
    "max": "max({0}, {1})",
}


def render(e: Expr, var: Callable[[Atom], str], style: Style = MLIR_STYLE) -> str:
    """Text of an expression: `var` names variables, `style` gives templates of the functions."""
    if not e.terms:
        return "0"
    out = ""
    for i, (mono, c) in enumerate(e.terms):
        sign = "-" if c < 0 else "+"
        factors = [_render_atom(a, var, style) for a in reversed(mono)]
        if abs(c) != 1 or not factors:
            factors.insert(0, str(abs(c)))
        body = " * ".join(factors)
        out += (body if sign == "+" else f"-{body}") if i == 0 else f" {sign} {body}"
    return out


def _render_atom(a: Atom, var: Callable[[Atom], str], style: Style) -> str:
    if a.is_var:
        return var(a)
    parts = [render(x, var, style) for x in a.args]
    if a.kind in ("floordiv", "mod"):
        parts = [p if _is_simple(x) else f"({p})" for p, x in zip(parts, a.args, strict=True)]
    return style[a.kind].format(*parts)


def _is_simple(e: Expr) -> bool:
    atom = e.as_atom
    return (e.as_int or 0) > 0 if atom is None else atom.kind not in ("floordiv", "mod")
