"""Other ways in which eager's ops may be meant: values that agree with one of them are no fault.

Eager's kernels for half types round inside (log_softmax of bf16 keeps its sum in bf16), so `Ideal`
computes each op in f64 and rounds once. A fused kernel rounds where it stores alone, so `Kept`
keeps f32 from op to op (`minductor.validate.kept`).

Both may stand inside a `Nudge`: it sees each op once, as the program has it, and by what it moves
that op's result the better one moves too.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

from minductor.validate.kept import Kept, nudged

__all__ = ["Ideal", "Kept"]


class Ideal(TorchDispatchMode):
    """Functional ops on floats run in f64; views, random ops and ops in place as they are."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """The op's results, of the dtypes that eager gives them."""
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        schema = func._schema
        if schema.is_mutable or any(r.alias_info is not None for r in schema.returns):
            return out
        if torch.Tag.nondeterministic_seeded in func.tags or not _narrow([args, kwargs]):
            return out
        with _disable_current_modes():
            wide = pytree.tree_map_only(Tensor, _widened, [args, kwargs])
            try:
                better = func(*wide[0], **wide[1])
            except (RuntimeError, TypeError):
                return out
            leaves, spec = pytree.tree_flatten(out)
            better = nudged(better, leaves, func(*args, **kwargs))
            pairs = zip(leaves, better, strict=True)
            return pytree.tree_unflatten([_pick(a, b) for a, b in pairs], spec)


def _narrow(tree: Any) -> bool:
    leaves = [t for t in pytree.tree_leaves(tree) if isinstance(t, Tensor)]
    return any(t.is_floating_point() and t.dtype != torch.float64 for t in leaves)


def _widened(t: Tensor) -> Tensor:
    return t.to(torch.float64) if t.is_floating_point() else t


def _pick(out: Any, better: Any) -> Any:
    """`better` in the dtype and layout of `out`, where it is a float too."""
    if not isinstance(out, Tensor) or not out.is_floating_point() or out.shape != better.shape:
        return out
    return torch.empty_like(out).copy_(better)
