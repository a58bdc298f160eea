"""Special functions of emitted Triton modules, in f64 blocks; the C++ prelude has their twins.

Sources: NIST DLMF; conventions at poles and infinities are PyTorch's.
"""

from __future__ import annotations

import math

_NAN, _INF = 'float("nan")', 'float("inf")'
_WIDE = "x = a.to(tl.float64)"


def _body(*lines: str) -> str:
    """Lines of a function's body, indented once."""
    return "\n    ".join(lines)


def _digamma() -> tuple[str, str]:
    poly = "1.0 / 12"
    for c in ("1.0 / 120", "1.0 / 252", "1.0 / 240", "1.0 / 132", "691.0 / 32760", "1.0 / 12"):
        poly += f" - z * ({c}"
    poly += ")" * 6
    return "a", _body(
        _WIDE,
        "low = x < 0",
        "f = x - mi_round(x)",
        "t = tl.where(low & (f != 0), f * 3.14159265358979323846, 1.0)",
        "s = tl.where(low, -3.14159265358979323846 * tl.cos(t) / tl.sin(t), 0.0)",
        "y = tl.where(low, 1.0 - x, x)",
        "for _ in tl.static_range(10):",
        "    small = y < 10",
        "    s = s - tl.where(small, 1.0 / y, 0.0)",
        "    y = tl.where(small, y + 1.0, y)",
        "z = 1.0 / (y * y)",
        f"p = z * ({poly})",
        "s = s + (tl.log(y) - 0.5 / y - p)",
        f"s = tl.where(low & (f == 0), {_NAN}, s)",
        f"pole = tl.where(mi_signbit(a), {_INF}, -{_INF})",
        "return tl.where(x == 0, pole, s).to(a.dtype)",
    )


def _trigamma() -> tuple[str, str]:
    poly = "1.0 / 6"
    for c in ("1.0 / 30", "1.0 / 42", "1.0 / 30", "5.0 / 66", "691.0 / 2730", "7.0 / 6"):
        poly += f" - z * ({c}"
    poly += ")" * 6
    return "a", _body(
        _WIDE,
        "low = x < 0.5",
        "q = tl.sin((a * 3.14159265358979323846).to(tl.float64))",
        "w = tl.sin((x - mi_round(x)) * 3.14159265358979323846)",
        "w = tl.where(x == tl.floor(x), q, w)",
        "s = tl.where(low, -9.86960440108935861883 / (w * w), 0.0)",
        "y = tl.where(low, 1.0 - x, x)",
        "for _ in tl.static_range(10):",
        "    small = y < 10",
        "    s = s + tl.where(small, 1.0 / (y * y), 0.0)",
        "    y = tl.where(small, y + 1.0, y)",
        "z = 1.0 / (y * y)",
        f"p = z * ({poly})",
        "s = s + (1.0 + 0.5 / y + p) / y",
        "return tl.where(low, -s, s).to(a.dtype)",
    )


_BERNOULLI = (
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -5.2841901386874932e-10,
    1.3382536530684679e-11, -3.3896802963225829e-13, 8.5860620562778446e-15,
    -2.174868698558062e-16, 5.5090028283602295e-18, -1.3954464685812523e-19,
)  # fmt: skip
"""B_2k / (2k)! of the Euler-Maclaurin sum."""


def _zeta_right() -> tuple[str, str]:
    lines = [
        "s = tl.exp(-x * tl.log(q))",
        "w = q + 0.0",
        "b = s",
        "for i in tl.static_range(10):",
        "    more = (i < 9) | (w <= 9)",
        "    w = tl.where(more, w + 1.0, w)",
        "    b = tl.where(more, tl.exp(-x * tl.log(w)), b)",
        "    s = s + tl.where(more, b, 0.0)",
        "s = s + b * w / (x - 1.0) - 0.5 * b",
        "f = x * b / w",
    ]
    for k, c in enumerate(_BERNOULLI):
        lines.append(f"s = s + f * {c!r}")
        lines.append(f"f = f * ((x + {2 * k + 1}.0) * (x + {2 * k + 2}.0) / (w * w))")
    return "x, q", _body(*lines, "return s")


def _zeta() -> tuple[str, str]:
    return "a, b", _body(
        _WIDE,
        "q = b.to(tl.float64)",
        "floor = tl.floor(q)",
        "part = q - floor",
        "low = q < 0",
        "r = mi_zeta_right(x, tl.where(low, part, q))",
        "d = mi_zeta_right(x, tl.where(low, 1.0 - part, 1.0))",
        "d = d - mi_zeta_right(x, tl.where(low, 1.0 - q, 1.0))",
        "half = x * 0.5",
        "r = tl.where(low, tl.where(half == tl.floor(half), r + d, r - d), r)",
        f"r = tl.where(low & (x != tl.floor(x)), {_NAN}, r)",
        f"r = tl.where(low & (x == {_INF}), {_INF}, r)",
        f"r = tl.where((q <= 0) & (part == 0), {_INF}, r)",
        f"r = tl.where(x < 1, {_NAN}, r)",
        f"return tl.where(x == 1, {_INF}, r).to(a.dtype)",
    )


def _bessel_ie(order: int) -> tuple[str, str]:
    """e^-|x| I(x): the power series below 25, else the asymptotic one."""
    first = "x * 0.5" if order else "x * 0.0 + 1.0"
    return "a", _body(
        "x = tl.abs(a.to(tl.float64))",
        "y = tl.where(x < 25, x, 0.0)",
        "z = y * y * 0.25",
        f"t = {first.replace('x', 'y')}",
        "s = t",
        "k = tl.zeros_like(y)",
        "for _ in range(1, 80):",
        "    k = k + 1.0",
        f"    t = t * z / (k * (k + {order}.0))",
        "    s = s + t",
        "s = s * tl.exp(-y)",
        "v = tl.where(x < 25, 25.0, x)",
        "t = tl.zeros_like(v) + 1.0",
        "u = t",
        "k = tl.zeros_like(v)",
        "for _ in range(1, 25):",
        "    k = k + 1.0",
        f"    t = t * ((2.0 * k - 1.0) * (2.0 * k - 1.0) - {4 * order}.0) / (8.0 * k * v)",
        "    u = u + t",
        "u = u * 0.3989422804014326779 / tl.sqrt(v)",
        "r = tl.where(x < 25, s, u)",
        f"r = tl.where(x != x, x, r){'' if order else '.to(a.dtype)'}",
        "return mi_copysign(r.to(a.dtype), a)" if order else "return r",
    )


def _grown(name: str) -> tuple[str, str]:
    """A function times e^|x|, infinite where that is so in the operand's own type."""
    return "a", _body(
        "x = tl.abs(a.to(tl.float64))",
        "e = tl.exp(x)",
        f"e = tl.where(tl.abs(e.to(a.dtype)) == {_INF}, {_INF}, e)",
        f"return ({name}(a.to(tl.float64)) * e).to(a.dtype)",
    )


def _bessel_k(order: int, scaled: bool) -> tuple[str, str]:
    harmonic = [0.0]
    for k in range(1, 21):
        harmonic.append(harmonic[-1] + 1 / k)
    lines = [
        _WIDE,
        "y = tl.where(x < 2, x, 1.0)",
        "z = y * y * 0.25",
        f"t = {'y * 0.5' if order else 'z * 0.0 + 1.0'}",
        "i = t",
        "s = t * 0.0",
    ]
    for k in range(20):
        if k:
            lines += [f"t = t * z * {1 / (k * (k + order))!r}", "i = i + t"]
        weight = 2 * harmonic[k] + 1 / (k + 1) if order else harmonic[k]
        lines.append(f"s = s + t * {weight!r}")
    lines += [
        "l = tl.log(y * 0.5) + 0.57721566490153286061",
        "small = " + ("1.0 / y + l * i - 0.5 * s" if order else "s - l * i"),
        "v = tl.where(x < 2, 2.0, x)",
        "w = v * 0.0 + 0.5",
    ]
    for k in range(1, 23):
        h = 0.08 * k * k
        part = f"{math.exp(-h)!r}" + (f" * (1.0 + {h!r} / v)" if order else "")
        lines.append(f"w = w + {part} / tl.sqrt(1.0 + {h / 2!r} / v)")
    lines += ["w = 0.4 * w / tl.sqrt(v)"]
    if scaled:
        lines.append("r = tl.where(x < 2, small * tl.exp(y), w)")
    else:
        lines.append("r = tl.where(x < 2, small, w * tl.exp(-v))")
    lines += [
        f"r = tl.where(x == {_INF}, 0.0, r)",
        f"r = tl.where(x == 0, {_INF}, tl.where(x > 0, r, {_NAN}))",
        "return r.to(a.dtype)",
    ]
    return "a", _body(*lines)


def _spherical() -> tuple[str, str]:
    return "a", _body(
        _WIDE,
        "z = x * x",
        "s = 1.0 - z / 110.0 * (1.0 - z / 156.0)",
        "s = 1.0 - z / 6.0 * (1.0 - z / 20.0 * (1.0 - z / 42.0 * (1.0 - z / 72.0 * s)))",
        "y = tl.where(tl.abs(x) < 0.5, 1.0, x)",
        f"y = tl.where(tl.abs(x) == {_INF}, 1.0, y)",
        "r = tl.where(tl.abs(x) < 0.5, s, tl.sin(y) / y)",
        f"return tl.where(tl.abs(x) == {_INF}, 0.0, r).to(a.dtype)",
    )


def _airy() -> tuple[str, str]:
    return "a", _body(
        _WIDE,
        "y = tl.where((x >= -8) & (x <= 2), x, 0.0)",
        "z = y * y * y",
        "f = z * 0.0 + 1.0",
        "g = y",
        "s = f",
        "t = g",
        "k = tl.zeros_like(y)",
        "for _ in range(1, 60):",
        "    k = k + 3.0",
        "    s = s * z / ((k - 1.0) * k)",
        "    t = t * z / (k * (k + 1.0))",
        "    f = f + s",
        "    g = g + t",
        "mid = 0.35502805388781723926 * f - 0.25881940379280679841 * g",
        "v = tl.where((x < -8) | (x > 2), tl.abs(x), 4.0)",
        f"v = tl.where(v == {_INF}, 4.0, v)",
        "c = v * tl.sqrt(v) * (2.0 / 3)",
        "w = c * 0.0 + 0.5",
        "k = tl.zeros_like(c)",
        "for _ in range(1, 23):",
        "    k = k + 1.0",
        "    r = tl.sqrt(0.04 * k * k / c)",
        "    e = tl.exp((2.0 / 3) * tl.log(r + tl.sqrt(1.0 + r * r)))",
        "    w = w + tl.exp(-0.08 * k * k) * 0.5 * (e + 1.0 / e) / tl.sqrt(1.0 + r * r)",
        "w = 0.4 * w / tl.sqrt(c)",
        "right = 0.31830988618379067 * tl.sqrt(v / 3.0) * w * tl.exp(-c)",
        "u = c * 0.0 + 1.0",
        "p = u",
        "q = u * 0.0",
        "for k in tl.static_range(1, 18):",
        "    u = u * ((6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216.0 * k * (2 * k - 1))) / c",
        "    if k % 4 == 1:",
        "        q = q + u",
        "    elif k % 4 == 3:",
        "        q = q - u",
        "    elif k % 4 == 2:",
        "        p = p - u",
        "    else:",
        "        p = p + u",
        "t = c - 0.78539816339744830962",
        "left = (tl.cos(t) * p + tl.sin(t) * q) / (1.7724538509055160273 * tl.sqrt(tl.sqrt(v)))",
        "r = tl.where(x > 2, right, tl.where(x < -8, left, mid))",
        "r = tl.where(x > 103.892, 0.0, r)",
        f"return tl.where(tl.abs(x) < {_INF}, r, {_NAN}).to(a.dtype)",
    )


_START = {"u": "x + x", "h": "x + x", "v": "x + x - 1.0", "w": "x + x + 1.0", "l": "1.0 - x"}
_STEP = {
    "h": "2.0 * x * q - 2.0 * k * p",
    "e": "x * q - k * p",
    "l": "((2.0 * k + (1.0 - x)) * q - k * p) / (k + 1.0)",
    "p": "((2.0 * k + 1.0) * x * q - k * p) / (k + 1.0)",
}
_EDGE = {
    "t": ("1.0", "odd"),
    "p": ("1.0", "odd"),
    "u": ("n + 1.0", "odd * (n + 1.0)"),
    "v": ("1.0", "odd * (n + n + 1.0)"),
    "w": ("n + n + 1.0", "odd"),
}


def _polynomial(kind: str, shifted: bool) -> tuple[str, str]:
    """The recurrence to the greatest degree of the block."""
    lines = [
        f"x = a.to(tl.float64){' * 2.0 - 1.0' if shifted else ''}",
        "n = mi_trunc(b.to(tl.float64))",
        "p = tl.zeros_like(x + n) + 1.0",
        f"q = tl.zeros_like(p) + ({_START.get(kind, 'x')})",
        "r = tl.where(n == 0, p, q)",
        "k = p",
        "top = tl.max(tl.minimum(n, 100000.0)).to(tl.int32)",
        "for _ in range(1, top):",
        f"    t = {_STEP.get(kind, '2.0 * x * q - p')}",
        "    p = q",
        "    q = t",
        "    k = k + 1.0",
        "    r = tl.where(k == n, q, r)",
    ]
    if kind in _EDGE:
        one, minus = _EDGE[kind]
        lines += [
            "odd = 1.0 - 2.0 * (n - 2.0 * tl.floor(n * 0.5))",
            f"r = tl.where(x == 1, {one}, tl.where(x == -1, {minus}, r))",
        ]
    if kind in "he":
        lines += ["limit = 512 if a.dtype == tl.float64 else 128"]
        lines += [f"r = tl.where(n > limit, {_NAN}, r)"]
    lines += ["return tl.where(n < 0, 0.0, r).to(a.dtype)"]
    return "a, b", _body(*lines)


def _log_ndtr() -> tuple[str, str]:
    return "a", _body(
        "x = a.to(tl.float64) * 0.70710678118654752440",
        "left = tl.log(mi_erfcx(tl.where(x < 0, -x, 0.0)) * 0.5) - x * x",
        "right = mi_log1p(mi_erfc(tl.where(x < -1, -1.0, x)) * -0.5)",
        "return tl.where(x < -0.7, left, right).to(a.dtype)",
    )


def sources() -> dict[str, tuple[str, str]]:
    """Helper -> (parameters, body), as the prelude's own table."""
    polynomials = {
        f"mi_{pre}chebyshev_polynomial_{kind}": _polynomial(kind, bool(pre))
        for pre in ("", "shifted_")
        for kind in "tuvw"
    }
    polynomials |= {
        "mi_hermite_polynomial_h": _polynomial("h", False),
        "mi_hermite_polynomial_he": _polynomial("e", False),
        "mi_laguerre_polynomial_l": _polynomial("l", False),
        "mi_legendre_polynomial_p": _polynomial("p", False),
    }
    return polynomials | {
        "mi_digamma": _digamma(),
        "mi_trigamma": _trigamma(),
        "mi_zeta_right": _zeta_right(),
        "mi_zeta": _zeta(),
        "mi_i0e": _bessel_ie(0),
        "mi_i1e": _bessel_ie(1),
        "mi_i0": _grown("mi_i0e"),
        "mi_i1": _grown("mi_i1e"),
        "mi_modified_bessel_k0": _bessel_k(0, False),
        "mi_modified_bessel_k1": _bessel_k(1, False),
        "mi_scaled_modified_bessel_k0": _bessel_k(0, True),
        "mi_scaled_modified_bessel_k1": _bessel_k(1, True),
        "mi_spherical_bessel_j0": _spherical(),
        "mi_airy_ai": _airy(),
        "mi_log_ndtr": _log_ndtr(),
    }
