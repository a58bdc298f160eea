"""Each pass has its lit file: `passes/<level>/<name>.py` has `test/lit/passes/<level>/<name>.mlir`.

Dashes stand for underscores. A pass file is one that defines a class with `name` set and a base
whose name ends in `Pass`; files that only help are free. A pass in `lowering/` may have a folder
of lit files instead: `lowering/aten_to_loop/...` has `test/lit/lowering/aten-to-loop/*.mlir`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from minductor.tools.source_tree import project_root, python_files, report


def defines_pass(text: str) -> bool:
    """Whether a file's text defines a named pass."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef) and _has_pass_base(node) and _has_name(node):
            return True
    return False


def expected(relative: Path) -> Iterator[Path]:
    """The places where the lit file, or the folder of lit files, of a pass may lie."""
    dashed = Path(*(part.replace("_", "-") for part in relative.with_suffix("").parts))
    here = Path("test/lit")
    if relative.name == "__init__.py":
        dashed = Path(*(part.replace("_", "-") for part in relative.parent.parts))
    yield here / dashed.with_suffix(".mlir")
    if relative.parts[0] == "lowering":
        yield here / dashed.parts[0] / Path(dashed.parts[1]).stem


def check(root: Path) -> list[str]:
    """A line for each pass file without its lit file."""
    problems: list[str] = []
    for layer in ("passes", "lowering"):
        for path in python_files(root / layer):
            relative = path.relative_to(root)
            if not defines_pass(path.read_text(encoding="utf-8")):
                continue
            places = list(expected(relative))
            if not any(_present(root / place) for place in places):
                problems.append(f"{relative}: has no lit file {places[0]}")
    return problems


def _present(place: Path) -> bool:
    return any(place.glob("*.mlir")) if place.is_dir() else place.is_file()


def _has_pass_base(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).endswith("Pass") for base in node.bases)


def _has_name(node: ast.ClassDef) -> bool:
    for statement in node.body:
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets = [statement.target]
        if any(isinstance(one, ast.Name) and one.id == "name" for one in targets):
            return True
    return False


if __name__ == "__main__":
    sys.exit(report("lit mirror", check(project_root())))
