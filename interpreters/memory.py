"""Tensors and storage for the interpreters: allocation with exact strides, access at points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from minductor.dialects.expr import Atom, Expr
from minductor.dialects.types import TensorType
from minductor.interpreters.points import IndexValue, Points, torch_dtype


def allocate(type_: TensorType, symbols: Mapping[Atom, int]) -> Tensor:
    """A zeroed tensor with the type's sizes and strides, on the CPU."""
    sizes = [e.eval(symbols) for e in type_.sizes]
    strides = [e.eval(symbols) for e in type_.strides]
    out = torch.empty_strided(sizes, strides, dtype=torch_dtype(type_.dtype))
    flat_storage(out).zero_()
    return out


def flat_storage(tensor: Tensor) -> Tensor:
    """Everything from a tensor's first to its last addressed element, as one dimension."""
    if tensor.numel() == 0:
        return torch.empty(0, dtype=tensor.dtype)
    span = 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.as_strided((span,), (1,), tensor.storage_offset())


def view_of(source: Tensor, type_: TensorType, offset: int, symbols: Mapping[Atom, int]) -> Tensor:
    """A view of a tensor's storage; `offset` counts elements of the view's dtype."""
    dtype = torch_dtype(type_.dtype)
    sizes = [e.eval(symbols) for e in type_.sizes]
    strides = [e.eval(symbols) for e in type_.strides]
    if dtype == source.dtype:
        return source.as_strided(sizes, strides, source.storage_offset() + offset)
    base = flat_storage(source).view(dtype)
    return base.as_strided(sizes, strides, base.storage_offset() + offset)


def gather(points: Points, source: Tensor, index: Sequence[IndexValue]) -> Tensor:
    """source[index] at every point; dead points read nothing and give 0."""
    places = [points.flat_ones(i) for i in index]
    mask = points.mask
    if not places:
        return source.reshape([1] * points.rank)
    if source.numel() == 0:
        shape = torch.broadcast_shapes(*(p.shape for p in places))
        return torch.zeros(shape, dtype=source.dtype)
    if mask is not None:
        places = [torch.where(mask, p, torch.zeros_like(p)) for p in places]
    value = source[tuple(torch.broadcast_tensors(*places))]
    return value if mask is None else torch.where(mask, value, torch.zeros_like(value))


def scatter(
    points: Points,
    dest: Tensor,
    index: Sequence[IndexValue],
    value: Tensor,
    combine: str | None,
) -> None:
    """dest[index] = value (or combined) in iteration order; dead points write nothing."""
    places = [points.flat_ones(i) for i in index]
    flat = torch.zeros([1] * points.rank, dtype=torch.long)
    for place, stride in zip(places, dest.stride(), strict=True):
        flat = flat + place * stride
    parts = [flat, value] if points.mask is None else [flat, value, points.mask]
    flat, value, *mask = torch.broadcast_tensors(*parts)
    flat, value = flat.reshape(-1), value.reshape(-1)
    if mask:
        alive = mask[0].reshape(-1)
        flat, value = flat[alive], value[alive]
    if flat.numel():
        _combine(flat_storage(dest), flat, value, combine)


def _combine(storage: Tensor, flat: Tensor, value: Tensor, combine: str | None) -> None:
    if combine in (None, "last"):
        order = torch.zeros(storage.shape, dtype=torch.long)
        order.scatter_reduce_(0, flat, torch.arange(flat.numel()), "amax", include_self=False)
        hit = torch.unique(flat)
        storage[hit] = value[order[hit]]
    elif combine == "add":
        storage.index_put_((flat,), value, accumulate=True)
    else:
        for i, v in zip(flat.tolist(), value, strict=True):
            storage[i] = _STEP[combine](storage[i], v)


_STEP: dict[str | None, Callable[[Tensor, Tensor], Tensor]] = {
    "mul": torch.mul,
    "min": torch.minimum,
    "max": torch.maximum,
}


def eval_shape(exprs: Sequence[Expr], symbols: Mapping[Atom, int]) -> list[int]:
    """Sizes as ints."""
    return [e.eval(symbols) for e in exprs]
