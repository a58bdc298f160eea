"""Pointwise ops, reductions, scans, factories: functions of aten overloads and their inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten
F32, F64, BF16, F16 = torch.float32, torch.float64, torch.bfloat16, torch.float16
I64, I32, I8, U8, BOOL = torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool
FLOATS = (F32, F64, BF16, F16)
INTS = (I64, I32, I8, U8)
NUMERIC = (*FLOATS, *INTS)
ALL = (*NUMERIC, BOOL)


def sample(dtype: torch.dtype, *shape: int, seed: int = 0) -> Tensor:
    """Values around 0 with NaN, infinities, -0.0 and, for integers, the extremes."""
    generator = torch.Generator().manual_seed(seed + 31)
    if dtype == BOOL:
        return torch.rand(shape, generator=generator) < 0.5
    if not dtype.is_floating_point:
        info = torch.iinfo(dtype)
        values = torch.randint(max(info.min, -9), 10, shape, generator=generator).to(dtype)
        edges: list[float] = [info.min, info.max, 0]
    else:
        values = (torch.randn(shape, generator=generator) * 3).to(dtype)
        edges = [float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.0, 0.5]
    flat = values.view(-1)
    for k, edge in enumerate(edges[: max(flat.numel() - 1, 0)]):
        flat[(3 * k + seed) % flat.numel()] = edge
    return values


def finite(dtype: torch.dtype, *shape: int, seed: int = 0) -> Tensor:
    """Values without edges."""
    if dtype == BOOL:
        return sample(BOOL, *shape, seed=seed)
    if not dtype.is_floating_point:
        return sample(dtype, *shape, seed=seed).remainder(7)
    generator = torch.Generator().manual_seed(seed + 7)
    return torch.randn(shape, generator=generator).to(dtype)


UNARY: dict[str, tuple[torch.dtype, ...]] = {
    **dict.fromkeys(("neg", "abs", "sign", "relu"), NUMERIC),
    **dict.fromkeys(("clone", "logical_not", "isnan", "isinf", "isfinite", "signbit"), ALL),
    **dict.fromkeys(("floor", "ceil", "trunc", "round", "positive"), NUMERIC),
    **dict.fromkeys(("bitwise_not",), (*INTS, BOOL)),
    **dict.fromkeys(("sqrt", "rsqrt", "reciprocal", "exp", "exp2", "expm1", "log", "log1p"), ALL),
    **dict.fromkeys(("log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan"), ALL),
    **dict.fromkeys(("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sigmoid", "erf"), ALL),
    **dict.fromkeys(("erfc", "erfinv", "lgamma", "digamma", "i0"), (F32, F64, I64, BOOL)),
    **dict.fromkeys(("special_i1", "special_i0e", "special_i1e", "special_ndtri"), (F32, F64)),
    **dict.fromkeys(("special_erfcx", "special_log_ndtr", "special_bessel_j0"), (F32, F64)),
    **dict.fromkeys(("special_airy_ai", "special_spherical_bessel_j0"), (F32, F64, I64)),
    **dict.fromkeys(
        (
            *("special_bessel_y0", "special_bessel_y1", "special_modified_bessel_i0"),
            *("special_modified_bessel_k0", "special_scaled_modified_bessel_k1"),
        ),
        (F32, F64),
    ),
    "angle": ALL,
    "frexp.Tensor": FLOATS,
    **dict.fromkeys(("frac", "nan_to_num", "isposinf", "isneginf"), FLOATS),
}
BINARY: dict[str, tuple[torch.dtype, ...]] = {
    "add.Tensor": ALL,
    "sub.Tensor": NUMERIC,
    "mul.Tensor": ALL,
    "div.Tensor": ALL,
    "maximum.default": ALL,
    "minimum.default": ALL,
    "fmax.default": ALL,
    "fmin.default": ALL,
    "fmod.Tensor": FLOATS,
    "remainder.Tensor": FLOATS,
    "floor_divide.default": FLOATS,
    "pow.Tensor_Tensor": FLOATS,
    "atan2.default": ALL,
    "hypot.default": FLOATS,
    "copysign.Tensor": ALL,
    "nextafter.default": (F32, F64, BF16),
    "logaddexp.default": (F32, F64),
    "logaddexp2.default": (F32, F64),
    "xlogy.Tensor": (F32, F64, I64),
    "igamma.default": (F32, F64, BF16),
    "igammac.default": (F32, F64, BF16),
    "special_zeta.default": (F32, F64, I64),
    "special_chebyshev_polynomial_t.default": (F32, F64, I64),
    "special_hermite_polynomial_he.default": (F32, F64),
    "special_laguerre_polynomial_l.default": (F32, F64),
    "heaviside.default": NUMERIC,
    "logical_and.default": ALL,
    "logical_or.default": ALL,
    "logical_xor.default": ALL,
    "bitwise_and.Tensor": (*INTS, BOOL),
    "bitwise_or.Tensor": (*INTS, BOOL),
    "bitwise_xor.Tensor": (*INTS, BOOL),
    **dict.fromkeys(("eq.Tensor", "ne.Tensor", "lt.Tensor", "ge.Tensor"), ALL),
}
SCALAR: dict[str, tuple[torch.dtype, ...]] = {
    **dict.fromkeys(("add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor"), NUMERIC),
    **dict.fromkeys(("gt.Scalar", "le.Scalar", "eq.Scalar"), ALL),
    **dict.fromkeys(("remainder.Scalar", "fmod.Scalar", "pow.Tensor_Scalar"), FLOATS),
}


def overload(name: str) -> Callable[..., Any]:
    """`add.Tensor` of torch.ops.aten."""
    packet, _, own = name.partition(".")
    return getattr(getattr(aten, packet), own or "default")


def polygamma_of(order: int) -> Callable[[Tensor], Any]:
    """The polygamma function of an order."""
    return lambda x: aten.polygamma(order, x)


def norm_of(order: float) -> Callable[[Tensor], Any]:
    """The norm over dimension 1."""
    return lambda x: aten.linalg_vector_norm(x, order, [1])


def cast_to(dtype: torch.dtype) -> Callable[[Tensor], Any]:
    """A copy in another dtype."""
    return lambda x: aten._to_copy(x, dtype=dtype)


EXACT = frozenset(
    {
        *("neg", "abs", "sign", "relu", "clone", "logical_not", "isnan", "isinf", "isfinite"),
        *("signbit", "floor", "ceil", "trunc", "round", "positive", "bitwise_not", "sqrt"),
        *("angle", "frexp.Tensor", "reciprocal", "frac", "nan_to_num", "isposinf", "isneginf"),
    }
)
"""Unary ops whose results are the same bits; others may differ in the last place."""

LAST_PLACE = {F64: 1e-14, F32: 1e-6, BF16: 1e-2, F16: 2e-3}


def dim_cases(x: Tensor) -> dict[str, Callable[[Tensor], Any]]:
    """Reductions and scans of one tensor of shape (3, 4, 5)."""
    floating = x.dtype.is_floating_point
    cases: dict[str, Callable[[Tensor], Any]] = {
        "sum": lambda x: aten.sum(x),
        "sum-dims": lambda x: aten.sum(x, [0, -1], True),
        "amax": lambda x: aten.amax(x, [1]),
        "amin": lambda x: aten.amin(x, [0, 2], True),
        "any": lambda x: aten.any(x, 1),
        "all": lambda x: aten.all(x, 2, True),
        "max": lambda x: aten.max(x, 1),
        "min": lambda x: aten.min(x, 0, True),
        "cumsum": lambda x: aten.cumsum(x, 1),
        "cummax": lambda x: aten.cummax(x, 0),
        "cummin": lambda x: aten.cummin(x, 2),
        "aminmax": lambda x: aten.aminmax(x, dim=1),
        "transposed": lambda x: aten.sum(x.permute(2, 0, 1), [0]),
        "sum-f32": lambda x: aten.sum(x, [1], dtype=F32),
    }
    if x.dtype != BOOL:
        cases["argmax"] = lambda x: aten.argmax(x, 1)
        cases["argmin"] = lambda x: aten.argmin(x, None, False)
        cases["prod"] = lambda x: aten.prod(x, 0)
        cases["cumprod"] = lambda x: aten.cumprod(x, 2)
    if floating:
        cases["mean"] = lambda x: aten.mean(x, [1, 2])
        cases["var"] = lambda x: aten.var(x, [0, 1], correction=1)
        cases["std"] = lambda x: aten.std(x, [2], correction=0, keepdim=True)
        cases["var_mean"] = lambda x: aten.var_mean(x, [-1], correction=1)
        for order in (0, 1, 2, 3.5, float("inf"), -float("inf")):
            cases[f"norm-{order}"] = norm_of(order)
        cases["nansum"] = lambda x: aten.nansum(x, [0])
        cases["logcumsumexp"] = lambda x: aten.logcumsumexp(x, 1)
    return cases


FACTORIES: dict[str, Callable[[], Tensor]] = {
    "full": lambda: aten.full([2, 3], 1.5),
    "full-bool": lambda: aten.full([2], True, dtype=BOOL),
    "full-int": lambda: aten.full([2], -3, dtype=U8),
    "arange": lambda: aten.arange(7),
    "arange-step": lambda: aten.arange.start_step(9, -3, -2),
    "arange-float": lambda: aten.arange.start_step(0, 1, 0.1),
    "arange-f64": lambda: aten.arange.start_step(0.5, 3, 0.25, dtype=F64),
    "arange-half": lambda: aten.arange.start_step(0, 4, 1, dtype=BF16),
    "linspace": lambda: aten.linspace(-1.0, 2.0, 9),
    "linspace-one": lambda: aten.linspace(-1.0, 2.0, 1),
    "eye": lambda: aten.eye.m(3, 5),
    "eye-int": lambda: aten.eye(3, dtype=I64),
    "scalar": lambda: aten.scalar_tensor(2.5),
    "iota": lambda: torch.ops.prims.iota(
        5, start=2, step=3, dtype=I64, device=torch.device("cpu"), requires_grad=False
    ),
}
