"""Results of a graph that show an input which the graph writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._functorch._aot_autograd.schemas import OutputType
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from minductor.traced import aot_metadata

COPY = torch.ops.aten.copy_.default
Boxed = Callable[[list[Any]], Any]


def is_view(node: Node) -> bool:
    """Whether a result shows an argument's memory."""
    schema = getattr(node.target, "_schema", None)
    return schema is not None and any(r.alias_info is not None for r in schema.returns)


def showing_inputs(graph: GraphModule) -> Callable[[Boxed], Boxed]:
    """What makes the results of a product of `graph` that alias a written input views of it.

    AOTAutograd makes such an alias anew from the result's sizes, strides and offset where its views
    have symbolic sizes; those of the value that is copied into the input at the end are not those
    of an input that starts elsewhere in its storage. Other results stay as they are.
    """
    places = _aliases(graph)
    if not places:
        return lambda product: product
    written = {n.args[1]: n.args[0] for n in graph.graph.nodes if n.target is COPY}
    views = Graph()
    known: dict[Any, Node] = {}
    for node in graph.graph.nodes:
        if node.op == "placeholder":
            known[node] = views.placeholder(str(node.target))
    returned: Any = graph.graph.output_node().args[0]
    results: list[Any] = list(returned)
    made = {p: v for p in places if (v := _view(results[p], written, known, views)) is not None}
    if not made:
        return lambda product: product
    views.output(tuple(made.values()))
    show = GraphModule({}, views)

    def around(product: Boxed) -> Boxed:
        def call(args: list[Any]) -> Any:
            shown = show(*args)
            found = list(product(args))
            for place, view in zip(made, shown, strict=True):
                found[place] = view
            return found

        call._boxed_call = True  # pyright: ignore[reportFunctionMemberAccess]
        return call

    return around


def _aliases(graph: GraphModule) -> list[int]:
    """Places of results that AOTAutograd makes anew from an input by their layout."""
    metadata = aot_metadata()
    described = graph.graph.output_node().meta.get("desc") or ()
    found: list[int] = []
    for place, source in enumerate(described):
        if metadata is None or type(source).__name__ != "PlainAOTOutput":
            continue
        if source.idx < len(metadata.output_info):
            info = metadata.output_info[source.idx]
            metas = getattr(info.view_meta_sequence, "sequence", ())
            if info.output_type is OutputType.alias_of_input and any(
                one.has_symbolic_inputs for one in metas
            ):
                found.append(place)
    return found


def _view(node: Any, written: dict[Any, Any], known: dict[Any, Node], views: Graph) -> Node | None:
    """`node` in the graph `views`, of the inputs; None where it is more than views and sizes."""
    source = written.get(node, node)
    if source in known:
        return known[source]
    sizes = isinstance(node.meta.get("val"), torch.SymInt | int)
    if node.op != "call_function" or not (sizes or is_view(node)):
        return None
    if any(_view(n, written, known, views) is None for n in node.all_input_nodes):
        return None
    args, kwargs = map_arg((node.args, node.kwargs), lambda n: known[written.get(n, n)])
    known[node] = views.call_function(node.target, args, kwargs)
    return known[node]
