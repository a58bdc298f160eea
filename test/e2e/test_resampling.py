"""F.interpolate in every mode, forward and backward, for factors of all kinds."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from harness import check, compiled, gradients, leaf, same, uniform
from torch import Tensor

SIZES = (5, 6, 4)
MODES = {
    1: ("nearest", "nearest-exact", "linear"),
    2: ("nearest", "nearest-exact", "bilinear", "bicubic"),
    3: ("nearest", "nearest-exact", "trilinear"),
}
PROGRAMS = [
    (n, mode, aligned)
    for n, modes in MODES.items()
    for mode in modes
    for aligned in ((None,) if "nearest" in mode else (False, True))
]


def factors(n: int) -> dict[str, dict[str, Any]]:
    """Whole factors, ratios of sizes, one that is neither, and sizes of 1."""
    return {
        "twice": {"scale_factor": 2},
        "thrice": {"scale_factor": 3.0},
        "size": {"size": (7, 11, 5)[:n]},
        "down": {"size": (3, 4, 2)[:n]},
        "half": {"scale_factor": 0.5},
        "no_ratio": {"scale_factor": 1.5},
        "same": {"size": SIZES[:n]},
        "one_dim": {"size": (2 * SIZES[0], *SIZES[1:])[:n]},
        "one": {"size": (1,) * n},
    }


@pytest.mark.parametrize(("n", "mode", "aligned"), PROGRAMS)
def test_interpolate(n: int, mode: str, aligned: bool | None) -> None:
    """Native, but for gradients of a linear factor that no ratio of the sizes equals."""
    cases = factors(n)

    def every(x: Tensor) -> tuple[Tensor, ...]:
        calls = cases.values()
        return tuple(F.interpolate(x, mode=mode, align_corners=aligned, **kw) for kw in calls)

    found = check(
        every,
        lambda: (leaf(uniform(2, 3, *SIZES[:n])),),
        grad=True,
        calls=1,
        names=list(cases),
    )
    called = [name for report in found.reports for name in report["externs"]]
    assert all("linear" in name or "cubic" in name for name in called)
    assert len(called) <= (1 if aligned is False else 0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16], ids=str)
def test_dtypes_and_layouts(dtype: torch.dtype) -> None:
    def every(x: Tensor) -> tuple[Tensor, ...]:
        modes = ("nearest", "bilinear", "bicubic")
        return tuple(F.interpolate(x, scale_factor=2, mode=mode) for mode in modes)

    x = uniform(2, 3, 5, 17).to(dtype)
    check(every, lambda: (x,), calls=1)
    torch._dynamo.reset()
    last = x.to(memory_format=torch.channels_last)
    check(every, lambda: (last,), calls=1)


def test_antialias_is_a_call() -> None:
    def f(x: Tensor) -> Tensor:
        return F.interpolate(x, size=(3, 4), mode="bilinear", antialias=True) * 2

    found = check(f, lambda: (uniform(1, 2, 7, 9),))
    assert found.reports[0]["externs"] == {"aten._upsample_bilinear2d_aa.default": 1}


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic"])
def test_symbolic_sizes_stay_symbols(mode: str) -> None:
    """One compile for all sizes, forward and backward."""

    def f(x: Tensor) -> Tensor:
        return F.interpolate(x * 1, scale_factor=2, mode=mode)

    subject = compiled(f, dynamic=True)
    for sizes in ((5, 6), (7, 9), (8, 4)):
        ours, theirs = (leaf(uniform(2, 3, *sizes)) for _ in range(2))
        got, want = subject(ours), f(theirs)
        same([got, *gradients(got, [ours])], [want, *gradients(want, [theirs])], strides=False)
    assert len(subject.graphs) == 1
