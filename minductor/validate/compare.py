"""What a graph gives, and why two of them differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from minductor.validate.kept import Kept
from minductor.validate.snapshot import Snapshot
from minductor.validate.tolerance import MARGIN, Nudge

RUNS = 4
"""Nudged runs behind a first tolerance."""

MORE_RUNS, MORE_SCALE, DISCRETE_RUNS = 24, 2.0, 96
"""Nudged runs, and the factor on all figures, before a float or an integer is called wrong."""

Run = Callable[[list[Any]], list[Any]]
"""From the arguments (which it may write) to the results."""


def outcome(run: Run, inputs: Snapshot) -> list[Any]:
    """The results of a run on a copy of the inputs, then the tensors among the inputs after it."""
    args = inputs.fresh()
    given = [a for a in args if isinstance(a, Tensor)]
    results = list(run(args))
    return [*results, *given]


@dataclass
class Reference:
    """The outcome that others are measured by, and how far each of its elements may move."""

    run: Run
    inputs: Snapshot
    exact: list[Any] = field(init=False)
    _spreads: list[list[Any]] = field(default_factory=list[list[Any]], init=False)

    def __post_init__(self) -> None:
        self.exact = [_own(v) for v in outcome(self.run, self.inputs)]

    def difference(self, got: Sequence[Any], only: Sequence[bool] | None = None) -> str | None:
        """Why `got` is another outcome, or None. `only`: the places to look at."""
        if len(got) != len(self.exact):
            return f"{len(got)} results, not {len(self.exact)}"
        places = [i for i in range(len(got)) if only is None or only[i]]
        off = [i for i in places if not _identical(got[i], self.exact[i])]
        if not off:
            return None
        self._nudge(RUNS, 1.0)
        off = [i for i in off if self._element(i, got[i]) is not None]
        if not off:
            return None
        self._nudge(MORE_RUNS, MORE_SCALE)
        if any(self._element(i, got[i]) is not None and _discrete(got[i]) for i in off):
            self._nudge(DISCRETE_RUNS, MORE_SCALE)
        for i in off:
            why = self._element(i, got[i])
            if why is not None:
                return f"{self._name(i)}: {why}"
        return None

    def _name(self, i: int) -> str:
        inputs = len([a for a in self.inputs.fresh() if isinstance(a, Tensor)])
        results = len(self.exact) - inputs
        return f"result {i}" if i < results else f"tensor argument {i - results} after the call"

    def _nudge(self, runs: int, scale: float) -> None:
        """At least so many nudged outcomes, every other one with half types kept in f32."""
        while len(self._spreads) < runs:
            done = len(self._spreads)
            kept = Kept() if done % 2 else nullcontext()
            nudged = self._nudged(Nudge(done, scale), kept)
            self._spreads.append([_own(v) for v in outcome(nudged, self.inputs)])

    def _nudged(self, nudge: Nudge, kept: AbstractContextManager[Any]) -> Run:
        def run(args: list[Any]) -> list[Any]:
            with nudge, kept:
                return self.run(args)

        return run

    def _element(self, i: int, got: Any) -> str | None:
        others = [s[i] for s in self._spreads]
        return difference(got, self.exact[i], others)


def _discrete(value: Any) -> bool:
    """Integers and booleans show by turning over, not by a spread, that rounding decides them."""
    return isinstance(value, Tensor) and not (value.is_floating_point() or value.is_complex())


def difference(got: Any, want: Any, nudged: Sequence[Any] = ()) -> str | None:
    """Why `got` is not `want`, or None; `nudged`: other values that the same program may give."""
    if not isinstance(want, Tensor) or not isinstance(got, Tensor):
        if _identical(got, want) or any(not _identical(want, other) for other in nudged):
            return None
        return f"{got!r} for {want!r}"
    if got.dtype != want.dtype:
        return f"dtype {got.dtype}, not {want.dtype}"
    if got.shape != want.shape:
        return f"sizes {list(got.shape)}, not {list(want.shape)}"
    if any(other.shape != want.shape for other in nudged):
        return None  # its size hangs on rounding
    if want.is_complex():
        parts = [torch.view_as_real(t.resolve_conj()) for t in (got, want, *nudged)]
        return difference(parts[0], parts[1], parts[2:])
    wrong = _wrong(got, want, nudged)
    count = int(wrong.sum())
    if not count:
        return None
    place = tuple(int(v) for v in wrong.nonzero()[0])
    head = f"{count} of {wrong.numel()} elements, first at {list(place)}: "
    return head + f"{got[place].item()!r} for {want[place].item()!r}"


def _wrong(got: Tensor, want: Tensor, nudged: Sequence[Tensor]) -> Tensor:
    if not want.dtype.is_floating_point:
        wrong = got != want
        for other in nudged:
            wrong &= other == want
        return wrong
    a, b = got.detach().to(torch.float64), want.detach().to(torch.float64)
    every = torch.stack([b, *(n.detach().to(torch.float64) for n in nudged)])
    steady = (every.isfinite() == b.isfinite()).all(0) & (every.isnan() == b.isnan()).all(0)
    same = (a == b) | (a.isnan() & b.isnan())
    low, high = every.amin(0), every.amax(0)
    info = torch.finfo(want.dtype)
    moves = high != low
    unit = torch.where(moves, b.abs().clamp(min=info.tiny) * (2 * info.eps), 0.0)
    near = (a - b).abs() <= MARGIN * (high - low) + unit
    return steady & ~same & ~near


def _identical(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        return torch.equal(a, b) or _same_with_nan(a, b)
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return False
    return a == b or (a != a and b != b)


def _same_with_nan(a: Tensor, b: Tensor) -> bool:
    if not (a.is_floating_point() or a.is_complex()):
        return False
    return bool(((a == b) | ((a != a) & (b != b))).all())


def _own(value: Any) -> Any:
    """A value that no later write changes."""
    return value.detach().clone() if isinstance(value, Tensor) else value
