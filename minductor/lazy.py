"""Tensors that say less by their memory than by their marks; kernels read memory.

A lazily negated or conjugated tensor and a zero tensor hold other values than their memory, or
none; a tensor of a batch is many. Dynamo's guards tell lazy ones apart among the inputs of a graph;
gradients come from outside of it and are looked at here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.fx import GraphModule

from minductor.eager import Boxed, run_eagerly
from minductor.runtime.checks import Unreadable
from minductor.traced import is_tangent

_C: Any = torch._C
_functorch = _C._functorch


def written_out(tensor: Tensor) -> Tensor:
    """The tensor, or one whose memory holds its values."""
    if tensor._is_zerotensor():
        return torch.zeros(tensor.shape, dtype=tensor.dtype, device=tensor.device)
    if tensor.is_neg() or tensor.is_conj():
        return tensor.resolve_conj().resolve_neg()
    return tensor


def is_batched(tensor: Tensor) -> bool:
    """Whether it is one name for a batch (`is_grads_batched`, vmap), without memory to read."""
    return bool(_functorch.is_legacy_batchedtensor(tensor) or _functorch.is_batchedtensor(tensor))


def readable_backward(product: Boxed, graph: GraphModule) -> Boxed:
    """The product of a backward graph: marked gradients are written out for it, and for a batch of
    gradients the graph runs eagerly, op by op."""
    inputs = [n for n in graph.graph.nodes if n.op == "placeholder"]
    tangents = [i for i, n in enumerate(inputs) if is_tangent(n)]

    def run(args: list[Any]) -> Any:
        for i in tangents:
            if isinstance(one := args[i], Tensor):
                if is_batched(one):
                    return run_eagerly(graph)(args)
                args[i] = written_out(one)
        return product(args)

    run._boxed_call = True  # pyright: ignore[reportFunctionMemberAccess]
    return run


def or_eager(call: Callable[..., Any], eager: Callable[..., Any]) -> Callable[..., Any]:
    """`call`; `eager` for forward-mode differentiation, which is none of a compiled graph's, and
    for tensors without memory."""

    def either(*args: Any) -> Any:
        if forward_ad._current_level < 0:
            try:
                return call(*args)
            except Unreadable:  # nothing has run yet
                pass
        return eager(*args)

    return either
