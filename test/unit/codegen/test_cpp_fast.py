"""The short functions of kernels of half precision: relative errors, special values."""

from __future__ import annotations

import ctypes
import platform

import numpy as np
import pytest
import torch
from cpp_build import ISAS, build_code

from minductor.codegen.cpp.expr import FAST, SHORT
from minductor.dialects.scalar.table import BY_NAME

UNARY = [name for name in FAST if name != "divide_by"]
LIMITS = {"fast": 2.0**-15, "bf16": 2.0**-12}
HERE = ISAS if platform.machine() == "x86_64" else ["native"]


def exported(prefix: str) -> str:
    """A loop over an array for each function with this prefix."""
    loop = "lane_loop<32, 1, 2>(0, n, [&](auto L, i64 j) HOT"
    lines = [
        f'extern "C" void {name}(const f32 *x, f32 *o, i64 n) '
        f"{{ {loop} {{ st(L, o + j, {prefix}{name}(ld(L, x + j))); }}); }}"
        for name in UNARY
    ]
    body = f"st(L, o + j, {prefix}divide_by(ld(L, x + j), L(by)));"
    head = 'extern "C" void divide_by(const f32 *x, f32 by, f32 *o, i64 n)'
    return "\n".join([*lines, f"{head} {{ {loop} {{ {body} }}); }}"])


@pytest.fixture(scope="module", params=[(m, isa) for m in LIMITS for isa in HERE], ids="-".join)
def short(request, tmp_path_factory) -> tuple[ctypes.CDLL, float]:
    """The functions at one accuracy for one instruction set, and the accuracy."""
    math, isa = request.param
    code = exported(SHORT[math])
    return build_code(code, tmp_path_factory.mktemp("fast"), isa), LIMITS[math]


def points() -> torch.Tensor:
    """What bf16 and f16 can hold, and f32 numbers between."""
    bits = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16)
    halves = [bits.view(torch.bfloat16).float(), bits.view(torch.float16).float()]
    return torch.cat([*halves, torch.randn(20011), torch.randn(20011) * 20, near_one()])


def near_one() -> torch.Tensor:
    """f32 numbers around 1 and around 3/2, where the steps of a logarithm meet."""
    steps = torch.arange(-2000, 2000) * 2.0**-23
    return torch.cat([1 + steps, 1.5 + steps, 0.75 + steps])


@pytest.mark.parametrize("name", UNARY)
def test_relative_error(short, name):
    lib, limit = short
    x = points()
    out = torch.empty_like(x)
    x_at, out_at = ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(out.data_ptr())
    getattr(lib, name)(x_at, out_at, ctypes.c_longlong(x.numel()))
    exact = eval(BY_NAME[name].torch.format("x"), {"torch": torch, "x": x.double()})
    plain = exact.float().isfinite()
    torch.testing.assert_close(out[~plain], exact[~plain].float(), equal_nan=True, rtol=0, atol=0)
    error = (out.double() - exact).abs()[plain]
    floor = {"erf_plus_one": 2e-8, "sin": 1e-9, "cos": 1e-9, "log": 6e-8}.get(name, 1e-37)
    assert (error <= limit * exact.abs()[plain] + floor).all()
    if name == "tanh":
        assert (out[x.abs() >= 6].abs() == 1).all()
    if name != "cos":
        assert (out[x == 0] == exact[x == 0].float()).all()
    assert (out.signbit() == exact.signbit())[(x == 0) & (exact == 0)].all()


def test_quotients(short):
    lib, limit = short
    x = points()
    for by in (1.0, 7.3, 0.02, -3.0, 1e30, 0.0, np.inf, np.nan, 1e-40):
        out = torch.empty_like(x)
        x_at, out_at = ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(out.data_ptr())
        lib.divide_by(x_at, ctypes.c_float(by), out_at, ctypes.c_longlong(x.numel()))
        torch.testing.assert_close(out, x / by, equal_nan=True, rtol=limit, atol=1e-37)
