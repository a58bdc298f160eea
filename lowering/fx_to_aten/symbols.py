"""Symbolic sizes: sympy expressions of torch's ShapeEnv become index expressions.

Symbols are renumbered by first use (s77 -> s0), so that equal graphs have equal text. What the
ShapeEnv knows of them (values at capture, ranges, divisors, guards that relate them) is written on
the function as far as it says something; after the import nobody asks sympy or the ShapeEnv again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import sympy
import torch

from minductor.dialects import expr as ex
from minductor.dialects.attrs import Known, Symbol, SymbolsAttr, known_ranges
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_facts import Fact
from minductor.lowering.fx_to_aten.conditions import piecewise
from minductor.lowering.fx_to_aten.errors import ImportRefused
from minductor.lowering.fx_to_aten.facts import learn
from minductor.lowering.fx_to_aten.float_sizes import ROUNDINGS, exact_rounding, is_float

UNBOUNDED = 2**62
"""Bounds at or beyond this are torch's ways to say that there is none."""


class SymbolTable:
    """Converts the sizes of one graph; symbols are numbered in the order they are met."""

    def __init__(self, shape_env: Any = None) -> None:
        self.shape_env = shape_env
        self._memo: dict[sympy.Basic, Expr] = {}
        self._numbers: dict[sympy.Basic, Expr] = {}
        self._counts = {"s": 0, "u": 0}
        self._known = Known()
        self._learning = False
        self.on_float: Callable[[Any, Expr], None] = lambda e, symbol: None
        self._seen = 0

    def size(self, value: Any) -> Expr:
        """The expression of an int or SymInt. ImportRefused if it has none."""
        if isinstance(value, int):
            return ex.const(value)
        node = value.node
        if self.shape_env is None:
            self.shape_env = node.shape_env
        constant = node.maybe_as_int()
        if constant is not None:
            return ex.const(constant)
        return self.simplified(self.convert(node.expr))

    def number(self, value: torch.SymInt) -> None:
        """Numbers the symbols of a size without giving its expression."""
        if self.shape_env is None:
            self.shape_env = value.node.shape_env
        if value.node.maybe_as_int() is None:
            self.convert(value.node.expr)

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
        if type(e).__name__ in ROUNDINGS and is_float(e):
            return self._rounded(e)
        if handler is None:
            raise ImportRefused(f"the size `{e}` has no form as an index expression")
        return handler(self, e)

    def _rounded(self, e: Any) -> Expr:
        """A float made an int: exact arithmetic, or a new symbol that ops in the graph bind."""
        low, _ = self._bounds(e)
        found = exact_rounding(self, e, low is not None and low >= 0)
        if found is not None:
            return found
        if self._learning:
            raise ImportRefused(f"`{e}` is no size of this graph")
        symbol = ex.unbacked(self._counts["u"])
        self._counts["u"] += 1
        self._numbers[e] = symbol
        self.on_float(e, symbol)
        return symbol

    def _bounds(self, e: Any) -> tuple[int | None, int | None]:
        """Bounds of an expression by the ShapeEnv's ranges."""
        if not hasattr(self.shape_env, "bound_sympy"):
            return None, None
        found = self.shape_env.bound_sympy(e)
        return _bound(found.lower), _bound(found.upper)

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
    def known(self) -> Known:
        """What is known of the symbols met so far."""
        if len(self._numbers) != self._seen:
            self._seen = len(self._numbers)
            self._learning = True
            self._known = self._learn()
            self._learning = False
        return self._known

    def symbols_attr(self, used: Collection[Atom]) -> SymbolsAttr | None:
        """What is known of the symbols in use; None if there are none."""
        known = self.known()
        rows = sorted((r for r in known.symbols if r.atom in used), key=lambda row: row.atom.key)
        facts = [f for f in known.facts if all(a in used for a in f.expr.vars())]
        return SymbolsAttr(Known(tuple(rows), tuple(facts))) if rows else None

    def simplified(self, e: Expr) -> Expr:
        """The normal form of a size by all that is known."""
        atom = e.as_atom
        plain = e.as_int is not None or (atom is not None and atom.is_var)
        return e if plain else known_ranges(self.known()).simplify(e)

    def _learn(self) -> Known:
        facts = [f for e in self._relations() for f in self._facts_of(e)]
        return learn([self._row(s, e) for s, e in self._numbers.items()], facts)

    def _row(self, symbol: sympy.Basic, e: Expr) -> Symbol:
        env = self.shape_env
        atom = e.as_atom
        assert atom is not None
        hints = getattr(env, "backed_var_to_val", None)
        if hints is None:
            hints = getattr(env, "var_to_val", {})
        bounds = getattr(env, "var_to_range", {}).get(symbol)
        low, high = 0, None
        if bounds is not None:
            low, high = _bound(bounds.lower), _bound(bounds.upper)
        elif not isinstance(symbol, sympy.Symbol):
            low, high = self._bounds(symbol)
        hint = symbol.xreplace(hints)
        return Symbol(atom, int(hint) if isinstance(hint, sympy.Integer) else None, low, high)

    def _relations(self) -> Iterable[Any]:
        """What the ShapeEnv holds true, as sympy: guards, and assertions made at run time."""
        env = self.shape_env
        given = [guard.expr for guard in getattr(env, "guards", ())]
        for asserts in getattr(env, "deferred_runtime_asserts", {}).values():
            given += [one.expr for one in asserts]
        given += [sympy.Eq(e, 0, evaluate=False) for e in getattr(env, "divisible", ())]
        for e in given:
            replaced = env.replace(e) if hasattr(env, "replace") else e
            if all(s in self._numbers for s in replaced.free_symbols):
                yield replaced

    def _facts_of(self, e: Any) -> list[Fact]:
        """A relation as facts; none where it has no form, or says nothing."""
        if isinstance(e, sympy.And):
            return [f for part in e.args for f in self._facts_of(part)]
        if isinstance(e, sympy.Not) and isinstance(e.args[0], sympy.Eq):
            return self._facts_of(sympy.Ne(*e.args[0].args))
        if not isinstance(e, sympy.core.relational.Relational):
            return []
        try:
            a, b = (self.convert(arg) for arg in e.args)
        except (ImportRefused, ZeroDivisionError):
            return []
        shapes: dict[type, Fact] = {
            sympy.Ge: Fact("nonneg", a - b),
            sympy.Gt: Fact("nonneg", a - b - 1),
            sympy.Le: Fact("nonneg", b - a),
            sympy.Lt: Fact("nonneg", b - a - 1),
            sympy.Eq: Fact("zero", a - b),
            sympy.Ne: Fact("nonzero", a - b),
        }
        fact = next((shapes[t] for t in shapes if isinstance(e, t)), None)
        return [] if fact is None or not fact.expr.vars() else [fact]

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


def _truncated(table: SymbolTable, e: Any) -> Expr:
    low, _ = table._bounds(e)
    if low is None or low < 0:
        raise ImportRefused(f"the size `{e}` may be negative before it is truncated")
    return _rounded(up=False)(table, e)


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
    "TruncToInt": _truncated,
    "Max": _binary(ex.emax),
    "Min": _binary(ex.emin),
    "Abs": lambda table, e: ex.emax(table.convert(e.args[0]), -table.convert(e.args[0])),
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
