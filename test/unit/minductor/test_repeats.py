"""A tensor joined with itself is not saved for a backward: what it is made of is."""

from typing import Any

import torch
from functorch.compile import aot_module, make_boxed_func
from torch import Tensor
from torch.fx import GraphModule

from minductor.partition import partition
from minductor.repeats import REPEAT, hide_repeats, show_repeats

aten: Any = torch.ops.aten


class Rotate(torch.nn.Module):
    def forward(self, x: Tensor, angle: Tensor) -> Tensor:
        return x * torch.cat([angle * 2.0] * 2, -1).cos()


def saved_sizes(backward: GraphModule) -> list[int]:
    return sorted(n.meta["val"].numel() for n in backward.graph.nodes if n.op == "placeholder")


def compiled_halves(x: Tensor, angle: Tensor) -> tuple[GraphModule, GraphModule, Tensor]:
    found: list[GraphModule] = []

    def keep(gm: GraphModule, _: Any) -> Any:
        found.append(gm)
        return make_boxed_func(gm.forward)

    call = aot_module(Rotate(), keep, keep, partition_fn=partition)
    out = call(x, angle)
    out.sum().backward()
    return found[0], found[1], out


def test_half_of_what_is_joined_is_saved() -> None:
    """The cosine is computed again from the angles; the cat stands in both graphs, as it was."""
    x, angle = torch.randn(8, 64, requires_grad=True), torch.randn(8, 32)
    forward, backward, out = compiled_halves(x, angle)
    torch.testing.assert_close(out, Rotate()(x, angle), rtol=0, atol=0)
    assert x.grad is not None
    torch.testing.assert_close(x.grad, torch.cat([angle * 2] * 2, -1).cos(), rtol=0, atol=0)
    assert saved_sizes(backward) == [8 * 32, 8 * 64]
    for half in (forward, backward):
        targets = [node.target for node in half.graph.nodes]
        assert targets.count(aten.cat.default) == 1
        assert aten.expand.default not in targets
        assert not any(REPEAT in node.meta for node in half.graph.nodes)


def graph_of(*parts: int, dim: int = 1, size: int = 3) -> torch.fx.Graph:
    """A cat of some of two tensors, with their values."""
    graph = torch.fx.Graph()
    given = [graph.placeholder(name) for name in "ab"]
    for one in given:
        one.meta["val"] = torch.randn(2, size)
    joined = graph.call_function(aten.cat.default, ([given[k] for k in parts], dim))
    joined.meta["val"] = torch.cat([given[k].meta["val"] for k in parts], dim)
    graph.output(joined)
    return graph


def test_there_and_back() -> None:
    for dim in (0, 1, -1, -2):
        graph = graph_of(0, 0, 0, dim=dim)
        before = GraphModule({}, graph)
        a, b = (n.meta["val"] for n in graph.nodes if n.op == "placeholder")
        want = before(a, b)
        assert show_repeats(graph) == 1
        torch.testing.assert_close(GraphModule({}, graph)(a, b), want, rtol=0, atol=0)
        hide_repeats(graph)
        graph.lint()
        assert [n.op for n in graph.nodes].count("call_function") == 1
        torch.testing.assert_close(GraphModule({}, graph)(a, b), want, rtol=0, atol=0)


def test_other_cats_stay() -> None:
    for graph in (graph_of(0, 1), graph_of(0), graph_of(0, 0, size=0)):
        assert show_repeats(graph) == 0


def test_a_chain_that_is_cut_stays() -> None:
    """Where the cut lies in it, what is saved is what the rest is made of."""
    graph = graph_of(0, 0)
    show_repeats(graph)
    clone = next(n for n in graph.nodes if n.target is aten.clone.default)
    clone.replace_input_with(clone.args[0], next(iter(graph.nodes)))
    hide_repeats(graph)
    assert aten.view.default in [n.target for n in graph.nodes]
