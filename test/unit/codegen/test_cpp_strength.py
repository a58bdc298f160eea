"""Functions that kernel-strength brings in: a division by a shared number, 1 + erf."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import torch
from cpp_build import build_code

SHARED = [0.0, -0.0, 1.0, -3.0, 0.02, 7.3e5, -1e-30, 3e38, 1e-45, np.inf, -np.inf, np.nan]


def code() -> str:
    """Vectors of both kinds, rows of 64 with a number each."""
    out: list[str] = []
    for t, n in (("f32", 32), ("f64", 8)):
        body = "[&](auto L, i64 j) HOT { st(L, o + j, m_divide_by(ld(L, x + j), L(by))); }"
        head = f'extern "C" void divide_{t}(const {t} *x, {t} by, {t} *o, i64 n)'
        out.append(f"{head} {{ lane_loop<{n}, 1, 1>(0, n, {body}); }}")
        body = "[&](auto L, i64 j) HOT { st(L, o + j, m_erf_plus_one(ld(L, x + j))); }"
        head = f'extern "C" void erf_{t}(const {t} *x, {t} *o, i64 n)'
        out.append(f"{head} {{ lane_loop<{n}, 1, 1>(0, n, {body}); }}")
    return "\n".join(out)


@pytest.fixture(scope="module")
def lib(tmp_path_factory) -> ctypes.CDLL:
    return build_code(code(), tmp_path_factory.mktemp("strength"))


def divided(lib, x: np.ndarray, by: float) -> np.ndarray:
    out = np.empty_like(x)
    name, kind = ("f32", ctypes.c_float) if x.dtype == np.float32 else ("f64", ctypes.c_double)
    call = getattr(lib, f"divide_{name}")
    x_at, out_at = (ctypes.c_void_p(a.ctypes.data) for a in (x, out))
    call(x_at, kind(by), out_at, ctypes.c_longlong(x.size))
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_quotients_round_as_divisions_do(lib, dtype):
    rng = np.random.default_rng(1)
    x = (rng.standard_normal(4099) * 10.0 ** rng.integers(-20, 20, 4099)).astype(dtype)
    for by in (10.0 ** rng.uniform(-17, 17, 200)).astype(dtype):
        np.testing.assert_array_equal(divided(lib, x, by), x / by)


@pytest.mark.parametrize("by", SHARED)
def test_quotients_of_special_values(lib, by):
    """Infinities, NaN, zeros with their signs, overflow; next to subnormal within two ulp."""
    tops = np.finfo(np.float32)
    x = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -2.5, tops.max, -tops.max, tops.tiny, 1e-45]
    x = np.array(x * 3, dtype=np.float32)
    with np.errstate(all="ignore"):
        want = x / np.float32(by)
    got = divided(lib, x, by)
    np.testing.assert_array_max_ulp(got[np.isfinite(want)], want[np.isfinite(want)], 2)
    np.testing.assert_array_equal(got[~np.isfinite(want)], want[~np.isfinite(want)])
    keep = ~np.isnan(want)
    assert (np.signbit(got) == np.signbit(want))[keep].all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_one_and_erf(lib, dtype):
    """Next to exact in places of 1 everywhere, and far closer than eager's sum for x < -1."""
    x = torch.cat([torch.linspace(-8, 8, 20011), torch.randn(5000) * 1e-3]).to(dtype)
    x[:6] = torch.tensor([torch.nan, torch.inf, -torch.inf, 1e30, -1e30, -0.0])
    out, name = torch.empty_like(x), "f32" if dtype == torch.float32 else "f64"
    x_at, out_at = ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(out.data_ptr())
    getattr(lib, f"erf_{name}")(x_at, out_at, ctypes.c_longlong(x.numel()))
    exact, unit = 1 + torch.erf(x.double()), torch.finfo(dtype).eps
    assert out[0].isnan()
    error = (out[1:].double() - exact[1:]).abs()
    assert error.max() <= 1.5 * unit
    near = (x[1:] < -1) & (x[1:] > -3.5)
    if dtype == torch.float32:
        eager = ((1 + torch.erf(x[1:])).double() - exact[1:]).abs()
        assert (error / exact[1:])[near].max() < 0.1 * (eager / exact[1:])[near].max()
    assert (out >= 0)[1:].all()
