"""Calling compiled kernels: the C launcher, and slower stand-ins for machines that cannot build it.

The launcher (launcher.c) is built once per machine, Python and torch, kept in the cache with a
checksum, and tried out before it is trusted: the pointers that it finds behind tensors are compared
with `data_ptr()`. Where Python.h, a C compiler or torch's C functions are missing, kernels are
called through ctypes and inputs are checked in Python; results are the same, a call costs
microseconds more.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from minductor.dialects.faults import IndexFault
from minductor.runtime.build import (
    Build,
    BuildError,
    Compiler,
    cpu_identity,
    find_c_compiler,
)
from minductor.runtime.cache import Cache

_NAME = "minductor_launcher"
_FILE = f"{_NAME}.so"
_SOURCES = ("launcher.c", "launcher_device.h", "launcher_pool.h")
_HANDLE_OFFSET = 16  # behind the object head: reference count and type
_SHIMS = {
    "data_ptr": "get_data_ptr",
    "dtype": "get_dtype",
    "device_type": "get_device_type",
    "device_index": "get_device_index",
    "dim": "get_dim",
    "sizes": "get_sizes",
    "strides": "get_strides",
}


@cache
def torch_library() -> ctypes.CDLL | None:
    """libtorch_cpu as loaded by torch, for its C functions; None where it has another shape."""
    path = Path(str(torch.__file__)).parent / "lib" / "libtorch_cpu.so"
    try:
        return ctypes.CDLL(str(path), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return None


def address_of(library: ctypes.CDLL, symbol: str) -> int | None:
    """Address of a symbol of a loaded library, None when it is not there."""
    try:
        return ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value
    except AttributeError:
        return None


def _shims() -> dict[str, int] | None:
    library = torch_library()
    if library is None:
        return None
    found = {name: address_of(library, f"aoti_torch_{s}") for name, s in _SHIMS.items()}
    return {k: v for k, v in found.items() if v} if all(found.values()) else None


def _head_is_known() -> bool:
    """True on builds of Python whose object head is a count and a type, and nothing else."""
    return sys.abiflags == "" and object.__basicsize__ == _HANDLE_OFFSET


@dataclass
class _Job:
    """The launcher's entry in the store, and the build that makes it when it is not there yet."""

    store: Cache
    key: str
    stage: Path | None = None
    build: Build | None = None

    def start(self, compiler: Compiler) -> None:
        """Start the compiler. Raises BuildError when Python.h is missing."""
        source = Path(__file__).with_name(_SOURCES[0])
        include = sysconfig.get_paths()["include"]
        if not (Path(include) / "Python.h").exists():
            raise BuildError(f"no Python.h in {include}; install the package python3-dev")
        self.stage = self.store.staging()
        out = self.stage / _FILE
        files = (f"-I{include}", str(source), "-o", str(out))
        flags = ("-O1", "-fPIC", "-shared", "-pthread", "-w", *files)
        self.build = Build([*compiler.command, *flags], out, 120.0)

    def finish(self) -> Path:
        """The library's path, once it stands in the store."""
        try:
            if self.build is not None and self.stage is not None:
                self.build.wait()
                self.store.store_files(self.key, {_FILE: (self.stage / _FILE).read_bytes()})
        finally:
            if self.stage is not None:
                shutil.rmtree(self.stage, ignore_errors=True)
        return self.store.folder(self.key) / _FILE


def _import(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(_NAME, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _agrees(module: Any) -> bool:
    """The self-check: pointers found in C against torch's own, over tensors of many kinds."""
    base = torch.empty(4, 6)
    tried = (
        base,
        base[1:, 2:],
        base.t(),
        torch.empty(()),
        torch.empty(0, 3),
        torch.empty(2, dtype=torch.bool),
        torch.nn.Parameter(torch.empty(3)),
    )
    return all(module.pointer(t) == t.data_ptr() for t in tried)


def _set_up(module: Any) -> Any:
    shims = _shims() if _head_is_known() else None
    if shims is not None:
        module.setup(_HANDLE_OFFSET, torch._C.TensorBase, shims)
        if _agrees(module):
            return module
    module.setup(-1, torch._C.TensorBase, {})
    return module if _agrees(module) else None


def _key(compiler: Compiler) -> str:
    here = Path(__file__)
    source = "".join(here.with_name(f).read_text(encoding="utf-8") for f in _SOURCES)
    python = f"{sys.version} {sysconfig.get_config_var('SOABI')}"
    return Cache.key([_NAME, source, python, torch.__version__, compiler.identity, cpu_identity()])


@cache
def prepare() -> Any:
    """Start building the launcher where this machine has none yet, and return at once.

    The result is for `launcher`; None where it cannot be built.
    """
    try:
        compiler = find_c_compiler()
        store = Cache()
        job = _Job(store, _key(compiler))
        if store.load_files(job.key) is None:
            job.start(compiler)
        return job
    except (BuildError, OSError):
        return None


@cache
def launcher() -> Any:
    """The launcher module, ready for use, or None when it cannot be had on this machine.

    Built at most once per machine: the library stands in the cache like any product.
    """
    job = prepare()
    try:
        return None if job is None else _set_up(_import(job.finish()))
    except (BuildError, OSError, ImportError):
        return None


class CtypesKernel:
    """A kernel called through ctypes, with the launcher's interface and errors."""

    def __init__(self, function: Any, pointers: int, sizes: int, name: str) -> None:
        self._function = function
        self._function.restype = ctypes.c_int
        self._pointers = pointers
        self._make_pointers = ctypes.c_void_p * pointers
        self._make_sizes = ctypes.c_longlong * sizes
        self._count = pointers + sizes
        self._name = name

    def __call__(self, *args: Any) -> None:
        if len(args) != self._count:
            raise TypeError(
                f"kernel {self._name} takes {self._pointers} tensors and "
                f"{self._count - self._pointers} sizes, got {len(args)} arguments"
            )
        tensors, numbers = args[: self._pointers], args[self._pointers :]
        code = self._function(
            self._make_pointers(*[t.data_ptr() for t in tensors]), self._make_sizes(*numbers)
        )
        if code & 1:
            raise IndexFault(f"index out of range in kernel {self._name}")
        if code == 2:
            raise RuntimeError(
                f"ZeroDivisionError: integer division by zero in kernel {self._name}"
            )
        if code:
            raise RuntimeError(f"kernel {self._name} failed with code {code}")

    def __repr__(self) -> str:
        return f"<kernel {self._name}>"


def bind_kernel(library: ctypes.CDLL, name: str, pointers: int, sizes: int) -> Callable[..., None]:
    """The kernel `name` of a loaded library as a callable of `pointers` tensors, then `sizes` ints.

    Raises ImportError when the library has no such symbol, IndexError or RuntimeError
    when the kernel reports a fault.
    """
    address = address_of(library, name)
    if address is None:
        raise ImportError(f"the library {library._name} has no kernel {name}")
    module = launcher()
    if module is None:
        return CtypesKernel(getattr(library, name), pointers, sizes, name)
    return module.Kernel(address, pointers, sizes, name, library)


def has_handles() -> bool:
    """True when the launcher may use Checker and Out."""
    module = launcher()
    return module is not None and module.trusted()


def bind_out(symbol: str, tensors: int, scalars: Sequence[float], fallback: Any) -> Any:
    """A libtorch function `symbol(out, tensors.., scalars..)` called from C, else `fallback`."""
    library = torch_library()
    address = address_of(library, symbol) if library is not None else None
    if address is None or not has_handles() or tensors > 4 or len(scalars) > 2:
        return fallback
    first, second = (*map(float, scalars), 0.0, 0.0)[:2]
    return launcher().Out(address, tensors, first, second, fallback)
