"""Attention stays the library's in a trace on CUDA, gradients included.

    F.scaled_dot_product_attention(q, k, v)                         // bf16, on CUDA
      -->
    aten._scaled_dot_product_flash_attention(q, k, v, scale = ..)   // not bmm, softmax, bmm in f32

PyTorch chooses a kernel for the call where it takes the composite op apart. In a trace it may take
the form that is written out in f32, which then is the graph's, where eager takes a fused kernel
(seen in a vision transformer: bf16, 197 queries, no mask; and with T5's positions as a mask, bf16,
[1, heads, 512, 512]). Calls without a mask whose number of queries or keys is no multiple of 64 are
made flash attention here, the fused kernel that takes any number. Calls with a mask that is added
and needs no gradient are made cuDNN's attention, which PyTorch prefers where it has it, on devices
from compute capability 9.0 on; a mask is laid out for it row by row, where PyTorch would take the
form in f32. All others are left to PyTorch's choice.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch._C import DispatchKey

from minductor.passes.aten._attend import WIDEST_CUDNN

COMPOSITE = DispatchKey.CompositeImplicitAutograd
MULTIPLE = 64
"""Of how many queries and keys PyTorch's choice is left alone."""
WIDEST = 192
"""Columns of a head up to which the kernel has gradients on all devices."""


def has_flash() -> bool:
    """Whether torch has flash attention for this CUDA device, and the user did not forbid it."""
    if not torch.cuda.is_available() or torch.version.hip is not None:
        return False
    built = getattr(torch.backends.cuda, "is_flash_attention_available", lambda: False)
    wanted = torch.backends.cuda.flash_sdp_enabled()
    return wanted and torch.cuda.get_device_capability() >= (8, 0) and bool(built())


def has_cudnn() -> bool:
    """Whether PyTorch prefers cuDNN's attention on this CUDA device, and it was not forbidden."""
    if not torch.cuda.is_available() or torch.version.hip is not None:
        return False
    wanted = torch.backends.cuda.cudnn_sdp_enabled() and torch.backends.cudnn.is_available()
    return wanted and torch.cuda.get_device_capability() >= (9, 0)


@contextmanager
def attention_whole() -> Generator[None]:
    """Inside, attention that `takes` agrees to reaches autograd as one op of the library."""
    op: Any = torch.ops.aten.scaled_dot_product_attention.default
    kept = dict(op.py_kernels)
    op.py_kernels[COMPOSITE] = _attention
    op._dispatch_cache.clear()
    try:
        yield
    finally:
        op.py_kernels.clear()
        op.py_kernels.update(kept)
        op._dispatch_cache.clear()


def _attention(query: Any, key: Any, value: Any, *rest: Any, **keywords: Any) -> Any:
    op: Any = torch.ops.aten.scaled_dot_product_attention.default
    mask = rest[0] if rest else keywords.get("attn_mask")
    named = (v for k, v in keywords.items() if k not in ("scale", "attn_mask"))
    scale = keywords.get("scale")
    if all(_is_off(x) for x in (*rest[1:], *named)):
        if mask is None and takes(query, key, value):
            return flash(query, key, value, scale)
        if mask is not None and takes_mask(query, key, value, mask):
            return masked(query, key, value, mask, scale)
    return op._op_dk(COMPOSITE, query, key, value, *rest, **keywords)


def _is_off(value: Any) -> bool:
    """No dropout, not causal, no grouped heads."""
    return value is None or (isinstance(value, bool | int | float) and not value)


def flash(query: Any, key: Any, value: Any, scale: float | None) -> Any:
    """The library's op for the device."""
    if query.device.type == "cpu":
        found: Any = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
    else:
        found = torch.ops.aten._scaled_dot_product_flash_attention.default
    return found(query, key, value, scale=scale)[0]


def masked(query: Any, key: Any, value: Any, mask: Any, scale: float | None) -> Any:
    """The library's op for the device, with a mask that is added to the scores."""
    if query.device.type == "cpu":
        own: Any = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
        return own(query, key, value, attn_mask=mask, scale=scale)[0]
    found: Any = torch.ops.aten._scaled_dot_product_cudnn_attention.default
    rows = mask if mask.stride(-1) == 1 else mask.contiguous()
    wide = rows.expand(*query.shape[:3], key.shape[2])
    grads = torch.is_grad_enabled() and any(x.requires_grad for x in (query, key, value))
    return found(query, key, value, wide, grads, scale=scale)[0]


def takes(query: Any, key: Any, value: Any) -> bool:
    """Whether the kernel on CUDA takes the call, and PyTorch might take it apart in a trace."""
    if query.device.type != "cuda" or torch.are_deterministic_algorithms_enabled():
        return False
    return has_flash() and suits(query, key, value)


def takes_mask(query: Any, key: Any, value: Any, mask: Any) -> bool:
    """Whether cuDNN's kernel takes the call, and PyTorch might take it apart in a trace."""
    if query.device.type != "cuda" or torch.are_deterministic_algorithms_enabled():
        return False
    return has_cudnn() and suits_mask(query, key, value, mask)


def suits(query: Any, key: Any, value: Any) -> bool:
    """Heads of one half type and of equal, known sizes, laid out row by row, of an odd number."""
    if not _alike(query, key, value, WIDEST):
        return False
    return bool(query.shape[2] % MULTIPLE or key.shape[2] % MULTIPLE)


def suits_mask(query: Any, key: Any, value: Any, mask: Any) -> bool:
    """Such heads of an even number, and a mask of their type that is constant."""
    if not isinstance(mask, Tensor) or mask.dim() != 4 or mask.requires_grad:
        return False
    if not _alike(query, key, value, WIDEST_CUDNN):
        return False
    if query.shape[2] % MULTIPLE or key.shape[2] % MULTIPLE:
        return False
    if mask.dtype is not query.dtype or mask.device != query.device:
        return False
    wide = (*query.shape[:3], key.shape[2])
    fits = all(a in (1, b) for a, b in zip(mask.shape[:2], wide[:2], strict=True))
    return fits and mask.shape[2:] == wide[2:]


def _alike(query: Any, key: Any, value: Any, widest: int) -> bool:
    """Heads of one half type and of equal, known sizes, laid out row by row."""
    given = (query, key, value)
    if not all(isinstance(x, Tensor) and x.dim() == 4 and not x.is_nested for x in given):
        return False
    if query.dtype not in (torch.bfloat16, torch.float16):
        return False
    if any(x.dtype is not query.dtype or x.device != query.device for x in given):
        return False
    if not all(type(n) is int and n > 0 for x in given for n in x.shape):
        return False
    if key.shape != value.shape or query.shape[:2] != key.shape[:2]:
        return False
    width = query.shape[-1]
    if width != key.shape[-1] or width % 8 or width > widest:
        return False
    return all(x.stride(-1) == 1 for x in given)
