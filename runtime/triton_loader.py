"""Triton kernels of an artifact: compile them all in parallel, launch them with little in between.

The emitted module defines a function per kernel and a table LAUNCH (see `Launch`). On a GPU each
kernel is compiled once by its declared signature, whatever the run-time sizes are, and launched
through Triton's own launcher without its argument binder. Under TRITON_INTERPRET=1 the kernels run
on CPU tensors.
"""

from __future__ import annotations

import ctypes
import dataclasses
import os
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import torch

from minductor.dialects.faults import IndexFault
from minductor.runtime.artifact import TRITON, Artifact
from minductor.runtime.launch import address_of, has_handles, launcher
from minductor.runtime.triton_worker import compile_function, import_file
from minductor.runtime.triton_workers import workers

_ALIGNMENT = 16
_MAX_WORKERS = 16
INDEX_FAULT = "index out of range"


class TritonError(RuntimeError):
    """A Triton kernel could not be compiled; the text names the kernel and its source file."""


@dataclass(frozen=True)
class Launch:
    """One row of LAUNCH.

    `grid`: three Python expressions over the names in `sizes`. `signature`: Triton type of each
    parameter that is not a constexpr, pointers first, then sizes, in order. `divisible`: parameters
    that are multiples of 16 (bytes for pointers). `debug`: the kernel holds device assertions.
    """

    grid: tuple[str, str, str]
    sizes: tuple[str, ...]
    signature: Mapping[str, str]
    divisible: tuple[str, ...] = ()
    constexprs: Mapping[str, Any] = field(default_factory=lambda: dict[str, Any]())
    num_warps: int = 4
    num_stages: int = 3
    debug: bool = False

    def grid_function(self) -> Callable[..., tuple[int, int, int]]:
        """The grid as a function of the sizes."""
        text = f"lambda {', '.join(self.sizes)}: ({', '.join(self.grid)})"
        return eval(text, {"min": min, "max": max})

    def job(self) -> dict[str, Any]:
        """What a compile needs to know, as JSON values."""
        return {
            "signature": dict(self.signature),
            "constexprs": dict(self.constexprs),
            "divisible": list(self.divisible),
            "alignment": _ALIGNMENT,
            "options": self.options(),
        }

    def options(self) -> dict[str, Any]:
        """Compile options: no contraction of a * b + c, subnormals kept, integers that wrap."""
        return {
            "num_warps": self.num_warps,
            "num_stages": self.num_stages,
            "enable_fp_fusion": False,
            "enable_reflect_ftz": False,
            "debug": self.debug,
            "sanitize_overflow": False,
        }


def interpreting() -> bool:
    """True when Triton runs kernels in its interpreter, on CPU tensors."""
    return os.environ.get("TRITON_INTERPRET", "0").lower() in ("1", "true", "on", "yes")


def may_begin() -> bool:
    """Whether kernels may be compiled before a device is bound to them: all are of one kind."""
    if interpreting() or not torch.cuda.is_available():
        return False
    kinds = {torch.cuda.get_device_capability(n) for n in range(torch.cuda.device_count())}
    return len(kinds) == 1


def compile_kernel(function: Any, launch: Launch, target: Any = None) -> Any:
    """Compile for `target` (default: the current device), by the declared signature alone."""
    return compile_function(function, launch.job(), target)


class TritonModule:
    """The kernels of one artifact; compilation starts at once and in parallel."""

    def __init__(self, artifact: Artifact, folder: Path) -> None:
        self._path = folder / TRITON
        self._name = f"minductor_triton_{folder.name}_{artifact.name}"
        self._module: Any = import_file(self._path, self._name)
        self._launches = {k: Launch(**row) for k, row in self._module.LAUNCH.items()}
        self._futures: dict[str, Future[Any]] = {}
        if not interpreting():
            self._start()

    def _start(self) -> None:
        device = torch.cuda.current_device()
        helpers = workers()

        def build(name: str) -> Any:
            torch.cuda.set_device(device)
            if helpers is not None and helpers.ready():
                helpers.submit(self._job(name)).result()
            return compile_kernel(self._function(name), self._launches[name])

        most = min(_MAX_WORKERS, os.cpu_count() or 1, max(1, len(self._launches)))
        pool = ThreadPoolExecutor(most, thread_name_prefix="minductor-triton")
        self._futures = {name: pool.submit(build, name) for name in self._launches}
        pool.shutdown(wait=False)

    def _job(self, name: str) -> dict[str, Any]:
        from triton.runtime.driver import driver

        active: Any = driver.active
        target = active.get_current_target()
        return {
            **self._launches[name].job(),
            "path": str(self._path),
            "module": self._name,
            "function": _identifier(name),
            "target": [target.backend, target.arch, target.warp_size],
        }

    def _function(self, name: str) -> Any:
        return getattr(self._module, _identifier(name))

    def names(self) -> tuple[str, ...]:
        """The kernels, in the order of LAUNCH."""
        return tuple(self._launches)

    def built(self) -> int:
        """How many kernels are compiled."""
        return sum(f.done() for f in self._futures.values())

    def _compiled(self, name: str) -> Any:
        try:
            return self._futures[name].result()
        except Exception as error:
            raise TritonError(
                f"Triton could not compile the kernel {name} in {self._path}: {error}"
            ) from error

    def bind(self, name: str) -> Callable[..., None]:
        """The kernel as a callable of tensors, then sizes. Raises ImportError, TritonError."""
        if name not in self._launches:
            raise ImportError(f"{self._path} has no kernel {name}")
        launch = self._launches[name]
        if interpreting():
            return _interpreted(name, self._function(name), launch)
        unaligned = _Unaligned(name, self._function(name), launch)
        return _direct(self._compiled(name), name, launch, unaligned)


def _identifier(name: str) -> str:
    """The Python function of a kernel."""
    return name.replace(".", "_")


@contextmanager
def _assertions() -> Generator[None]:
    """Let the interpreter run device assertions, but not its own checks of integer overflow."""
    from triton.runtime import interpreter

    builder: Any = interpreter.interpreter_builder
    before = builder.options
    builder.options = dataclasses.replace(before, debug=True, sanitize_overflow=False)
    try:
        yield
    finally:
        builder.options = before


def _interpreted(name: str, function: Any, launch: Launch) -> Callable[..., None]:
    grid_of = launch.grid_function()
    count = len(launch.sizes)
    constants = dict(launch.constexprs)

    def call(*args: Any) -> None:
        grid = grid_of(*args[len(args) - count :])
        if 0 in grid:
            return
        try:
            with _assertions() if launch.debug else nullcontext():
                function[grid](*args, **constants)
        except Exception as error:
            if INDEX_FAULT in f"{error} {error.__cause__}":
                raise IndexFault(f"{INDEX_FAULT} in kernel {name}") from error
            raise

    return call


class _Unaligned:
    """A kernel for tensors that do not lie where `divisible` says, such as views at an offset.

    Compiled at the first such call, without the promise.
    """

    def __init__(self, name: str, function: Any, launch: Launch) -> None:
        self._name = name
        self._function = function
        sizes = tuple(n for n in launch.divisible if n in launch.sizes)
        self._launch = dataclasses.replace(launch, divisible=sizes)
        self._call: Callable[..., None] | None = None

    def __call__(self, *args: Any) -> None:
        if self._call is None:
            compiled = compile_kernel(self._function, self._launch)
            self._call = _direct(compiled, self._name, self._launch, self)
        self._call(*args)


def _direct(
    compiled: Any, name: str, launch: Launch, unaligned: Callable[..., None]
) -> Callable[..., None]:
    """Launch without Triton's binder: arguments are known to fit the signature."""
    from triton.runtime.driver import driver

    run = compiled.run  # loads the binary
    fast = _through_driver(compiled, name, launch, unaligned)
    if fast is not None:
        return fast
    active: Any = driver.active
    grid_of = launch.grid_function()
    count = len(launch.sizes)
    promised = [i for i, n in enumerate(launch.signature) if n in launch.divisible]
    promised = [i for i in promised if i < len(launch.signature) - count]
    fixed = tuple(launch.constexprs.values())
    function, packed = compiled.function, compiled.packed_metadata

    def call(*args: Any) -> None:
        x, y, z = grid_of(*args[len(args) - count :])
        if any(args[i].data_ptr() % _ALIGNMENT for i in promised):
            unaligned(*args)
        elif x and y and z:
            stream = active.get_current_stream(active.get_current_device())
            run(x, y, z, stream, function, packed, None, None, None, *args, *fixed)

    return call


def _through_driver(
    compiled: Any, name: str, launch: Launch, unaligned: Callable[..., None]
) -> Callable[..., None] | None:
    """The launcher's own launch, where the kernel has the plain form that it serves.

    Scratch memory, clusters and cooperative grids stay with Triton; so does a parameter list
    that the CUDA driver describes otherwise than the signature does.
    """
    facts = compiled.metadata
    special = ("global_scratch_size", "profile_scratch_size", "launch_cooperative_grid")
    if any(getattr(facts, f, 0) for f in (*special, "launch_pdl")):
        return None
    if getattr(facts, "num_ctas", 1) != 1 or not has_handles():
        return None
    cuda = _cuda()
    if cuda is None:
        return None
    kinds = list(launch.signature.values())
    sizes = len(launch.sizes)
    widths = [8 if kind.startswith("*") else int(kind.strip("iu")) // 8 for kind in kinds]
    found = cuda.parameter_bytes(compiled.function)
    if found[: len(widths)] != widths or any(w != 8 for w in found[len(widths) :]):
        return None
    grid_of = launch.grid_function()
    return launcher().Device(
        compiled.function,
        cuda.launch,
        cuda.stream,
        torch.cuda.current_device(),
        facts.num_warps * 32,
        facts.shared,
        len(kinds) - sizes,
        sizes,
        len(found) - len(widths),
        grid_of if sizes else grid_of(),
        bytes(n in launch.divisible for n in list(launch.signature)[: len(kinds) - sizes]),
        unaligned,
        name,
        compiled,
    )


@dataclass(frozen=True)
class _Cuda:
    """Addresses in the CUDA driver and in torch."""

    library: ctypes.CDLL
    launch: int
    stream: int

    def parameter_bytes(self, function: int) -> list[int]:
        """Size of each parameter of a loaded kernel, as the driver knows it."""
        out: list[int] = []
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        query: Any = self.library.cuFuncGetParamInfo
        while len(out) < 4096:
            where, length = ctypes.byref(offset), ctypes.byref(size)
            code = query(ctypes.c_void_p(function), ctypes.c_size_t(len(out)), where, length)
            if code != 0:
                break
            out.append(size.value)
        return out


@cache
def _cuda() -> _Cuda | None:
    """None where the driver or torch lack a function that the launcher needs."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        home = Path(str(torch.__file__)).parent / "lib" / "libtorch_cuda.so"
        ours = ctypes.CDLL(str(home), mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return None
    launch = address_of(driver, "cuLaunchKernel")
    stream = address_of(ours, "aoti_torch_get_current_cuda_stream")
    if launch is None or stream is None or address_of(driver, "cuFuncGetParamInfo") is None:
        return None
    return _Cuda(driver, launch, stream)
