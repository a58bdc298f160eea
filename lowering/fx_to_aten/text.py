"""The text that a graph is known by."""

from __future__ import annotations

import re
from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

_WHERE = re.compile(r'(origin = "[^" ]+) [^"]*"')


def key_text(module: ModuleOp) -> str:
    """A module's text without source lines: equal for equal graphs from whatever file."""
    stream = StringIO()
    Printer(stream=stream).print_op(module)
    return without_lines(stream.getvalue())


def without_lines(text: str) -> str:
    """A module's printed text without the source lines of its ops."""
    return _WHERE.sub(r'\1"', text)
