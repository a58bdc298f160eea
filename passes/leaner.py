"""Pipelines that decide less, for a plan that a later pass refused.

    loop-inline,loop-fuse,..,kernel-memory          needs more memory than running op by op
    loop-inline,loop-fuse{max-rounds=0},..          each nest a kernel of its own
    loop-inline{max-ops=0},loop-fuse{max-rounds=0}  each op a nest of its own
    ..,kernel-memory{max-peak=none}                 the first again: nothing obeys

The pass manager tries them in this order, and the first that is not refused stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from xdsl.passes import ModulePass

UNFUSED: dict[str, Any] = {"loop-fuse": {"max_rounds": 0}}
ALONE: dict[str, Any] = {**UNFUSED, "loop-inline": {"max_ops": 0}}
UNBOUND: dict[str, Any] = {"kernel-memory": {"max_peak": "none"}}


def leaner(passes: Sequence[ModulePass]) -> Iterator[tuple[str, list[ModulePass]]]:
    """What is given up, and the passes without it; nothing where fusion is not among them."""
    if not any(one.name == "loop-fuse" for one in passes):
        return
    for what, options in (
        ("fusion", UNFUSED),
        ("fusion and inlining", ALONE),
        ("the bound", UNBOUND),
    ):
        yield what, [_with(one, options.get(one.name, {})) for one in passes]


def _with(one: ModulePass, options: dict[str, Any]) -> ModulePass:
    changed: Any = one
    return replace(changed, **options) if options else one
