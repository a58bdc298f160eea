"""Inputs of the accuracy tables, and the error of a result in units in the last place."""

import numpy as np
import torch
from torch import Tensor

SPECIAL = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 10.0, 1e5, -1e5, 1e10, 0.25, 0.75, 1.5,
    -1.5, 0.99999, 1.00001, 88.7, 88.8, -87.3, -103.0, -104.0, -150.0, 709.7, 709.8, -745.2, 5.0,
    20.0, -20.0, 100.0, 12000.0, float("inf"), float("-inf"), float("nan"),
)  # fmt: skip


def points(dtype: torch.dtype, count: int, seed: int = 0) -> Tensor:
    """Special values, subnormals, random bits and the ranges where functions turn; shape (n,)."""
    rng = np.random.default_rng(seed)
    kind = np.float32 if dtype == torch.float32 else np.float64
    bits = np.uint32 if dtype == torch.float32 else np.uint64
    info = np.finfo(kind)
    edge = [info.tiny, info.smallest_subnormal, info.max, info.eps, info.tiny / 3]
    parts = [np.array(SPECIAL), np.array([*edge, *(-v for v in edge)])]
    parts += [rng.standard_normal(count) * scale for scale in (1e-3, 1, 4, 20, 100)]
    parts.append(1 + rng.standard_normal(count) * 1e-2)
    parts.append(np.round(rng.random(count) * 7000) * np.pi / 2)
    raw = rng.integers(0, np.iinfo(bits).max, count, dtype=bits).view(kind)
    with np.errstate(all="ignore"):
        return torch.from_numpy(np.concatenate([*(p.astype(kind) for p in parts), raw]))


def spacing(exact: np.ndarray, kind: type) -> np.ndarray:
    """Distance of neighbours at each exact value (f64 or longer) in the result's type."""
    rounded = np.abs(exact.astype(kind))
    return np.spacing(np.minimum(rounded, np.finfo(kind).max)).astype(exact.dtype)


def ulps(got: Tensor, exact: np.ndarray) -> np.ndarray:
    """Errors in units in the last place of the result's type, elementwise.

    NaN against a number, and inf against a finite value that does not round to it, are inf.
    """
    value = got.detach().cpu().numpy()
    kind = value.dtype.type
    with np.errstate(all="ignore"):
        rounded = exact.astype(kind)
        error = np.abs(value.astype(exact.dtype) - exact) / spacing(exact, kind)
    same = (value == rounded) | (np.isnan(value) & np.isnan(rounded))
    odd = ~np.isfinite(rounded) | ~np.isfinite(value)
    return np.where(odd, np.where(same, 0.0, np.inf), error)
