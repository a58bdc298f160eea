"""Everything outside a graph that its product depends on, as one text for the cache key.

Torch's version and build, our own version and files, the pinned libraries, the compiler with its
flags and processor (target cpp) or the device (target triton), the thread count that schedules bake
in, and the switches of torch that change what extern calls compute.
"""

from __future__ import annotations

import json
import os
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

import torch

from minductor.runtime.build import (
    BuildConfig,
    BuildError,
    cpu_identity,
    default_flags,
    find_compiler,
)
from minductor.runtime.cache import Cache

_FOLDERS = ("dialects", "passes", "lowering", "codegen", "interpreters", "runtime", "backend")


@cache
def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"


def _stamps(folder: str, out: list[str]) -> None:
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda e: e.name)
    for entry in found:
        if entry.is_dir():
            if not entry.name.startswith(("_", ".")):
                _stamps(entry.path, out)
        else:  # sources of kernels and of the launcher as well as Python
            info = entry.stat()
            out.append(f"{entry.name} {info.st_size} {info.st_mtime_ns}")


@cache
def own_identity() -> str:
    """Our version, and a digest of our files' names, sizes and times: an edited checkout, or
    another one of the same version, gets other keys."""
    package = Path(__file__).resolve().parent.parent
    roots = [p for p in (package / f for f in _FOLDERS) if p.is_dir()]
    front = package / "minductor" if (package / "minductor").is_dir() else package
    stamps = [
        f"{p.name} {p.stat().st_size} {p.stat().st_mtime_ns}" for p in sorted(front.glob("*.py"))
    ]
    for root in roots:
        _stamps(str(root), stamps)
    return f"{_version('minductor')} {Cache.key(stamps)[:16]}"


@cache
def _torch_identity() -> str:
    git = getattr(torch.version, "git_version", None)
    return f"{torch.__version__} {git}"


def compiler_identity(config: BuildConfig | None = None) -> dict[str, str]:
    """Compiler, flags and processor; a missing compiler is a value of its own, not an error."""
    config = config or BuildConfig()
    try:
        compiler = config.compiler or find_compiler()
    except BuildError:
        return {"compiler": "none"}
    flags = default_flags(compiler) if config.flags is None else config.flags
    return {"compiler": compiler.identity, "flags": " ".join(flags), "cpu": cpu_identity()}


def _device_identity() -> dict[str, str]:
    out = {"triton": _version("triton"), "interpret": os.environ.get("TRITON_INTERPRET", "0")}
    if torch.cuda.is_available():
        index = torch.cuda.current_device()
        name, arch = torch.cuda.get_device_name(index), torch.cuda.get_device_capability(index)
        out["device"] = f"{name} sm_{arch[0]}{arch[1]} cuda {torch.version.cuda}"
    return out


def _switches() -> dict[str, str]:
    """Torch's settings that change the results or kernels of extern calls."""
    out = {
        "matmul_precision": torch.get_float32_matmul_precision(),
        "deterministic": str(torch.are_deterministic_algorithms_enabled()),
        "mkldnn": str(torch.backends.mkldnn.enabled),
    }
    if torch.cuda.is_available():
        out["tf32"] = f"{torch.backends.cuda.matmul.allow_tf32} {torch.backends.cudnn.allow_tf32}"
        out["cudnn"] = f"{torch.backends.cudnn.enabled} {torch.backends.cudnn.deterministic}"
    return out


def environment_key(target: str, config: BuildConfig | None = None) -> str:
    """One line of JSON, the same in every process in which a product would be the same.

    `target` is "cpp" or "triton". Source: what PyTorch's own caches are keyed by, and the settings
    that torch consults inside mm, convolution and attention.
    """
    parts: dict[str, str] = {
        "target": target,
        "torch": _torch_identity(),
        "minductor": own_identity(),
        "xdsl": _version("xdsl"),
        "python": f"{sys.implementation.cache_tag}",
        "capability": torch.backends.cpu.get_cpu_capability(),
        "threads": str(torch.get_num_threads()),
        **_switches(),
        **compiler_identity(config),
    }
    if target == "triton":
        parts.update(_device_identity())
    return json.dumps(parts, sort_keys=True)
