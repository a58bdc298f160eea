"""Short forms of xDSL's errors, which print the whole module around the message."""

from __future__ import annotations

import re
from itertools import pairwise

from xdsl.utils.exceptions import DiagnosticException, ParseError

WIDTH = 200
"""Longest line of IR that an error quotes."""


def short_diagnostic(error: DiagnosticException, where: str = "") -> DiagnosticException:
    """The same kind of error with its message and the line of the op it is about.

    xDSL attaches the printed module as a note, the message drawn under the op's line.
    """
    lines = [str(error).rstrip()]
    if where:
        lines[0] = f"{where}: {lines[0]}"
    quoted = _quoted_op(getattr(error, "__notes__", []))
    if quoted:
        lines.append(f"  at: {quoted}")
    return DiagnosticException("\n".join(lines))


def short_parse_error(error: ParseError) -> str:
    """The position, the line and the message; long lines are cut around the column."""
    source = error.span.input
    if not re.sub(r"//.*", "", str(source.content)).strip():
        return f"{source.name}: holds no IR, where a module is expected"
    return "\n".join(_clip(line) for line in str(error).rstrip().split("\n"))


def short_os_error(error: OSError) -> str:
    """The file and what is wrong with it, without the number of the error."""
    name = f" {error.filename}" if error.filename else ""
    return f"cannot read or write{name}: {error.strerror or error}"


def _quoted_op(notes: list[str]) -> str:
    for note in notes:
        lines = note.split("\n")
        for above, below in pairwise(lines):
            if below.strip().startswith("^"):
                return _clip(above.strip())
    return ""


def _clip(line: str) -> str:
    return line if len(line) <= WIDTH else line[:WIDTH] + " ..."
