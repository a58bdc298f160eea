"""Accuracy and conventions of the special functions in C++: mpmath, and torch at edges."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import torch
from cpp_build import build_code

from minductor.dialects.scalar.table import BY_NAME, POLYNOMIALS

RNG = np.random.default_rng(0)
POSITIVE = np.concatenate([10 ** RNG.uniform(-6, 2.5, 40), RNG.uniform(0, 30, 40), [2, 1.99999]])
BOTH = np.concatenate([POSITIVE, -POSITIVE - 0.003])  # off the poles
WIDE = 10 ** RNG.uniform(-3, 4, 60)
NEAR = 10 ** RNG.uniform(-1, 4, 60)
POINTS = RNG.uniform(-3, 3, 60)
DEGREES = RNG.integers(0, 15, 60).astype(float)

Case = tuple[Callable[..., Any], tuple[np.ndarray, ...]]
UNARY: dict[str, Case] = {
    "bessel_y0": (lambda x: mp.bessely(0, x), (POSITIVE,)),
    "bessel_y1": (lambda x: mp.bessely(1, x), (POSITIVE,)),
    "modified_bessel_k0": (lambda x: mp.besselk(0, x), (POSITIVE,)),
    "modified_bessel_k1": (lambda x: mp.besselk(1, x), (POSITIVE,)),
    "scaled_modified_bessel_k0": (lambda x: mp.besselk(0, x) * mp.exp(x), (POSITIVE,)),
    "scaled_modified_bessel_k1": (lambda x: mp.besselk(1, x) * mp.exp(x), (POSITIVE,)),
    "spherical_bessel_j0": (lambda x: mp.sin(x) / x, (BOTH,)),
    "airy_ai": (mp.airyai, (RNG.uniform(-30, 20, 80),)),
    "digamma": (lambda x: mp.psi(0, x), (BOTH,)),
    "trigamma": (lambda x: mp.psi(1, x), (BOTH,)),
}
BINARY: dict[str, Case] = {
    "zeta": (mp.zeta, (RNG.uniform(1.01, 20, 40), 10 ** RNG.uniform(-2, 2, 40))),
    "igamma": (lambda a, x: mp.gammainc(a, 0, x, regularized=True), (WIDE, WIDE[::-1])),
    "igammac": (lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True), (NEAR, NEAR * 1.03)),
    "chebyshev_polynomial_t": (lambda x, n: mp.chebyt(n, x), (POINTS, DEGREES)),
    "chebyshev_polynomial_u": (lambda x, n: mp.chebyu(n, x), (POINTS, DEGREES)),
    "hermite_polynomial_h": (lambda x, n: mp.hermite(n, x), (POINTS, DEGREES)),
    "laguerre_polynomial_l": (lambda x, n: mp.laguerre(n, 0, x), (POINTS, DEGREES)),
    "legendre_polynomial_p": (lambda x, n: mp.legendre(n, x), (POINTS, DEGREES)),
}
EVERY = {**UNARY, **BINARY}
PAIRS = ("zeta", "igamma", "igammac", *POLYNOMIALS)
EDGES = [0, -0.0, 1, -1, -2, -2.5, 0.5, np.inf, -np.inf, np.nan, 100, 710, 3, -3]


def code() -> str:
    out: list[str] = []
    for t, n in (("f32", 16), ("f64", 8)):
        for f in (*UNARY, *PAIRS):
            args = "ld(L, x + i)" + (", ld(L, y + i)" if f in PAIRS else "")
            body = f"[&](auto L, i64 i) HOT {{ st(L, o + i, m_{f}({args})); }}"
            sign = f"(const {t} *x, const {t} *y, {t} *o, i64 n)"
            out.append(f'extern "C" void {f}_{t}{sign} {{ lane_loop<{n}, 1, 1>(0, n, {body}); }}')
    return "\n".join(out)


@pytest.fixture(scope="module")
def lib(tmp_path_factory) -> ctypes.CDLL:
    return build_code(code(), tmp_path_factory.mktemp("special"))


def run(lib, name: str, *args: np.ndarray) -> np.ndarray:
    t = "f32" if args[0].dtype == np.float32 else "f64"
    out = np.empty_like(args[0])
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (args[0], args[-1], out)]
    getattr(lib, f"{name}_{t}")(*pointers, ctypes.c_longlong(out.size))
    return out


@pytest.mark.parametrize("name", EVERY)
def test_accuracy(lib, name):
    """f32 results are the rounded exact ones, but for ties; f64 ones are good to ten digits."""
    exact, points = EVERY[name]
    for dtype, bound in ((np.float32, 0.51), (np.float64, 4.5e5)):
        args = [np.ascontiguousarray(p.astype(dtype)) for p in points]
        for got, *at in zip(run(lib, name, *args), *args, strict=True):
            with mp.workprec(200):
                want = mp.re(exact(*(mp.mpf(float(v)) for v in at)))
                rounded = dtype(float(want))
                if not np.isfinite(rounded) or abs(rounded) < 1e-30:
                    continue
                error = abs(mp.mpf(float(got)) - want) / mp.mpf(float(np.spacing(abs(rounded))))
            assert error <= bound, (dtype, at, got, float(want))


@pytest.mark.parametrize("name", [*UNARY, *PAIRS])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_edges(lib, name, dtype):
    """Poles, infinities and degrees as torch has them, which gives a number for some NaN."""
    x = np.array(EDGES, dtype=dtype)
    args = [np.repeat(x, x.size), np.tile(x, x.size)] if name in PAIRS else [x]
    expression = BY_NAME[name].torch.format(*(f"a{i}" for i in range(len(args))))
    names = {f"a{i}": torch.from_numpy(a) for i, a in enumerate(args)}
    want = eval(expression, {"torch": torch}, names).numpy()
    got = run(lib, name, *args)
    ok = np.isclose(got, want, rtol=1e-4, atol=1e-30, equal_nan=True) | np.isnan(args).any(0)
    if name in POLYNOMIALS:  # where f32 recurrences of torch overflow
        ok |= np.isin(args[1], (100, 710)) & (dtype == np.float32)
    if name in ("zeta", "igammac"):
        ok |= np.isinf(args).any(0)
    bad = [(*(float(a[i]) for a in args), got[i], want[i]) for i in np.flatnonzero(~ok)]
    assert not bad


def test_zeta_of_an_infinite_exponent() -> None:
    """Below zero some term has a base between 0 and 1: infinite, as eager has it."""
    x, q = torch.full((4,), torch.inf), torch.tensor([-10.33, -0.5, 0.5, 1.0])
    ours = torch.compile(torch.special.zeta, backend="minductor")
    assert torch.equal(ours(x, q), torch.special.zeta(x, q))
