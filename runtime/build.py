"""One C++ source to one shared library, by the machine's own compiler.

The compiler is `CXX` when that is set, else the first of g++ and clang++ on the path. No program is
run to find out about it: its identity is its file. The flags keep IEEE results (no contraction, no
reassociation) and make signed overflow wrap as PyTorch's integers do.

A build may run in the background: `start_build` returns at once, `Build.wait` gives the errors.
Every error is a `BuildError` whose text holds the command, the end of the compiler's messages and
what to do about it.
"""

from __future__ import annotations

import errno
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_COMMON = (
    "-O3",
    "-fPIC",
    "-shared",
    "-fopenmp",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-pipe",
    "-w",
)
_PER_KIND = {
    "gcc": ("-std=gnu++17", "-fmax-errors=8", "-Wno-psabi"),
    "clang": ("-std=gnu++17", "-ferror-limit=8"),
}
_STDERR_LINES = 30
_SHARE = re.compile(r"^#if (\d+) % PARTS == PART$", re.MULTILINE)
_TIMEOUT_S = 900.0


class BuildError(RuntimeError):
    """A compiler is missing, or it failed; the text says which command and what mends it."""


@dataclass(frozen=True)
class Compiler:
    """A C or C++ compiler: the words that start it, its family, and its file's identity."""

    command: tuple[str, ...]
    kind: str
    identity: str


@dataclass(frozen=True)
class BuildConfig:
    """How to build: `compiler` None means look for one; `flags` None means `default_flags`."""

    compiler: Compiler | None = None
    flags: tuple[str, ...] | None = None
    timeout_s: float = _TIMEOUT_S


def _identity(words: Sequence[str]) -> str:
    """The words and the file behind the first one: real path, bytes, modification time."""
    real = os.path.realpath(words[0])
    stat = os.stat(real)
    return f"{shlex.join(words)} {real} {stat.st_size} {stat.st_mtime_ns}"


def _kind(path: str) -> str:
    return "clang" if "clang" in os.path.basename(os.path.realpath(path)) else "gcc"


def _as_compiler(text: str) -> Compiler | None:
    words = shlex.split(text)
    found = shutil.which(words[0]) if words else None
    if found is None:
        return None
    # a launcher such as ccache stands before the compiler that decides the family
    named = [w for w in words if "clang" in os.path.basename(w)]
    command = (found, *words[1:])
    return Compiler(command, "clang" if named else _kind(found), _identity(command))


def _find(
    variable: str, names: Sequence[str], package: str, environ: Mapping[str, str]
) -> Compiler:
    chosen = environ.get(variable, "").strip()
    if chosen:
        found = _as_compiler(chosen)
        if found is None:
            raise BuildError(
                f"{variable}={chosen!r} names no program that can be run. Unset {variable}, or set "
                f"it to a compiler such as {names[0]} (package {package})."
            )
        return found
    for name in names:
        found = _as_compiler(name)
        if found is not None:
            return found
    raise BuildError(
        f"no compiler found (tried {', '.join(names)}). Install one, for example with "
        f"`apt-get install {package}` or `conda install -c conda-forge cxx-compiler`, or point "
        f"{variable} at one."
    )


def find_compiler(environ: Mapping[str, str] | None = None) -> Compiler:
    """The C++ compiler: CXX, then g++, then clang++. Raises BuildError when there is none."""
    return _find("CXX", ("g++", "clang++"), "g++", os.environ if environ is None else environ)


def find_c_compiler(environ: Mapping[str, str] | None = None) -> Compiler:
    """The C compiler: CC, then gcc, clang, cc. Raises BuildError when there is none."""
    return _find("CC", ("gcc", "clang", "cc"), "gcc", os.environ if environ is None else environ)


@cache
def cpu_identity() -> str:
    """The processor that `-march=native` compiles for: machine, model and feature flags."""
    wanted = ("model name", "flags", "Features", "CPU part")
    seen: dict[str, str] = {}
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                name, _, value = line.partition(":")
                if not name.strip():
                    break
                if name.strip() in wanted:
                    seen[name.strip()] = value.strip()
    except OSError:
        seen["processor"] = platform.processor()
    return "; ".join([platform.machine(), *(f"{k}: {v}" for k, v in sorted(seen.items()))])


def default_flags(compiler: Compiler) -> tuple[str, ...]:
    """Flags of every build with this compiler; the same in every process of a machine."""
    native = "-mcpu=native" if platform.machine() in ("aarch64", "arm64") else "-march=native"
    return (*_COMMON, native, *_PER_KIND[compiler.kind])


def _mend(stderr: str, code: int, out: Path) -> str:
    """What the user can do about a failed build, from its messages."""
    lower = stderr.lower()
    if "no space left" in lower or "disk quota" in lower:
        return (
            f"The disk of {out.parent} is full: free some space, or set MINDUCTOR_CACHE_DIR to a "
            "folder on another disk."
        )
    if code < 0 or "killed" in lower:
        name = signal.Signals(-code).name if code < 0 else "a signal"
        return f"The compiler was ended by {name}: the machine may be short of memory."
    if "cannot find -lgomp" in lower or "libgomp.spec" in lower:
        return "OpenMP is missing: install the package libgomp1 together with g++."
    if "cannot find -lomp" in lower or "unsupported option '-fopenmp'" in lower:
        return "OpenMP is missing for clang: install libomp-dev, or use g++ (CXX=g++)."
    if "cc1plus" in lower:
        return "The C++ part of GCC is missing: install the package g++."
    if "-march=native" in lower or "-mcpu=native" in lower:
        return "The compiler is too old for this processor: use another with CXX."
    if not stderr.strip():
        return "The compiler gave no message: is it the one that you mean? CXX (CC for C) names it."
    return "This is a fault of minductor; the option logs='output_code' prints the source."


class Build:
    """A running compiler. `wait` must be called once (or `cancel`); it is idempotent."""

    def __init__(self, command: Sequence[str], out: Path, timeout_s: float) -> None:
        self.command = tuple(command)
        self.out = out
        self.timeout_s = timeout_s
        self._finished = False
        env = dict(os.environ, LC_ALL="C", TMPDIR=str(out.parent))
        try:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=env,
            )
        except OSError as error:
            raise self._error(f"could not be started: {error}", str(error), 0) from error

    def _error(self, what: str, stderr: str, code: int) -> BuildError:
        tail = "\n".join(stderr.strip().splitlines()[-_STDERR_LINES:])
        text = f"the compiler {what}\n  command: {shlex.join(self.command)}\n"
        if tail:
            text += "  messages:\n    " + tail.replace("\n", "\n    ") + "\n"
        return BuildError(text + "  " + _mend(stderr, code, self.out))

    def done(self) -> bool:
        """True when the compiler has ended, well or not."""
        return self._finished or self._process.poll() is not None

    def wait(self) -> None:
        """Block until the library is at `out`. Raises BuildError."""
        if self._finished:
            return
        try:
            _, raw = self._process.communicate(timeout=self.timeout_s)
        except subprocess.TimeoutExpired as error:
            self.cancel()
            raise self._error(f"did not end within {self.timeout_s:g} s", "", -9) from error
        self._finished = True
        code = self._process.returncode
        stderr = raw.decode("utf-8", "replace")
        if code != 0:
            raise self._error(f"failed with status {code}", stderr, code)
        if not self.out.exists():
            raise self._error("reported success but wrote no library", stderr, code)

    def cancel(self) -> None:
        """Stop the compiler and forget its result."""
        if not self._finished:
            self._finished = True
            self._process.kill()
            self._process.communicate()


def write_source(path: Path, text: str) -> None:
    """Write a source file; a full or read-only disk becomes a BuildError that names it."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        what = "is full" if error.errno == errno.ENOSPC else f"cannot be written ({error.strerror})"
        raise BuildError(
            f"the folder {path.parent} {what}. Set MINDUCTOR_CACHE_DIR to a folder with space."
        ) from error


class PartedBuild:
    """Running compilers, one a share of the kernels; `wait` links what they made."""

    def __init__(self, parts: Sequence[Build], link: Sequence[str], out: Path) -> None:
        self.parts = tuple(parts)
        self.out = out
        self._link = tuple(link)
        self._finished = False

    def done(self) -> bool:
        """True when all compilers have ended, well or not."""
        return all(part.done() for part in self.parts)

    def wait(self) -> None:
        """Block until the library is at `out`. Raises BuildError."""
        if self._finished:
            return
        self._finished = True
        try:
            for part in self.parts:
                part.wait()
        except BuildError:
            self.cancel()
            raise
        Build(self._link, self.out, self.parts[0].timeout_s).wait()

    def cancel(self) -> None:
        """Stop the compilers and forget their results."""
        self._finished = True
        for part in self.parts:
            part.cancel()


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shares(source: str) -> int:
    """How many compilers can share a source: the numbers that its `#if` lines name."""
    return 1 + max((int(n) for n in _SHARE.findall(source)), default=0)


def start_build(
    source: Path, out: Path, config: BuildConfig | None = None, parts: int = 1
) -> Build | PartedBuild:
    """Start compiling the file `source` into the shared library `out`; Python goes on meanwhile.

    parts: how many compilers share a source that is made for it (`shares`).
    """
    config = config or BuildConfig()
    compiler = config.compiler or find_compiler()
    flags = default_flags(compiler) if config.flags is None else config.flags
    start = [*compiler.command, *flags]
    if parts <= 1:
        return Build([*start, "-x", "c++", str(source), "-o", str(out)], out, config.timeout_s)
    objects = [out.with_suffix(f".{i}.o") for i in range(parts)]
    running: list[Build] = []
    try:
        for i, made in enumerate(objects):
            share = [f"-DPARTS={parts}", f"-DPART={i}", "-c", "-x", "c++", str(source)]
            running.append(Build([*start, *share, "-o", str(made)], made, config.timeout_s))
    except BuildError:
        for one in running:
            one.cancel()
        raise
    return PartedBuild(running, [*start, *map(str, objects), "-o", str(out)], out)


def build_shared(source: str, out: Path, config: BuildConfig | None = None) -> None:
    """Compile `source` (text) into `out`; the text is kept beside it as `<stem>.cpp`."""
    path = out.with_suffix(".cpp")
    write_source(path, source)
    start_build(path, out, config).wait()
