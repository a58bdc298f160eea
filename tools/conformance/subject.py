"""A function through the backend under test, with what its compile did."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._dynamo.backends.registry import lookup_backend

from minductor.errors import FallbackWarning
from minductor.tools.conformance.results import ERROR, Mismatch, one_line
from minductor.tools.conformance.trees import copied, gradients

Calls = Sequence[tuple[Callable[..., Any], Any]]
"""Functions, each with its (input, args, kwargs)."""


def call_all(fns: Sequence[Callable[..., Any]], trees: Sequence[Any]) -> list[Any]:
    """The results of all calls, in order: what is compiled, also eager's side."""
    out: list[Any] = []
    for fn, (first, args, kwargs) in zip(fns, trees, strict=True):
        out.append(fn(first, *args, **kwargs))
    return out


@dataclass
class Subject:
    """The compiled form of some calls. `options` are minductor's, beside those of the suite."""

    fns: Sequence[Callable[..., Any]]
    fullgraph: bool = True
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    graphs: int = 0
    reports: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def __post_init__(self) -> None:
        torch._dynamo.reset()
        fns = tuple(self.fns)
        inner: Any = lookup_backend("minductor")
        options = {
            "strict": True,
            "progress": False,
            "report": self.reports.append,
            **self.options,
        }

        def counted(gm: Any, inputs: Any) -> Any:
            self.graphs += 1
            return inner(gm, inputs, options=options)

        def program(trees: Sequence[Any]) -> list[Any]:
            return call_all(fns, trees)

        self._run = torch.compile(program, backend=counted, fullgraph=self.fullgraph, dynamic=False)

    def __call__(self, trees: Sequence[Any]) -> list[Any]:
        """The results. Raises what the compile or the run raises, and Mismatch on a fallback."""
        with warnings.catch_warnings():
            warnings.simplefilter("error", FallbackWarning)
            out = self._run(list(trees))
        self.check_fallbacks()
        return out

    def check_fallbacks(self) -> None:
        """Raises Mismatch where a graph went to eager: strict promises that none does."""
        for one in self.reports:
            if one["fallback"] is not None:
                raise Mismatch(ERROR, f"fallback: {one['fallback']}")

    @property
    def kernels(self) -> int:
        """Kernels of all graphs."""
        return sum(len(one["kernels"]) for one in self.reports)

    @property
    def externs(self) -> dict[str, int]:
        """Calls of eager's kernels, by op."""
        found: Counter[str] = Counter()
        for one in self.reports:
            found.update(one["externs"])
        return dict(sorted(found.items()))


def untraceable(fns: Sequence[Callable[..., Any]], trees: Sequence[Any], grad: bool) -> str | None:
    """Why torch itself cannot trace the calls whole, None where it can: tried with the backend that
    runs Dynamo's graph as it is, then with AOTAutograd's own."""
    for backend, who in (("eager", "TorchDynamo"), ("aot_eager", "AOTAutograd")):
        error = _error_with(backend, fns, trees, grad, fullgraph=True)
        if error is not None:
            return f"{who}: {one_line(error)}"
    return None


def runs_under_aot(fns: Sequence[Callable[..., Any]], trees: Sequence[Any], grad: bool) -> bool:
    """Whether AOTAutograd's own backend gives a result."""
    return _error_with("aot_eager", fns, trees, grad, fullgraph=False) is None


def _error_with(
    backend: str,
    fns: Sequence[Callable[..., Any]],
    trees: Sequence[Any],
    grad: bool,
    fullgraph: bool,
) -> Exception | None:
    torch._dynamo.reset()

    def program(trees: Sequence[Any]) -> list[Any]:
        return call_all(fns, trees)

    run = torch.compile(program, backend=backend, fullgraph=fullgraph, dynamic=False)
    given = copied(list(trees))
    try:
        out = run(given)
        if grad:
            gradients(out, given)
    except Exception as error:
        return error
    return None
