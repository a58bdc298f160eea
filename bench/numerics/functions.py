"""Worst errors of the functions that the scalar table bounds, compiled and eager.

The f32 reference is eager PyTorch in f64; the f64 reference is mpmath at 200 bits.
"""

import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any, cast

import mpmath
import numpy as np
import torch
from torch import Tensor

from bench.numerics.samples import points, ulps
from minductor.dialects.scalar.table import ROWS, ScalarRow

Function = Callable[..., Tensor]
mp: Any = mpmath

LONG: dict[str, Callable[[Any], Any]] = {
    "exp2": lambda v: mp.mpf(2) ** v,
    "log2": lambda v: mp.log(v) / mp.log(2),
    "rsqrt": lambda v: 1 / mp.sqrt(v),
    "reciprocal": lambda v: 1 / v,
    "sigmoid": lambda v: 1 / (1 + mp.exp(-v)),
    "lgamma": lambda v: mp.log(abs(mp.gamma(v))),
}
LONG_BY_NAME = (
    "exp", "expm1", "log", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
    "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "sqrt",
)  # fmt: skip
"""Functions that mpmath has under torch's name."""


def rows() -> list[ScalarRow]:
    """Rows with a bound: functions of floats that need not be exact."""
    exact = {"copysign", "nextafter", "floor", "ceil", "trunc", "round", "sqrt", "reciprocal"}
    return [r for r in ROWS if r.ulp > 0 and r.name not in exact]


def function(row: ScalarRow) -> Function:
    """The row's PyTorch expression as a function of its operands."""
    names = ["a", "b", "c"][: len(row.operands)]
    source = f"lambda {', '.join(names)}: {row.torch.format(*names)}"
    return cast(Function, eval(source, {"torch": torch}))


def operands(row: ScalarRow, dtype: torch.dtype, count: int) -> list[Tensor]:
    """Sample points; later operands are a shuffle of others."""
    out = [points(dtype, count)]
    for seed in range(1, len(row.operands)):
        order = torch.from_numpy(np.random.default_rng(seed).permutation(len(out[0])))
        out.append(points(dtype, count, seed)[order])
    if "polynomial" in row.name:
        # eager runs a loop of as many steps as the degree says
        out[1] = out[1].abs().nan_to_num(0.0, 7.0).floor().remainder(40)
    return out


def long_value(name: str, value: float, loose: float) -> float | Any:
    """The exact value, or torch's at a pole or where mpmath has no quick answer."""
    if not np.isfinite(value) or np.isnan(loose) or abs(value) > 1e6:
        return loose
    fn = LONG.get(name) or getattr(mp, name)
    try:
        result = fn(mp.mpf(value))
    except (ValueError, ZeroDivisionError):
        return loose
    return loose if isinstance(result, mp.mpc) else result


def reference(row: ScalarRow, args: list[Tensor]) -> np.ndarray:
    """Exact values: f64 for f32 arguments; for f64 an array of long doubles from mpmath."""
    wide = function(row)(*(a.double() for a in args)).numpy()
    if args[0].dtype == torch.float32:
        return wide
    with mp.workprec(200), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what overflows a long double is inf, as it should be
        values = [
            long_value(row.name, v, w) for v, w in zip(args[0].tolist(), wide.tolist(), strict=True)
        ]
        return np.array([np.longdouble(mp.nstr(mp.mpf(v), 25)) for v in values])


def worst(row: ScalarRow, dtype: torch.dtype, device: str, compiled: Function) -> dict[str, Any]:
    """The greatest error of ours and of eager's, and the argument where ours is."""
    long = dtype == torch.float64
    args = operands(row, dtype, 60 if long else 20000)
    exact = reference(row, args)
    there = [a.to(device) for a in args]
    ours, eager = (ulps(f(*there), exact) for f in (compiled, function(row)))
    place = int(np.argmax(ours))
    return {
        "function": row.name,
        "dtype": "f64" if long else "f32",
        "bound": row.ulp,
        "ours": float(ours[place]),
        "eager": float(eager.max()),
        "at": [float(a[place]) for a in args],
    }


def of_row(number: int, device: str, options: dict[str, Any]) -> list[dict[str, Any]]:
    """One entry for each dtype of a row."""
    row = rows()[number]
    torch.compiler.reset()
    compiled = torch.compile(function(row), backend="minductor", options=options)
    dtypes = [torch.float32]
    if row.name in LONG or row.name in LONG_BY_NAME:
        dtypes.append(torch.float64)
    return [worst(row, dtype, device, compiled) for dtype in dtypes]


def measure(device: str, options: dict[str, Any], jobs: int = 1) -> list[dict[str, Any]]:
    """One entry for each function and dtype; rows are shared among processes."""
    one = partial(of_row, device=device, options=options)
    numbers = range(len(rows()))
    if jobs == 1:
        return [entry for number in numbers for entry in one(number)]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        return [entry for entries in pool.map(one, numbers) for entry in entries]
