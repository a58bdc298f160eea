"""Worker processes: they fill Triton's cache with what a compile here then finds, and may fail."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("triton")

from triton.backends.compiler import GPUTarget

from minductor.runtime.triton_loader import Launch
from minductor.runtime.triton_worker import compile_function, import_file
from minductor.runtime.triton_workers import Workers, worker_count

KERNELS = """
import triton
import triton.language as tl


@triton.jit
def shift(x, o, s0, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, i < s0, 0.0) + 1, i < s0)
"""
LAUNCH = Launch(
    ("1", "1", "1"),
    ("s0",),
    {"x": "*fp32", "o": "*fp32", "s0": "i32"},
    ("x", "o"),
    {"BLOCK": 64},
)
HOPPER = GPUTarget("cuda", 90, 32)


@pytest.fixture
def two() -> Iterator[Workers]:
    """Two workers that are ready."""
    made = Workers(2)
    end = time.monotonic() + 60
    while made.ready() < 2 and time.monotonic() < end:
        time.sleep(0.05)
    assert made.ready() == 2
    yield made
    made.close()


def job_of(path: Path, function: str = "shift") -> dict[str, Any]:
    path.write_text(KERNELS)
    job = {"path": str(path), "module": "kernels_for_workers", "function": function}
    return {**LAUNCH.job(), **job, "target": ["cuda", 90, 32]}


def test_what_a_worker_compiled_is_found_here(
    two: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of(tmp_path / "kernels.py")
    assert two.submit(job).result(60) == ""
    module: Any = import_file(tmp_path / "kernels.py", job["module"])
    from triton.backends.nvidia.compiler import CUDABackend

    def never(*args: Any) -> None:
        raise AssertionError("the kernel is compiled again")

    monkeypatch.setattr(CUDABackend, "make_llir", never)
    compiled = compile_function(module.shift, job, HOPPER)
    assert compiled.asm["cubin"]
    other = {**job, "options": {**job["options"], "num_warps": 2}}
    with pytest.raises(AssertionError, match="compiled again"):
        compile_function(module.shift, other, HOPPER)


def test_a_failure_is_an_answer_and_the_worker_goes_on(two: Workers, tmp_path: Path) -> None:
    bad = two.submit(job_of(tmp_path / "kernels.py", "missing")).result(60)
    assert bad is not None
    assert "AttributeError" in bad
    assert two.submit(job_of(tmp_path / "kernels.py")).result(60) == ""


def test_workers_that_end_leave_no_job_behind(two: Workers, tmp_path: Path) -> None:
    for process in two._processes:
        process.kill()
    futures = [two.submit(job_of(tmp_path / "kernels.py")) for _ in range(6)]
    assert [one.result(30) for one in futures] == [None] * 6
    assert two.ready() == 0


def test_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert worker_count() == 0
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    assert worker_count() == 8
    monkeypatch.setenv("MINDUCTOR_TRITON_WORKERS", "3")
    assert worker_count() == 3
