"""Parsing and printing of index expressions in IR text.

Grammar (binary operators associate to the left; `floordiv` and `mod` bind as `*`):

    sum  ::= ['-'] prod (('+' | '-') prod)*
    prod ::= unit (('*' | 'floordiv' | 'mod') unit)*
    unit ::= INT | VAR | 'min(' sum ',' sum ')' | 'max(' .. ')' | '(' sum ')' | '-' unit | '%name'

`%name` occurs only in op syntax, where it stands for an index operand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr

_VAR = re.compile(r"([dsut])(\d+)$")
OperandHook = Callable[[], Expr | None]


def parse_expr(parser: AttrParser, operand: OperandHook | None = None) -> Expr:
    """Parse one expression; `operand` tries to parse `%name` and gives its tN."""
    if parser.parse_optional_punctuation("-"):
        total = -_product(parser, operand)
    else:
        total = _product(parser, operand)
    while True:
        if parser.parse_optional_punctuation("+"):
            total = total + _product(parser, operand)
        elif parser.parse_optional_punctuation("-"):
            total = total - _product(parser, operand)
        else:
            return total


def _product(parser: AttrParser, operand: OperandHook | None) -> Expr:
    out = _unit(parser, operand)
    while True:
        if parser.parse_optional_punctuation("*"):
            out = out * _unit(parser, operand)
            continue
        word = parser.parse_optional_keyword_in(("floordiv", "mod"))
        if word is None:
            return out
        pos = parser.pos
        try:
            out = ex.FUNCS[word](out, _unit(parser, operand))
        except ZeroDivisionError:
            parser.raise_error(f"`{word}` by zero in an index expression", pos)


def _unit(parser: AttrParser, operand: OperandHook | None) -> Expr:
    if parser.parse_optional_punctuation("-"):
        return -_unit(parser, operand)
    if parser.parse_optional_punctuation("("):
        inner = parse_expr(parser, operand)
        parser.parse_punctuation(")")
        return inner
    number = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
    if number is not None:
        return ex.const(number)
    if operand is not None:
        found = operand()
        if found is not None:
            return found
    pos = parser.pos
    word = parser.parse_identifier(context_msg=" of an index expression (dN, sN, uN, min, max)")
    if word in ("min", "max"):
        with parser.in_parens():
            a = parse_expr(parser, operand)
            parser.parse_punctuation(",")
            b = parse_expr(parser, operand)
        return ex.FUNCS[word](a, b)
    match = _VAR.match(word)
    if match is None:
        parser.raise_error(
            f"`{word}` is not an index variable; expected dN, sN, uN, min(..) or max(..)", pos
        )
    return Expr.of_atom(ex.var_atom(match[1], int(match[2])))


def print_expr(printer: Printer, e: Expr, operands: Sequence[SSAValue] = ()) -> None:
    """Print an expression; tN prints as the SSA name of `operands[N]` when there is one."""
    text = str(e)
    if not operands:
        printer.print_string(text)
        return
    for piece in re.split(r"\b(t\d+)\b", text):
        if re.fullmatch(r"t\d+", piece) and int(piece[1:]) < len(operands):
            printer.print_operand(operands[int(piece[1:])])
        else:
            printer.print_string(piece)


class IndexParser:
    """Parses index lists `[e, ..]` of an op and collects the SSA operands that occur in them."""

    def __init__(self, parser: Parser):
        self.parser = parser
        self.operands: list[SSAValue] = []

    def hook(self) -> Expr | None:
        """Parse `%name` if it is next; its number is its first occurrence in the op."""
        unresolved = self.parser.parse_optional_unresolved_operand()
        if unresolved is None:
            return None
        value = resolve_known(self.parser, unresolved.operand_name, unresolved.index)
        if value not in self.operands:
            self.operands.append(value)
        return ex.operand(self.operands.index(value))

    def expr(self) -> Expr:
        """One expression."""
        return parse_expr(self.parser, self.hook)

    def index_list(self) -> list[Expr]:
        """`[e, e, ..]`."""
        return self.parser.parse_comma_separated_list(self.parser.Delimiter.SQUARE, self.expr)


def resolve_known(parser: Parser, name: str, index: int) -> SSAValue:
    """The value of an SSA name that is already defined; an error that names it otherwise."""
    values = parser.ssa_values.get(name)
    if values is None or index >= len(values):
        parser.raise_error(f"`%{name}` is not defined before this use; define it above this op")
    return values[index]
