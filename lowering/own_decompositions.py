"""Decompositions of ours, for ops whose treatment by torch is wrong somewhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch._ops import OpOverload

SHRINKS: tuple[Any, ...] = (
    torch.ops.aten.hardshrink_backward,
    torch.ops.aten.softshrink_backward,
)


def index_fill(x: torch.Tensor, dim: int, index: torch.Tensor, value: Any) -> torch.Tensor:
    """`x` with `value` at places of a dimension; torch's own decomposition may leave a write into
    its result in the graph, which AOTAutograd refuses."""
    if not isinstance(value, torch.Tensor):
        value = torch.scalar_tensor(value, dtype=x.dtype, device=x.device)
    whole = x.reshape(1) if x.dim() == 0 else x
    places: list[torch.Tensor | None] = [None] * (dim % whole.dim())
    filled = torch.ops.aten.index_put(whole, [*places, index.reshape(-1)], value.to(x.dtype))
    return filled.reshape(x.shape) if x.dim() == 0 else filled


def shrink_backward(grad: torch.Tensor, x: torch.Tensor, lambd: float) -> torch.Tensor:
    """The gradient where `x` is farther than lambd from 0; 0 at NaN, as of eager's vectors. Torch
    has no form of it for symbolic sizes."""
    return torch.where(x.abs() > lambd, grad, 0.0)


def dropout_of_all(function: Callable[..., Any]) -> Callable[..., Any]:
    """`native_dropout` by `function`, but of p = 1, where torch's gives zeros: eager multiplies by
    them, so that what was infinite or NaN becomes NaN, and zeros keep signs."""

    @wraps(function)
    def native_dropout(x: torch.Tensor, p: float, train: bool | None) -> Any:
        if p == 1 and train is not False:
            return x * 0.0, torch.zeros_like(x, dtype=torch.bool)
        return function(x, p, train)

    return native_dropout


def of_floats(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decomposition that leaves alone an op whose first tensor holds integers."""

    @wraps(function)
    def taken_apart(x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        whole = not (x.is_floating_point() or x.is_complex())
        return NotImplemented if whole else function(x, *args, **kwargs)

    return taken_apart


def _embedding_bag(op: OpOverload) -> Callable[..., Any]:
    """In f32 for bf16 tables on a CPU: fake tensors promise another size of what the bf16 kernel
    saves for its backward. Rounded once, as the kernel does."""

    def embedding_bag(weight: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if weight.dtype is not torch.bfloat16 or weight.device.type != "cpu":
            return NotImplemented
        wide = [_wide(a) for a in args]
        out, *rest = op(weight.float(), *wide, **{k: _wide(v) for k, v in kwargs.items()})
        return out.to(weight.dtype), *rest

    return embedding_bag


def _wide(value: Any) -> Any:
    half = isinstance(value, torch.Tensor) and value.dtype is torch.bfloat16
    return value.float() if half else value


def partial_decompositions() -> dict[OpOverload, Callable[..., Any]]:
    """By overload: those that leave most cases of their op alone."""
    aten: Any = torch.ops.aten
    bags: list[OpOverload] = [aten._embedding_bag.default, aten._embedding_bag_forward_only.default]
    return {op: _embedding_bag(op) for op in bags}


def own_decompositions() -> dict[OpOverload, Callable[..., Any]]:
    """By overload."""
    fill: Any = torch.ops.aten.index_fill
    whole = {fill.int_Scalar: index_fill, fill.int_Tensor: index_fill}
    shrunk = {op.default: shrink_backward for op in SHRINKS}
    return {**whole, **shrunk, **partial_decompositions()}
