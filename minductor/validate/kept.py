"""Half types as a fused kernel has them: f32 from op to op, rounded where it stores.

`Kept` runs a program so, which is one more value that the program may give; inside a `Nudge`, which
sees each op once, results move by what it moves eager's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils.weak import WeakTensorKeyDictionary


def nudged(better: Any, leaves: Sequence[Any], plain: Any) -> list[Any]:
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
            better = nudged(better, leaves, func(*args, **kwargs))
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
