"""Builds kernel IR or prelude code into a library and calls it with NumPy arrays."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from xdsl.parser import Parser

from minductor.codegen.cpp.fragments import prelude_for
from minductor.codegen.cpp.module import emit_cpp
from minductor.passes.context import MiniContext
from minductor.runtime.build import BuildConfig, build_shared, default_flags, find_compiler

ISAS = {
    "native": (),
    "avx2": ("-mavx2", "-mfma", "-mf16c"),
    "portable": ("-msse2",),
}


def emit(text: str) -> str:
    """The C++ of kernel text, verified."""
    module = Parser(MiniContext(), text).parse_module()
    module.verify()
    return emit_cpp(module)


def build(source: str, folder: Path, isa: str = "native") -> ctypes.CDLL:
    """A loaded library of a source, for this machine or a forced instruction set."""
    compiler = find_compiler()
    flags = default_flags(compiler)
    if isa != "native":
        flags = tuple(f for f in flags if not f.startswith("-march")) + ISAS[isa]
    digest = hashlib.sha256(source.encode()).hexdigest()[:16]
    out = folder / f"lib{isa}{digest}.so"
    build_shared(source, out, BuildConfig(compiler=compiler, flags=flags))
    return ctypes.CDLL(str(out))


def build_code(code: str, folder: Path, isa: str = "native") -> ctypes.CDLL:
    """A library of hand-written code on top of the prelude."""
    return build(f"{prelude_for(code)}\n{code}", folder, isa)


def call(lib: ctypes.CDLL, name: str, arrays: Sequence[np.ndarray], *sizes: int) -> int:
    """Run a kernel; its fault code."""
    pointers = (ctypes.c_void_p * max(1, len(arrays)))(*(a.ctypes.data for a in arrays))
    numbers = (ctypes.c_longlong * max(1, len(sizes)))(*sizes)
    return int(getattr(lib, name)(pointers, numbers))


def kernel(name: str, args: str, body: str, symbols: str = "", threads: int | None = 2) -> str:
    """Text of a kernel; `args` is `read x f32[n], write o f32[n]`."""
    params = []
    for arg in args.split(","):
        access, hint, type_ = arg.split(maxsplit=2)
        params.append(f"{access} %{hint} : !kernel.buf<{type_}>")
    count = "" if threads is None else f", threads = {threads}"
    return (
        f"kernel.func @{name}({', '.join(params)}) [{symbols}] "
        f'config {{target = "cpp"{count}}} {{\n{body}\n}}\n'
    )


def bf16_bits(x: np.ndarray) -> np.ndarray:
    """Raw bits of f32 values rounded to bfloat16."""
    u = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits: np.ndarray) -> np.ndarray:
    """f32 values of bfloat16 bits."""
    return (bits.astype(np.uint32) << 16).view(np.float32)
