"""Are a contender's results right? Compared with eager's, scaled by the size of the values.

Where they differ by more than the dtype's limit, results in f64 decide: eager's sums of bf16 are no
judge of better ones, and a gradient that is zero but for rounding (of a bias before a norm, say)
differs in all its digits. Right is then who errs at most `ROOM` times as much as eager, by the root
of the mean square.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

LIMITS = {
    torch.float64: 1e-9,
    torch.float32: 2e-4,
    torch.bfloat16: 3e-2,
    torch.float16: 6e-3,
}


ROOM = 2.0


def error_of(got: Tensor, want: Tensor) -> float:
    """Largest difference by the largest magnitude; infinite where shapes or NaNs differ."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return float("inf")
    if want.numel() == 0:
        return 0.0
    a, b = got.detach().double(), want.detach().double()
    if not torch.equal(a.isnan(), b.isnan()):
        return float("inf")
    a, b = a.nan_to_num(), b.nan_to_num()
    scale = float(b.abs().max()) or 1.0
    return float((a - b).abs().max()) / scale


def wrong(
    got: Sequence[Tensor],
    want: Sequence[Tensor],
    *,
    tolerance: float | None,
    slack: int,
    exact: Callable[[], Sequence[Tensor] | None] = lambda: None,
) -> str | None:
    """Why the results are wrong, or `None`. Whole numbers may differ by `slack`; a result that is
    at most `ROOM` times as far from the exact one as eager's is right."""
    if len(got) != len(want):
        return f"{len(got)} results, expected {len(want)}"
    for index, (a, b) in enumerate(zip(got, want, strict=True)):
        if not b.dtype.is_floating_point and a.dtype == b.dtype and a.shape == b.shape:
            if b.numel() and int((a.long() - b.long()).abs().max()) > slack:
                return f"result {index}: whole numbers differ"
            continue
        error, limit = error_of(a, b), tolerance or LIMITS.get(b.dtype, 0.0)
        if error > limit:
            judge = exact()
            if judge is not None and _near(a, b, judge[index]):
                continue
            return f"result {index}: error {error:.1e} above {limit:.1e}"
    return None


def _near(got: Tensor, want: Tensor, exact: Tensor) -> bool:
    """Whether `got` is about as near to the exact result as eager's; NaN is never near."""
    if got.dtype != want.dtype or got.shape != exact.shape:
        return False
    ours, eagers = (float((t.double() - exact).square().mean()) for t in (got, want))
    return ours <= ROOM**2 * eagers
