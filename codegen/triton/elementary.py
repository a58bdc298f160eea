"""Exponentials, tanh, sine and cosine of f32 in Triton: few instructions, no branches an element.

A kernel of one such function reads 4 bytes an element, in whose time a GPU of today does about 32
instructions; functions of the vendor's library take that and more.

Sums a + b * c are written as `tl.fma`: contraction is off. Adding 1.5 * 2^23 rounds to a whole
number and leaves it in the low bits; multiples of a constant are taken away in parts (W. J. Cody,
W. Waite: Software Manual for the Elementary Functions, 1980).
"""

from __future__ import annotations

# tl.exp2 of f32 is the hardware's approximation of 2^x, good to 2 ulp for small x only: an exact
# reduction goes before it, an exact scaling after it. The whole part of the exponent stays within
# -126 .. 127; what is left over goes through exp2, which makes infinities, subnormals and zeros.
_EXP = (
    "t = tl.minimum(tl.maximum({whole}, 12582913.0), 12583166.0)\n"
    "    k = t - 12583039.0\n"
    "{rest}"
    "    return e * (t.to(tl.int32, bitcast=True) << 23).to(tl.float32, bitcast=True)"
)

# sin(a) = (-1)^q sin(r), r = a - q pi within +-pi/2; the cosine with q a half more than a whole
# number. The three parts of pi are f32 numbers; the first difference is exact. Large arguments go
# the library's way, if a program has one.
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
    "{zero}"
    "    far = (tl.abs(a) > 131072.0) | tl.zeros([1], tl.int1)\n"
    "    if tl.max(tl.ravel(far.to(tl.int32)), 0) != 0:\n"
    "        v = tl.where(tl.abs(a) > 131072.0, {library}(a), v)\n"
    "    return v"
)

ELEMENTARY: dict[str, tuple[str, str]] = {
    "mi_exp_f32": (
        "a",
        _EXP.format(
            whole="tl.fma(a, 1.4426950408889634, 12583039.0)",
            rest=(
                "    r = tl.fma(k, -0.693359375, a)\n"
                "    r = tl.fma(k, 2.12194440e-4, r)\n"
                "    e = tl.exp2(r * 1.4426950408889634)\n"
            ),
        ),
    ),
    "mi_exp2_f32": (
        "a", _EXP.format(whole="a + 12583039.0", rest="    e = tl.exp2(a - k)\n"),
    ),
    "mi_sin_f32": (
        "a",
        _TURN.format(
            whole=(
                "t = tl.fma(a, 0.31830987334251404, 12582912.0)\n"
                "    q = t - 12582912.0\n"
                "    n = t.to(tl.int32, bitcast=True)\n"
            ),
            zero="    v = tl.where(a == 0.0, a, v)\n",
            library="tl.sin",
        ),
    ),
    "mi_cos_f32": (
        "a",
        _TURN.format(
            whole=(
                "t = tl.fma(a, 0.31830987334251404, -0.5) + 12582912.0\n"
                "    q = (t - 12582912.0) + 0.5\n"
                "    n = t.to(tl.int32, bitcast=True) + 1\n"
            ),
            zero="",
            library="tl.cos",
        ),
    ),
    "mi_sin": ("a", "return mi_sin_f32(a) if a.dtype == tl.float32 else tl.sin(a)"),
    "mi_cos": ("a", "return mi_cos_f32(a) if a.dtype == tl.float32 else tl.cos(a)"),
    # 1 / y of f32 is good to 2 ulp for y of 1 and more, and 0 at infinity
    "mi_sigmoid": ("a", "return 1.0 / (1.0 + mi_exp(-a))"),
    "mi_tanh": (
        "a",
        "x = tl.abs(a)\n"
        "    big = 1.0 - 2.0 / (1.0 + tl.exp2(x * 2.8853900817779268))\n"
        "    s = x * x\n"
        "    p = tl.fma(s, -5.70498872745e-3, 2.06390887954e-2)\n"
        "    p = tl.fma(p, s, -5.37397155531e-2)\n"
        "    p = tl.fma(p, s, 1.33314422036e-1)\n"
        "    p = tl.fma(p, s, -3.33332819422e-1)\n"
        "    small = tl.fma(x * s, p, x)\n"
        "    return mi_copysign(tl.where(x < 0.625, small, big), a)"
        " if a.dtype == tl.float32 else libdevice.tanh(a)",
    ),
    # for results of half precision: relative errors of at most 2^-15
    "mi_fast_exp": ("a", "return tl.exp(a)"),
    "mi_fast_exp2": ("a", "return tl.exp2(a)"),
    "mi_fast_div": ("a, b", "return a / b"),
    "mi_fast_reciprocal": ("a", "return 1.0 / a"),
    "mi_fast_sigmoid": ("a", "return 1.0 / (1.0 + tl.exp(-a))"),
    "mi_fast_tanh": (
        "a",
        "big = 1.0 - 2.0 / (1.0 + tl.exp2(a * 2.8853900817779268))\n"
        "    small = a * tl.fma(a * a, -0.33333334, 1.0)\n"
        "    return tl.where(tl.abs(a) < 0.05, small, big)",
    ),
}  # fmt: skip
"""Helper -> (parameters, body); mi_exp and mi_exp2 choose by dtype in the prelude."""

FAST = {f"mi_{name[8:]}": name for name in ELEMENTARY if name.startswith("mi_fast_")}
"""Helper -> the one that `math = "fast"` takes in its place, for f32."""
