"""Input tensors of random programs. The source of this file's functions stands in reproducers."""

from __future__ import annotations

import torch

SPECIALS = (0.0, -0.0, float("nan"), float("inf"), float("-inf"), 1.0, -1.0, 0.5, 1e30, -1e-30)


def numbers(dtype: torch.dtype, count: int, values: str, seed: int) -> torch.Tensor:
    """`count` numbers of a dtype.

    values: "small" (around 1), "whole" (small whole numbers), "special" (nan, inf, zeros, extremes
    of integers among small ones), "index" (0 .. 2).
    """
    g = torch.Generator().manual_seed(seed)
    if dtype == torch.bool:
        return torch.randint(0, 2, (count,), generator=g).bool()
    if values == "index":
        return torch.randint(0, 3, (count,), generator=g).to(dtype)
    if not dtype.is_floating_point:
        out = torch.randint(-9, 10, (count,), generator=g).to(dtype)
        if values == "special":
            info = torch.iinfo(dtype)
            ends = torch.tensor([info.min, info.max, 0, info.max - 1], dtype=dtype)
            chosen = torch.randint(0, 8, (count,), generator=g)
            out = torch.where(chosen < 4, ends[chosen.clamp(max=3)], out)
        return out
    if values == "whole":
        return torch.randint(-4, 5, (count,), generator=g).to(dtype)
    out = torch.randn(count, generator=g, dtype=torch.float64).to(dtype)
    if values == "special":
        ends = torch.tensor(SPECIALS, dtype=torch.float64).to(dtype)
        chosen = torch.randint(0, 2 * len(SPECIALS), (count,), generator=g)
        out = torch.where(chosen < len(SPECIALS), ends[chosen.clamp(max=len(SPECIALS) - 1)], out)
    return out


def tensor(
    dtype: torch.dtype, shape: tuple[int, ...], layout: str, values: str, seed: int
) -> torch.Tensor:
    """An input.

    layout: "dense", "reversed" (dimensions in memory the other way round), "strided" (every second
    element), "offset" (starts at element 3), "expanded" (stride 0 in the first dimension), or
    "channels" (channels_last, rank 4).
    """
    rank = len(shape)
    if layout == "expanded" and rank:
        return tensor(dtype, (1, *shape[1:]), "dense", values, seed).expand(shape)
    count = 1
    for n in shape:
        count *= n
    if layout == "reversed" and rank > 1:
        flat = numbers(dtype, count, values, seed)
        return flat.reshape(tuple(reversed(shape))).permute(*range(rank - 1, -1, -1))
    if layout == "strided" and rank:
        flat = numbers(dtype, 2 * count, values, seed)
        return flat.reshape(*shape[:-1], 2 * shape[-1])[..., ::2]
    if layout == "offset":
        return numbers(dtype, count + 3, values, seed)[3:].reshape(shape)
    dense = numbers(dtype, count, values, seed).reshape(shape)
    if layout == "channels" and rank == 4:
        return dense.contiguous(memory_format=torch.channels_last)
    return dense
