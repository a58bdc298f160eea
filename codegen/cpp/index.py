"""Index expressions as C++: 64-bit arithmetic, common prefixes hoisted to their loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from minductor.codegen.cpp.writer import Slot
from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges

VarText = Callable[[Atom], "str | None"]

_TYPES = (8, 16, 32, 64)
"""`i8` and its kin name types."""


@dataclass
class Level:
    """One loop (or the function): the variables it binds and where its derived numbers stand."""

    slot: Slot
    vars: frozenset[int] = frozenset()
    hoisted: dict[Expr, str] = field(default_factory=dict[Expr, str])


def _sum(terms: list[tuple[str, str]]) -> str:
    out = ""
    for sign, body in terms:
        if not out:
            out = body if sign == "+" else f"-{body}"
        else:
            out += f" {sign} {body}"
    return out or "0"


class IndexPrinter:
    """Prints expressions at the current place in a stack of loop levels."""

    def __init__(self, ranges: Ranges) -> None:
        """`ranges` knows the size symbols."""
        self.levels: list[Level] = []
        self.ranges = ranges
        self._counter = 0
        self._aliases: dict[int, str] = {}

    # -- levels -----------------------------------------------------------------------------------
    def push(self, slot: Slot, *variables: int) -> None:
        """Enter a level whose derived numbers go to `slot`."""
        self.levels.append(Level(slot, frozenset(variables)))

    def pop(self) -> None:
        """Leave the innermost level."""
        self.levels.pop()

    def _level_of(self, atoms: tuple[Atom, ...]) -> int | None:
        """The innermost level that `atoms` depend on; None with data operands."""
        found = 0
        for atom in atoms:
            for v in (atom,) if atom.is_var else Expr.of_atom(atom).vars():
                if v.kind == "t":
                    return None
                if v.kind == "d":
                    found = max(found, self._level_of_dim(v.index))
        return found

    def _level_of_dim(self, number: int) -> int:
        for i in range(len(self.levels) - 1, -1, -1):
            if number in self.levels[i].vars:
                return i
        return 0

    # -- text -------------------------------------------------------------------------------------
    def text(self, e: Expr, var: VarText | None = None) -> str:
        """`e` as C++, prefixes over outer loops by name; `var` overrides the text of variables."""
        here = len(self.levels) - 1
        by_level: dict[int, Expr] = {}
        inline = ex.ZERO
        for mono, c in e.terms:
            term = Expr.of(c)
            for a in mono:
                term = term * Expr.of_atom(a)
            level = self._level_of(mono)
            if not mono or level is None or level >= here or self._overridden(mono, var):
                inline = inline + term
            else:
                by_level[level] = by_level.get(level, ex.ZERO) + term
        name = self._prefix(by_level)
        if name is None:
            return self._plain(inline, var)
        if not inline.terms:
            return name
        return _sum([("+", name), *self._terms(inline, var)])

    @staticmethod
    def _overridden(mono: tuple[Atom, ...], var: VarText | None) -> bool:
        if var is None:
            return False
        return any(var(v) is not None for a in mono for v in Expr.of_atom(a).vars("dt"))

    def _prefix(self, by_level: dict[int, Expr]) -> str | None:
        total, name = ex.ZERO, None
        for level in sorted(by_level):
            total = total + by_level[level]
            atom = total.as_atom
            if atom is not None and atom.is_var:
                name = self._var(atom, None)
                continue
            known = self.levels[level].hoisted.get(total)
            if known is None:
                self._counter += self._counter in _TYPES
                known = f"i{self._counter}"
                self._counter += 1
                terms = self._terms(by_level[level], None)
                text = _sum([("+", name), *terms] if name else terms)
                self.levels[level].slot.add(f"const i64 {known} = {text};")
                self.levels[level].hoisted[total] = known
            name = known
        return name

    def _plain(self, e: Expr, var: VarText | None) -> str:
        return _sum(self._terms(e, var))

    def _terms(self, e: Expr, var: VarText | None) -> list[tuple[str, str]]:
        out: list[tuple[str, str]] = []
        for mono, c in e.terms:
            factors = [self._atom(a, var) for a in reversed(mono)]
            if abs(c) != 1 or not factors:
                number = str(abs(c)) + ("ll" if abs(c) >= 2**31 else "")
                factors.insert(0, number)
            out.append(("-" if c < 0 else "+", " * ".join(factors)))
        return out

    def _atom(self, a: Atom, var: VarText | None) -> str:
        if a.is_var:
            return self._var(a, var)
        x, y = (self._plain(arg, var) for arg in a.args)
        if a.kind in ("min", "max"):
            return f"{'least' if a.kind == 'min' else 'most'}({x}, {y})"
        plain = self.ranges.nonneg(a.args[0])
        if a.kind == "floordiv":
            return f"{'quo' if plain else 'floordiv'}({x}, {y})"
        return f"{'rem' if plain else 'floormod'}({x}, {y})"

    def _var(self, atom: Atom, var: VarText | None) -> str:
        text = var(atom) if var is not None else None
        if text is not None:
            return text
        return f"{atom.kind}{atom.index}"


def lane_step(e: Expr, lane: Atom, width: int, ranges: Ranges) -> Expr | None:
    """How far `e` moves when the lane variable moves by one, if that is the same for all lanes.

    The variable is a multiple of `width` at lane 0, so that `d mod 64` moves by one within a vector
    of 16 lanes. None when the step is not uniform (or not known to be).
    """
    total = ex.ZERO
    for mono, c in e.terms:
        hits = [a for a in mono if a is lane or (a.args and lane in Expr.of_atom(a).vars("d"))]
        if not hits:
            continue
        if len(hits) > 1:
            return None
        step = ex.ONE if hits[0] is lane else _function_step(hits[0], lane, width, ranges)
        if step is None:
            return None
        rest = Expr.of(c)
        for a in mono:
            if a is not hits[0]:
                rest = rest * Expr.of_atom(a)
        total = total + rest * step
    return None if total.vars("t") else total


def _function_step(a: Atom, lane: Atom, width: int, ranges: Ranges) -> Expr | None:
    if a.kind not in ("floordiv", "mod"):
        return None
    x, n = a.args[0], a.args[1].as_int
    if n is None or n % width or lane_step(x, lane, width, ranges) is not ex.ONE:
        return None
    base = x - Expr.of_atom(lane)
    if lane in base.vars("d") or not ranges.divides(width, base):
        return None
    return ex.ZERO if a.kind == "floordiv" else ex.ONE
