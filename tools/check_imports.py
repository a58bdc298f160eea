"""Imports run one way, and text tools stay light.

    dialects <- interpreters, passes, lowering <- codegen <- runtime <- minductor, tools

A folder imports itself and folders left of an arrow before it; `lowering` may also use `passes`
(base class, remarks). Nothing imports torch._inductor. The modules that `mini-opt` needs on text
import no torch, sympy or triton: read from their source at module level, and seen by importing
them all in a fresh process.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from minductor.tools.source_tree import (
    LAYERS,
    module_name,
    project_root,
    python_files,
    report,
)

MIDDLE = frozenset({"dialects", "interpreters", "passes", "lowering"})

ALLOWED: dict[str, frozenset[str]] = {
    "dialects": frozenset({"dialects"}),
    "interpreters": frozenset({"dialects", "interpreters"}),
    "passes": frozenset({"dialects", "passes"}),
    "lowering": frozenset({"dialects", "passes", "lowering"}),
    "codegen": MIDDLE | {"codegen"},
    "runtime": MIDDLE | {"codegen", "runtime"},
}
"""Folder -> the folders that it may import. Others (the package itself, tools) import anything."""

LIGHT = (
    "minductor.dialects",
    "minductor.passes",
    "minductor.codegen",
    "minductor.lowering.aten_to_loop",
    "minductor.lowering.loop_to_kernel",
    "minductor.tools.mini_opt",
)
"""Modules that import without the heavy packages."""

HEAVY = ("torch", "sympy", "triton")


@dataclass(frozen=True)
class Import:
    """An imported module; `top` when it happens as soon as the importing module loads."""

    module: str
    line: int
    top: bool


def imports_of(tree: ast.Module, module: str, is_package: bool) -> Iterator[Import]:
    """All imports of a file, and uses of `torch._inductor` as an attribute."""
    stack: list[tuple[ast.AST, bool]] = [(tree, True)]
    while stack:
        node, top = stack.pop()
        match node:
            case ast.Import():
                for alias in node.names:
                    yield Import(alias.name, node.lineno, top)
            case ast.ImportFrom():
                base = _absolute(node, module, is_package)
                for alias in node.names:
                    yield Import(f"{base}.{alias.name}", node.lineno, top)
            case ast.Attribute(value=ast.Name(id="torch"), attr="_inductor"):
                yield Import("torch._inductor", node.lineno, top)
            case _:
                pass
        deferred = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        typing_only = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        inner = top and not deferred and not typing_only
        stack.extend((child, inner) for child in ast.iter_child_nodes(node))


def check_text(text: str, module: str, is_package: bool = False) -> list[str]:
    """The forbidden imports of one file's text."""
    problems: list[str] = []
    layer = _layer(module)
    for one in imports_of(ast.parse(text), module, is_package):
        where = f"{module}:{one.line}"
        target = _layer(one.module)
        if _within(one.module, "torch._inductor"):
            problems.append(f"{where}: uses torch._inductor")
        elif layer in ALLOWED and target is not None and target not in ALLOWED[layer]:
            problems.append(f"{where}: {layer} may not import {target} ({one.module})")
        elif one.top and _is_light(module) and one.module.split(".")[0] in HEAVY:
            problems.append(f"{where}: imports {one.module} when it loads; it must stay light")
    return problems


def check_loading(modules: list[str]) -> list[str]:
    """Imports the modules in a fresh process and names the heavy packages that came along."""
    script = (
        "import sys, importlib\n"
        f"for name in {modules!r}:\n"
        "    importlib.import_module(name)\n"
        f"    for heavy in {HEAVY!r}:\n"
        "        if heavy in sys.modules:\n"
        "            sys.exit(f'{name}: importing it loads {heavy}')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    return [] if done.returncode == 0 else [done.stderr.strip()]


def check(root: Path) -> list[str]:
    """The problems of all Python files under `root`."""
    problems: list[str] = []
    light: list[str] = []
    for path in python_files(root):
        module = module_name(root, path)
        text = path.read_text(encoding="utf-8")
        problems += check_text(text, module, path.name == "__init__.py")
        if _is_light(module):
            light.append(module)
    return problems + check_loading(light)


def _absolute(node: ast.ImportFrom, module: str, is_package: bool) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    drop = node.level - int(is_package)
    base = parts[: len(parts) - drop] if drop else parts
    return ".".join([*base, *([node.module] if node.module else [])])


def _layer(module: str) -> str | None:
    """The code folder of a module; "minductor" for the package's own files, None for others."""
    parts = module.split(".")
    if parts[0] != "minductor":
        return None
    return parts[1] if len(parts) > 1 and parts[1] in LAYERS else "minductor"


def _within(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def _is_light(module: str) -> bool:
    return any(_within(module, one) for one in LIGHT)


if __name__ == "__main__":
    sys.exit(report("imports", check(project_root())))
