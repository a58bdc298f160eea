"""Large buffers that are kept for the next call, on huge pages.

A buffer above the allocator's mmap threshold is fresh memory at every call, and so is one at the
top of a heap that was trimmed: the system has to hand out and clear each page, which costs several
times what a bandwidth-bound kernel costs. Pages of 4 KiB also miss in the processor's tables where
huge ones do not. The pool keeps such blocks when the tensors on them die, up to a limit in bytes,
and hands them out again. Kept huge pages that lie idle for a second are the system's to take back,
which it does when memory runs short, not before. To say so at once would cost a call more than the
rest of it: it ends what other processors know of the pages.

The pool of a process is the launcher's, in C (launcher_pool.h): a kernel that streams through the
caches leaves nothing of Python's in them, so each step counts. `PythonPool` stands in for it where
there is no launcher, and yields each block when it comes back.

Blocks are private to the process, as other memory is: a forked child writes copies of its own.

Limit: MINDUCTOR_POOL_BYTES, else an eighth of the machine's memory; 0 keeps nothing. Storage from
the pool cannot be resized (`Tensor.resize_` to a larger size raises).
"""

from __future__ import annotations

import math
import mmap
import os
import threading
import warnings
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from minductor.runtime.launch import launcher

LEAST_BYTES = 2 << 20
"""A huge page. Smaller tensors come from torch's allocator."""
_ROUND = 2 << 20
_SLACK = 1.25
IDLE_SECONDS = 1.0
"""How long a block waits before the system may take it."""
_INT, _UINT, _FLOAT, _BFLOAT, _COMPLEX, _BOOL = 0, 1, 2, 4, 5, 6  # DLPack's kinds of numbers
_KINDS = {
    torch.float32: (_FLOAT, 32),
    torch.bfloat16: (_BFLOAT, 16),
    torch.float16: (_FLOAT, 16),
    torch.float64: (_FLOAT, 64),
    torch.int64: (_INT, 64),
    torch.int32: (_INT, 32),
    torch.int16: (_INT, 16),
    torch.int8: (_INT, 8),
    torch.uint8: (_UINT, 8),
    torch.bool: (_BOOL, 8),
    torch.complex64: (_COMPLEX, 64),
    torch.complex128: (_COMPLEX, 128),
}

_guards: Any = import_module("torch._C._dynamo.guards")
_C: Any = torch._C


def _default_limit() -> int:
    text = os.environ.get("MINDUCTOR_POOL_BYTES", "").strip()
    if text.isdigit():
        return int(text)
    if text:
        warnings.warn(
            f"MINDUCTOR_POOL_BYTES is a number of bytes, not {text!r}; the default limit holds",
            RuntimeWarning,
            stacklevel=2,
        )
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 8


@cache
def huge_pages() -> bool:
    """Whether the system hands out huge pages to those who ask."""
    try:
        text = Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text()
    except OSError:
        return False
    return "[never]" not in text and hasattr(mmap, "MADV_HUGEPAGE")


def _advise(block: mmap.mmap, name: str) -> None:
    """Tell the system what a block is for; page by page that would cost more than it brings."""
    if huge_pages():
        with suppress(OSError):
            block.madvise(getattr(mmap, name))


class Pool(Protocol):
    """Blocks of memory between uses. All methods may be called from any thread.

    limit: bytes that wait at most; least: bytes below which a tensor is torch's.
    """

    least: int

    @property
    def limit(self) -> int: ...

    def empty(self, sizes: Sequence[int], strides: Sequence[int], dtype: torch.dtype) -> Tensor:
        """An uninitialised CPU tensor of exactly these sizes and strides."""
        ...

    def free_bytes(self) -> int:
        """Bytes that wait for their next use."""
        ...

    def yielded_bytes(self) -> int:
        """Of these, the bytes that the system may take."""
        ...

    def release(self) -> None:
        """Give all memory that waits for its next use back to the system."""
        ...


class PythonPool:
    """A pool without the launcher."""

    def __init__(self, limit: int, least: int = LEAST_BYTES) -> None:
        self._limit = limit
        self.least = least
        self._free: list[mmap.mmap] = []  # oldest first
        self._returned: deque[mmap.mmap] = deque()
        self._refs: dict[int, weakref.ref[memoryview]] = {}  # by the block's id
        self._lock = threading.Lock()

    @property
    def limit(self) -> int:
        """Bytes that wait at most."""
        return self._limit

    def free_bytes(self) -> int:
        """Bytes that wait for their next use."""
        with self._lock:
            self._settle()
            return sum(map(len, self._free))

    def yielded_bytes(self) -> int:
        """Of these, the bytes that the system may take: all."""
        return self.free_bytes()

    def empty(self, sizes: Sequence[int], strides: Sequence[int], dtype: torch.dtype) -> Tensor:
        """An uninitialised CPU tensor of exactly these sizes and strides."""
        elements = 1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
        size = elements * dtype.itemsize
        if size < self.least or 0 in sizes:
            return _guards._empty_strided_cpu(sizes, strides, dtype)
        view = self._lend(self._take(math.ceil(size / _ROUND) * _ROUND))
        flat = torch.frombuffer(view, dtype=dtype, count=elements)
        return _guards._reinterpret_tensor(flat, sizes, strides, 0)

    def _take(self, size: int) -> mmap.mmap:
        """The smallest free block that fits without much waste, else a new one."""
        with self._lock:
            self._settle()
            fitting = [b for b in self._free if size <= len(b) <= size * _SLACK]
            if fitting:
                best = min(fitting, key=len)
                self._free = [b for b in self._free if b is not best]
                return best
        return self._map(size)

    def _map(self, size: int) -> mmap.mmap:
        try:
            block = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except OSError:  # no room: what waits for its next use makes some
            self.release()
            block = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        _advise(block, "MADV_HUGEPAGE")
        return block

    def release(self) -> None:
        """Give all memory that waits for its next use back to the system."""
        with self._lock:
            self._settle()
            self._free.clear()

    def _lend(self, block: mmap.mmap) -> memoryview:
        """A view whose death, with the last tensor on it, brings the block back."""

        def back(ref: weakref.ref[memoryview]) -> None:
            self._refs.pop(id(block), None)
            self._returned.append(block)
            # whoever holds the lock settles; waiting could be waiting for this very thread
            if self._lock.acquire(blocking=False):
                try:
                    self._settle()
                finally:
                    self._lock.release()

        view = memoryview(block)
        self._refs[id(block)] = weakref.ref(view, back)
        return view

    def _settle(self) -> None:
        while self._returned:
            block = self._returned.popleft()
            _advise(block, "MADV_FREE")
            self._free.append(block)
        kept = sum(map(len, self._free))
        while self._free and kept > self._limit:
            kept -= len(self._free.pop(0))


def make_pool(limit: int, least: int = LEAST_BYTES, idle: float = IDLE_SECONDS) -> Pool:
    """A pool of the launcher's, or else of Python's. idle: seconds, as `IDLE_SECONDS`."""
    module = launcher()
    if module is None:
        return PythonPool(limit, least)

    def other(sizes: Sequence[int], strides: Sequence[int], dtype: torch.dtype) -> Tensor:
        """Small tensors, and dtypes that DLPack does not have: views of bytes."""
        elements = 1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
        size = elements * dtype.itemsize
        if size < made.least or 0 in sizes or dtype in _KINDS:
            return _guards._empty_strided_cpu(sizes, strides, dtype)
        flat = made.empty((size,), (1,), torch.uint8).view(dtype)
        return _guards._reinterpret_tensor(flat, sizes, strides, 0)

    given = (limit, least, _ROUND, idle, huge_pages(), _C._from_dlpack, other, _KINDS)
    made: Pool = module.Pool(*given)
    return made


@cache
def pool() -> Pool:
    """The process's pool."""
    return make_pool(_default_limit())
