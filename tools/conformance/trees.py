"""Trees of arguments and results: faithful copies, leaves, higher precision."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

HIGHER = {
    torch.float32: torch.float64,
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.complex64: torch.complex128,
}
"""The dtype in which a reference is computed."""


def leaves(tree: Any) -> list[Any]:
    """All leaves of nested containers, `None` included."""
    return pytree.tree_leaves(tree)


def tensors(tree: Any) -> list[Tensor]:
    """The tensors among the leaves."""
    return [leaf for leaf in leaves(tree) if isinstance(leaf, Tensor)]


def copied(tree: Any) -> Any:
    """A copy with sizes, strides, offsets and shared storage kept; leaves that ask for gradients
    are fresh ones that do."""
    storages: dict[int, Any] = {}
    made: dict[int, Tensor] = {}

    def one(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        if id(leaf) not in made:
            made[id(leaf)] = _copied(leaf, storages)
        return made[id(leaf)]

    return pytree.tree_map(one, tree)


def _copied(t: Tensor, storages: dict[int, Any]) -> Tensor:
    source = t.detach()
    if type(t) is not Tensor and not isinstance(t, torch.nn.Parameter):
        return source.clone().requires_grad_(t.requires_grad)
    if t.layout is not torch.strided or t.is_conj() or t.is_neg() or t.is_quantized:
        return source.clone().requires_grad_(t.requires_grad)
    storage = t.untyped_storage()
    if storage.data_ptr() not in storages:
        storages[storage.data_ptr()] = storage.clone()
    twin = torch.empty(0, dtype=t.dtype, device=t.device)
    twin.set_(storages[storage.data_ptr()], t.storage_offset(), t.size(), t.stride())
    return twin.requires_grad_(t.requires_grad)


def raised(tree: Any, dtype: torch.dtype) -> Any:
    """A copy in which tensors and dtype arguments of `dtype` have the higher dtype."""
    higher = HIGHER[dtype]

    def one(leaf: Any) -> Any:
        if leaf is dtype:
            return higher
        if isinstance(leaf, Tensor) and leaf.dtype is dtype:
            return leaf.detach().to(higher).requires_grad_(leaf.requires_grad)
        return leaf

    return pytree.tree_map(one, copied(tree))


def detached(tree: Any) -> Any:
    """The tree with its tensors out of autograd's sight."""
    return pytree.tree_map(lambda x: x.detach() if isinstance(x, Tensor) else x, tree)


def gradients(outputs: Any, inputs: Any) -> list[Tensor | None]:
    """Gradients of all inputs that ask for one, of the outputs against fixed random tangents."""
    outs = [t for t in tensors(outputs) if t.requires_grad]
    ins = [t for t in tensors(inputs) if t.requires_grad]
    if not outs or not ins:
        return []
    return list(torch.autograd.grad(outs, ins, tangents(outs), allow_unused=True))


def tangents(outs: list[Tensor]) -> list[Tensor]:
    """Seeded normal values of the outputs' shapes, the same in each precision."""
    generator = torch.Generator().manual_seed(7)
    found: list[Tensor] = []
    for out in outs:
        real = torch.randn(out.shape, generator=generator, dtype=torch.float64)
        if out.dtype.is_complex:
            imaginary = torch.randn(out.shape, generator=generator, dtype=torch.float64)
            real = torch.complex(real, imaginary)
        # halves of 1/8: every dtype holds them exactly, so references see the same tangent
        found.append(_eighths(real).to(device=out.device, dtype=out.dtype))
    return found


def _eighths(t: Tensor) -> Tensor:
    if t.is_complex():
        return torch.complex(_eighths(t.real), _eighths(t.imag))
    return (t * 8).round() / 8
