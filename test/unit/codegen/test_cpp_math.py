"""Accuracy and special values of the prelude's math, against mpmath and torch in f64."""

from __future__ import annotations

import ctypes

import mpmath as mp
import numpy as np
import pytest
import torch
from cpp_build import build_code

from minductor.dialects.scalar.table import BY_NAME

# function -> bound in units in the last place of the f32 result
F32 = {
    "exp": 1.1, "exp2": 1, "expm1": 1.7, "log": 0.9, "log2": 1, "log10": 1, "log1p": 1,
    "sin": 2, "cos": 2, "tan": 3, "asin": 2.5, "acos": 1.5, "atan": 1.6, "sinh": 2.5, "cosh": 2.5,
    "tanh": 1.2, "asinh": 2, "acosh": 2.2, "atanh": 2, "erf": 1.5, "erfc": 4, "erfcx": 4,
    "sqrt": 0.51, "rsqrt": 1.5, "reciprocal": 0.51, "lgamma": 0.6, "digamma": 0.6, "erfinv": 0.6,
    "ndtri": 0.6, "i0": 0.6, "i0e": 0.6, "i1": 0.6, "i1e": 0.6,
}  # fmt: skip
# function -> bound for f64, where the reference is mpmath
F64 = {
    "exp": 1.1, "exp2": 1, "expm1": 1.8, "log": 0.9, "log2": 1, "log10": 1, "log1p": 1, "sin": 2,
    "cos": 2, "tan": 3, "sinh": 2.5, "cosh": 2, "tanh": 3, "asinh": 2, "acosh": 2.2, "atanh": 2,
    "erf": 1.5, "erfc": 6,
}  # fmt: skip
EXACT = ("floor", "ceil", "trunc", "round", "abs", "sign", "relu")
TWO = {"atan2": 2.0, "hypot": 0.6, "pow": 0.6}
TWO_EXACT = ("copysign", "nextafter", "remainder", "floordiv", "truncdiv", "minimum", "maximum")

MP = {
    "exp2": lambda v: mp.mpf(2) ** v,
    "log2": lambda v: mp.log(v) / mp.log(2),
}


def code() -> str:
    """Every function over vectors (with a masked tail) and over scalars."""
    out: list[str] = []
    one = "ld(L, x + i)"
    two = "ld(L, x + i), ld(L, y + i)"
    for t, n in (("f32", 16), ("f64", 8)):
        unary = {**F32, **dict.fromkeys(EXACT, 0)}
        names = [(f, one) for f in unary] + [(f, two) for f in (*TWO, *TWO_EXACT)]
        for f, args in names:
            body = f"[&](auto L, i64 i) HOT {{ st(L, o + i, m_{f}({args})); }}"
            sign = f"(const {t} *x, const {t} *y, {t} *o, i64 n)"
            out.append(f'extern "C" void v_{f}_{t}{sign} {{ lane_loop<{n}, 1, 1>(0, n, {body}); }}')
            out.append(f'extern "C" void s_{f}_{t}{sign} {{ lane_loop<1, 1, 0>(0, n, {body}); }}')
    return "\n".join(out)


@pytest.fixture(scope="module")
def lib(tmp_path_factory) -> ctypes.CDLL:
    return build_code(code(), tmp_path_factory.mktemp("math"))


def run(lib, form: str, name: str, x: np.ndarray, y: np.ndarray | None = None) -> np.ndarray:
    t = "f32" if x.dtype == np.float32 else "f64"
    out = np.empty_like(x)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (x, x if y is None else y, out)]
    getattr(lib, f"{form}_{name}_{t}")(*pointers, ctypes.c_longlong(x.size))
    return out


def samples(dtype, n: int, seed: int = 0) -> np.ndarray:
    """Special values, random bits, and ranges where functions turn."""
    rng = np.random.default_rng(seed)
    info = np.finfo(dtype)
    tiny, small, top = float(info.tiny), float(info.smallest_subnormal), float(info.max)
    special = [
        0.0, -0.0, 1, -1, 0.5, -0.5, np.inf, -np.inf, np.nan, tiny, -tiny, small, -small, tiny / 2,
        top, -top, 2, 3, 10, 1e5, -1e5, 1e10, -3, -2, 0.25, 0.9375, 0.75, 1.5, 2.5, -1.5, 0.99999,
        1.00001, 88.7, 88.8, -87.3, -103, -104, -150, 89.5, 5, 6, 20, -20, 100, 12000, 12001,
    ]  # fmt: skip
    bits = np.uint32 if dtype == np.float32 else np.uint64
    parts = [np.array(special, dtype=np.float64).astype(dtype)]
    parts.append(rng.integers(0, np.iinfo(bits).max, n, dtype=bits).view(dtype))
    parts += [(rng.standard_normal(n) * s).astype(dtype) for s in (1e-3, 1, 4, 20, 100)]
    parts.append((1 + rng.standard_normal(n) * 1e-2).astype(dtype))
    parts.append((np.round(rng.random(n) * 7000) * np.pi / 2).astype(dtype))
    return np.concatenate(parts)


def reference(name: str, *args: np.ndarray) -> np.ndarray:
    """PyTorch's value."""
    expression = BY_NAME[name].torch.format(*(f"a{i}" for i in range(len(args))))
    tensors = {f"a{i}": torch.from_numpy(a) for i, a in enumerate(args)}
    return eval(expression, {"torch": torch}, tensors).numpy()


def ulps(got: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Error of f32 results in units in the last place; inf where the kinds differ."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
        error = np.abs(got.astype(np.float64) - exact) / np.spacing(np.abs(rounded)).astype(float)
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    odd = ~np.isfinite(rounded) | ~np.isfinite(got)
    return np.where(same, np.where(odd, 0, error), np.where(odd, np.inf, error))


@pytest.mark.parametrize("name", F32)
def test_f32_within_bound(lib, name):
    x = samples(np.float32, 20000)
    exact = reference(name, x.astype(np.float64))
    if name == "acosh":
        exact = np.where(x < 1, np.nan, exact)
    if name in ("i0", "i1"):  # infinite where e^|x| is in f32, as eager has it
        with np.errstate(over="ignore"):
            exact = np.where(np.isinf(np.exp(np.abs(x))), exact * np.inf, exact)
    for form in "vs":
        error = ulps(run(lib, form, name, x), exact)
        if name in ("erfcx", "i1", "i1e"):  # subnormal results of torch's own double version
            error = np.where(np.abs(exact) < 1e-37, 0, error)
        worst = int(np.argmax(error))
        assert error[worst] <= F32[name], (form, x[worst], exact[worst])


@pytest.mark.parametrize("name", F64)
def test_f64_within_bound(lib, name):
    x = samples(np.float64, 60, seed=3)
    got, loose = run(lib, "v", name, x), reference(name, x)
    np.testing.assert_array_equal(got, run(lib, "s", name, x))
    fn = MP.get(name) or getattr(mp, name)
    with mp.workprec(200):
        for a, g, r in zip(x.tolist(), got.tolist(), loose.tolist(), strict=True):
            if not np.isfinite(r) or not np.isfinite(a) or abs(a) > 1e6:
                assert g == pytest.approx(r, rel=1e-13, nan_ok=True), a
                continue
            exact = fn(mp.mpf(a))
            error = abs(mp.mpf(g) - exact) / mp.mpf(float(np.spacing(abs(r))))
            assert error <= F64[name], (a, g, float(exact))


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exact(lib, name, dtype):
    x = samples(dtype, 5000)
    for form in "vs":
        got, want = run(lib, form, name, x), reference(name, x)
        np.testing.assert_array_equal(got, want)
        keep = ~np.isnan(x) & (name != "sign")
        assert (np.signbit(got) == np.signbit(want))[keep].all()


@pytest.mark.parametrize("name", [*TWO, *TWO_EXACT])
def test_two_operands(lib, name):
    x, y = samples(np.float32, 20000), samples(np.float32, 20000, seed=5)
    np.random.default_rng(9).shuffle(y)
    if name in TWO:
        exact = reference(name, x.astype(np.float64), y.astype(np.float64))
    elif name == "remainder":
        x, y = (np.clip(v, -1e6, 1e6) for v in (x, y))
        y = np.where(np.abs(y) < 1e-1, np.float32(0.5), y)
    for form in "vs":
        got = run(lib, form, name, x, y)
        if name in TWO:
            assert ulps(got, exact).max() <= TWO[name]
        else:
            np.testing.assert_array_equal(got, reference(name, x, y))


def test_far_arguments_do_not_change_their_neighbours(lib):
    x = np.linspace(-9, 9, 64).astype(np.float32)
    far = x.copy()
    far[::7] = 1e20
    for name in ("sin", "cos", "tan"):
        a, b = run(lib, "v", name, x), run(lib, "v", name, far)
        keep = np.ones(64, bool)
        keep[::7] = False
        np.testing.assert_array_equal(a[keep], b[keep])
        assert ulps(b, reference(name, far.astype(np.float64))).max() <= 3
