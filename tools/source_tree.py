"""The project's own Python files, for the checks in `tools/check_*.py`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

LAYERS = (
    "dialects",
    "interpreters",
    "passes",
    "lowering",
    "codegen",
    "runtime",
    "tools",
)
"""The code folders at the root, in the order in which they may import each other."""

SKIPPED = frozenset({"build", "dist", "venv", "__pycache__"})


def python_files(root: Path) -> Iterator[Path]:
    """All `*.py` under `root`, sorted; links, hidden and built folders are left out."""
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if _wanted(Path(folder) / name))
        for name in sorted(files):
            if name.endswith(".py"):
                yield Path(folder) / name


def module_name(root: Path, path: Path) -> str:
    """The name that `path` is imported by: `minductor.` before the code folders."""
    parts = list(path.relative_to(root).with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    if parts and parts[0] in LAYERS:
        parts.insert(0, "minductor")
    return ".".join(parts)


def project_root() -> Path:
    """The checkout that holds this file."""
    return Path(__file__).resolve().parent.parent


def report(name: str, problems: list[str]) -> int:
    """Prints the problems and a closing line; returns the exit status."""
    for problem in problems:
        print(problem)
    print(f"{name}: {f'{len(problems)} problems' if problems else 'ok'}")
    return int(bool(problems))


def _wanted(folder: Path) -> bool:
    name = folder.name
    hidden = name.startswith(".") or name.endswith(".egg-info")
    return not (hidden or name in SKIPPED or folder.is_symlink())
