"""Entries of the OpInfo database and the samples of them that are run."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.testing._internal.opinfo.core import UnaryUfuncInfo
from torch.utils import _pytree as pytree

from minductor.tools.conformance.results import Item
from minductor.tools.conformance.settings import FLOATING, Settings

TORCH: dict[str, torch.dtype] = {
    "f32": torch.float32,
    "f64": torch.float64,
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "i64": torch.int64,
    "i32": torch.int32,
    "u8": torch.uint8,
    "bool": torch.bool,
    "c64": torch.complex64,
}
STRIDED = "n"
"""Ends the name of a unit whose tensors were made not contiguous here."""


@cache
def entries() -> dict[str, Any]:
    """All entries by full name (`name` or `name.variant`), in the database's order."""
    from torch.testing._internal.common_methods_invocations import op_db

    found: dict[str, Any] = {}
    for op in op_db:
        name = str(op.full_name)
        while name in found:
            name += "'"
        found[name] = op
    return found


def items(settings: Settings) -> list[Item]:
    """What the settings ask for, entry by entry."""
    names = [n for n in entries() if re.search(settings.only, n)]
    k, n = settings.shard
    return [one for name in names[k - 1 :: n] for one in _of_entry(name, settings)]


def _of_entry(name: str, settings: Settings) -> Iterator[Item]:
    op = entries()[name]
    for dtype in settings.dtypes:
        if TORCH[dtype] not in op.supported_dtypes(settings.device):
            continue
        for mode in settings.modes:
            if mode == "grad" and not _differentiable(op, dtype, settings.device):
                continue
            if mode == "inplace" and op.get_inplace() is None:
                continue
            yield Item(name, dtype, mode)


def _differentiable(op: Any, dtype: str, device: str) -> bool:
    return (
        dtype in FLOATING
        and bool(op.supports_autograd)
        and TORCH[dtype] in op.supported_backward_dtypes(device)
    )


@dataclass(frozen=True)
class Unit:
    """One sample. `process` picks what a gradient is taken of from the outputs; `numpy` is the
    entry's own reference, a function of an array, or None."""

    id: str
    fn: Callable[..., Any]
    input: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    process: Callable[[Any], Any]
    numpy: Callable[..., Any] | None = None

    @property
    def tree(self) -> Any:
        """All arguments."""
        return (self.input, self.args, self.kwargs)


def seed_everything() -> None:
    """One state of all random generators."""
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)


def units(op: Any, item: Item, device: str, count: int) -> list[Unit]:
    """`count` samples spread over the entry's list: what is empty, 0-d or not contiguous is among
    them where it exists; and the last of them once more, made not contiguous (`3n`)."""
    seed_everything()
    grad = item.mode == "grad"
    samples = list(op.sample_inputs(device, TORCH[item.dtype], requires_grad=grad))
    fn = op.get_inplace() if item.mode == "inplace" else op.op
    if item.mode == "inplace":
        samples = [s for s in samples if not s.broadcasts_input]
    chosen = spread([_kind(s) for s in samples], count)
    numpy = op.ref if isinstance(op, UnaryUfuncInfo) else None
    found = [_unit(str(k), fn, samples[k], numpy) for k in chosen]
    strided = [k for k in chosen if _kind(samples[k]) == "plain" and item.mode != "inplace"]
    if strided:
        sample = samples[strided[-1]].noncontiguous()
        found.append(_unit(f"{strided[-1]}{STRIDED}", fn, sample, numpy))
    return found


def _unit(name: str, fn: Callable[..., Any], sample: Any, numpy: Callable[..., Any] | None) -> Unit:
    return Unit(
        name,
        fn,
        sample.input,
        tuple(sample.args),
        dict(sample.kwargs),
        sample.output_process_fn_grad,
        numpy,
    )


def spread(kinds: Sequence[str], count: int) -> list[int]:
    """Places of `count` samples: the first of each kind, then others at even distances.

    >>> spread(["plain", "plain", "empty", "plain", "plain", "plain"], 4)
    [0, 2, 3, 5]
    """
    total = len(kinds)
    first = {kind: place for place, kind in reversed(list(enumerate(kinds)))}
    chosen = set(sorted(first.values())[:count])
    steps = max(count - 1, 1)
    even = [round(i * (total - 1) / steps) for i in range(steps, -1, -1)] if total else []
    for place in [*even, *range(total)]:
        if len(chosen) >= min(count, total):
            break
        chosen.add(place)
    return sorted(chosen)


def _kind(sample: Any) -> str:
    tensors = [
        t
        for t in pytree.tree_leaves((sample.input, sample.args, sample.kwargs))
        if isinstance(t, Tensor)
    ]
    if any(t.layout is not torch.strided for t in tensors):
        return "sparse"
    if any(t.numel() == 0 for t in tensors):
        return "empty"
    if any(t.dim() == 0 for t in tensors):
        return "0-d"
    if not all(t.is_contiguous() for t in tensors):
        return "strided"
    return "plain"
