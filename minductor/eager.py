"""Runs a graph of AOTAutograd as it is, op by op: what a compile falls back to.

The graph's own code does it, in the boxed convention: inputs are dropped as soon as their last use
is past. Mutations are `copy_` nodes of the graph, so they happen as they would in a product.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from torch._ops import OpOverload
from torch.fx import GraphModule
from torch.fx.graph import CodeGen

Boxed = Callable[[list[Any]], Any]


class _BoxedCode(CodeGen):
    """`forward(self, args)` that takes its inputs out of a list and empties the list."""

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, **kwargs: Any) -> str:
        """The first lines of the function."""
        names = [one.split(":")[0].split("=")[0].strip() for one in free_vars]
        taken = "".join(f"{name}, " for name in names if name != "self")
        head = f"def {self._func_name}(self, args_list){maybe_return_annotation}:"
        return f"{head}\n    {taken or '_unused '}= args_list\n    args_list.clear()"


def run_eagerly(gm: GraphModule) -> Boxed:
    """The boxed callable of a graph of AOTAutograd. Its inputs list is emptied."""
    twin = GraphModule(gm, _copied(gm))
    forward: Boxed = twin.forward

    def run(args: list[Any]) -> Any:
        return forward(args)

    run._boxed_call = True  # pyright: ignore[reportFunctionMemberAccess]
    return run


def _copied(gm: GraphModule) -> Any:
    """A copy of the graph with boxed code; the graph that AOTAutograd holds stays as it is."""
    import torch.fx as fx

    graph = fx.Graph()
    output = graph.graph_copy(gm.graph, {})
    graph.output(output)
    graph.set_codegen(_BoxedCode())
    return graph


def calls_of(gm: GraphModule) -> dict[str, int]:
    """How often the graph calls each op, by schema name, for the report."""
    names = Counter(
        str(node.target)
        for node in gm.graph.nodes
        if node.op == "call_function" and isinstance(node.target, OpOverload)
    )
    return dict(sorted(names.items()))
