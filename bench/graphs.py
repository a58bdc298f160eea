"""The `aten` modules of a function: what minductor compiles when it is called."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule
from xdsl.dialects.builtin import ModuleOp

from minductor.autograd import trace_and_compile
from minductor.eager import run_eagerly
from minductor.lowering.fx_to_aten import import_graph


def graphs_of(step: Callable[[Callable[..., Any]], Any]) -> list[tuple[str, ModuleOp]]:
    """(kind, module) of every graph that `step` compiles; it gets a decorator that compiles.

    The graphs run eagerly, so that a backward is traced from true values.
    """
    found: list[tuple[str, ModuleOp]] = []

    def compiler(graph: GraphModule, inputs: Sequence[Any], kind: str) -> Any:
        found.append((kind, import_graph(graph, kind, False).module))
        return run_eagerly(graph)

    def backend(gm: GraphModule, inputs: Sequence[Any]) -> Any:
        return trace_and_compile(gm, inputs, compiler)

    torch._dynamo.reset()
    step(lambda fn: torch.compile(fn, backend=backend, dynamic=False))
    return found
