"""Kernels with a planted fault, one for each sanitizer: what it has to find to be believed."""

from __future__ import annotations

import ctypes
from typing import Any

import torch
from xdsl.parser import Parser

from minductor.codegen.cpp.module import emit_cpp
from minductor.passes.context import MiniContext
from minductor.runtime.build import build_shared
from minductor.runtime.cache import default_root

PLANTED = {
    # one element past the end
    "address": """
        parallel d0 : 1000 { %v = load %x[d0 + 1] : f32  store %v, %o[d0] }""",
    # past the end of an array on the stack
    "undefined": """
        parallel d1 : 2 {
          %t = local stack = 0.0 : f32 : !kernel.buf<f32[16]>
          for d0 : 17 { %v = load %x[d0] : f32  store %v, %t[d0] }
          %w = load %t[3] : f32
          store %w, %o[d1] }""",
    # two threads update one element
    "thread": """
        parallel d0 : 1000 <run threads> { %v = load %x[d0] : f32  store add %v, %o[0] }""",
}


PLANTED_CUDA = {
    # one element past the end
    "memcheck": "o[threadIdx.x + 1] = 1;",
    # read before all have written
    "racecheck": """
        __shared__ float s[128];
        s[threadIdx.x] = o[threadIdx.x];
        o[threadIdx.x] = s[127 - threadIdx.x];""",
}


def run_planted(kind: str) -> None:
    """Build and run the faulty kernel of a sanitizer."""
    if kind in PLANTED_CUDA:
        return _run_cuda(kind)
    buffers = "read %x : !kernel.buf<f32[1000]>, update %o : !kernel.buf<f32[1000]>"
    config = 'config {target = "cpp", threads = 2}'
    text = f"kernel.func @planted({buffers}) [] {config} {{{PLANTED[kind]} }}"
    module = Parser(MiniContext(), text).parse_module()
    out = default_root() / f"libplanted_{kind}.so"
    out.parent.mkdir(parents=True, exist_ok=True)
    build_shared(emit_cpp(module), out)
    x, o = torch.zeros(1000), torch.zeros(1000)
    pointers = (ctypes.c_void_p * 2)(x.data_ptr(), o.data_ptr())
    ctypes.CDLL(str(out)).planted(pointers, (ctypes.c_longlong * 1)())


def _run_cuda(kind: str) -> None:
    """A kernel of CUDA C: what Triton prints has no room for a race."""
    head = 'extern "C" __global__ void triton_planted(float *o)'
    build: Any = torch.cuda._compile_kernel
    kernel = build(f"{head} {{{PLANTED_CUDA[kind]} }}", "triton_planted")
    kernel(grid=(1, 1, 1), block=(128, 1, 1), args=(torch.zeros(128, device="cuda"),))
    torch.cuda.synchronize()
