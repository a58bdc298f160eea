"""A module of the `kernel` level as a callable, without the cache of compiled graphs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from minductor.codegen.wrapper.module import emit_wrapper
from minductor.dialects.kernel.ops import FuncOp as Kernel
from minductor.runtime import loader
from minductor.runtime.artifact import Artifact
from minductor.runtime.cache import Cache


def built(module: ModuleOp) -> Callable[[list[Any]], list[Any]]:
    """Emits, builds and loads a scheduled module. Raises EmitError or BuildError."""
    targets = {op.target for op in module.ops if isinstance(op, Kernel)}
    cpp = triton = None
    if "cpp" in targets:
        from minductor.codegen.cpp.module import emit_cpp

        cpp = emit_cpp(module)
    if "triton" in targets:
        from minductor.codegen.triton.module import emit_triton

        triton = emit_triton(module)
    target = "triton" if triton is not None else "cpp"
    artifact = Artifact("inference", target, emit_wrapper(module), cpp, triton)
    folder = Path(tempfile.mkdtemp(prefix="minductor-run-"))
    return loader.produce("module", artifact, Cache(folder))[1]
