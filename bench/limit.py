"""The bandwidth limit of a workload, measured in the same rounds as its contenders.

On a CPU a C loop reads as many bytes as the workload must read and writes as many as it must write,
with ordinary and, where the machine has them, non-temporal stores. On a GPU it is torch's own copy
of the same bytes, and loops that move so many in the same mix of reads and writes (`bench.moves`).
The best of them counts.
"""

import ctypes
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

CHUNK = 8192
"""Bytes of the largest array that one turn of the loop moves."""

Step = Callable[[], object]


def compiler() -> str:
    """The C++ compiler: `CXX` or g++."""
    return os.environ.get("CXX", "g++")


def library() -> ctypes.CDLL:
    """Build and load the loop; takes a fifth of a second."""
    source = Path(__file__).with_name("limit.c")
    flags = ["-O3", "-march=native", "-fopenmp", "-shared", "-fPIC", "-x", "c"]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "limit.so"
        subprocess.run([compiler(), *flags, str(source), "-o", str(out)], check=True, timeout=60)
        return ctypes.CDLL(str(out))


def aligned(size: int) -> Tensor:
    """Touched bytes of at least `size`, rounded up to whole vectors."""
    return torch.ones(max((size + 63) // 64, 1) * 8, dtype=torch.int64)


def split(total: int, parts: int = 2) -> list[int]:
    """Bytes of up to `parts` streams; small totals stay one."""
    return [total // parts] * parts if total > parts * CHUNK else [total]


def cpu_steps(reads: int, writes: int) -> dict[str, Step]:
    """Steps that move so many bytes: `plain` and `streaming` stores."""
    call = library().limit
    ins = [aligned(n) for n in split(reads)]
    outs = [aligned(n) for n in split(writes, 1)]

    def pointers(arrays: Sequence[Tensor]) -> ctypes.Array[ctypes.c_void_p]:
        return (ctypes.c_void_p * len(arrays))(*(a.data_ptr() for a in arrays))

    def sizes(arrays: Sequence[Tensor]) -> ctypes.Array[ctypes.c_longlong]:
        return (ctypes.c_longlong * len(arrays))(*(a.numel() * 8 for a in arrays))

    largest = max(a.numel() * 8 for a in [*ins, *outs])
    threads = torch.get_num_threads() if reads + writes > 1 << 18 else 1
    chunks = ctypes.c_longlong(max(largest // CHUNK, 1))
    given = (len(ins), pointers(ins), sizes(ins), len(outs), pointers(outs), sizes(outs), chunks)
    keep = [*ins, *outs]

    def step(streaming: int) -> Step:
        def run() -> object:
            assert keep
            return call(*given, streaming, threads)

        return run

    return {"plain": step(0), "streaming": step(1)}


def cuda_steps(reads: int, writes: int) -> dict[str, Step]:
    """Copy of the common part, then a read or a fill of what is left over; loops of that mix."""
    from bench.moves import move_steps

    both = min(reads, writes) // 16 * 2
    source = torch.ones(max(both, 1), dtype=torch.float64, device="cuda")
    target = torch.empty_like(source)
    rest = torch.ones(max((abs(reads - writes)) // 8, 1), dtype=torch.float64, device="cuda")

    def run() -> object:
        target.copy_(source)
        if reads > writes:
            return rest.amax()
        if writes > reads:
            return rest.fill_(0)
        return target

    loops = {name: step for name, (step, _bytes) in move_steps(reads, writes).items()}
    return {"plain": run, **loops}


def limit_steps(device: str, reads: int, writes: int) -> dict[str, Step]:
    """Name -> step of every way of moving the bytes on this device."""
    return cpu_steps(reads, writes) if device == "cpu" else cuda_steps(reads, writes)
