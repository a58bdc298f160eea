"""A process that compiles Triton kernels into Triton's own cache; run as a script, or imported.

As a script it reads a job a line from stdin and answers each with a line on stdout: empty, or what
went wrong. It ends with its stdin. It imports Triton and nothing else of size, and needs no device.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

READY = "ready"


def import_file(path: Path, name: str) -> ModuleType:
    """The Triton source at `path` as the module `name`, a part of each kernel's cache key."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load the Triton kernels {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # Triton looks functions up by their module
    spec.loader.exec_module(module)
    return module


def compile_function(function: Any, job: Mapping[str, Any], target: Any) -> Any:
    """Compile by the declared signature alone.

    `job`: `signature` (Triton type by parameter), `constexprs`, `divisible` (parameters that are
    multiples of `alignment`), `options`.
    """
    import triton
    from triton.compiler import ASTSource

    names = list(function.arg_names)
    signature = {n: job["signature"].get(n, "constexpr") for n in names}
    promise = [["tt.divisibility", job["alignment"]]]
    attrs = {(names.index(n),): promise for n in job["divisible"]}
    source = ASTSource(
        fn=function, signature=signature, constexprs=dict(job["constexprs"]), attrs=attrs
    )
    return triton.compile(source, target=target, options=dict(job["options"]))


def work(job: Mapping[str, Any], modules: dict[str, ModuleType]) -> None:
    """Compile one kernel for `job["target"]`: backend, architecture, threads of a warp."""
    from triton.backends.compiler import GPUTarget

    name = job["module"]
    if name not in modules:
        modules[name] = import_file(Path(job["path"]), name)
    compile_function(getattr(modules[name], job["function"]), job, GPUTarget(*job["target"]))


def main() -> None:
    """Serve jobs until there are no more."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a compiler prints is no answer
    import triton  # pyright: ignore[reportUnusedImport] # noqa: F401

    modules: dict[str, ModuleType] = {}
    print(READY, file=answers, flush=True)
    for line in sys.stdin:
        try:
            work(json.loads(line), modules)
            said = ""
        except Exception as error:
            said = f"{type(error).__name__}: {error}".replace("\n", " ")
        print(said, file=answers, flush=True)


if __name__ == "__main__":
    main()
