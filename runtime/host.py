"""What a wrapper's text may name: `host`, bound by the loader, makes the callables of one graph.

    relu_0 = host.kernel("cpp_fused_relu_0", pointers=2, sizes=0)
    aten_mm = host.extern_into("aten.mm.default", tensors=2)
    check_inputs = host.inputs(("arg0_1", torch.float32, "cpu", (8, "s0"), ("s0", 1)))

Everything here runs when a product is loaded; a call of the product runs what these return.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from minductor.interpreters import control
from minductor.runtime import checks, externs, random
from minductor.runtime.artifact import LIBRARY, Artifact
from minductor.runtime.checks import Layout, Number
from minductor.runtime.launch import bind_kernel
from minductor.runtime.own import OWN
from minductor.runtime.pool import pool
from minductor.runtime.variants import CHOICES, Choice, Variants

_guards: Any = import_module("torch._C._dynamo.guards")

LayoutTuple = tuple[str, torch.dtype, str, tuple[Number, ...], tuple[Number, ...]]


def _current_device() -> int:
    return torch._C._cuda_getDevice()


def _empty_other(
    sizes: Sequence[int], strides: Sequence[int], dtype: torch.dtype, device: str
) -> Tensor:
    return torch.empty_strided(sizes, strides, dtype=dtype, device=device)


def _view(base: Tensor, sizes: Sequence[int], strides: Sequence[int], offset: int) -> Tensor:
    """The storage of `base` from its first element plus `offset` elements, in another layout."""
    return _guards._reinterpret_tensor(base, sizes, strides, offset)


def _input_view(base: Tensor, sizes: Sequence[int], strides: Sequence[int], offset: int) -> Tensor:
    """As `_view`, and a view of `base` to autograd: one counts the writes into the other."""
    return base.as_strided(sizes, strides, base.storage_offset() + offset)


def _view_as(
    base: Tensor, sizes: Sequence[int], strides: Sequence[int], offset: int, dtype: torch.dtype
) -> Tensor:
    """As `_view`, `offset` in elements of `dtype`, which may differ from that of `base`."""
    start = int(base.storage_offset()) * base.element_size()
    if start % dtype.itemsize:
        raise ValueError(f"a view as {dtype} would start inside an element")
    out = torch.empty(0, dtype=dtype, device=base.device)
    return out.set_(base.untyped_storage(), start // dtype.itemsize + offset, sizes, strides)


class Host:
    """The callables of one loaded artifact."""

    def __init__(self, artifact: Artifact, folder: Path, kernels: Any = None) -> None:
        self.artifact = artifact
        self._kernels = kernels
        self.folder = folder
        self._device: int | None = None

    empty_cpu = staticmethod(_guards._empty_strided_cpu)
    empty_cuda = staticmethod(_guards._empty_strided_cuda)
    empty = staticmethod(_empty_other)
    view = staticmethod(_view)
    input_view = staticmethod(_input_view)
    view_as = staticmethod(_view_as)
    seed = staticmethod(random.draw_seed)
    aligned = staticmethod(checks.aligned)

    def on(self, device: str) -> Callable[[], AbstractContextManager[None]]:
        """Bind the graph to a numbered CUDA device; the result makes it current for a call."""
        index = torch.device(device).index
        self._device = index
        here = nullcontext()

        def enter() -> AbstractContextManager[None]:
            return here if _current_device() == index else torch.cuda.device(index)

        return enter

    @property
    def empty_pooled(self) -> Callable[..., Tensor]:
        """As `empty_cpu`, in memory that is kept for the next call."""
        return pool().empty

    @cached_property
    def library(self) -> ctypes.CDLL:
        """The loaded library of C++ kernels. Raises ImportError that names the file."""
        path = self.folder / LIBRARY
        try:
            return ctypes.CDLL(str(path))
        except OSError as error:
            raise ImportError(f"the compiled kernels {path} cannot be loaded: {error}") from error

    @cached_property
    def _triton(self) -> Any:
        if self._kernels is not None:
            return self._kernels
        from minductor.runtime.triton_loader import TritonModule

        with torch.cuda.device(-1 if self._device is None else self._device):
            return TritonModule(self.artifact, self.folder)

    def kernel(self, name: str, pointers: int, sizes: int = 0) -> Callable[..., None]:
        """A C++ kernel: call it with tensors, then ints. IndexError on an index out of range."""
        return bind_kernel(self.library, name, pointers, sizes)

    def triton(self, name: str) -> Callable[..., None]:
        """A Triton kernel: call it with tensors, then ints."""
        with torch.cuda.device(-1 if self._device is None else self._device):
            return self._triton.bind(name)

    def variants(
        self, name: str, candidates: Sequence[Callable[..., None]], updates: Sequence[int] = ()
    ) -> Callable[..., None]:
        """One of several kernels that compute the same, chosen by measuring at the first call.

        `updates`: positions of the buffers that they read and write. The choice is kept beside the
        kernels, whose folder is named by their content, for this kind of device.
        """
        device = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
        return Variants(candidates, updates, Choice(self.folder / CHOICES, f"{name} on {device}"))

    def extern(
        self, name: str, results: int = 1, complex_numbers: bool = False
    ) -> Callable[..., Any]:
        """An op of torch, called with positional arguments and keyword-only ones.

        Names of `minductor.` are ours (`runtime/own.py`, `interpreters/control.py`).
        """
        if name in control.CALLS:
            return control.bind(name, results)
        if name in OWN:
            return OWN[name]
        call = externs.bind(name, results)
        return externs.outside_modes(call) if complex_numbers else call

    def extern_into(
        self,
        name: str,
        outs: int = 1,
        tensors: int | None = None,
        device: str = "cpu",
        **keywords: Any,
    ) -> Callable[..., None]:
        """An op's out= form: call it with `outs` tensors to write, then its arguments."""
        return externs.bind_into(name, outs, tensors, device, **keywords)

    def inputs(self, *layouts: LayoutTuple) -> Callable[..., Any]:
        """The check of a graph's inputs: call it with all tensors, then the dynamic numbers."""
        return checks.input_check([Layout(*layout) for layout in layouts])

    def result(self, layout: LayoutTuple) -> Callable[..., Any]:
        """The check of an extern result; returns it, restrided where need be."""
        return checks.result_check(Layout(*layout))

    def alias(self, layout: LayoutTuple) -> Callable[..., Any]:
        """The check of an extern result that aliases an operand."""
        return checks.view_check(Layout(*layout))
