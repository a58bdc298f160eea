"""Checks what a stage may hold, after verifying the module.

    mini-opt m.mlir -p 'verify-stage{stage=kernel}'

    before: a module that is said to be of one level
    after:  the same module; or an error naming the first op of another level and the lowering
            that would have removed it

| stage  | dialects                   |
| ------ | -------------------------- |
| aten   | builtin, func, aten        |
| loop   | builtin, func, loop, scalar |
| kernel | builtin, func, kernel, scalar |
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from minductor.passes.base import MiniPass
from minductor.passes.registry import nearest

STAGES: dict[str, frozenset[str]] = {
    "aten": frozenset({"builtin", "func", "aten"}),
    "loop": frozenset({"builtin", "func", "loop", "scalar"}),
    "kernel": frozenset({"builtin", "func", "kernel", "scalar"}),
}
"""Stage -> the dialects whose ops it may hold."""

LOWERINGS = {"aten": "aten-to-loop", "loop": "loop-to-kernel"}
"""Dialect -> the lowering that leaves none of it."""


@dataclass(frozen=True)
class VerifyStagePass(MiniPass):
    """Verifies the module and refuses ops that do not belong to its stage."""

    name = "verify-stage"
    stage: str = "kernel"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.stage not in STAGES:
            raise PassFailedException(f"unknown stage '{self.stage}'{nearest(self.stage, STAGES)}")
        op.verify()
        allowed = STAGES[self.stage]
        for inner in op.walk():
            dialect = inner.name.partition(".")[0]
            if dialect in allowed:
                continue
            lowering = LOWERINGS.get(dialect)
            mend = f"run {lowering} before" if lowering else f"only {', '.join(sorted(allowed))}"
            raise PassFailedException(
                f"'{inner.name}' does not belong to the stage '{self.stage}': {mend}"
            )
