"""A document that a command writes, or with --check compares with what it would write."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path


def write_or_check(document: Path, text: str, command: str, argv: Sequence[str] | None) -> int:
    """Writes the text; the exit status. With `--check` in the arguments (the process's own for
    None) nothing is written, and 1 says that the document is another."""
    if "--check" in (sys.argv[1:] if argv is None else argv):
        if document.read_text() == text:
            return 0
        print(f"docs/{document.name} is out of date: run python -m minductor.tools.{command}")
        return 1
    document.write_text(text)
    return 0
