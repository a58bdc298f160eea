"""Judges a compiled graph: runs what it was at every level, and names what first went wrong.

                 eager graph -- import --> aten -- passes --> loop -- passes --> kernel --> compiled
    compared:         x                   x   x               x  x x             x    x         x

Outcomes (results, and the arguments after the call) are compared at the checkpoints of the trail;
where two neighbouring checkpoints differ, every stage between them runs too, and the first whose
outcome is wrong names the pass. When the last stage is right and the compiled kernels are not, it
is the emitter or its compiler.

Random numbers change at the lowering that draws them by Philox: that step is judged on its twin
that draws eager's, and what follows is measured by the lowered module.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from xdsl.passes import ModulePass

from minductor.errors import ValidationError, ValidationWarning
from minductor.interpreters.points import NotInterpreted
from minductor.passes.context import MiniContext
from minductor.validate.compare import Reference, outcome
from minductor.validate.files import Evidence, size_of_work
from minductor.validate.snapshot import Snapshot
from minductor.validate.trail import IMPORT, Stage, Trail

CALLS = 4
"""Calls of one graph that are judged: the first of each combination of sizes, so many in all."""

Boxed = Callable[[list[Any]], Any]


@dataclass(frozen=True)
class Finding:
    """What is wrong: the step that did it, and how its outcome differs."""

    step: str
    level: str
    why: str
    before: Stage
    spec: str = ""


@dataclass
class Judge:
    """Judges the calls of one graph.

    `eager`: the imported graph, run by torch, as a function of the module's arguments; `emitter`:
    the last step's name; `limit`: points of the largest nest that are still interpreted; `say`
    gets a line for each call; `strict`: a finding raises, else it warns.
    """

    graph: str
    trail: Trail
    emitter: str
    folder: Path
    eager: Boxed | None = None
    limit: int = 1 << 22
    strict: bool = False
    say: Callable[[str], None] = print
    _seen: set[Any] = field(default_factory=set[Any], init=False)
    _notes: list[str] = field(default_factory=list[str], init=False)

    def around(self, call: Boxed) -> Boxed:
        """`call`, whose first calls are judged. Raises ValidationError when strict."""

        def run(args: list[Any]) -> Any:
            if not self._wanted(args):
                return call(args)
            return self._judged(call, args)

        run._boxed_call = True  # pyright: ignore[reportFunctionMemberAccess]
        return run

    def _wanted(self, args: Sequence[Any]) -> bool:
        sizes = tuple(tuple(a.shape) if isinstance(a, Tensor) else a for a in args)
        if sizes in self._seen or len(self._seen) >= CALLS:
            return False
        self._seen.add(sizes)
        reason = self._too_much(args)
        if reason is not None:
            self.say(f"validate: {self.graph} is not judged: {reason}")
        return reason is None

    def _too_much(self, args: Sequence[Any]) -> str | None:
        """Why a call is not judged, or None."""
        for a in args:
            if isinstance(a, Tensor) and a.device.type != "cpu":
                return f"a tensor on '{a.device}', interpreters run on the CPU"
        try:
            points = max((size_of_work(s.module, args) for s in self.trail.stages), default=0)
        except ValueError as error:  # the graph's own check of its arguments says it better
            return str(error)
        if points > self.limit:
            return f"a nest of {points} points, more than validate_limit = {self.limit}"
        return None

    def _judged(self, call: Boxed, args: list[Any]) -> Any:
        inputs = Snapshot(args)
        given = [a for a in args if isinstance(a, Tensor)]
        failed: Exception | None = None
        got: list[Any] = []
        try:
            got = list(call(args))
        except Exception as error:
            failed = error
        state = torch.get_rng_state()
        try:
            finding = self._find(inputs, failed if failed is not None else [*got, *given])
        finally:
            torch.set_rng_state(state)
        if finding is not None:
            self._report(finding, inputs)
        if failed is not None:
            raise failed
        return got

    # -- what went wrong --------------------------------------------------------------------------
    def _find(self, inputs: Snapshot, compiled: list[Any] | Exception) -> Finding | None:
        self._notes = []
        stages = self.trail.stages
        try:
            reference = Reference(stages[0].run, inputs)
        except Exception as error:
            self.say(f"validate: {self.graph} is not judged: its first level fails: {error}")
            return None
        why = self._import(reference, inputs)
        if why is not None:
            return Finding(IMPORT, "aten", why, stages[0])
        found, reference = self._passes(reference, inputs)
        if found is not None:
            return found
        last = stages[-1]
        if isinstance(compiled, Exception):
            why = f"the compiled graph fails: {type(compiled).__name__}: {compiled}"
        else:
            why = reference.difference(compiled)
        if why is not None:
            return Finding(self.emitter, "compiled", why, last)
        notes = "".join(f"; {n}" for n in dict.fromkeys(self._notes))
        count = len(stages) - 1
        self.say(f"validate: {self.graph} agrees at every level: {count} passes{notes}")
        return None

    def _import(self, reference: Reference, inputs: Snapshot) -> str | None:
        if self.eager is None:
            return None
        first = self.trail.stages[0]
        if first.draws:
            reference = Reference(first.run_drawing, inputs)
        return reference.difference(outcome(self.eager, inputs))

    def _passes(self, reference: Reference, inputs: Snapshot) -> tuple[Finding | None, Reference]:
        stages, before = self.trail.stages, 0
        for point in self.trail.checkpoints()[1:]:
            if self._draws_anew(point):
                why, reference = self._random(point, inputs)
                if why is not None:
                    twin = str(_eager_twin(stages[point].made_by))
                    return dataclasses.replace(self._blame(point, why), spec=twin), reference
            elif self._why(reference, stages[point], inputs) is not None:
                return self._bisect(reference, inputs, before + 1, point), reference
            before = point
        return None, reference

    def _bisect(
        self, reference: Reference, inputs: Snapshot, first: int, last: int
    ) -> Finding | None:
        for i in range(first, last + 1):
            why = self._why(reference, self.trail.stages[i], inputs)
            if why is not None:
                return self._blame(i, why)
        return None

    def _blame(self, i: int, why: str) -> Finding:
        stage = self.trail.stages[i]
        return Finding(f"pass {stage.name}", stage.level, why, self.trail.stages[i - 1], stage.spec)

    def _why(self, reference: Reference, stage: Stage, inputs: Snapshot) -> str | None:
        try:
            got = outcome(stage.run, inputs)
        except NotInterpreted as reason:
            self._notes.append(f"not run: {reason}")
            return None
        except Exception as error:
            return f"its outcome cannot be computed: {type(error).__name__}: {error}"
        return reference.difference(got)

    # -- random numbers ---------------------------------------------------------------------------
    def _draws_anew(self, i: int) -> bool:
        """Whether the pass before stage `i` replaced eager's random numbers by others."""
        before, stage = self.trail.stages[i - 1], self.trail.stages[i]
        return (before.level, stage.level) == ("aten", "loop") and before.draws

    def _random(self, i: int, inputs: Snapshot) -> tuple[str | None, Reference]:
        """The twin that keeps eager's numbers against the stage before; the new reference."""
        before, stage = self.trail.stages[i - 1], self.trail.stages[i]
        self._notes.append("random numbers change at the lowering")
        why = None
        twin = _eager_twin(stage.made_by)
        if twin is not None:
            module = before.module.clone()
            try:
                twin.apply(MiniContext(), module)
                copy = Stage(stage.name, str(twin), module, stage.level)
                why = self._why(Reference(before.run_drawing, inputs), copy, inputs)
            except ValueError as reason:
                self._notes.append(f"the lowering is not judged: {reason}")
        return why, Reference(stage.run, inputs)

    # -- saying so --------------------------------------------------------------------------------
    def _report(self, found: Finding, inputs: Snapshot) -> None:
        evidence = Evidence(self.folder, found.before.module, inputs)
        path, replay = evidence.save(found.step, found.spec)
        error = ValidationError(self.graph, found.step, found.level, found.why, path, replay)
        if self.strict:
            raise error
        warnings.warn_explicit(str(error), ValidationWarning, "minductor", 0)


def _eager_twin(made_by: ModulePass | None) -> ModulePass | None:
    """The lowering with eager's random numbers."""
    if made_by is None or not dataclasses.is_dataclass(made_by):
        return None
    if "random" not in {one.name for one in dataclasses.fields(made_by)}:
        return None
    return dataclasses.replace(made_by, random="eager")
