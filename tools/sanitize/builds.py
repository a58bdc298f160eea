"""The environments of child processes: compiler words, preloaded runtime, the runtime's options."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SHIM = Path(__file__).with_name("threads.cpp")

ISA_FLAGS: dict[str, tuple[str, ...]] = {
    "native": (),
    "avx2": ("-mno-avx512f",),
    "portable": ("-mno-sse3",),
}
"""Words that take vector instructions away from `-march=native`, wherever they stand."""


@dataclass(frozen=True)
class Kind:
    """A sanitizer: compiler flags, its runtime's file, environment, what a report starts with.

    `ours`, where given, is the text that a report on a kernel of ours holds; else the reports that
    count name the folder that kernels were built in.
    """

    flags: tuple[str, ...]
    library: str
    options: Mapping[str, str]
    report: str
    isas: tuple[str, ...] = ("native",)
    sources: tuple[Path, ...] = ()
    prefix: tuple[str, ...] = ()
    device: str = "cpu"
    ours: str = ""


KINDS: dict[str, Kind] = {
    # Vector instructions under a mask are not watched: the portable form has none.
    "address": Kind(
        ("-fsanitize=address", "-fno-omit-frame-pointer"),
        "libasan.so",
        {"ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=1"},
        "ERROR: AddressSanitizer",
        ("native", "portable"),
    ),
    "undefined": Kind(
        ("-fsanitize=undefined",),
        "",
        {"UBSAN_OPTIONS": "print_stacktrace=0"},
        ": runtime error: ",
        ("native", "portable"),
    ),
    # Its shadow memory wants addresses that are not spread at random.
    "thread": Kind(
        ("-fsanitize=thread",),
        "libtsan.so",
        {"TSAN_OPTIONS": "halt_on_error=0:report_signal_unsafe=0:exitcode=66"},
        "WARNING: ThreadSanitizer",
        sources=(SHIM,),
        prefix=("setarch", "-R"),
    ),
    # Each tensor is an allocation of its own, so that its end is an end.
    "memcheck": Kind(
        (),
        "",
        {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"},
        "========= Invalid ",
        prefix=("compute-sanitizer", "--tool", "memcheck", "--show-backtrace", "no"),
        device="cuda",
        ours="triton_",
    ),
    "racecheck": Kind(
        (),
        "",
        {},
        "========= Error: Race reported",
        prefix=("compute-sanitizer", "--tool", "racecheck", "--show-backtrace", "no"),
        device="cuda",
        ours="triton_",
    ),
}


def of_device(device: str) -> list[str]:
    """Names of the sanitizers of code on "cpu" or "cuda"."""
    return [name for name, kind in KINDS.items() if kind.device == device]


def environment(kind: Kind, isa: str, cache: Path) -> dict[str, str]:
    """The variables of a child process. Raises FileNotFoundError without the runtime library."""
    if kind.device != "cpu":
        return {**os.environ, **kind.options, "MINDUCTOR_CACHE_DIR": str(cache)}
    compiler = os.environ.get("CXX", "g++")
    words = [compiler, *kind.flags, *ISA_FLAGS[isa], "-g1", *map(str, kind.sources)]
    out = {
        **os.environ,
        **kind.options,
        "CXX": " ".join(words),
        "MINDUCTOR_CACHE_DIR": str(cache),
        "OMP_NUM_THREADS": "1",
    }
    if kind.library:
        # exceptions are watched too, whose library has to be there when the runtime starts
        both = (kind.library, "libstdc++.so.6")
        out["LD_PRELOAD"] = " ".join(runtime_library(name, compiler) for name in both)
    return out


def runtime_library(name: str, compiler: str) -> str:
    """The file of a sanitizer's runtime. Raises FileNotFoundError."""
    command = [*compiler.split(), f"-print-file-name={name}"]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isabs(found):
        raise FileNotFoundError(f"{compiler} has no {name}: install its sanitizer runtimes")
    return found


def reports(kind: Kind, text: str, cache: Path) -> list[str]:
    """The reports in a child's messages that concern code built in `cache`."""
    if kind.report == KINDS["undefined"].report:
        lines = [line for line in text.splitlines() if kind.report in line]
        return [line for line in dict.fromkeys(lines) if str(cache) in line]
    pieces = re.split(rf"(?m)^.*(?={re.escape(kind.report)})", text)[1:]
    if kind.ours:
        return [piece.rstrip() for piece in pieces if kind.ours in piece]
    return [piece.split("\n==", 1)[0].rstrip() for piece in pieces if str(cache) in piece]
