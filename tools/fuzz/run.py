"""Draws programs, checks them, shrinks what fails, prints reproducers."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from minductor.tools.fuzz.check import Checker, Fault
from minductor.tools.fuzz.draw import Wanted, programs
from minductor.tools.fuzz.program import Program
from minductor.tools.fuzz.shrink import shrink

CHUNK = 40
"""Programs drawn under one seed of hypothesis; a chunk ends with its first find."""

MOST_SHRINKS = 60
"""Programs that are tried to make a find smaller."""


@dataclass(frozen=True)
class Find:
    """A program that fails, made small, and the seed that drew it."""

    program: Program
    fault: Fault
    seed: int
    validated: bool


@dataclass
class Campaign:
    """Programs from one seed on. `validate`: percentage that interpreters judge too."""

    count: int
    seed: int = 0
    validate: int = 5
    wanted: Wanted = field(default_factory=Wanted)
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    progress: Callable[[int], None] | None = None
    before: Callable[[Program], None] | None = None
    done: int = field(default=0, init=False)

    def finds(self) -> Iterator[Find]:
        """Each find as it comes; after the last, `count` programs have been checked."""
        chunk = 0
        while self.done < self.count:
            number = self.seed * 1_000_003 + chunk
            found = self._chunk(number, min(CHUNK, self.count - self.done + 1))
            if found is not None:
                yield found
            chunk += 1

    def _chunk(self, number: int, examples: int) -> Find | None:
        state = _Chunk(self, number, Checker(self.options))

        @seed(number)
        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=(Phase.generate,),
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
            report_multiple_bugs=False,
            print_blob=False,
        )
        @given(programs(self.wanted))
        def one(program: Program) -> None:
            state.check(program)

        try:
            one()
        except _Failed:
            pass
        return state.smallest()


class _Failed(Exception):
    """A program fails: hypothesis draws no more."""


@dataclass
class _Chunk:
    """What is known while a chunk runs."""

    campaign: Campaign
    number: int
    checker: Checker
    found: Find | None = None
    known: dict[str, Fault | None] = field(default_factory=dict[str, Fault | None])

    def check(self, program: Program) -> None:
        """Raises _Failed on a fault."""
        key = repr(program)
        if key not in self.known:
            self.known[key] = self._fault(program)
        if self.known[key] is not None:
            raise _Failed

    def _fault(self, program: Program) -> Fault | None:
        campaign = self.campaign
        if campaign.before is not None:
            campaign.before(program)
        chance = random.Random(f"{self.number} {program!r}").random() * 100
        validated = chance < campaign.validate
        fault = self.checker.fault(program, validated)
        campaign.done += 1
        if campaign.progress is not None:
            campaign.progress(campaign.done)
        if fault is not None:
            self.found = Find(program, fault, self.number, validated)
        return fault

    def smallest(self) -> Find | None:
        """The find, its program made smaller while the kind of the fault stays."""
        found = self.found
        if found is None:
            return None
        faults: dict[str, Fault] = {repr(found.program): found.fault}

        def fails(program: Program) -> bool:
            fault = self.checker.fault(program, found.validated)
            if fault is None or fault.head() != found.fault.head():
                return False
            faults[repr(program)] = fault
            return True

        program = shrink(found.program, fails, MOST_SHRINKS)
        return Find(program, faults[repr(program)], found.seed, found.validated)


def report(find: Find, number: int, options: dict[str, Any], folder: Path | None) -> str:
    """The reproducer's text; written to `folder` too, where there is one."""
    more = {"validate": True} if find.validated else {}
    text = find.program.script({**options, "strict": True, **more}, str(find.fault))
    if folder is None:
        return text
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"find-{find.seed}-{number}.py"
    path.write_text(text)
    return f"# kept as {path}\n{text}"


def seconds_since(start: float) -> str:
    """Time passed, for progress lines."""
    return f"{time.perf_counter() - start:.0f} s"
