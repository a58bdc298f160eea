"""Exponentials, tanh, sine and cosine of f32 in Triton: few instructions, no branches an element.

A kernel of one such function reads 4 bytes an element, in whose time a GPU of today does about 32
instructions; functions of the vendor's library take that and more.

Sums a + b * c are written as `tl.fma`: contraction is off. Adding 1.5 * 2^23 rounds to a whole
number and leaves it in the low bits; multiples of a constant are taken away in parts (W. J. Cody,
W. Waite: Software Manual for the Elementary Functions, 1980).
"""

from __future__ import annotations

from collections.abc import Callable

# mi_ex2 is the hardware's approximation of 2^x, good to 2 ulp for small x only: an exact reduction
# goes before it, an exact scaling after it. The whole part stays within -126 .. 127; what
# is left over goes through mi_ex2, which makes infinities and zeros, the scaling subnormals.
_EXP = (
    "t = tl.minimum(tl.maximum({whole}, 12582913.0), 12583166.0)\n"
    "    k = t - 12583039.0\n"
    "{rest}"
    "    return e * (t.to(tl.int32, bitcast=True) << 23).to(tl.float32, bitcast=True)"
)

# sin(a) = (-1)^q sin(r), r = a - q pi within +-pi/2; the cosine with q a half more than a whole
# number. The three parts of pi are f32 numbers; the first difference is exact.
_TURN = (
    "{whole}"
    "    r = tl.fma(q, -3.1415927410125732, a)\n"
    "    r = tl.fma(q, 8.742277657347586e-08, r)\n"
    "    r = tl.fma(q, 3.4302490200117637e-15, r)\n"
    "    s = r * r\n"
    "    p = tl.fma(s, 2.603981556603685e-06, -1.9808829529210925e-04)\n"
    "    p = tl.fma(p, s, 8.3330562338233e-03)\n"
    "    p = tl.fma(p, s, -1.6666659712791443e-01)\n"
    "    v = tl.fma(r * s, p, r)\n"
    "    v = (v.to(tl.int32, bitcast=True) ^ (n << 31)).to(tl.float32, bitcast=True)\n"
    "{zero}    return v"
)
_SINE = {
    "whole": (
        "t = tl.fma(a, 0.31830987334251404, 12582912.0)\n"
        "    q = t - 12582912.0\n"
        "    n = t.to(tl.int32, bitcast=True)\n"
    ),
}
_COSINE = {
    "whole": (
        "t = tl.fma(a, 0.31830987334251404, -0.5) + 12582912.0\n"
        "    q = (t - 12582912.0) + 0.5\n"
        "    n = t.to(tl.int32, bitcast=True) + 1\n"
    ),
}

# Two parts of pi from below, so that -0.0 stays; a polynomial good to 2^-19.
_FAST_TURN = (
    "{whole}"
    "    r = tl.fma(q, -3.1415925025939941, a)\n"
    "    r = tl.fma(q, -1.5099579909783764e-07, r)\n"
    "    s = r * r\n"
    "    p = tl.fma(s, -1.8516230161676626e-04, 8.31349201021468e-03)\n"
    "    p = tl.fma(p, s, -1.6665801961265392e-01)\n"
    "    v = r * tl.fma(s, p, 1.0)\n"
    "    return (v.to(tl.int32, bitcast=True) ^ (n << 31)).to(tl.float32, bitcast=True)"
)

# Large arguments go the library's way, if a program has one. A program that asks first does not
# hold what it asked about and its results at once; one that asks last computes while it waits.
_ASK = (
    "far = (tl.abs(a) > 131072.0) | tl.zeros([1], tl.int1)\n"
    "    if tl.max(tl.ravel(far.to(tl.int32)), 0) != 0:\n"
    "        v = tl.where(tl.abs(a) > 131072.0, {library}(a), {value})\n"
)
_LAST = "v = {near}(a)\n    " + _ASK.replace("{value}", "v") + "    return v"
_FIRST = _ASK.replace("{value}", "{near}(a)") + "    else:\n        v = {near}(a)\n    return v"

_INSTRUCTION = (
    "if MI_INTERPRETED:\n"
    "        return {plain}\n"
    "    else:\n"
    "        return tl.inline_asm_elementwise(\n"
    "            '{name} $0, $1;', '=f,f', [a], dtype=tl.float32, is_pure=True, pack=1\n"
    "        )"
)

ELEMENTARY: dict[str, tuple[str, str]] = {
    "mi_exp_f32": (
        "a",
        _EXP.format(
            whole="tl.fma(a, 1.4426950408889634, 12583039.0)",
            rest=(
                "    r = tl.fma(k, -0.693359375, a)\n"
                "    r = tl.fma(k, 2.12194440e-4, r)\n"
                "    e = mi_ex2(r * 1.4426950408889634)\n"
            ),
        ),
    ),
    "mi_exp2_f32": (
        "a", _EXP.format(whole="a + 12583039.0", rest="    e = mi_ex2(a - k)\n"),
    ),
    "mi_sin_near": ("a", _TURN.format(zero="    v = tl.where(a == 0.0, a, v)\n", **_SINE)),
    "mi_cos_near": ("a", _TURN.format(zero="", **_COSINE)),
    "mi_sin_f32": ("a", _LAST.format(library="tl.sin", near="mi_sin_near")),
    "mi_cos_f32": ("a", _LAST.format(library="tl.cos", near="mi_cos_near")),
    "mi_first_sin": ("a", _FIRST.format(library="tl.sin", near="mi_sin_near")),
    "mi_first_cos": ("a", _FIRST.format(library="tl.cos", near="mi_cos_near")),
    "mi_sin": ("a", "return mi_sin_f32(a) if a.dtype == tl.float32 else tl.sin(a)"),
    "mi_cos": ("a", "return mi_cos_f32(a) if a.dtype == tl.float32 else tl.cos(a)"),
    # 1 / y of f32 is good to 2 ulp for y of 1 and more, and 0 at infinity
    "mi_sigmoid": ("a", "return 1.0 / (1.0 + mi_exp(-a))"),
    "mi_tanh": ("a", "return mi_tanh_f32(a) if a.dtype == tl.float32 else libdevice.tanh(a)"),
    "mi_tanh_f32": (
        "a",
        "x = tl.abs(a)\n"
        "    big = tl.fma(mi_rcp(1.0 + mi_ex2(x * 2.8853900817779268)), -2.0, 1.0)\n"
        "    s = x * x\n"
        "    p = tl.fma(s, -5.70498872745e-3, 2.06390887954e-2)\n"
        "    p = tl.fma(p, s, -5.37397155531e-2)\n"
        "    p = tl.fma(p, s, 1.33314422036e-1)\n"
        "    p = tl.fma(p, s, -3.33332819422e-1)\n"
        "    small = tl.fma(x * s, p, x)\n"
        "    return mi_signed(tl.where(x < 0.625, small, big), a)",
    ),
    "mi_signed": (  # the sign of b on an f32 that has none
        "a, b",
        "sign = b.to(tl.int32, bitcast=True) & -2147483648\n"
        "    return (a.to(tl.int32, bitcast=True) | sign).to(tl.float32, bitcast=True)",
    ),
    # both ways at once: choosing coefficients takes longer. erf(x) / x - 1, log2(erfc(x)) / x
    "mi_erf": ("a", "return mi_erf_f32(a) if a.dtype == tl.float32 else tl.erf(a)"),
    "mi_erf_f32": (
        "a",
        "x = tl.abs(a)\n"
        "    s = a * a\n"
        "    q = tl.fma(s, 8.185092087870014e-05, -8.0977030878864e-04)\n"
        "    q = tl.fma(q, s, 5.196952058489633e-03)\n"
        "    q = tl.fma(q, s, -2.6857705088403256e-02)\n"
        "    q = tl.fma(q, s, 1.1283663998040636e-01)\n"
        "    q = tl.fma(q, s, -3.7612631613444375e-01)\n"
        "    q = tl.fma(q, s, 1.28379166408489e-01)\n"
        "    p = tl.fma(x, -1.5051665658224812e-05, 4.5424293956590635e-04)\n"
        "    p = tl.fma(p, x, -5.208617437524886e-03)\n"
        "    p = tl.fma(p, x, 3.41840228498551e-02)\n"
        "    p = tl.fma(p, x, -1.5315512282668417e-01)\n"
        "    p = tl.fma(p, x, -9.163970602716015e-01)\n"
        "    p = tl.fma(p, x, -1.6282791098470164)\n"
        "    big = mi_signed(1.0 - mi_ex2(p * x), a)\n"
        "    return tl.where(x < 0.92, tl.fma(a, q, a), big)",
    ),
    # one instruction each; subnormals count as zeros
    "mi_ex2": ("a", _INSTRUCTION.format(plain="tl.exp2(a)", name="ex2.approx.ftz.f32")),
    "mi_rcp": ("a", _INSTRUCTION.format(plain="1.0 / a", name="rcp.approx.ftz.f32")),
    # for results of half precision: relative errors of at most 2^-15
    "mi_fast_exp": ("a", "return tl.exp(a)"),
    "mi_fast_exp2": ("a", "return tl.exp2(a)"),
    "mi_fast_div": ("a, b", "return a / b"),
    "mi_fast_reciprocal": ("a", "return 1.0 / a"),
    "mi_fast_sigmoid": ("a", "return 1.0 / (1.0 + tl.exp(-a))"),
    "mi_fast_tanh": (
        "a",
        "big = tl.fma(mi_rcp(1.0 + mi_ex2(a * 2.8853900817779268)), -2.0, 1.0)\n"
        "    small = a * tl.fma(a * a, -0.33333334, 1.0)\n"
        "    return tl.where(tl.abs(a) < 0.05, small, big)",
    ),
    # log2(erfc(x)) / x as a polynomial: 1 + erf(a) of a negative `a` is as near as erf itself
    "mi_fast_erf": (
        "a",
        "x = tl.abs(a)\n"
        "    p = tl.fma(x, -1.951491334176379e-05, 4.749579972946854e-04)\n"
        "    p = tl.fma(p, x, -5.162971013335334e-03)\n"
        "    p = tl.fma(p, x, 3.374645342435478e-02)\n"
        "    p = tl.fma(p, x, -1.5220314177368663e-01)\n"
        "    p = tl.fma(p, x, -9.172291622270028e-01)\n"
        "    p = tl.fma(p, x, -1.6280296587337808)\n"
        "    big = mi_signed(1.0 - mi_ex2(p * x), a)\n"
        "    small = a * tl.fma(a * a, -0.37612638903183754, 1.1283791670955126)\n"
        "    return tl.where(x < 0.03125, small, big)",
    ),
    # the logarithm of the hardware is good where that is not near 0; near 1 its series
    "mi_fast_log": (
        "a",
        "d = a - 1.0\n"
        "    p = tl.fma(d, -0.25, 0.33333334)\n"
        "    p = tl.fma(p, d, -0.5)\n"
        "    p = tl.fma(p, d, 1.0)\n"
        "    return tl.where(tl.abs(d) < 0.04, p * d, mi_lg2(a) * 0.69314718055994531)",
    ),
    "mi_lg2": ("a", _INSTRUCTION.format(plain="tl.log2(a)", name="lg2.approx.f32")),
    "mi_half_sin": ("a", _FAST_TURN.format(**_SINE)),
    "mi_half_cos": ("a", _FAST_TURN.format(**_COSINE)),
    "mi_fast_sin": ("a", _LAST.format(library="tl.sin", near="mi_half_sin")),
    "mi_fast_cos": ("a", _LAST.format(library="tl.cos", near="mi_half_cos")),
    "mi_first_fast_sin": ("a", _FIRST.format(library="tl.sin", near="mi_half_sin")),
    "mi_first_fast_cos": ("a", _FIRST.format(library="tl.cos", near="mi_half_cos")),
}  # fmt: skip
"""Helper -> (parameters, body); mi_exp and mi_exp2 choose by dtype in the prelude."""

FAST = {f"mi_{name[8:]}": name for name in ELEMENTARY if name.startswith("mi_fast_")}
"""Helper -> the one that `math = "fast"` takes in its place, for f32."""

_FIRST_ONES = {f"mi_{name[9:]}": name for name in ELEMENTARY if name.startswith("mi_first_")}
"""Helper -> the one that `far = "first"` takes in its place, for f32."""


def helpers_instead(word: Callable[[str, str], object]) -> dict[str, str]:
    """The helpers that a kernel of these words takes in the place of others."""
    found = dict(FAST) if word("math", "") == "fast" else {}
    if word("far", "") == "first":
        found = {**_FIRST_ONES, **{name: _FIRST_ONES.get(to, to) for name, to in found.items()}}
    return found
