"""The meaning of reductions and scans over tensor axes, shared by `loop` and `kernel`."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def spread(values: Sequence[Tensor], axes: Sequence[int], extents: Sequence[int]) -> list[Tensor]:
    """Values of one shape that have every axis of the reduction at its full extent."""
    out: list[Tensor] = []
    for v in torch.broadcast_tensors(*values):
        shape = list(v.shape)
        for axis, extent in zip(axes, extents, strict=True):
            shape[axis] = extent
        out.append(v.expand(shape))
    return out


def reduce_axes(
    kind: str, values: Sequence[Tensor], axes: Sequence[int], extents: Sequence[int]
) -> list[Tensor]:
    """The results of a reduction; the axes stay, with size 1. Nothing to reduce: the identity."""
    args = spread(values, axes, extents)
    dims = list(axes)
    a = args[0]
    match kind:
        case "add":
            return [a.sum(dims, keepdim=True, dtype=a.dtype) if dims else a]
        case "mul" | "xor":
            return [_stepwise(kind, a, dims)]
        case "min" | "max":
            return [_extreme(kind, a, dims)]
        case "any":
            return [a.bool().sum(dims, keepdim=True).bool().to(a.dtype)]
        case "all":
            return [((~a.bool()).sum(dims, keepdim=True) == 0).to(a.dtype)]
        case "argmin" | "argmax":
            return _arg(kind[3:], a, args[1], dims)
        case "welford":
            return _welford(a, dims)
        case _:
            top = _extreme("max", a, dims)
            return [top, torch.exp(a - top).sum(dims, keepdim=True)]


def _stepwise(kind: str, a: Tensor, dims: Sequence[int]) -> Tensor:
    for dim in dims:
        if kind == "mul":
            a = a.prod(dim, keepdim=True, dtype=a.dtype)
            continue
        total = torch.zeros_like(a.narrow(dim, 0, 1)) if a.shape[dim] else a.sum(dim, keepdim=True)
        for i in range(a.shape[dim]):
            total = total ^ a.narrow(dim, i, 1)
        a = total
    return a


def _identity(kind: str, a: Tensor) -> float | int | bool:
    if a.dtype == torch.bool:
        return kind == "min"
    if a.dtype.is_floating_point:
        return float("inf") if kind == "min" else float("-inf")
    info = torch.iinfo(a.dtype)
    return info.max if kind == "min" else info.min


def _extreme(kind: str, a: Tensor, dims: Sequence[int]) -> Tensor:
    if any(a.shape[d] == 0 for d in dims):
        shape = [1 if i in dims else n for i, n in enumerate(a.shape)]
        return torch.full(shape, _identity(kind, a), dtype=a.dtype)
    if a.dtype == torch.bool:
        return _bool_extreme(kind, a, dims)
    return (torch.amin if kind == "min" else torch.amax)(a, list(dims), keepdim=True)


def _bool_extreme(kind: str, a: Tensor, dims: Sequence[int]) -> Tensor:
    for d in dims:
        a = a.all(d, keepdim=True) if kind == "min" else a.any(d, keepdim=True)
    return a


def _arg(kind: str, a: Tensor, flat: Tensor, dims: Sequence[int]) -> list[Tensor]:
    best = _extreme(kind, a, dims)
    hit = (a == best) | (a != a)
    far = torch.full_like(flat, torch.iinfo(flat.dtype).max)
    where = torch.where(hit, flat, far)
    if any(a.shape[d] == 0 for d in dims):
        return [best, torch.zeros(best.shape, dtype=flat.dtype)]
    return [best, torch.amin(where, list(dims), keepdim=True)]


def _welford(a: Tensor, dims: list[int]) -> list[Tensor]:
    count = 1
    for d in dims:
        count *= a.shape[d]
    mean = a.sum(dims, keepdim=True) / max(1, count)
    mean = mean + (mean - mean)  # a running mean does not survive an infinity
    m2 = ((a - mean) ** 2).sum(dims, keepdim=True)
    return [mean, m2, torch.full_like(mean, count)]


def scan_axis(kind: str, values: Sequence[Tensor], axis: int, extent: int) -> list[Tensor]:
    """Inclusive prefixes along an axis."""
    args = spread(values, [axis], [extent])
    a = args[0]
    match kind:
        case "add":
            return [a.cumsum(axis, dtype=a.dtype)]
        case "mul":
            return [a.cumprod(axis, dtype=a.dtype)]
        case "logaddexp":
            return [a.logcumsumexp(axis)]
        case "max" | "cummax":
            value, where = a.cummax(axis)
        case _:
            value, where = a.cummin(axis)
    if kind in ("max", "min"):
        return [value]
    return [value, args[1].gather(axis, where) if extent else args[1]]
