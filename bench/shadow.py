"""Tensors whose memory always lies in the cache: a long range of addresses, few bytes behind it.

A file of `SHARE` bytes is mapped over and over, so that a kernel walks its whole range of
addresses and finds every line in the cache. What it takes then is its instructions, and nothing
of memory but page tables: a bound that no better use of bandwidth gets below. The maps are of
small pages; where a kernel runs faster over its own memory on huge pages, those were what it
waited for.
"""

import ctypes
import mmap
import os
import weakref
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, UntypedStorage

SHARE = 1 << 16
"""Bytes behind each tensor: several tensors fit the second-level cache of a core together."""

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
_LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_FIXED = 0x10
_BOTH = mmap.PROT_READ | mmap.PROT_WRITE
_FAILED = ctypes.c_void_p(-1).value


def shadow(tensor: Tensor) -> Tensor:
    """A tensor of the same layout over few bytes, which start as those of `tensor`.

    Small tensors, and those that may hold indices (i32, i64), are returned as they are: values that
    repeat must not send a kernel elsewhere. Raises OSError where memory cannot be mapped.
    """
    return _over(_storage_for(tensor), tensor)


def shadows(args: Sequence[Any]) -> list[Any]:
    """Arguments of a kernel with their tensors replaced, each storage once."""
    made: dict[int, UntypedStorage | None] = {}
    out: list[Any] = []
    for one in args:
        if isinstance(one, Tensor):
            key = one.untyped_storage().data_ptr()
            if key not in made:
                made[key] = _storage_for(one)
            one = _over(made[key], one)
        out.append(one)
    return out


def _over(storage: UntypedStorage | None, tensor: Tensor) -> Tensor:
    """The tensor's layout over a storage; the tensor itself without one."""
    if storage is None:
        return tensor
    out = torch.empty(0, dtype=tensor.dtype)
    return out.set_(storage, tensor.storage_offset(), tensor.size(), tensor.stride())


def _storage_for(tensor: Tensor) -> UntypedStorage | None:
    """Few bytes as long as the tensor's storage; None where that one has to stay."""
    given = tensor.untyped_storage()
    size = given.nbytes()
    if size <= SHARE or tensor.dtype in (torch.int32, torch.int64):
        return None
    count = -(-size // SHARE)
    start = _range(count)
    ctypes.memmove(start, given.data_ptr(), SHARE)
    whole = torch.frombuffer((ctypes.c_char * size).from_address(start), dtype=torch.uint8)
    storage = whole.untyped_storage()
    weakref.finalize(storage, _LIBC.munmap, start, count * SHARE)
    return storage


def _range(count: int) -> int:
    """The address of `count` maps of one file of `SHARE` bytes, side by side."""
    file = os.memfd_create("shadow")
    try:
        os.ftruncate(file, SHARE)
        start = _map(None, count * SHARE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1)
        for i in range(count):
            _map(start + i * SHARE, SHARE, mmap.MAP_SHARED | _FIXED, file)
    finally:
        os.close(file)
    return start


def _map(address: int | None, size: int, flags: int, file: int) -> int:
    found = _LIBC.mmap(address, size, _BOTH, flags, file, 0)
    if found is None or found == _FAILED:
        raise OSError(ctypes.get_errno(), "no room for the maps of a tensor")
    return int(found)
