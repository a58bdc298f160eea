"""Whether a result is eager's: metadata exactly, values within the tolerance of the dtype.

Tolerances are those of `torch.testing` for the dtype: sums may be taken in another order. A value
beyond it is right all the same where eager itself is off: the op is computed once more by eager in
f64 (complex128), for f64 by the entry's own NumPy or SciPy reference. An element is accepted that
is as near to that as the tolerance, plus twice the largest error of eager's own result; where eager
overflowed inside a half type, one as near as four times the tolerance. So more precise than eager
is no failure, nor is another order of a sum that cancels; nothing else is loosened.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from minductor.tools.conformance.results import WRONG_METADATA, WRONG_VALUE, Mismatch

TOLERANCE: dict[torch.dtype, tuple[float, float]] = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex32: (1e-3, 1e-5),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
"""Relative and absolute tolerance; every other dtype is compared exactly."""

Reference = Callable[[], Any]
"""Gives eager's result in higher precision, a tensor, or None where there is none."""


def real_strides(t: Tensor) -> list[int]:
    """Strides of the dimensions that have more than one element; none for an empty tensor."""
    if t.layout is not torch.strided or t.numel() == 0:
        return []
    return [s for s, n in zip(t.stride(), t.shape, strict=True) if n > 1]


def check_metadata(got: Any, want: Any, strides: bool = True) -> None:
    """Raises Mismatch where two leaves differ in kind, dtype, sizes, strides or device."""
    if not isinstance(want, Tensor) or not isinstance(got, Tensor):
        if isinstance(want, Tensor) or isinstance(got, Tensor) or type(got) is not type(want):
            raise Mismatch(WRONG_METADATA, f"{type(got).__name__} for {type(want).__name__}")
        return
    pairs: list[tuple[str, Any, Any]] = [
        ("dtype", got.dtype, want.dtype),
        ("layout", got.layout, want.layout),
        ("shape", tuple(got.shape), tuple(want.shape)),
        ("device", got.device, want.device),
        ("requires_grad", got.requires_grad, want.requires_grad),
    ]
    if strides:
        pairs.append(("strides", real_strides(got), real_strides(want)))
    for what, a, b in pairs:
        if a != b:
            raise Mismatch(WRONG_METADATA, f"{what} {a} for {b}, shape {tuple(want.shape)}")


def check_value(got: Any, want: Any, reference: Reference | None = None) -> None:
    """Raises Mismatch where two leaves of the same metadata differ."""
    if not isinstance(want, Tensor):
        if not _same_scalar(got, want):
            raise Mismatch(WRONG_VALUE, f"{got!r} for {want!r}"[:200])
        return
    got, want = dense(got), dense(want)
    near = _close(got, want, TOLERANCE.get(want.dtype))
    if bool(near.all()):
        return
    wanted = reference() if reference is not None else None
    if isinstance(wanted, Tensor) and wanted.shape == want.shape and want.dtype in TOLERANCE:
        near |= _as_good(got, want, dense(wanted))
        if bool(near.all()):
            return
    raise Mismatch(WRONG_VALUE, _described(got, want, ~near))


def dense(t: Tensor) -> Tensor:
    """A plain strided tensor of the values."""
    t = t.detach()
    if t.layout is not torch.strided:
        t = t.to_dense()
    if t.is_quantized:
        t = t.dequantize()
    if t.dtype is torch.complex32:
        t = t.to(torch.complex64)
    return t.resolve_conj().resolve_neg()


def _same_scalar(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return torch.allclose(torch.tensor(a), torch.tensor(b), equal_nan=True)
    return bool(a == b)


def _close(got: Tensor, want: Tensor, tolerance: tuple[float, float] | None) -> Tensor:
    """Element by element; infinities equal their like, any NaN any NaN."""
    if tolerance is None:
        return got == want
    if want.dtype.is_complex:
        return _close(torch.view_as_real(got), torch.view_as_real(want), tolerance).all(-1)
    rtol, atol = tolerance
    a, b = got.double(), want.double()
    return torch.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)


def _as_good(got: Tensor, want: Tensor, reference: Tensor) -> Tensor:
    """Elements that are as near to the reference as eager's are, within a factor of two."""
    rtol, atol = TOLERANCE[want.dtype]
    if want.dtype.is_complex:
        if not reference.dtype.is_complex:
            reference = reference.to(torch.complex128)
        views = [torch.view_as_real(t.to(torch.complex128)) for t in (got, want, reference)]
        return _real_as_good(views[0], views[1], views[2], rtol, atol).all(-1)
    if reference.dtype.is_complex:
        return torch.zeros(want.shape, dtype=torch.bool, device=want.device)
    rounded = reference.to(want.dtype)
    same = (got == rounded) | (got.isnan() & rounded.isnan())
    a, b, c = got.double(), want.double(), reference.double()
    if want.dtype in (torch.float16, torch.bfloat16):
        same |= ~b.isfinite() & c.isfinite() & ((a - c).abs() <= atol + 4 * rtol * c.abs())
    return same | _real_as_good(a, b, c, rtol, atol)


def _real_as_good(got: Tensor, want: Tensor, reference: Tensor, rtol: float, atol: float) -> Tensor:
    finite = want.isfinite() & reference.isfinite()
    error = torch.where(finite, (want - reference).abs(), 0.0)
    worst = error.max() if error.numel() else torch.zeros(())
    allowed = atol + rtol * reference.abs() + 2 * worst
    return finite & ((got - reference).abs() <= allowed)


def _described(got: Tensor, want: Tensor, wrong: Tensor) -> str:
    places = wrong.nonzero()
    place = tuple(places[0].tolist())
    a, b = got[place].item(), want[place].item()
    share = f"{len(places)} of {wrong.numel()}"
    return f"{share} elements, first at {list(place)}: {a!r} for {b!r} ({want.dtype})"
