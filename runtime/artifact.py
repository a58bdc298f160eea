"""The product of a compile: every source text of one graph, and where it lies once stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WRAPPER = "wrapper.py"
CPP = "kernels.cpp"
LIBRARY = "kernels.so"
TRITON = "kernels_triton.py"
PLAN = "plan.txt"
META = "meta.json"


def _no_meta() -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Artifact:
    """Sources of one graph.

    `name` is forward, backward or inference; `target` cpp or triton. `wrapper` defines
    `call(args)`; `cpp` and `triton` hold the kernels, None where the graph has none of that kind.
    `plan` is the readable plan, `meta` what the caller wants to keep (JSON values only).
    `folder` is set on artifacts that came from, or went to, a cache.
    """

    name: str
    target: str
    wrapper: str
    cpp: str | None = None
    triton: str | None = None
    plan: str = ""
    meta: Mapping[str, Any] = field(default_factory=_no_meta)
    folder: Path | None = field(default=None, compare=False)

    def texts(self) -> dict[str, str]:
        """File name to text of all that is stored, the library aside."""
        head = {"name": self.name, "target": self.target, "meta": dict(self.meta)}
        out = {WRAPPER: self.wrapper, PLAN: self.plan, META: json.dumps(head, sort_keys=True)}
        if self.cpp is not None:
            out[CPP] = self.cpp
        if self.triton is not None:
            out[TRITON] = self.triton
        return out


def from_texts(texts: Mapping[str, str], folder: Path) -> Artifact:
    """Inverse of `Artifact.texts`. Raises KeyError or ValueError on texts that are none."""
    head = json.loads(texts[META])
    return Artifact(
        name=head["name"],
        target=head["target"],
        wrapper=texts[WRAPPER],
        cpp=texts.get(CPP),
        triton=texts.get(TRITON),
        plan=texts[PLAN],
        meta=head["meta"],
        folder=folder,
    )
