"""The modules that a compile went through: one before the first pass and one after each."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from minductor.dialects.aten.traits import Random
from minductor.interpreters.run import entry_of, level_of, run_entry

IMPORT = "import"


@dataclass(frozen=True)
class Stage:
    """A module and the pass that made it (`import` made the first)."""

    name: str
    spec: str
    module: ModuleOp
    level: str
    fused: bool = False
    """Whether the pass fuses: outcomes on both sides of it are compared in any case."""
    made_by: ModulePass | None = None

    @cached_property
    def draws(self) -> bool:
        """Whether it holds random ops of the `aten` level."""
        return any(op.has_trait(Random) for op in self.module.walk())

    def run(self, args: list[Any]) -> list[Any]:
        """The results under the level's interpreter; mutated arguments are written."""
        return run_entry(self.module, entry_of(self.module), args, named_draws=True)

    def run_drawing(self, args: list[Any]) -> list[Any]:
        """As `run`, but random ops draw from the generator in program order, as eager kernels."""
        return run_entry(self.module, entry_of(self.module), args)


@dataclass
class Trail:
    """Stages in order."""

    stages: list[Stage] = field(default_factory=list[Stage])

    def start(self, module: ModuleOp) -> None:
        """Keeps the imported module."""
        copy = module.clone(clone_name_hints=True)
        self.stages = [Stage(IMPORT, "", copy, level_of(entry_of(copy)))]

    def add(self, done: ModulePass, module: ModuleOp) -> None:
        """Keeps the module after a pass."""
        copy = module.clone(clone_name_hints=True)
        fused = "fused" in getattr(done, "provides", frozenset[str]())
        level = level_of(entry_of(copy))
        self.stages.append(Stage(done.name, str(done), copy, level, fused, done))

    def checkpoints(self) -> list[int]:
        """Stages to run in any case: both sides of each change of level and of fusion, the last."""
        last = len(self.stages) - 1
        out = {0, last}
        for i, stage in enumerate(self.stages[1:], start=1):
            if stage.level != self.stages[i - 1].level or stage.fused:
                out |= {i - 1, i}
        return sorted(out)
