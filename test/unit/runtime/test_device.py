"""Triton kernels on a GPU: our launch and Triton's give the same, sizes change without compiles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from minductor.runtime import loader, triton_loader
from minductor.runtime.artifact import Artifact
from minductor.runtime.cache import Cache
from minductor.runtime.launch import launcher

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]

KERNELS = """
import triton
import triton.language as tl


@triton.jit
def shift(x, o, s0, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, i < s0, 0.0)
    tl.store(o + i, v + 1, i < s0)


@triton.jit
def total(x, o, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    v = tl.load(x + row * BLOCK + tl.arange(0, BLOCK))
    tl.store(o + row, tl.sum(v, 0))


LAUNCH = {
    "shift": {
        "grid": ("(s0 + 255) // 256", "1", "1"),
        "sizes": ("s0",),
        "signature": {"x": "*fp32", "o": "*fp32", "s0": "i32"},
        "constexprs": {"BLOCK": 256},
    },
    "total": {
        "grid": ("64", "1", "1"),
        "sizes": (),
        "signature": {"x": "*fp32", "o": "*fp32"},
        "divisible": ("x", "o"),
        "constexprs": {"BLOCK": 1024},
        "num_warps": 8,
    },
}
"""
WRAPPER = """
import torch

on_device = host.on("cuda:0")
shift = host.triton("shift")
total = host.triton("total")
empty_cuda = host.empty_cuda


def call(args):
    with on_device():
        s0, x, y = args
        args.clear()
        a = empty_cuda((s0,), (1,), torch.float32)
        shift(x, a, s0)
        b = empty_cuda((64,), (1,), torch.float32)
        total(y, b)
        return [a, b]
"""


@pytest.fixture(params=["launcher", "triton"])
def call(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> loader.Boxed:
    if request.param == "triton":
        monkeypatch.setattr(triton_loader, "_through_driver", lambda *args: None)
    artifact = Artifact("inference", "triton", WRAPPER, None, KERNELS)
    _, loaded = loader.produce("f" * 64, artifact, Cache(tmp_path))
    function: Any = loaded
    kernel = function.__globals__["shift"]
    assert (type(kernel) is launcher().Device) == (request.param == "launcher")
    return loaded


@pytest.mark.parametrize("n", [0, 1, 255, 256, 70000])
def test_values(call: loader.Boxed, n: int) -> None:
    x = torch.rand(n, device="cuda:0")
    y = torch.rand(64, 1024, device="cuda:0")
    a, b = call([n, x, y])
    assert torch.equal(a, x + 1)
    assert torch.allclose(b, y.sum(1))


def test_misaligned_inputs(call: loader.Boxed) -> None:
    """Of a kernel without the promise (x) and of one with it (y)."""
    x = torch.rand(1001, device="cuda:0")[1:]
    y = torch.rand(64 * 1024 + 1, device="cuda:0")[1:].view(64, 1024)
    for _ in range(2):
        a, b = call([1000, x, y])
        assert torch.equal(a, x + 1)
        assert torch.allclose(b, y.sum(1))
    assert torch.allclose(call([1000, x, y.clone()])[1], y.sum(1))


def test_the_current_stream_is_used(call: loader.Boxed) -> None:
    stream = torch.cuda.Stream()
    y = torch.zeros(64, 1024, device="cuda:0")
    with torch.cuda.stream(stream):
        x = torch.rand(70000, device="cuda:0")
        for _ in range(20):
            x = call([70000, x, y])[0]
        result = x.sum()
    stream.synchronize()
    assert float(result) > 20 * 70000


def test_cuda_graphs_capture_it(call: loader.Boxed) -> None:
    x = torch.zeros(1000, device="cuda:0")
    y = torch.zeros(64, 1024, device="cuda:0")
    call([1000, x, y])
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = call([1000, x, y])[0]
    x.fill_(3.0)
    graph.replay()
    assert bool((out == 4.0).all())
