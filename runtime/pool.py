"""Large buffers that are kept for the next call, on huge pages.

A buffer above the allocator's mmap threshold is fresh memory at every call, and so is one at the
top of a heap that was trimmed: the system has to hand out and clear each page, which costs several
times what a bandwidth-bound kernel costs. Pages of 4 KiB also miss in the processor's tables where
huge ones do not. The pool keeps such blocks when the tensors on them die, up to a limit in bytes,
and hands them out again. Kept huge pages are the system's to take back, which it does when memory
runs short, not before.

Blocks are private to the process, as other memory is: a forked child writes copies of its own.

Limit: MINDUCTOR_POOL_BYTES, else an eighth of the machine's memory; 0 keeps nothing. Storage from
the pool cannot be resized (`Tensor.resize_` to a larger size raises).
"""

from __future__ import annotations

import math
import mmap
import os
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

LEAST_BYTES = 2 << 20
"""A huge page. Smaller tensors come from torch's allocator."""
_ROUND = 2 << 20
_SLACK = 1.25

_guards: Any = import_module("torch._C._dynamo.guards")


def _default_limit() -> int:
    text = os.environ.get("MINDUCTOR_POOL_BYTES", "").strip()
    if text.isdigit():
        return int(text)
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


class Pool:
    """Blocks of memory between uses. All methods may be called from any thread."""

    def __init__(self, limit: int, least: int = LEAST_BYTES) -> None:
        self.limit = limit
        self.least = least
        self._free: list[mmap.mmap] = []  # oldest first
        self._returned: deque[mmap.mmap] = deque()
        self._refs: dict[int, weakref.ref[memoryview]] = {}  # by the block's id
        self._lock = threading.Lock()

    def free_bytes(self) -> int:
        """Bytes that wait for their next use."""
        with self._lock:
            self._settle()
            return sum(map(len, self._free))

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
        while self._free and kept > self.limit:
            kept -= len(self._free.pop(0))


@cache
def pool() -> Pool:
    """The process's pool."""
    return Pool(_default_limit())
