"""Which ops AOTAutograd takes apart before the graph reaches us.

The core table of ATen is the base. Taken out of it is what the levels below do better whole;
added are norms, softmax and activations, whose decompositions compute half types in f32 as eager's
kernels do. The backwards of these are in the core table already.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch._C import DispatchKey
from torch._decomp import (
    _core_aten_decompositions_post_autograd,
    core_aten_decompositions,
    get_decompositions,
)
from torch._ops import OpOverload

from minductor.lowering.own_decompositions import dropout_of_all, of_floats, own_decompositions

Table = dict[OpOverload, Callable[..., Any]]

KEPT_WHOLE = (
    "_adaptive_avg_pool2d",
    "_scaled_dot_product_flash_attention_for_cpu",  # core turns attention into matmul and softmax
    "_upsample_nearest_exact1d",  # this and below: would read through computed index tensors
    "_upsample_nearest_exact2d",
    "_upsample_nearest_exact3d",
    "baddbmm",
    "hardshrink",
    "embedding_dense_backward",  # would become index_put(accumulate)
    "max_unpool2d",  # would lose channels_last
    "max_unpool3d",
    "reflection_pad1d",
    "reflection_pad1d_backward",
    "reflection_pad2d",
    "reflection_pad2d_backward",
    "reflection_pad3d_backward",
    "replication_pad1d",
    "replication_pad2d",
    "select_scatter",  # would become arange, eq, where
    "softshrink",  # would give -0.0 where eager gives 0.0
    "std",  # this and below: would round the variance before the root
    "std_mean",
    "take",
    "tril",
    "triu",
    "unfold_backward",  # would become a write for each element of a window
    "upsample_bicubic2d",
    "upsample_bilinear2d",
    "upsample_linear1d",
    "upsample_nearest1d",
    "upsample_nearest2d",
    "upsample_nearest3d",
    "upsample_trilinear3d",
)
"""Ops that stay as they are, all overloads."""

TAKEN_APART = (
    "_batch_norm_with_update_functional",
    "_log_softmax",
    "_native_batch_norm_legit",
    "_native_batch_norm_legit_functional",
    "_native_batch_norm_legit_no_training",
    "_softmax",
    "elu",
    "gelu",
    "hardtanh",
    "leaky_relu",
    "native_batch_norm",
    "native_dropout",
    "native_group_norm",
    "native_layer_norm",
)
"""Ops that are decomposed beside those of the core table."""

BEFORE_AUTOGRAD = (
    *(f"upsample_nearest{n}d" for n in (1, 2, 3)),
    *(f"_upsample_nearest_exact{n}d" for n in (1, 2, 3)),
    *("upsample_linear1d", "upsample_bilinear2d", "upsample_bicubic2d", "upsample_trilinear3d"),
    *("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "_upsample_lanczos2d_aa"),
    *("hardshrink", "softshrink"),
)
"""Ops whose Python decomposition runs before autograd, where no table reaches: their backward would
be that of reads through computed index tensors."""

FLOATING = ("_log_softmax", "_softmax", "lerp", "logaddexp", "logaddexp2")
"""Ops that eager has for floating and complex numbers only; their decompositions do not ask."""

RANDOM = ("native_dropout",)
"""Decomposed ops that would draw other values than eager's kernels under the same seed."""


def _packets(names: tuple[str, ...]) -> list[Any]:
    return [getattr(torch.ops.aten, name) for name in names if hasattr(torch.ops.aten, name)]


@contextmanager
def whole_before_autograd(symbolic: bool = False) -> Generator[None]:
    """Inside, the ops of `BEFORE_AUTOGRAD` reach autograd as they are, with their own backward.

    Not the resampling ones where sizes are `symbolic`: torch's own forms of those fix the sizes.
    To be entered where torch traces for us, which it does under its own lock.
    """
    kept: list[tuple[Any, dict[Any, Any]]] = []
    names = tuple(n for n in BEFORE_AUTOGRAD if not (symbolic and "upsample" in n))
    for packet in _packets(names):
        for name in packet.overloads():
            op: Any = getattr(packet, name)
            kept.append((op, dict(op.py_kernels)))
            for key in (DispatchKey.Autograd, DispatchKey.CompositeImplicitAutograd):
                given = op.py_kernels.pop(key, None)
                if given is not None and name == "vec":
                    op.py_kernels[key] = _sized(packet.default, given)
            op._dispatch_cache.clear()
    try:
        yield
    finally:
        for op, kernels in kept:
            op.py_kernels.clear()
            op.py_kernels.update(kernels)
            op._dispatch_cache.clear()


def _sized(op: Any, given: Callable[..., Any]) -> Callable[..., Any]:
    """The overload `vec` of a resampling op by its default one, sizes from factors.

    Of symbolic sizes PyTorch's kernel of `vec` would make numbers. Nearest reads keep them; the
    gradients of the others have no symbolic form, so these are taken apart as `given` does it.
    """

    def vec(x: Any, output_size: Any, *rest: Any) -> Any:
        *aligned, factors = rest
        sizes = output_size
        if sizes is None:
            sizes = [_scaled(n, s) for n, s in zip(x.shape[2:], factors, strict=True)]
        symbolic = not all(isinstance(n, int) for n in (*x.shape, *sizes))
        if symbolic and aligned:
            return given(x, output_size, *rest)
        return op(x, sizes, *aligned, *(factors or [None] * len(sizes)))

    return vec


def _scaled(size: Any, factor: float) -> Any:
    return size * int(factor) if factor == int(factor) else torch.sym_int(size * factor)


@cache
def decompositions(eager_random: bool = False) -> Table:
    """The table, made once. `eager_random` keeps whole the ops that draw random numbers.

    Of the core table the part for what comes after autograd: composite ops, the rest of it, are
    taken apart by the dispatcher, and looking for them in all of torch takes 0.2 s a process.
    """
    table = _without_kept(_core_aten_decompositions_post_autograd())
    names = tuple(n for n in TAKEN_APART if not (eager_random and n in RANDOM))
    more: Any = get_decompositions(_packets(names))
    table.update(more)
    table.update(own_decompositions())
    _refuse_integers(table)
    dropout: Any = torch.ops.aten.native_dropout.default
    if dropout in table:
        table[dropout] = dropout_of_all(table[dropout])
    return table


@cache
def composite_decompositions() -> Table:
    """`decompositions` and torch's composite ops, which programs of `torch.export` keep."""
    return {**_without_kept(core_aten_decompositions()), **decompositions()}


def _refuse_integers(table: Table) -> None:
    """`FLOATING` ops of integers stay whole, and raise what eager raises."""
    for packet in _packets(FLOATING):
        for name in packet.overloads():
            op: Any = getattr(packet, name)
            if op in table:
                table[op] = of_floats(table[op])


def _without_kept(core: Any) -> Table:
    whole = {str(packet) for packet in _packets(KEPT_WHOLE)}
    return {
        op: function
        for op, function in core.items()
        if str(getattr(op, "overloadpacket", op)) not in whole
    }
