"""How far two results of one graph may lie apart: the table, and what it makes of a whole graph.

| kind       | of ops                                     | operands | result |
| ---------- | ------------------------------------------ | -------- | ------ |
| selection  | results are found among the operands        | 0        | 0      |
| arithmetic | elementwise, rounded once (+ - * / sqrt)    | 0        | 1      |
| function   | elementwise, approximated (exp, tanh, ..)   | 0        | 4 (*)  |
| composite  | elementwise, several roundings (addcmul)    | 1        | 4      |
| collection | sums, products, scans, normalisations       | 2        | 4      |

(*) or the bound of the scalar table, if larger. Logarithms of sums (log_softmax) are off by as much
as a sum near 1 is, whose logarithm vanishes. Figures are units in the last place of the dtype:
by so much each operand and each result of an op may be off. Integers and booleans are exact. What
that means for the outputs of a graph depends on all that comes after (a difference of large sums,
a comparison of nearly equal values), so it is not guessed but measured: the graph runs a few times
more with every float nudged at random by its figure (`Nudge`), and the spread of an output's
element, times `MARGIN`, is its tolerance. An element that no nudge moves has to agree exactly; an
integer or boolean element that nudges move is not decided by the program and is left out.

Half types: a kernel keeps f32 from op to op where eager rounds, so one unit of the half type per op
is the figure for every kind, and every other run keeps f32 too (`Kept`): whether a bf16 of 300 has
a fraction is not a matter of a unit.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from minductor.dialects.scalar.table import BY_NAME

MARGIN = 8.0
"""Tolerance of an element in terms of the spread that nudges give it."""

FIGURES: dict[str, tuple[float, float]] = {
    "selection": (0.0, 0.0),
    "arithmetic": (0.0, 1.0),
    "function": (0.0, 4.0),
    "composite": (1.0, 4.0),
    "collection": (2.0, 4.0),
}
"""Kind of an op -> units in the last place of its operands and of its result."""

_HALF_FIGURE = 1.0
_HALVES = (torch.bfloat16, torch.float16)
_LOGS_OF_SUMS = frozenset({"_log_softmax", "log_softmax", "logsumexp", "logcumsumexp"})
_ROUNDED_ONCE = frozenset({"sqrt", "reciprocal", "square", "rsub", "true_divide", "divide"})


@cache
def kind_of(op: OpOverload) -> str:
    """The row of the table that an op falls under, by torch's tags and the scalar table."""
    if any(r.alias_info is not None and not r.alias_info.is_write for r in op._schema.returns):
        return "selection"
    if torch.Tag.nondeterministic_seeded in op.tags:
        return "selection"
    if op is torch.ops.aten.copy_.default:
        return "arithmetic"  # a cast, whatever stood there before
    if torch.Tag.pointwise not in op.tags and not op._schema.name.startswith("prims::convert"):
        return "collection"
    name = op._schema.name.split("::")[1].rstrip("_")
    row = BY_NAME.get(name)
    if name in _ROUNDED_ONCE or (row is not None and row.ulp == 0) or "copy" in name:
        return "arithmetic"
    return "composite" if row is None else "function"


@cache
def figures(op: OpOverload) -> tuple[float, float]:
    """Units in the last place for operands and result of an op."""
    kind = kind_of(op)
    operands, result = FIGURES[kind]
    row = BY_NAME.get(op._schema.name.split("::")[1].rstrip("_"))
    return operands, max(result, row.ulp) if kind == "function" and row is not None else result


class Nudge(TorchDispatchMode):
    """Runs ops as they are, but every float that an op makes is off by up to its figure.

    Results that an op only selects stay as they are, and whole numbers in f32 and f64 that
    arithmetic gives, or sums and products of whole numbers. `scale` multiplies the figures.
    """

    def __init__(self, seed: int, scale: float = 1.0) -> None:
        super().__init__()
        self._generator = torch.Generator().manual_seed(seed)
        self._scale = scale

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Runs `func` and nudges its results, or what it wrote."""
        kwargs = kwargs or {}
        operands, result = figures(func)
        if result == 0 or not _has_floats(func, args, kwargs) or _without_values([args, kwargs]):
            return func(*args, **kwargs)
        known = _magnitudes([args, kwargs])
        kind = kind_of(func)
        whole = kind == "arithmetic" or (kind == "collection" and _sums_exactly(known))
        if func._schema.is_mutable:
            return self._written(func, args, kwargs, known, whole)
        out = func(*args, **kwargs)
        if _without_values(out) or all(_selected(t, known) for t in _floats(out)):
            return out
        top = 0.0
        if operands and not _floats([args, kwargs]) and not whole:
            top = float(known.amax())  # integers cannot move: their sum does, as if they had
        elif operands:
            moved = pytree.tree_map_only(Tensor, lambda t: self._moved(t, operands), [args, kwargs])
            out = func(*moved[0], **moved[1])
        if func._schema.name.split("::")[1] in _LOGS_OF_SUMS:
            top = 1.0
        return pytree.tree_map_only(Tensor, lambda t: self._moved(t, result, whole, top), out)

    def _written(self, func: Any, args: Any, kwargs: Any, known: Tensor, whole: bool) -> Any:
        """An op in place: what it wrote is nudged where it is, relative to all that went in."""
        out = func(*args, **kwargs)
        operands, result = figures(func)
        top = float(known[known.isfinite()].amax()) if operands else 0.0
        for spec, value in _arguments(func, args, kwargs):
            written = spec.alias_info is not None and spec.alias_info.is_write
            for t in _floats(value) if written else ():
                if not _selected(t, known):
                    t.copy_(self._moved(t, result, whole, top, known if operands else None))
        return out

    def _moved(
        self,
        t: Tensor,
        units: float,
        whole: bool = False,
        top: float = 0.0,
        known: Tensor | None = None,
    ) -> Tensor:
        """A copy of `t`, off by `units` of its own or of `top`; whole numbers, where they are
        exact, and magnitudes in `known` stay."""
        if t.is_complex():
            parts = torch.view_as_real(t.resolve_conj())
            return torch.view_as_complex(self._moved(parts, units, whole, top, known).contiguous())
        if not t.is_floating_point() or t.numel() == 0:
            return t
        info = torch.finfo(t.dtype)
        exact = t.to(torch.float64)
        still = ~exact.isfinite()
        if known is not None:
            still |= torch.isin(exact.abs(), known)
        if t.dtype in _HALVES or t.itemsize == 1:
            units = min(units, _HALF_FIGURE)
        elif whole:
            still |= (exact == exact.round()) & (exact.abs() < 0.5 / info.eps)
        noise = torch.rand(exact.shape, generator=self._generator, dtype=torch.float64) * 2 - 1
        step = exact.abs().clamp(min=max(top, info.tiny)) * (units * self._scale * info.eps)
        moved = torch.where(still, exact, exact + noise * step)
        # what cancels to less than its error may cancel to nothing
        moved = torch.where(~still & (exact.abs() <= step) & (noise > 0.5), 0.0, moved).to(t.dtype)
        return torch.empty_like(t).copy_(moved)


def _arguments(func: Any, args: Any, kwargs: Any) -> list[tuple[Any, Any]]:
    specs = func._schema.arguments
    pairs = list(zip(specs, args, strict=False))
    return pairs + [(s, kwargs[s.name]) for s in specs if s.name in kwargs]


def _floats(tree: Any) -> list[Tensor]:
    return [
        t
        for t in pytree.tree_leaves(tree)
        if isinstance(t, Tensor) and (t.is_floating_point() or t.is_complex())
    ]


def _has_floats(func: Any, args: Any, kwargs: Any) -> bool:
    """Floats may come out of it: they go in, or the op makes or casts to them."""
    if _floats([args, kwargs]):
        return True
    return torch.Tag.view_copy not in func.tags and bool(func._schema.returns)


def _without_values(tree: Any) -> bool:
    """Some tensor has no memory: it asks for a shape (meta), or autograd knows it to be zero."""
    leaves = pytree.tree_leaves(tree)
    return any(isinstance(t, Tensor) and (t.is_meta or t._is_zerotensor()) for t in leaves)


def _magnitudes(tree: Any) -> Tensor:
    """Magnitudes of all numbers that go into an op, zero too."""
    parts = [torch.zeros(1, dtype=torch.float64)]
    for leaf in pytree.tree_leaves(tree):
        if isinstance(leaf, Tensor):
            real = torch.view_as_real(leaf.resolve_conj()) if leaf.is_complex() else leaf
            parts.append(real.detach().to(torch.float64).abs().reshape(-1))
        elif isinstance(leaf, int | float):
            for dtype in (torch.float64, torch.float32, *_HALVES):
                parts.append(torch.tensor([leaf], dtype=dtype).to(torch.float64).abs())
    return torch.cat(parts).unique()


def _sums_exactly(known: Tensor) -> bool:
    """Whole numbers so small that sums of thousands of their products are exact in f32."""
    return bool((known % 1 == 0).all()) and float(known.amax()) <= 64


def _selected(t: Tensor, known: Tensor) -> bool:
    real = torch.view_as_real(t.resolve_conj()) if t.is_complex() else t
    exact = real.to(torch.float64).abs()
    return bool((torch.isin(exact, known) | ~exact.isfinite()).all())
