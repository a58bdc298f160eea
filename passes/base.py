"""The base class of minductor's passes: what a pass needs, provides and ends.

A pipeline is a visible list; its order is not kept by comments but by what each pass declares.
`check_order` in `passes/pipelines.py` reads the declarations, and a unit test runs it on every
named pipeline. Properties are plain words ("aten", "loop", "fused", ...).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException


class PlanRefused(PassFailedException):
    """A pass refuses what earlier passes decided; other decisions may do (`passes/leaner.py`)."""


@dataclass(frozen=True)
class MiniPass(ModulePass):
    """A module pass with declared order. Fields of a subclass are its options.

    `needs`: properties that must hold before; `provides`: properties that hold after;
    `ends`: properties that no longer hold after (a lowering ends its source level).
    """

    needs: ClassVar[frozenset[str]] = frozenset()
    provides: ClassVar[frozenset[str]] = frozenset()
    ends: ClassVar[frozenset[str]] = frozenset()
