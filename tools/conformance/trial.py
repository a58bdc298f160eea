"""One unit, or several in one graph, against eager: results, mutated inputs, gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch._dynamo.backends.common import aot_autograd

from minductor.tools.conformance import trees
from minductor.tools.conformance.compare import check_metadata, check_value, real_strides
from minductor.tools.conformance.entries import TORCH, Unit, seed_everything
from minductor.tools.conformance.known import RANDOM_STATE, UNINITIALISED, checks_strides
from minductor.tools.conformance.results import WRONG_METADATA, Item, Mismatch
from minductor.tools.conformance.subject import Subject, call_all


@dataclass
class Outcome:
    """Leaves of what a call gave: results, inputs afterwards, gradients."""

    results: list[Any]
    inputs: list[Any]
    grads: list[Tensor | None]


Layout = tuple[Any, ...]
"""Sizes, then the strides that count."""


@dataclass
class AotOutcome(Outcome):
    """What AOTAutograd's graphs give when eager kernels run them, and the layouts that their fake
    tensors promise, which kernels do not always keep."""

    layouts: frozenset[Layout]

    def promises(self, gradient: Any) -> bool:
        """Whether a value of this layout is in the graphs."""
        return _layout(gradient) in self.layouts


def _layout(value: Any) -> Layout:
    if not isinstance(value, Tensor) or value.layout is not torch.strided:
        return ()
    return (*value.shape, None, *real_strides(value))


def processed(unit: Unit, out: Any) -> Any:
    """The part of a result that gradients are taken of."""
    return unit.process(out)


def eager(units: Sequence[Unit], given: Sequence[Any], grad: bool) -> list[Outcome]:
    """What eager gives; each unit's gradients are of its own results alone."""
    found: list[Outcome] = []
    for unit, tree in zip(units, given, strict=True):
        out = call_all([unit.fn], [tree])
        grads = trees.gradients([processed(unit, out[0])], tree) if grad else []
        found.append(Outcome(trees.leaves(out), trees.leaves(tree), grads))
    return found


def ours(
    subject: Subject, units: Sequence[Unit], given: Sequence[Any], grad: bool
) -> list[Outcome]:
    """What the compiled form gives; one backward for all units."""
    out = subject(given)
    parts = [processed(u, o) for u, o in zip(units, out, strict=True)] if grad else []
    grads = _gradients_of_each(parts, given) if grad else [[] for _ in units]
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    subject.check_fallbacks()
    return [
        Outcome(trees.leaves([o]), trees.leaves(tree), g)
        for o, tree, g in zip(out, given, grads, strict=True)
    ]


def _gradients_of_each(parts: Sequence[Any], given: Sequence[Any]) -> list[list[Tensor | None]]:
    """One backward pass for all units; each unit's gradients."""
    outs = [[t for t in trees.tensors([p]) if t.requires_grad] for p in parts]
    ins = [[t for t in trees.tensors(g) if t.requires_grad] for g in given]
    live = [bool(o) and bool(i) for o, i in zip(outs, ins, strict=True)]
    every_out = [t for k, o in enumerate(outs) if live[k] for t in o]
    every_in = [t for k, i in enumerate(ins) if live[k] for t in i]
    if not every_out:
        return [[] for _ in parts]
    tangents = [t for k, o in enumerate(outs) if live[k] for t in trees.tangents(o)]
    flat = list(torch.autograd.grad(every_out, every_in, tangents, allow_unused=True))
    found: list[list[Tensor | None]] = []
    for k, i in enumerate(ins):
        found.append([flat.pop(0) for _ in i] if live[k] else [])
    return found


class Judge:
    """Compares outcomes of one unit; references are computed when first needed."""

    def __init__(self, item: Item, unit: Unit) -> None:
        self.item = item
        self.unit = unit
        self.reference = cache(self._reference)
        self.aot = cache(self._aot)

    def check(self, got: Outcome, want: Outcome) -> None:
        """Raises Mismatch where ours differs."""
        values = self.item.entry not in UNINITIALISED
        self._all("result", got.results, want.results, values)
        self._all("input after the call", got.inputs, want.inputs, values)
        self._gradients(got.grads, want.grads)

    def _all(self, what: str, got: list[Any], want: list[Any], values: bool) -> None:
        if len(got) != len(want):
            raise Mismatch(WRONG_METADATA, f"{len(got)} {what}s for {len(want)}")
        for k, (a, b) in enumerate(zip(got, want, strict=True)):
            state = what == "result" and k in RANDOM_STATE.get(self.item.entry, ())
            with _named(f"{what} {k}"):
                check_metadata(a, b, checks_strides(self.item.entry))
                if values and not state:
                    check_value(a, b, lambda k=k: self._leaf(what, k))

    def _gradients(self, got: list[Tensor | None], want: list[Tensor | None]) -> None:
        """Values are eager's; strides AOTAutograd's."""
        if len(got) != len(want):
            raise Mismatch(WRONG_METADATA, f"{len(got)} gradients for {len(want)}")
        for k, (a, b) in enumerate(zip(got, want, strict=True)):
            with _named(f"gradient {k}"):
                if (a is None) != (b is None):
                    # whether an unused input's gradient is None or zeros is AOTAutograd's choice
                    a, b = self._unused(k, a, b)
                check_metadata(a, b, strides=False)
                check_value(a, b, lambda k=k: self._leaf("gradient", k))
                try:
                    check_metadata(a, b)
                except Mismatch:
                    aot = self.aot()
                    if aot is None or not aot.promises(a):
                        check_metadata(a, b if aot is None else aot.grads[k])

    def _unused(self, k: int, a: Tensor | None, b: Tensor | None) -> tuple[Any, Any]:
        aot = self.aot()
        if aot is None or (aot.grads[k] is None) != (a is None):
            return a, b
        present = b if a is None else a
        assert present is not None
        return (torch.zeros_like(present), b) if a is None else (a, torch.zeros_like(present))

    def _leaf(self, what: str, k: int) -> Any:
        outcome = self.reference()
        if outcome is None:
            return None
        found: list[Any] = {
            "result": outcome.results,
            "gradient": outcome.grads,
        }.get(what, outcome.inputs)
        return found[k] if k < len(found) else None

    def _reference(self) -> Outcome | None:
        dtype = TORCH[self.item.dtype]
        if dtype is torch.float64 and self.unit.numpy is not None and self.item.mode == "forward":
            # no dtype is higher: the entry's own reference judges between us and eager
            given = self.unit.input.detach().cpu().numpy()
            value = torch.as_tensor(self.unit.numpy(given, **self.unit.kwargs))
            return Outcome([value.to(self.unit.input.device)], [], [])
        if dtype not in trees.HIGHER:
            return None
        given = trees.raised(self.unit.tree, dtype)
        seed_everything()
        try:
            return eager([self.unit], [given], self.item.mode == "grad")[0]
        except Exception:
            return None  # an entry without the higher dtype has no reference

    def _aot(self) -> AotOutcome | None:
        torch._dynamo.reset()
        fn = self.unit.fn
        layouts: list[Layout] = []

        def program(tree: Any) -> list[Any]:
            return call_all([fn], [tree])

        def compiler(gm: Any, inputs: Any) -> Any:
            layouts.extend(_layout(node.meta.get("val")) for node in gm.graph.nodes)
            return gm

        backend: Any = aot_autograd(fw_compiler=compiler, bw_compiler=compiler)
        run = torch.compile(program, backend=backend, dynamic=False)
        given = trees.copied(self.unit.tree)
        try:
            out = run(given)
            grads = _gradients_of_each([processed(self.unit, out[0])], [given])[0]
        except Exception:
            return None
        return AotOutcome(trees.leaves(out), trees.leaves(given), grads, frozenset(layouts))


class _named:
    """Puts the place before the reason of a Mismatch."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Mismatch):
            raise Mismatch(error.cls, f"{self.what}: {error.reason}") from None
