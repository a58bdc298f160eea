"""The short functions of kernels with `math = "fast"`: relative errors, special values."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import torch
from cpp_build import build_code

from minductor.codegen.cpp.expr import FAST
from minductor.dialects.scalar.table import BY_NAME

UNARY = [name for name in FAST if name != "divide_by"]
LIMIT = 2.0**-15


@pytest.fixture(scope="module")
def lib(tmp_path_factory) -> ctypes.CDLL:
    lines: list[str] = []
    for name in UNARY:
        body = f"[&](auto L, i64 j) HOT {{ st(L, o + j, m_fast_{name}(ld(L, x + j))); }}"
        head = f'extern "C" void {name}(const f32 *x, f32 *o, i64 n)'
        lines.append(f"{head} {{ lane_loop<32, 1, 2>(0, n, {body}); }}")
    body = "[&](auto L, i64 j) HOT { st(L, o + j, m_fast_divide_by(ld(L, x + j), L(by))); }"
    head = 'extern "C" void divide_by(const f32 *x, f32 by, f32 *o, i64 n)'
    lines.append(f"{head} {{ lane_loop<32, 1, 2>(0, n, {body}); }}")
    return build_code("\n".join(lines), tmp_path_factory.mktemp("fast"))


def points() -> torch.Tensor:
    """What bf16 and f16 can hold, and f32 numbers between."""
    bits = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16)
    halves = [bits.view(torch.bfloat16).float(), bits.view(torch.float16).float()]
    return torch.cat([*halves, torch.randn(20011), torch.randn(20011) * 20])


@pytest.mark.parametrize("name", UNARY)
def test_relative_error(lib, name):
    x = points()
    out = torch.empty_like(x)
    x_at, out_at = ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(out.data_ptr())
    getattr(lib, name)(x_at, out_at, ctypes.c_longlong(x.numel()))
    exact = eval(BY_NAME[name].torch.format("x"), {"torch": torch, "x": x.double()})
    plain = exact.float().isfinite()
    torch.testing.assert_close(out[~plain], exact[~plain].float(), equal_nan=True, rtol=0, atol=0)
    error = (out.double() - exact).abs()[plain]
    floor = {"erf_plus_one": 2e-8, "sin": 1e-9, "cos": 1e-9}.get(name, 1e-37)
    assert (error <= LIMIT * exact.abs()[plain] + floor).all()
    zero = (x == 0) & (exact == 0)
    assert (out.signbit() == exact.signbit())[zero].all()


def test_quotients(lib):
    x = points()
    for by in (1.0, 7.3, 0.02, -3.0, 1e30, 0.0, np.inf, np.nan, 1e-40):
        out = torch.empty_like(x)
        x_at, out_at = ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(out.data_ptr())
        lib.divide_by(x_at, ctypes.c_float(by), out_at, ctypes.c_longlong(x.numel()))
        torch.testing.assert_close(out, x / by, equal_nan=True, rtol=LIMIT, atol=1e-37)
