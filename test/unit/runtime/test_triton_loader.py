"""Triton kernels: the interpreter runs them, the compiler yields a cubin without a device."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")

KERNELS = """
import triton
import triton.language as tl


@triton.jit
def shift(x, o, s0, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, i < s0, 0.0)
    tl.device_assert(v < 100.0, "index out of range")
    tl.store(o + i, v + 1, i < s0)


LAUNCH = {
    "shift": {
        "grid": ("(s0 + 15) // 16", "1", "1"),
        "sizes": ("s0",),
        "signature": {"x": "*fp32", "o": "*fp32", "s0": "i32"},
        "divisible": ("x", "o"),
        "constexprs": {"BLOCK": 16},
        "num_warps": 1,
        "num_stages": 1,
        "debug": True,
    }
}
"""
INTERPRET = '''
import sys, torch
from minductor.runtime import loader
from minductor.runtime.artifact import Artifact
from minductor.runtime.cache import Cache

WRAPPER = """
import torch
shift = host.triton("shift")
def call(args):
    s0, x = args
    args.clear()
    o = torch.full_like(x, -1)
    shift(x, o, s0)
    return [o]
"""
artifact = Artifact("inference", "triton", WRAPPER, None, open(sys.argv[1]).read())
_, call = loader.produce("e" * 64, artifact, Cache())
x = torch.rand(40)
assert torch.equal(call([40, x])[0], x + 1)
assert call([0, torch.empty(0)])[0].shape == (0,)
try:
    call([40, x + 200])
except IndexError as error:
    assert "index out of range in kernel shift" in str(error)
else:
    raise AssertionError("no fault")
'''
COMPILE = """
import sys
from pathlib import Path
from triton.backends.compiler import GPUTarget
from minductor.runtime import triton_loader

module = triton_loader.import_file(Path(sys.argv[1]), "kernels")
launch = triton_loader.Launch(**module.LAUNCH["shift"])
compiled = triton_loader.compile_kernel(module.shift, launch, GPUTarget("cuda", 90, 32))
assert len(compiled.asm["cubin"]) > 1000
assert "tt.divisibility" in compiled.asm["ttir"]
assert "fma.rn" not in compiled.asm["ptx"]
"""


def child(script: str, tmp_path: Path, **env: str) -> None:
    source = tmp_path / "kernels.py"
    source.write_text(KERNELS)
    done = subprocess.run(
        [sys.executable, "-c", script, str(source)],
        env=dict(
            os.environ,
            MINDUCTOR_CACHE_DIR=str(tmp_path / "c"),
            TRITON_CACHE_DIR=str(tmp_path / "t"),
            **env,
        ),
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr


def test_interpreter(tmp_path: Path) -> None:
    child(INTERPRET, tmp_path, TRITON_INTERPRET="1")


def test_cubin(tmp_path: Path) -> None:
    child(COMPILE, tmp_path, TRITON_INTERPRET="0")


def test_rows_of_launch() -> None:
    from minductor.runtime.triton_loader import Launch

    launch = Launch(("(s0 + 3) // 4", "s1", "1"), ("s0", "s1"), {"x": "*fp32"})
    assert launch.grid_function()(9, 5) == (3, 5, 1)
    assert launch.options()["enable_fp_fusion"] is False
    assert launch.options()["enable_reflect_ftz"] is False  # subnormal numbers stay
    assert Launch(("2", "1", "1"), (), {}).grid_function()() == (2, 1, 1)
