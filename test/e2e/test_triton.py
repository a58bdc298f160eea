"""The Triton emitter without a GPU: Triton's interpreter on CPU tensors, and cubins for sm_90."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHILD = Path(__file__).parent / "triton_child.py"


def run(mode: str, cache: Path) -> list[str]:
    """Lines that the child printed; an error shows its end."""
    env = os.environ | {"MINDUCTOR_CACHE_DIR": str(cache), "TRITON_CACHE_DIR": str(cache / "t")}
    env.pop("TRITON_INTERPRET", None)
    command = [sys.executable, str(CHILD), mode]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=900)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return done.stdout.splitlines()


def test_programs_in_tritons_interpreter(tmp_path: Path) -> None:
    """Every program of the table equals eager."""
    pytest.importorskip("triton")
    assert sum(line.startswith("equal ") for line in run("interpret", tmp_path)) == 41


def test_elementary_functions_of_all_arguments(tmp_path: Path) -> None:
    """Zeros keep their sign, infinities and NaN come out, and large arguments are reduced right."""
    pytest.importorskip("triton")
    assert sum(line.startswith("equal ") for line in run("elementary", tmp_path)) == 14


@pytest.mark.slow
def test_symbolic_sizes_in_tritons_interpreter(tmp_path: Path) -> None:
    """One compile serves all sizes; a launch chooses between a persistent and a looped kernel."""
    pytest.importorskip("triton")
    assert sum(line.startswith("equal ") for line in run("dynamic", tmp_path)) == 4


def test_kernels_compile_for_sm_90(tmp_path: Path) -> None:
    """Pointwise, row, looped row, column, split and concatenating kernels become cubins."""
    pytest.importorskip("triton")
    built = [line for line in run("cubin", tmp_path) if line.startswith("built ")]
    assert len(built) >= 8
