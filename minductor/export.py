"""`export_aten`: the `aten` modules of a function's graphs as text, for `mini-opt` and for tests.

A `.pt2` file holds a forward graph only; this writes forward and backward, as AOTAutograd makes
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch._dynamo.exc import BackendCompilerFailed
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule

from minductor.autograd import trace_and_compile
from minductor.dialects.printing import module_text
from minductor.lowering.fx_to_aten import import_graph


class _Captured(Exception):
    """Raised when all graphs are there: the program itself is not run."""


def export_aten(
    f: Callable[..., Any],
    *inputs: Any,
    training: bool = True,
    path: str | Path | None = None,
    dynamic: bool = False,
    **keywords: Any,
) -> dict[str, str]:
    """The `aten` text of each graph of `f(*inputs, **keywords)`: kind -> text.

    Kinds are forward and backward with `training`, where an input or parameter asks for gradients,
    else inference. `path` is a folder, which gets `<kind>.mlir` each, or a file name ending in
    `.mlir`: `m.mlir` gives `m.forward.mlir` and `m.backward.mlir`. `f` is traced, not run. Raises
    torch's errors where `f` cannot be captured as one graph.
    """
    texts: dict[str, str] = {}

    def keep(graph: GraphModule, fake: Sequence[Any], kind: str) -> Any:
        with unset_fake_temporarily():
            texts[kind] = module_text(import_graph(graph, kind).module) + "\n"
        return graph

    def backend(gm: GraphModule, given: Sequence[Any]) -> Any:
        trace_and_compile(gm, given, keep)
        raise _Captured

    def subject(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    compiled = torch.compile(subject, backend=backend, fullgraph=True, dynamic=dynamic)
    try:
        with torch.set_grad_enabled(training):
            compiled(*inputs, **keywords)
    except BackendCompilerFailed as error:
        if not isinstance(error.inner_exception, _Captured):
            raise
    _write(texts, path)
    return texts


def _write(texts: dict[str, str], path: str | Path | None) -> None:
    if path is None:
        return
    where = Path(path)
    for kind, text in texts.items():
        if where.suffix == ".mlir":
            file = where.with_suffix(f".{kind}.mlir")
        else:
            where.mkdir(parents=True, exist_ok=True)
            file = where / f"{kind}.mlir"
        file.write_text(text)
