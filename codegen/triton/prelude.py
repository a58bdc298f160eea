"""Helper functions of emitted Triton modules; only those that a module calls are printed.

A helper that both Triton's compiler and its interpreter can run is written with `tl` functions;
what is left to libdevice runs on a GPU only. Semantics are those of the scalar table.
"""

from __future__ import annotations

import re

from minductor.codegen.triton.elementary import ELEMENTARY
from minductor.codegen.triton.special import sources

_CALL = re.compile(r"\b(mi_\w+)\b")

# name -> (parameters, body lines)
_PLAIN: dict[str, tuple[str, str]] = {
    # the division's short way is not for dividends of 0
    "mi_div": (
        "a, b",
        "if a.dtype == tl.float32:\n"
        "        q = tl.div_rn(tl.where(a == 0.0, 1.1920928955078125e-07, a), b)\n"
        "        return tl.where(a == 0.0, a * q, q)\n"
        "    else:\n"
        "        return a / b",
    ),
    "mi_reciprocal": (
        "a",
        "return tl.div_rn(tl.full([1], 1.0, a.dtype), a) if a.dtype == tl.float32 else 1.0 / a",
    ),
    "mi_maximum": ("a, b", "return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)"),
    "mi_minimum": ("a, b", "return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)"),
    "mi_fmax": ("a, b", "return tl.where(a != a, b, tl.where(b != b, a, tl.maximum(a, b)))"),
    "mi_fmin": ("a, b", "return tl.where(a != a, b, tl.where(b != b, a, tl.minimum(a, b)))"),
    "mi_relu": ("a", "return mi_c_max(a, tl.zeros_like(a))"),
    "mi_sign": (
        "a",
        "return (a > 0).to(a.dtype) - (a < 0).to(a.dtype)\n    # NaN gives 0, as torch.sign does",
    ),
    "mi_idiv": (
        "a, b",
        "q = a // b\n    return q - ((q * b != a) & ((a < 0) != (b < 0))).to(q.dtype)",
    ),
    "mi_imod": (
        "a, b",
        "r = a % b\n    return r + tl.where((r != 0) & ((r < 0) != (b < 0)), b, 0).to(r.dtype)",
    ),
    "mi_floordiv": (
        "a, b",
        "if a.dtype.is_floating():\n"
        "        m = mi_fmod(a, b)\n"
        "        d = mi_div(a - m, b)\n"
        "        d = tl.where((m != 0) & ((b < 0) != (m < 0)), d - 1.0, d)\n"
        "        f = tl.floor(d)\n"
        "        f = tl.where(d - f > 0.5, f + 1.0, f)\n"
        "        f = tl.where(d == 0, mi_copysign(tl.zeros_like(d), mi_div(a, b)), f)\n"
        "        return tl.where(b == 0, mi_div(a, b), f)\n"
        "    else:\n"
        "        return mi_idiv(a, mi_divisor(b))",
    ),
    "mi_truncdiv": (
        "a, b",
        "if a.dtype.is_floating():\n        return mi_trunc(mi_div(a, b))\n"
        "    else:\n        return a // mi_divisor(b)",
    ),
    "mi_remainder": (
        "a, b",
        "if a.dtype.is_floating():\n"
        "        m = mi_fmod(a, b)\n"
        "        return tl.where((m != 0) & ((b < 0) != (m < 0)), m + b, m)\n"
        "    else:\n"
        "        return mi_imod(a, mi_divisor(b))",
    ),
    "mi_fmod": (
        "a, b",
        "if a.dtype.is_floating():\n        return libdevice.fmod(a, b)\n"
        "    else:\n        return a % mi_divisor(b)",
    ),
    "mi_divisor": ("b", "return tl.where(b == 0, 1, b).to(b.dtype)"),
    "mi_trunc": ("a", "return tl.where(a < 0, tl.ceil(a), tl.floor(a))"),
    "mi_floor": ("a", "return tl.floor(a)"),
    "mi_ceil": ("a", "return tl.ceil(a)"),
    "mi_round": ("a", "return mi_round_by_hand(a) if MI_INTERPRETED else libdevice.rint(a)"),
    "mi_round_by_hand": (
        "a",
        "f = tl.floor(a)\n"
        "    d = a - f\n"
        "    odd = f - 2.0 * tl.floor(f * 0.5)\n"
        "    return tl.where(d > 0.5, f + 1.0, tl.where(d < 0.5, f, f + odd))",
    ),
    "mi_isinf": ("a", 'return tl.abs(a) == float("inf")'),
    "mi_isfinite": ("a", 'return tl.abs(a) < float("inf")'),
    "mi_bits": (
        "a",
        "if a.dtype == tl.float64:\n        return a.to(tl.int64, bitcast=True)\n"
        "    elif a.dtype == tl.float32:\n        return a.to(tl.int32, bitcast=True)\n"
        "    else:\n        return a.to(tl.int16, bitcast=True)",
    ),
    "mi_signbit": ("a", "return mi_bits(a) < 0"),
    "mi_copysign": ("a, b", "m = tl.abs(a)\n    return tl.where(mi_bits(b) < 0, -m, m)"),
    "mi_not": ("a", "return ~a if a.dtype != tl.int1 else a == 0"),
    "mi_shl": (
        "a, b",
        "w = a.dtype.primitive_bitwidth\n"
        "    return tl.where((b < 0) | (b >= w), 0, a << tl.where(b < 0, 0, b % w)).to(a.dtype)",
    ),
    "mi_shr": (
        "a, b",
        "w = a.dtype.primitive_bitwidth\n"
        "    return (a >> tl.where((b < 0) | (b >= w), w - 1, b)).to(a.dtype)",
    ),
    "mi_exp": ("a", "return mi_exp_f32(a) if a.dtype == tl.float32 else tl.exp(a)"),
    "mi_exp2": ("a", "return mi_exp2_f32(a) if a.dtype == tl.float32 else tl.exp2(a)"),
    "mi_log": ("a", "return tl.log(a)"),
    "mi_log2": ("a", "return tl.log2(a)"),
    "mi_sqrt": ("a", "return tl.sqrt_rn(a) if a.dtype == tl.float32 else tl.sqrt(a)"),
    "mi_rsqrt": (
        "a",
        "small = tl.abs(a) < 1.1754943508222875e-38\n"
        "    r = tl.rsqrt(tl.where(small, a * 18446744073709551616.0, a))\n"
        "    return tl.where(small, r * 4294967296.0, r)"
        " if a.dtype == tl.float32 else tl.rsqrt(a)",
    ),
    "mi_log1p": (
        "a",
        "u = 1.0 + a\n"
        "    c = tl.log(u) * mi_div(a, u - 1.0)\n"
        "    c = tl.where(u == 1.0, a, c)\n"
        '    return tl.where(u == float("inf"), u, c)'
        " if a.dtype == tl.float32 else libdevice.log1p(a)",
    ),
    "mi_expm1": (
        "a",
        "u = mi_exp(a)\n"
        "    c = (u - 1.0) * mi_div(a, tl.log(u))\n"
        "    c = tl.where(u == 1.0, a, tl.where(u - 1.0 == -1.0, -1.0, c))\n"
        '    return tl.where(u == float("inf"), u, c)'
        " if a.dtype == tl.float32 else libdevice.expm1(a)",
    ),
    "mi_pow": (
        "a, b",
        "if a.dtype.is_floating():\n        return libdevice.pow(a, b)\n"
        "    else:\n        return mi_ipow(a, b)",
    ),
    "mi_ipow": (
        "a, b",
        "a, b = tl.broadcast(a, b)\n"
        "    r = (a * 0 + 1).to(a.dtype)\n"
        "    x = a\n"
        "    n = tl.where(b < 0, 0, b)\n"
        "    for _ in range(a.dtype.primitive_bitwidth):\n"
        "        r = tl.where((n & 1) != 0, r * x, r)\n"
        "        x = x * x\n"
        "        n = n >> 1\n"
        "    odd = tl.where((b & 1) != 0, -1, 1)\n"
        "    low = tl.where(a == 1, 1, tl.where(a == -1, odd, 0))\n"
        "    return tl.where(b < 0, low, r).to(a.dtype)",
    ),
    # reductions: combine functions
    "mi_c_mul": ("a, b", "return a * b"),
    "mi_c_add": ("a, b", "return a + b"),
    "mi_c_xor": ("a, b", "return a ^ b"),
    "mi_c_or": ("a, b", "return a | b"),
    "mi_c_and": ("a, b", "return a & b"),
    "mi_c_max": (
        "a, b",
        "return mi_maximum(a, b) if a.dtype.is_floating() else tl.maximum(a, b)",
    ),
    "mi_c_min": (
        "a, b",
        "return mi_minimum(a, b) if a.dtype.is_floating() else tl.minimum(a, b)",
    ),
    "mi_c_argmax": (
        "v, i, w, j",
        "take = (w > v) | ((w != w) & (v == v)) | (((w == v) | ((w != w) & (v != v))) & (j < i))\n"
        "    return tl.where(take, w, v), tl.where(take, j, i)",
    ),
    "mi_c_argmin": (
        "v, i, w, j",
        "take = (w < v) | ((w != w) & (v == v)) | (((w == v) | ((w != w) & (v != v))) & (j < i))\n"
        "    return tl.where(take, w, v), tl.where(take, j, i)",
    ),
    "mi_c_cummax": (
        "v, i, w, j",
        "take = (w >= v) | (w != w) | (j < 0)\n"
        "    take = take & ~((v != v) & (w == w))\n"
        "    return tl.where(take, w, v), tl.where(take, j, i)",
    ),
    "mi_c_cummin": (
        "v, i, w, j",
        "take = (w <= v) | (w != w) | (j < 0)\n"
        "    take = take & ~((v != v) & (w == w))\n"
        "    return tl.where(take, w, v), tl.where(take, j, i)",
    ),
    "mi_c_logaddexp": (
        "a, b",
        "m = mi_maximum(a, b)\n"
        "    d = tl.minimum(a, b) - m\n"
        "    return tl.where((a == b) & (tl.abs(a) == float('inf')), a,"
        " m + tl.log(1.0 + tl.exp(d)))",
    ),
    "mi_c_welford": (
        "ma, sa, na, mb, sb, nb",
        "n = na + nb\n"
        "    d = mb - ma\n"
        "    r = tl.where(n == 0, 0.0, nb / tl.where(n == 0, 1.0, n))\n"
        "    return ma + d * r, sa + sb + d * d * na * r, n",
    ),
    "mi_c_max_sumexp": (
        "ma, sa, mb, sb",
        "m = mi_maximum(ma, mb)\n"
        '    z = tl.where(m == float("-inf"), 0.0, m)\n'
        "    return m, sa * tl.exp(ma - z) + sb * tl.exp(mb - z)",
    ),
    "mi_mulhi": (
        "a, b",
        "return ((a.to(tl.uint64) * b) >> 32).to(tl.uint32)",
    ),
    "mi_philox": (
        "seed, stream, index",
        "flat = index.to(tl.uint64)\n"
        "    c0 = flat.to(tl.uint32)\n"
        "    c1 = (flat >> 32).to(tl.uint32)\n"
        "    c2 = tl.zeros_like(c0) + stream\n"
        "    c3 = tl.zeros_like(c0)\n"
        "    key = seed.to(tl.uint64)\n"
        "    k0 = key.to(tl.uint32)\n"
        "    k1 = (key >> 32).to(tl.uint32)\n"
        "    for _ in range(10):\n"
        "        p = c0.to(tl.uint64) * 0xD2511F53\n"
        "        q = c2.to(tl.uint64) * 0xCD9E8D57\n"
        "        c0 = (q >> 32).to(tl.uint32) ^ c1 ^ k0\n"
        "        c1 = q.to(tl.uint32)\n"
        "        c2 = (p >> 32).to(tl.uint32) ^ c3 ^ k1\n"
        "        c3 = p.to(tl.uint32)\n"
        "        k0 = (k0.to(tl.uint64) + 0x9E3779B9).to(tl.uint32)\n"
        "        k1 = (k1.to(tl.uint64) + 0xBB67AE85).to(tl.uint32)\n"
        "    return c0, c1",
    ),
    "mi_random_f32": (
        "seed, stream, index",
        "a, b = mi_philox(seed, stream, index)\n"
        "    return (a >> 8).to(tl.float32) * 5.9604644775390625e-08",
    ),
    "mi_random_f64": (
        "seed, stream, index",
        "a, b = mi_philox(seed, stream, index)\n"
        "    whole = (b.to(tl.uint64) << 32) | a.to(tl.uint64)\n"
        "    return (whole >> 11).to(tl.float64) * 1.1102230246251565e-16",
    ),
    "mi_random_bf16": (
        "seed, stream, index",
        "a, b = mi_philox(seed, stream, index)\n"
        "    return ((a >> 24).to(tl.float32) * 0.00390625).to(tl.bfloat16)",
    ),
    "mi_random_f16": (
        "seed, stream, index",
        "a, b = mi_philox(seed, stream, index)\n"
        "    return ((a >> 21).to(tl.float32) * 0.00048828125).to(tl.float16)",
    ),
    "mi_normal_f32": (
        "seed, stream, index",
        "a, b = mi_philox(seed, stream, index)\n"
        "    u = ((a >> 8).to(tl.float32) + 1.0) * 5.9604644775390625e-08\n"
        "    v = (b >> 8).to(tl.float32) * 5.9604644775390625e-08\n"
        "    return tl.sqrt(-2.0 * tl.log(u)) * tl.cos(v * 6.283185307179586)",
    ),
    "mi_normal_f64": (
        "seed, stream, index",
        "a, b = mi_philox(seed, stream, index)\n"
        "    u = ((a >> 8).to(tl.float64) + 1.0) * 5.9604644775390625e-08\n"
        "    v = (b >> 8).to(tl.float64) * 5.9604644775390625e-08\n"
        "    return tl.sqrt(-2.0 * tl.log(u)) * tl.cos(v * 6.283185307179586)",
    ),
    "mi_random_bits": (
        "seed, stream, index",
        "a, b = mi_philox(seed, stream, index)\n"
        "    return ((b.to(tl.uint64) << 32) | a.to(tl.uint64)).to(tl.int64)",
    ),
}

_SOURCE = {**_PLAIN, **ELEMENTARY, **sources()}

_LIBDEVICE = {
    "mi_tan": "tan", "mi_asin": "asin", "mi_acos": "acos", "mi_atan": "atan", "mi_sinh": "sinh",
    "mi_cosh": "cosh", "mi_asinh": "asinh", "mi_acosh": "acosh", "mi_atanh": "atanh",
    "mi_log10": "log10", "mi_lgamma": "lgamma", "mi_erfc": "erfc", "mi_erfinv": "erfinv",
    "mi_erfcx": "erfcx", "mi_bessel_j0": "j0", "mi_bessel_j1": "j1", "mi_bessel_y0": "y0",
    "mi_bessel_y1": "y1", "mi_ndtri": "normcdfinv",
}  # fmt: skip
_NAN_AT_INFINITY = frozenset({"mi_bessel_j0", "mi_bessel_j1", "mi_bessel_y0", "mi_bessel_y1"})
"""The library has their limit, 0; PyTorch's formulas have none."""
_LIBDEVICE2 = {"mi_atan2": "atan2", "mi_hypot": "hypot", "mi_nextafter": "nextafter"}


def has_helper(name: str) -> bool:
    """A helper of this name can be printed."""
    return name in _SOURCE or name in _LIBDEVICE or name in _LIBDEVICE2


def _definition(name: str) -> str:
    if name in _LIBDEVICE:
        params, body = "a", f"return libdevice.{_LIBDEVICE[name]}(a)"
        if name in _NAN_AT_INFINITY:
            body = f"return tl.where(a - a == 0, libdevice.{_LIBDEVICE[name]}(a), float('nan'))"
    elif name in _LIBDEVICE2:
        params, body = "a, b", f"return libdevice.{_LIBDEVICE2[name]}(a, b)"
    else:
        params, body = _SOURCE[name]
    return f"@triton.jit\ndef {name}({params}):\n    {body}\n"


def helpers_for(text: str) -> str:
    """Definitions of all helpers that the text, or one of them, calls, in order of name."""
    needed: dict[str, str] = {}
    todo = sorted(set(_CALL.findall(text)))
    while todo:
        name = todo.pop()
        if name in needed:
            continue
        needed[name] = _definition(name)
        todo += [n for n in sorted(set(_CALL.findall(needed[name]))) if n != name]
    return "\n\n".join(needed[name] for name in sorted(needed))
