"""Other ways in which eager's ops may be meant: values that agree with one of them are no fault.

Eager's kernels for half types round inside (log_softmax of bf16 keeps its sum in bf16), so `Ideal`
computes each op in f64 and rounds once. A fused kernel rounds where it stores alone, so `Kept`
keeps f32 from op to op.

Both may stand inside a `Nudge`: it sees each op once, as the program has it, and by what it moves
that op's result the better one moves too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils.weak import WeakTensorKeyDictionary


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
            better = _nudged(better, leaves, func(*args, **kwargs))
            pairs = zip(leaves, better, strict=True)
            return pytree.tree_unflatten([_pick(a, b) for a, b in pairs], spec)


def _nudged(better: Any, leaves: Sequence[Any], plain: Any) -> list[Any]:
    """`better`, moved by as much as `leaves`, an op's results, lie off those without a nudge."""
    out: list[Any] = []
    for one, moved, still in zip(
        pytree.tree_leaves(better), leaves, pytree.tree_leaves(plain), strict=True
    ):
        floats = isinstance(one, Tensor) and one.is_floating_point()
        if floats and one.shape == moved.shape == still.shape:
            step = moved.to(torch.float64) - still.to(torch.float64)
            one = torch.where(step.isfinite(), one.to(torch.float64) + step, one).to(one.dtype)
        out.append(one)
    return out


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


class Kept(TorchDispatchMode):
    """Eager that keeps f32 from op to op where eager rounds to a half type, as a fused kernel does.

    Results still have eager's dtypes; what an op is given is the unrounded value, where one is
    known. A cast to a half type rounds. A write forgets all that is known.
    """

    def __init__(self) -> None:
        super().__init__()
        self._wide = WeakTensorKeyDictionary()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """The op's results; what they would be unrounded is kept beside them."""
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        if func._schema.is_mutable or torch.Tag.nondeterministic_seeded in func.tags:
            self._wide.clear()
            return out
        if not _halves([args, kwargs, out]):
            return out
        with _disable_current_modes():
            given = pytree.tree_map_only(Tensor, self._unrounded, [args, kwargs])
            try:
                better = func(*given[0], **given[1])
            except (RuntimeError, TypeError):
                return out
            leaves, spec = pytree.tree_flatten(out)
            better = _nudged(better, leaves, func(*args, **kwargs))
            fresh = all(r.alias_info is None for r in func._schema.returns)
            pairs = zip(leaves, better, strict=True)
            return pytree.tree_unflatten([self._keep(a, b, fresh) for a, b in pairs], spec)

    def _unrounded(self, t: Tensor) -> Tensor:
        if t.dtype not in _HALF:
            return t
        known = self._wide.get(t)
        return t.to(torch.float32) if known is None else known

    def _keep(self, out: Any, better: Any, fresh: bool) -> Any:
        if not isinstance(out, Tensor) or out.shape != better.shape:
            return out
        if out.dtype not in _HALF:
            return better if out.dtype == better.dtype else out
        if fresh:
            out.copy_(better)
        self._wide[out] = better
        return out


_HALF = frozenset({torch.bfloat16, torch.float16})


def _halves(tree: Any) -> bool:
    return any(isinstance(t, Tensor) and t.dtype in _HALF for t in pytree.tree_leaves(tree))
