"""The text that a graph is known by."""

from __future__ import annotations

import re

from xdsl.dialects.builtin import ModuleOp

from minductor.dialects.printing import module_text

_WHERE = re.compile(r'(origin = "[^" ]+) [^"]*"')


def key_text(module: ModuleOp) -> str:
    """A module's text without source lines: equal for equal graphs from whatever file."""
    return without_lines(module_text(module))


def without_lines(text: str) -> str:
    """A module's printed text without the source lines of its ops."""
    return _WHERE.sub(r'\1"', text)
