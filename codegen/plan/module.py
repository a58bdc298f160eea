"""Prints the plan of a module; `passes/loop/plan_text.py` says what a plan is."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from minductor.dialects.kernel.host import LaunchOp
from minductor.passes.loop.plan_text import (
    Row,
    graph_floor,
    graph_plan,
    kernel_row,
    symbols_of,
    tensor_bytes,
)

__all__ = ["emit_plan", "graph_floor", "symbols_of", "tensor_bytes"]


def _launched(graph: FuncOp, kernels: list[Row]) -> list[Row]:
    """The kernels that a graph launches."""
    names: set[str] = set()
    for op in graph.walk():
        if isinstance(op, LaunchOp):
            names |= {ref.string_value() for ref in (op.callee, op.orelse) if ref is not None}
    return [row for row in kernels if row.name in names]


def emit_plan(module: ModuleOp) -> str:
    """The plan of each graph of a module. Graphs are functions; kernels belong to `@call`."""
    graphs = [op for op in module.ops if isinstance(op, FuncOp)]
    kernels = [row for op in module.ops if (row := kernel_row(op)) is not None]
    if len(graphs) == 1:
        return graph_plan(graphs[0], kernels)
    parts = [graph_plan(graph, _launched(graph, kernels)) for graph in graphs]
    return "\n".join(parts) if parts else "plan: no graph in this module\n"
