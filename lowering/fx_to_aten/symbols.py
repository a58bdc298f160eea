"""Symbolic sizes: sympy expressions of torch's ShapeEnv become index expressions.

Symbols are renumbered by first use (s77 -> s0), so that equal graphs have equal text. What the
ShapeEnv knows of a symbol (value at capture, range, divisibility) is written on the function; after
the import nobody asks sympy or the ShapeEnv again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import gcd
from typing import Any

import sympy

from minductor.dialects import expr as ex
from minductor.dialects.attrs import Symbol, SymbolsAttr
from minductor.dialects.expr import Expr
from minductor.lowering.fx_to_aten.conditions import piecewise
from minductor.lowering.fx_to_aten.errors import ImportRefused

UNBOUNDED = 2**62
"""Bounds at or beyond this are torch's ways to say that there is none."""


class SymbolTable:
    """Converts the sizes of one graph; symbols are numbered in the order they are met."""

    def __init__(self, shape_env: Any = None) -> None:
        self.shape_env = shape_env
        self._memo: dict[sympy.Basic, Expr] = {}
        self._numbers: dict[sympy.Symbol, Expr] = {}
        self._counts = {"s": 0, "u": 0}

    def size(self, value: Any) -> Expr:
        """The expression of an int or SymInt. ImportRefused if it has none."""
        if isinstance(value, int):
            return ex.const(value)
        node = value.node
        if self.shape_env is None:
            self.shape_env = node.shape_env
        constant = node.maybe_as_int()
        return self.convert(node.expr if constant is None else sympy.Integer(constant))

    def define(self, symbol: sympy.Symbol, e: Expr) -> None:
        """Makes a symbol that is not numbered yet stand for an expression."""
        if symbol not in self._numbers:
            self._memo[symbol] = e

    def convert(self, e: sympy.Basic) -> Expr:
        """The index expression of a sympy expression (memoised)."""
        found = self._memo.get(e)
        if found is None:
            found = self._memo[e] = self._convert(e)
        return found

    def _convert(self, e: sympy.Basic) -> Expr:
        if isinstance(e, sympy.Integer):
            return ex.const(int(e))
        if isinstance(e, sympy.Symbol):
            return self._symbol(e)
        if isinstance(e, sympy.Add | sympy.Mul):
            return self._polynomial(e)
        if isinstance(e, sympy.Pow):
            return self._power(e.args[0], e.args[1], e)
        handler = _FUNCTIONS.get(type(e).__name__)
        if handler is None:
            raise ImportRefused(f"the size `{e}` has no form as an index expression")
        return handler(self, e)

    def _polynomial(self, e: Any) -> Expr:
        if any(isinstance(f, sympy.Rational) and f.q != 1 for f in e.atoms(sympy.Rational)):
            top, bottom = e.as_numer_denom()
            if bottom != 1:
                return ex.floordiv(self.convert(top), self.convert(bottom))
        parts = [self.convert(a) for a in e.args]
        total = parts[0]
        for part in parts[1:]:
            total = total + part if isinstance(e, sympy.Add) else total * part
        return total

    def _power(self, base: Any, exponent: Any, whole: sympy.Basic) -> Expr:
        if not (isinstance(exponent, sympy.Integer) and 0 <= int(exponent) <= 16):
            raise ImportRefused(f"the size `{whole}` has no form as an index expression")
        out, factor = ex.ONE, self.convert(base)
        for _ in range(int(exponent)):
            out = out * factor
        return out

    def _symbol(self, symbol: sympy.Symbol) -> Expr:
        found = self._numbers.get(symbol)
        if found is None:
            kind = "u" if symbol.name.lstrip("z").startswith("u") else "s"
            if symbol.name.startswith("z"):
                raise ImportRefused(f"`{symbol}` is a run-time float inside a size")
            found = Expr.of_atom(ex.var_atom(kind, self._counts[kind]))
            self._counts[kind] += 1
            self._numbers[symbol] = found
        return found

    # -- facts ------------------------------------------------------------------------------------
    def symbols_attr(self) -> SymbolsAttr | None:
        """What is known of the symbols met so far; None if there are none."""
        if not self._numbers:
            return None
        multiples = self._multiples()
        rows = [self._facts(s, e, multiples.get(s, 1)) for s, e in self._numbers.items()]
        return SymbolsAttr(tuple(sorted(rows, key=lambda row: (row.atom.kind, row.atom.index))))

    def _facts(self, symbol: sympy.Symbol, e: Expr, multiple: int) -> Symbol:
        env = self.shape_env
        atom = e.as_atom
        assert atom is not None
        hints = getattr(env, "backed_var_to_val", None)
        if hints is None:
            hints = getattr(env, "var_to_val", {})
        hint = hints.get(symbol)
        low, high = 0, None
        bounds = getattr(env, "var_to_range", {}).get(symbol)
        if bounds is not None:
            low = max(0, _bound(bounds.lower) or 0)
            high = _bound(bounds.upper)
        return Symbol(atom, None if hint is None else int(hint), low, high, multiple)

    def _multiples(self) -> dict[sympy.Symbol, int]:
        """Divisors from guards such as Eq(Mod(11*s17, 2), 0)."""
        out: dict[sympy.Symbol, int] = {}
        for e in self._zero_mods():
            symbol, factor = _scaled_symbol(e.args[0])
            modulus = e.args[1]
            if symbol is None or not isinstance(modulus, sympy.Integer):
                continue
            step = int(modulus) // gcd(int(modulus), factor)
            known = out.get(symbol, 1)
            out[symbol] = known * step // gcd(known, step)
        return out

    def _zero_mods(self) -> Iterable[Any]:
        env = self.shape_env
        for guard in getattr(env, "guards", ()):
            e = guard.expr
            if isinstance(e, sympy.Eq):
                a, b = e.args
                if b == 0 and type(a).__name__ in ("Mod", "PythonMod"):
                    yield a
        for e in sorted(getattr(env, "divisible", ()), key=str):
            if type(e).__name__ in ("Mod", "PythonMod"):
                yield e

    def nonneg_form(self, e: Any) -> list[Expr] | None:
        """Expressions that are all >= 0 where a relation of sizes holds; None for others."""
        if isinstance(e, sympy.And):
            parts = [self.nonneg_form(a) for a in e.args]
            if any(p is None for p in parts):
                return None
            return [x for p in parts if p is not None for x in p]
        if not isinstance(e, sympy.core.relational.Relational):
            return [] if e == sympy.true else None
        a, b = self.convert(e.args[0]), self.convert(e.args[1])
        forms: dict[type, list[Expr]] = {
            sympy.Ge: [a - b],
            sympy.Gt: [a - b - 1],
            sympy.Le: [b - a],
            sympy.Lt: [b - a - 1],
            sympy.Eq: [a - b, b - a],
        }
        return next((forms[t] for t in forms if isinstance(e, t)), None)


def _bound(value: Any) -> int | None:
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError, AttributeError):
        return None
    return number if abs(number) < UNBOUNDED else None


def _scaled_symbol(e: Any) -> tuple[sympy.Symbol | None, int]:
    """(s, k) of `k*s`."""
    if isinstance(e, sympy.Symbol):
        return e, 1
    if isinstance(e, sympy.Mul) and len(e.args) == 2:
        factor, symbol = e.args
        if isinstance(factor, sympy.Integer) and isinstance(symbol, sympy.Symbol):
            return symbol, abs(int(factor))
    return None, 1


def _binary(fn: Callable[[Expr, Expr], Expr]) -> Callable[[SymbolTable, Any], Expr]:
    def build(table: SymbolTable, e: Any) -> Expr:
        out = table.convert(e.args[0])
        for arg in e.args[1:]:
            out = fn(out, table.convert(arg))
        return out

    return build


def _divide(table: SymbolTable, e: Any) -> Expr:
    return ex.floordiv(table.convert(e.args[0]), _divisor(table, e))


def _modulo(table: SymbolTable, e: Any) -> Expr:
    return ex.mod(table.convert(e.args[0]), _divisor(table, e))


def _divisor(table: SymbolTable, e: Any) -> Expr:
    divisor = table.convert(e.args[1])
    if (divisor.as_int or 1) < 0:
        raise ImportRefused(f"the size `{e}` divides by a negative number")
    return divisor


def _modular_indexing(table: SymbolTable, e: Any) -> Expr:
    base, divisor, modulus = (table.convert(a) for a in e.args)
    return ex.mod(ex.floordiv(base, divisor), modulus)


def _rounded(up: bool) -> Callable[[SymbolTable, Any], Expr]:
    """floor or ceil of a quotient."""

    def build(table: SymbolTable, e: Any) -> Expr:
        inner = e.args[0]
        if type(inner).__name__ in ("IntTrueDiv", "FloatTrueDiv"):
            top, bottom = inner.args
        else:
            joined: Any = sympy.together(inner)
            top, bottom = joined.as_numer_denom()
        a, b = table.convert(top), table.convert(bottom)
        return ex.floordiv(a + b - 1, b) if up else ex.floordiv(a, b)

    return build


def _power_by_natural(table: SymbolTable, e: Any) -> Expr:
    return table._power(e.args[0], e.args[1], e)


def _shift(left: bool) -> Callable[[SymbolTable, Any], Expr]:
    def build(table: SymbolTable, e: Any) -> Expr:
        amount = table.convert(e.args[1]).as_int
        if amount is None:
            raise ImportRefused(f"the size `{e}` shifts by a symbol")
        base = table.convert(e.args[0])
        return base * (1 << amount) if left else ex.floordiv(base, 1 << amount)

    return build


_FUNCTIONS: dict[str, Callable[[SymbolTable, Any], Expr]] = {
    "FloorDiv": _divide,
    "CleanDiv": _divide,
    "CeilDiv": lambda table, e: ex.floordiv(
        table.convert(e.args[0]) + _divisor(table, e) - 1, _divisor(table, e)
    ),
    "Mod": _modulo,
    "PythonMod": _modulo,
    "ModularIndexing": _modular_indexing,
    "Max": _binary(ex.emax),
    "Min": _binary(ex.emin),
    "Identity": lambda table, e: table.convert(e.args[0]),
    "Piecewise": lambda table, e: piecewise(table.convert, e),
    "PowByNatural": _power_by_natural,
    "FloorToInt": _rounded(up=False),
    "floor": _rounded(up=False),
    "CeilToInt": _rounded(up=True),
    "ceiling": _rounded(up=True),
    "LShift": _shift(left=True),
    "RShift": _shift(left=False),
}
"""By class name: torch's own sympy functions share names over versions, not modules."""
