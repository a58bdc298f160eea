"""Merging of common subexpressions on FX graphs: what goes, what must stay."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx

from minductor.joint_cse import merge_common


def traced(f: Callable[..., Any], *args: Tensor) -> GraphModule:
    return make_fx(f, tracing_mode="fake")(*args)


def merged(f: Callable[..., Any], *args: Tensor) -> tuple[int, GraphModule]:
    gm = traced(f, *args)
    count = merge_common(gm.graph)
    gm.graph.lint()
    gm.recompile()
    return count, gm


X = torch.linspace(-1, 1, 6).reshape(2, 3)


def test_equal_calls_become_one() -> None:
    f = lambda x: x.sin() + x.sin().exp() + x.sin().exp()  # noqa: E731
    count, gm = merged(f, X)
    assert count == 3
    torch.testing.assert_close(gm(X), f(X))


def test_numbers_of_other_types_and_signs_differ() -> None:
    count, _ = merged(lambda x: (x.add(1), x.add(1.0), x.add(True)), X)
    assert count == 0
    count, _ = merged(lambda x: (x.mul(0.0) + 1, x.mul(-0.0) + 2), X)
    assert count == 0


def test_random_ops_stay() -> None:
    count, _ = merged(lambda x: torch.rand_like(x) + torch.rand_like(x), X)
    assert count == 0


def test_fresh_memory_stays() -> None:
    count, _ = merged(lambda x: (torch.empty_like(x), torch.empty_like(x)), X)
    assert count == 0


def test_outputs_keep_their_own_memory() -> None:
    count, gm = merged(lambda x: (x.clone(), x.clone(), x.clone()[0]), X)
    assert count == 0
    a, b, _ = gm(X)
    assert a.data_ptr() != b.data_ptr()


def test_one_output_may_share_with_the_inside() -> None:
    count, gm = merged(lambda x: (x.clone() * 2, x.clone()), X)
    assert count == 1
    assert torch.equal(gm(X)[1], X)


def test_recomputed_copies_stay() -> None:
    gm = traced(lambda x: x.sin() + x.sin(), X)
    calls = [n for n in gm.graph.nodes if "sin" in str(n.target)]
    calls[1].meta["recompute"] = True
    assert merge_common(gm.graph) == 0
