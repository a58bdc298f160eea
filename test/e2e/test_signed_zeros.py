"""Which zero, infinity and NaN the choosing ops give: bit for bit eager's, in vectors and tails."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from harness import check, leaf
from torch import Tensor

NAN, INF = float("nan"), float("inf")
EDGES = [NAN, INF, -INF, 0.0, -0.0, 1.5, -2.0, 3e38, 1e-40, -1.0, 0.5]
FLOATS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)

OPS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "clamp": lambda x, y: x.clamp(0.0, 1.0),
    "clamp_negative_zero": lambda x, y: x.clamp(-0.0, 1.0),
    "clamp_max": lambda x, y: x.clamp(max=0.0),
    "clamp_max_negative_zero": lambda x, y: x.clamp(max=-0.0),
    "clamp_min": lambda x, y: x.clamp(min=0.0),
    "clamp_min_negative_zero": lambda x, y: x.clamp(min=-0.0),
    "clamp_crossed": lambda x, y: x.clamp(1.0, -1.0),
    "clamp_nan": lambda x, y: x.clamp(NAN, 1.0),
    "clamp_tensor": lambda x, y: x.clamp(y),
    "clamp_max_tensor": lambda x, y: x.clamp(max=y),
    "relu": lambda x, y: x.relu(),
    "relu6": lambda x, y: F.relu6(x),
    "hardtanh": lambda x, y: F.hardtanh(x, 0.0, 1.0),
    "hardsigmoid": lambda x, y: F.hardsigmoid(x),
    "hardshrink": lambda x, y: F.hardshrink(x),
    "softshrink": lambda x, y: F.softshrink(x),
    "threshold": lambda x, y: F.threshold(x, 0.0, 0.0),
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "fmax": torch.fmax,
    "fmin": torch.fmin,
    "sign": lambda x, y: x.sign(),
    "heaviside": torch.heaviside,
    "copysign": torch.copysign,
    "where": lambda x, y: torch.where(x > y, x, y),
    "nextafter": torch.nextafter,
    "to_the_third": lambda x, y: x**3,
}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("count", [7, 11, 121])
def test_edges_keep_their_bits(dtype: torch.dtype, count: int) -> None:
    """121 elements fill vectors and leave a tail; 7 are a tail alone."""
    edges = torch.tensor(EDGES, dtype=torch.float64).to(dtype)
    x, y = edges.repeat_interleave(11)[-count:], edges.repeat(11)[-count:]

    def every(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return tuple(op(x, y) for op in OPS.values())

    options = {"emulate": True}
    check(every, lambda: (x, y), calls=1, names=list(OPS), exact=True, options=options)


def test_roots_by_power() -> None:
    """(-inf) ** 0.5 and (-0.0) ** 0.5 are pow's in f16, a square root's in the other dtypes."""
    for dtype in FLOATS:
        x = torch.tensor([-INF, -0.0, 0.0, INF, NAN, 4.0, 2.25], dtype=dtype)
        torch._dynamo.reset()
        check(lambda x: (x**0.5, x**-0.5), lambda x=x: (x,), calls=1, exact=True)


def test_gradients_of_shrinking() -> None:
    """Of what shrinks to zero none, and none at NaN."""
    x = torch.tensor(EDGES * 3)

    def f(x: Tensor) -> tuple[Tensor, Tensor]:
        return F.softshrink(x), F.hardshrink(x)

    check(f, lambda: (leaf(x),), grad=True, calls=1, exact=True, dynamic=True)
    found = check(f, lambda: (leaf(x),), grad=True, calls=1, exact=True)
    assert not any(report["externs"] for report in found.reports)
