"""Size caps: a file has at most 500 lines, a function 60, a class 300. There are no exemptions."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from minductor.tools.source_tree import project_root, python_files, report

FILE_LINES = 500
FUNCTION_LINES = 60
CLASS_LINES = 300


def check_text(text: str, name: str) -> list[str]:
    """A line for each thing in a file's text that is over its cap."""
    problems: list[str] = []
    lines = text.count("\n") + int(not text.endswith("\n") and bool(text))
    if lines > FILE_LINES:
        problems.append(f"{name}: {lines} lines, the cap for a file is {FILE_LINES}")
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                kind, cap = "function", FUNCTION_LINES
            case ast.ClassDef():
                kind, cap = "class", CLASS_LINES
            case _:
                continue
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        if length > cap:
            problems.append(
                f"{name}:{node.lineno}: {kind} {node.name} has {length} lines, the cap is {cap}"
            )
    return problems


def check(root: Path) -> list[str]:
    """The problems of all Python files under `root`, tests included."""
    return [
        problem
        for path in python_files(root)
        for problem in check_text(path.read_text(encoding="utf-8"), str(path.relative_to(root)))
    ]


if __name__ == "__main__":
    sys.exit(report("sizes", check(project_root())))
