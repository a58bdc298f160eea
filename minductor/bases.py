"""Arguments that share memory with each other: what AOTAutograd assumes of them and nothing guards.

Of arguments of one memory that a graph writes, AOTAutograd passes one in place of all: the tensor
that they are views of, or the whole storage. Dynamo guards the arguments, not what stands behind
them: `x[:16].view(4, 4)` and a `(4, 4)` tensor of its own pass the same guards. Such a call has
another meaning in the compiled graph (its views are told by absolute offsets), so it runs eagerly.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from minductor.errors import FallbackWarning
from minductor.runtime.checks import ArgumentError

ELSE = (
    "minductor: a graph with arguments that share memory was called with views of another tensor "
    "than it was compiled for; such calls run eagerly"
)


def with_the_same_bases(
    call: Callable[..., Any], eager: Callable[..., Any], inputs: Sequence[Any]
) -> Callable[..., Any]:
    """`call` for arguments like `inputs`, `eager` where other tensors stand behind them.

    Returns `call` itself when no two inputs share a storage.
    """
    places = _sharing(inputs)
    if not places:
        return call
    expected = [_behind(inputs[i]) for i in places]
    warned = False

    def run(*args: Any) -> Any:
        nonlocal warned
        if [_behind(args[i]) for i in places] == expected:
            try:
                return call(*args)
            except ArgumentError:  # nothing has run yet
                pass
        if not warned:
            warned = True
            warnings.warn_explicit(ELSE, FallbackWarning, "minductor", 0)
        return eager(*args)

    return run


def _sharing(inputs: Sequence[Any]) -> list[int]:
    """Numbers of the inputs whose storage another input has, too. A subclass may have none, and a
    fake tensor does not say what it is a view of."""
    by_storage: dict[int, list[int]] = {}
    for i, one in enumerate(inputs):
        if type(one) in (Tensor, torch.nn.Parameter) and one.layout is torch.strided:
            by_storage.setdefault(one.untyped_storage()._cdata, []).append(i)
    return sorted(i for several in by_storage.values() if len(several) > 1 for i in several)


def _behind(tensor: Tensor) -> tuple[bool, int, int]:
    """Whether it is a view, and rank and offset of what it is a view of: sizes are checked by the
    graph itself, which may have symbols for them."""
    base = tensor._base
    behind = tensor if base is None else base
    return base is not None, behind.dim(), int(behind.storage_offset())
