"""Attributes shared by the dialects: index lists, domains, schedule words, symbols, origins, bytes.

#loop.index<[d0, d1 + 32]>
#loop.domain<(d0: 64) reduce (d1: s1)>
#loop.origins<["sin", "~add model.py:12"]>
#loop.bytes<floor 4096, unfused 8192, planned 4096>
#aten.symbols<s0 = [hint 64, min 2, multiple 8], s1 = [signed], nonneg s0 - s1>
#kernel.words<run threads, lanes 16, unroll 4, tail mask>
#kernel.config<target = "cpp", threads = 2>
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd
from typing import Any, NamedTuple

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_facts import KINDS as FACT_KINDS
from minductor.dialects.expr_facts import Fact
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.expr_text import parse_expr
from minductor.dialects.types import InternedData, parse_shape, shape_text


@irdl_attr_definition
class IndexAttr(InternedData, Data[tuple[Expr, ...]]):
    """A list of index expressions: the index of an access, a list of sizes, symbol arguments."""

    name = "loop.index"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Expr, ...]:
        with parser.in_angle_brackets():
            return parse_shape(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{shape_text(self.data)}>")


@irdl_attr_definition
class ExprAttr(InternedData, Data[Expr]):
    """One index expression."""

    name = "loop.expr"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Expr:
        with parser.in_angle_brackets():
            return parse_expr(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")


class Domain(NamedTuple):
    """An iteration domain: extents of parallel, reduce, scan variables, numbered d0.. in order."""

    parallel: tuple[Expr, ...] = ()
    reduce: tuple[Expr, ...] = ()
    scan: tuple[Expr, ...] = ()

    @property
    def extents(self) -> tuple[Expr, ...]:
        """All extents; position is the variable's number."""
        return self.parallel + self.reduce + self.scan

    @property
    def reduce_dims(self) -> range:
        """Numbers of the reduce variables."""
        return range(len(self.parallel), len(self.parallel) + len(self.reduce))

    @property
    def scan_dims(self) -> range:
        """Numbers of the scan variables."""
        return range(len(self.parallel) + len(self.reduce), len(self.extents))

    def ranges(self, base: Ranges | None = None) -> Ranges:
        """`base` and the ranges of this domain's variables."""
        return (base or Ranges()).with_extents(enumerate(self.extents))


def domain_text(domain: Domain, first_word: bool = True) -> str:
    """`(d0: 64) reduce (d1: s1)`."""
    out, n = "", 0
    for word, extents in zip(("", "reduce ", "scan "), domain, strict=True):
        if extents or not word:
            inner = ", ".join(f"d{n + k}: {e}" for k, e in enumerate(extents))
            out += f"{' ' if out else ''}{word}({inner})"
            n += len(extents)
    return out


def parse_domain(parser: AttrParser) -> Domain:
    """Parse `(d0: e, ..) [reduce (..)] [scan (..)]`; variables must be numbered in order."""
    count = 0

    def variable() -> Expr:
        nonlocal count
        pos = parser.pos
        word = parser.parse_identifier()
        if word != f"d{count}":
            parser.raise_error(f"expected `d{count}`: a domain numbers its variables in order", pos)
        count += 1
        parser.parse_punctuation(":")
        return parse_expr(parser)

    def group() -> tuple[Expr, ...]:
        return tuple(parser.parse_comma_separated_list(parser.Delimiter.PAREN, variable))

    parallel = group()
    reduce = group() if parser.parse_optional_keyword("reduce") else ()
    scan = group() if parser.parse_optional_keyword("scan") else ()
    return Domain(parallel, reduce, scan)


@irdl_attr_definition
class DomainAttr(InternedData, Data[Domain]):
    """The iteration domain of a nest."""

    name = "loop.domain"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Domain:
        with parser.in_angle_brackets():
            return parse_domain(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{domain_text(self.data)}>")


class Origin(NamedTuple):
    """An op of the user's graph inside a nest: name, `file:line` (or empty), recomputed here."""

    op: str
    where: str = ""
    recomputed: bool = False

    def text(self) -> str:
        """`[~]op[ file:line]`."""
        return f"{'~' if self.recomputed else ''}{self.op}{' ' if self.where else ''}{self.where}"

    @staticmethod
    def parse(text: str) -> Origin:
        """Inverse of `text`."""
        op, _, where = text.partition(" ")
        return Origin(op.removeprefix("~"), where, op.startswith("~"))


@irdl_attr_definition
class OriginsAttr(InternedData, Data[tuple[Origin, ...]]):
    """Origins in graph order (producer first); names and kernel headers come from these."""

    name = "loop.origins"

    @classmethod
    def parse_list(cls, parser: AttrParser) -> tuple[Origin, ...]:
        """`["sin", "~add model.py:12"]`."""
        texts = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_str_literal)
        return tuple(map(Origin.parse, texts))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Origin, ...]:
        with parser.in_angle_brackets():
            return cls.parse_list(parser)

    def print_list(self, printer: Printer) -> None:
        """`["sin", "~add model.py:12"]`."""
        with printer.in_square_brackets():
            printer.print_list(self.data, lambda o: printer.print_string_literal(o.text()))

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_list(printer)


class Bytes(NamedTuple):
    """Memory traffic in bytes: least possible, with nothing fused, as planned."""

    floor: Expr
    unfused: Expr
    planned: Expr


@irdl_attr_definition
class BytesAttr(InternedData, Data[Bytes]):
    """The ledger of a group, a kernel or a graph."""

    name = "loop.bytes"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Bytes:
        values: list[Expr] = []
        with parser.in_angle_brackets():
            for i, word in enumerate(Bytes._fields):
                if i:
                    parser.parse_punctuation(",")
                parser.parse_keyword(word)
                values.append(parse_expr(parser))
        return Bytes(*values)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(
            "<" + ", ".join(f"{k} {v}" for k, v in zip(Bytes._fields, self.data, strict=True)) + ">"
        )


class Symbol(NamedTuple):
    """A size symbol: the variable, its value at capture, inclusive bounds, a known divisor.

    `lo` is None for a number that may be negative without bound (an integer of the user's).
    """

    atom: Atom
    hint: int | None = None
    lo: int | None = 0
    hi: int | None = None
    multiple: int = 1

    def text(self) -> str:
        """`s0 = [hint 64, min 2, multiple 8]`."""
        parts = [] if self.hint is None else [f"hint {self.hint}"]
        parts.append("signed" if self.lo is None else f"min {self.lo}")
        parts += [] if self.hi is None else [f"max {self.hi}"]
        if self.multiple != 1:
            parts.append(f"multiple {self.multiple}")
        return f"{self.atom.kind}{self.atom.index} = [{', '.join(parts)}]"


def _parse_symbol(parser: AttrParser) -> Symbol:
    pos = parser.pos
    atom = parse_expr(parser).as_atom
    if atom is None or atom.kind not in ("s", "u"):
        parser.raise_error("expected a size symbol sN or uN", pos)
    parser.parse_punctuation("=")
    names = {"hint": "hint", "min": "lo", "max": "hi", "multiple": "multiple"}
    fields: dict[str, int | None] = {}

    def fact() -> None:
        pos = parser.pos
        word = parser.parse_identifier(context_msg=" (hint, min, signed, max or multiple)")
        if word == "signed":
            fields["lo"] = None
            return
        if word not in names:
            parser.raise_error(f"unknown fact `{word}`: hint, min, signed, max or multiple", pos)
        fields[names[word]] = parser.parse_integer(allow_boolean=False)

    parser.parse_comma_separated_list(parser.Delimiter.SQUARE, fact)
    if (fields.get("multiple", 1) or 0) < 1:
        parser.raise_error("a multiple is at least 1", pos)
    low, high = fields.get("lo", 0), fields.get("hi")
    if low is not None and high is not None and low > high:
        parser.raise_error(f"no number lies in {low} .. {high}", pos)
    return Symbol(atom, **fields)  # pyright: ignore[reportArgumentType]


def _parse_fact(parser: AttrParser, known: set[Atom]) -> Fact | None:
    """`nonneg e`, `zero e`, `nonzero e` over symbols declared before; None for anything else."""
    pos = parser.pos
    kind = next((k for k in FACT_KINDS if parser.parse_optional_keyword(k)), None)
    if kind is None:
        return None
    e = parse_expr(parser)
    for atom in e.vars():
        if atom not in known:
            parser.raise_error(f"`{atom!r}` is not a symbol declared before this fact", pos)
    return Fact(kind, e)


class Known(NamedTuple):
    """The size symbols of a function, and facts that relate them."""

    symbols: tuple[Symbol, ...] = ()
    facts: tuple[Fact, ...] = ()


@lru_cache(maxsize=64)
def known_ranges(known: Known) -> Ranges:
    """Ranges, divisors and facts of symbols; do not change the bounds of what comes back."""
    out = Ranges()
    for s in known.symbols:
        low, high = (None if end is None else ex.const(end) for end in (s.lo, s.hi))
        out.bounds[s.atom] = (low, high)
        if s.multiple != 1:
            out.multiples[s.atom] = s.multiple
    return out.with_facts(known.facts) if known.facts else out


def known_of_all(functions: Sequence[Known]) -> Known:
    """What holds of the symbols in each of several functions that declares them."""
    if len(functions) == 1:
        return functions[0]
    symbols: dict[Atom, Symbol] = {}
    for s in (s for known in functions for s in known.symbols):
        t = symbols.setdefault(s.atom, s)
        low = None if s.lo is None or t.lo is None else min(s.lo, t.lo)
        high = None if s.hi is None or t.hi is None else max(s.hi, t.hi)
        multiple = gcd(s.multiple, t.multiple)
        symbols[s.atom] = Symbol(s.atom, s.hint if t.hint is None else t.hint, low, high, multiple)
    facts: dict[Fact, None] = {}
    for fact in (fact for known in functions for fact in known.facts):
        atoms = set(fact.expr.vars("su"))
        speaking = (one for one in functions if atoms <= {s.atom for s in one.symbols})
        if all(fact in one.facts for one in speaking):
            facts[fact] = None
    return Known(tuple(symbols.values()), tuple(facts))


@irdl_attr_definition
class SymbolsAttr(InternedData, Data[Known]):
    """The size symbols of a function and what is known of them."""

    name = "aten.symbols"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Known:
        symbols: list[Symbol] = []
        facts: list[Fact] = []

        def item() -> None:
            fact = _parse_fact(parser, {s.atom for s in symbols})
            if fact is not None:
                facts.append(fact)
                return
            pos = parser.pos
            symbol = _parse_symbol(parser)
            if any(s.atom is symbol.atom for s in symbols):
                parser.raise_error(f"`{symbol.atom!r}` is declared twice", pos)
            symbols.append(symbol)

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, item)
        return Known(tuple(symbols), tuple(facts))

    def print_parameter(self, printer: Printer) -> None:
        parts = [one.text() for one in (*self.data.symbols, *self.data.facts)]
        printer.print_string(f"<{', '.join(parts)}>")

    def ranges(self) -> Ranges:
        """Ranges, divisors and facts of the symbols; one object for equal attributes."""
        return known_ranges(self.data)

    def hints(self, default: int = 64) -> dict[Atom, int]:
        """Values at capture; `default` for symbols without a hint."""
        return {s.atom: default if s.hint is None else s.hint for s in self.data.symbols}


@dataclass(frozen=True)
class Words:
    """The schedule words of a loop; see docs/ir.md, `kernel`. The default is a sequential loop.

    run: "seq", "threads" or "grid"; lanes: consecutive iterations that are one vector (CPU) or one
    block axis (GPU); unroll: vectors in flight, each with an accumulator of its own; tail: "none",
    "mask", "scalar" or "overlap" (a full vector that ends with the loop); when: take `run` only if
    this is > 0; ahead: prefetch or pipeline distance.
    """

    run: str = "seq"
    lanes: int = 1
    unroll: int = 1
    tail: str = "none"
    when: Expr | None = None
    ahead: int = 0

    RUNS = ("seq", "threads", "grid")
    TAILS = ("none", "mask", "scalar", "overlap")

    def text(self) -> str:
        """`run threads, lanes 16, ...`: only what differs from the default."""
        parts = [] if self.run == "seq" else [f"run {self.run}"]
        parts += [] if self.lanes == 1 else [f"lanes {self.lanes}"]
        parts += [] if self.unroll == 1 else [f"unroll {self.unroll}"]
        if self.lanes != 1 or self.tail != "none":
            parts.append(f"tail {self.tail}")
        parts += [] if self.when is None else [f"when ({self.when})"]
        parts += [] if not self.ahead else [f"ahead {self.ahead}"]
        return ", ".join(parts)


def parse_words(parser: AttrParser) -> Words:
    """Parse `run threads, lanes 16, ...` (without angle brackets)."""
    fields: dict[str, Any] = {}
    while True:
        pos = parser.pos
        word = parser.parse_identifier(context_msg=" as schedule word")
        if word in fields:
            parser.raise_error(f"schedule word `{word}` given twice", pos)
        if word == "run":
            fields[word] = parser.parse_keyword_in(Words.RUNS)
        elif word == "tail":
            fields[word] = parser.parse_keyword_in(Words.TAILS)
        elif word in ("lanes", "unroll", "ahead"):
            fields[word] = parser.parse_integer(allow_boolean=False, allow_negative=False)
        elif word == "when":
            with parser.in_parens():
                fields[word] = parse_expr(parser)
        else:
            parser.raise_error(
                f"unknown schedule word `{word}`: run, lanes, unroll, tail, when or ahead", pos
            )
        if parser.parse_optional_punctuation(",") is None:
            return Words(**fields)


@irdl_attr_definition
class WordsAttr(InternedData, Data[Words]):
    """Schedule words of a loop."""

    name = "kernel.words"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Words:
        with parser.in_angle_brackets():
            if parser.parse_optional_keyword("default"):
                return Words()
            return parse_words(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data.text() or 'default'}>")


ConfigItems = tuple[tuple[str, str | int], ...]


@irdl_attr_definition
class ConfigAttr(InternedData, Data[ConfigItems]):
    """Target and launch configuration of a kernel, as ordered (key, string or int) pairs."""

    name = "kernel.config"

    @staticmethod
    def make(**items: str | int) -> ConfigAttr:
        """A configuration from keywords, in the order given."""
        return ConfigAttr.new(tuple(items.items()))

    def lookup(self, key: str, default: str | int | None = None) -> str | int | None:
        """The value of a key."""
        return dict(self.data).get(key, default)

    def with_(self, **items: str | int) -> ConfigAttr:
        """A copy with some keys replaced or added."""
        return ConfigAttr.new(tuple((dict(self.data) | items).items()))

    @classmethod
    def parse_items(cls, parser: AttrParser, delimiter: Any) -> ConfigItems:
        """`key = "text", key = 2` between delimiters."""

        def item() -> tuple[str, str | int]:
            key = parser.parse_identifier(context_msg=" as configuration key")
            parser.parse_punctuation("=")
            text = parser.parse_optional_str_literal()
            if text is None:
                word = parser.parse_optional_identifier()
                return key, parser.parse_integer() if word is None else word
            return key, text

        return tuple(parser.parse_comma_separated_list(delimiter, item))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ConfigItems:
        return cls.parse_items(parser, parser.Delimiter.ANGLE)

    def items_text(self) -> str:
        """`target = "cpp", threads = 2`."""
        return ", ".join(
            f'{k} = "{v}"' if isinstance(v, str) else f"{k} = {v}" for k, v in self.data
        )

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.items_text()}>")
