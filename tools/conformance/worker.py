"""A worker process: takes items from its input, a line of JSON each, and answers with lines.

    {"doing": "3", "stage": "eager"}      what it is at, should it die
    {"result": {..}}                      a Result
    {"done": true}                        the item is finished

Whatever the ops under test print goes to the standard error stream.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from minductor.tools.conformance import trees
from minductor.tools.conformance.chance import check_distribution, is_random
from minductor.tools.conformance.entries import STRIDED, Unit, entries, seed_everything, units
from minductor.tools.conformance.known import (
    EAGER_REFUSES,
    RANDOM_STATE,
    UNINITIALISED,
    allowed_fallback,
)
from minductor.tools.conformance.known import SKIPPED as NOT_RUN
from minductor.tools.conformance.results import (
    ERROR,
    PASS,
    SKIPPED,
    TOGETHER,
    UNTRACEABLE,
    Item,
    Mismatch,
    Result,
    one_line,
)
from minductor.tools.conformance.subject import Subject, call_all, runs_under_aot, untraceable
from minductor.tools.conformance.trial import Judge, Outcome, eager, ours

DEAD_CONTEXT = ("device-side assert", "illegal memory access", "misaligned address")
"""Words of errors after which a process can use its GPU no more."""


class Worker:
    """Runs the units of items and sends what they gave."""

    def __init__(self, send: Any, settings: Mapping[str, Any]) -> None:
        self.send = send
        self.device: str = settings["device"]
        self.target: str = settings["target"]
        self.pipeline: str | None = settings["pipeline"] or None
        self.samples: int = settings["samples"]
        only: str | None = settings["unit"]
        self.only = None if only == TOGETHER else only
        self.settled = 0
        self.together: tuple[str, ...] = ()

    def run(self, item: Item) -> None:
        """Sends a result for each unit that is not done yet."""
        op = entries()[item.entry]
        if item.entry in NOT_RUN:
            self._send(Result(item.entry, item.dtype, item.mode, "", SKIPPED, NOT_RUN[item.entry]))
            return
        try:
            found = units(op, item, self.device, self.samples)
        except Exception as error:
            why = f"the database gives no samples: {one_line(error)}"
            self._send(Result(item.entry, item.dtype, item.mode, "", SKIPPED, why))
            return
        todo = [u for u in found if u.id not in item.after and self.only in (None, u.id)]
        plain = [u for u in todo if self._is_plain(item, u)]
        done: set[str] = set()
        self.settled, self.together = 0, item.together
        if not item.single and len(plain) > 1:
            done = self._together(item, plain)
        for unit in todo:
            if unit.id not in done:
                self._alone(item, unit, unit in plain)
        if self.together and not self.settled:
            cls, reason = self.together
            reason = f"only in one graph with the item's other samples: {reason}"
            self._send(Result(item.entry, item.dtype, item.mode, TOGETHER, cls, reason))

    def _subject(self, chosen: Sequence[Unit], fullgraph: bool = True, **more: Any) -> Subject:
        return Subject(
            [u.fn for u in chosen],
            fullgraph,
            {"target": self.target, "pipeline": self.pipeline, **more},
        )

    def _is_plain(self, item: Item, unit: Unit) -> bool:
        """Eager accepts the unit, and always gives the same."""
        self.send({"doing": unit.id, "stage": "eager"})
        seed_everything()
        try:
            eager([unit], [trees.copied(unit.tree)], item.mode == "grad")
            return item.entry in UNINITIALISED or not is_random(unit)
        except Exception:
            return False

    # -- several units in one graph --------------------------------------------------------------
    def _together(self, item: Item, plain: Sequence[Unit]) -> set[str]:
        """Runs all units as one program; the ids of those that pass. The others run alone."""
        self.send({"doing": TOGETHER, "stage": "ours"})
        grad = item.mode == "grad"
        subject = self._subject(plain)
        try:
            got = ours(subject, plain, [trees.copied(u.tree) for u in plain], grad)
        except Exception as error:
            self._die_with_context(TOGETHER, error)
            self.together = (ERROR, one_line(error))
            return set()
        want = eager(plain, [trees.copied(u.tree) for u in plain], grad)
        passed: set[str] = set()
        share = max(1, subject.graphs)
        for unit, a, b in zip(plain, got, want, strict=True):
            try:
                Judge(item, unit).check(a, b)
            except Mismatch as wrong:
                self.together = (wrong.cls, f"sample {unit.id}: {wrong.reason}")
                continue
            passed.add(unit.id)
            self._result(item, unit, PASS, "", subject, share)
        return passed

    # -- one unit --------------------------------------------------------------------------------
    def _alone(self, item: Item, unit: Unit, plain: bool) -> None:
        """One unit in a graph of its own."""
        grad = item.mode == "grad"
        self.send({"doing": unit.id, "stage": "eager"})
        seed_everything()
        try:
            eager([unit], [trees.copied(unit.tree)], grad)
        except Exception as error:
            self._also_raises(item, unit, error)
            return
        self.send({"doing": unit.id, "stage": "ours"})
        subject: Subject | None = None
        try:
            subject = self._one(item, unit, grad) if plain else self._random(item, unit, grad)
        except Mismatch as wrong:
            self._result(item, unit, wrong.cls, wrong.reason, subject)
        except Exception as error:
            self._die_with_context(unit.id, error)
            self._failed(item, unit, error, plain)
        else:
            self._result(item, unit, PASS, "", subject)

    def _one(self, item: Item, unit: Unit, grad: bool, fullgraph: bool = True) -> Subject:
        subject = self._subject([unit], fullgraph)
        seed_everything()
        got = ours(subject, [unit], [trees.copied(unit.tree)], grad)[0]
        seed_everything()
        want = eager([unit], [trees.copied(unit.tree)], grad)[0]
        Judge(item, unit).check(got, want)
        return subject

    def _random(self, item: Item, unit: Unit, grad: bool, fullgraph: bool = True) -> Subject:
        """Eager's values where they are asked for; else its distribution."""
        exact = self._subject([unit], fullgraph, eager_random=True)
        want = self._seeded_eager(unit, grad)
        seed_everything()
        got = ours(exact, [unit], [trees.copied(unit.tree)], grad)[0]
        try:
            Judge(item, unit).check(got, want)
        except Mismatch as wrong:
            raise Mismatch(wrong.cls, f"under eager_random: {wrong.reason}") from None
        subject = self._subject([unit], fullgraph)
        if grad:
            seed_everything()
            ours(subject, [unit], [trees.copied(unit.tree)], grad)
            return subject
        check_distribution(
            unit,
            lambda tree: subject([tree])[0:1],
            lambda tree: call_all([unit.fn], [tree]),
            RANDOM_STATE.get(item.entry, ()),
        )
        return subject

    @staticmethod
    def _seeded_eager(unit: Unit, grad: bool) -> Outcome:
        seed_everything()
        return eager([unit], [trees.copied(unit.tree)], grad)[0]

    def _also_raises(self, item: Item, unit: Unit, wanted: Exception) -> None:
        """Eager raises on this unit: so must we, unless the database never asked for it."""
        if unit.id.endswith(STRIDED):
            self._result(item, unit, SKIPPED, f"eager itself, strided: {one_line(wanted)}")
            return
        self.send({"doing": unit.id, "stage": "ours"})
        subject = self._subject([unit], fullgraph=False)
        try:
            ours(subject, [unit], [trees.copied(unit.tree)], item.mode == "grad")
        except Exception as error:
            self._die_with_context(unit.id, error)
            self._result(item, unit, PASS, f"eager raises too: {one_line(wanted)}", subject)
            return
        known = EAGER_REFUSES.get(item.entry)
        if known is None and runs_under_aot([unit.fn], [unit.tree], item.mode == "grad"):
            known = "AOTAutograd's graph gives a result too, where eager raises"
        reason = known or f"no error, where eager has: {one_line(wanted)}"
        self._result(item, unit, ERROR if known is None else SKIPPED, reason, subject)

    def _failed(self, item: Item, unit: Unit, error: Exception, plain: bool) -> None:
        """An error under fullgraph: ours, a refusal that is known, or torch's own."""
        grad = item.mode == "grad"
        reason = one_line(error)
        known = allowed_fallback(reason)
        if known is not None:
            self._result(item, unit, SKIPPED, known)
            return
        why = untraceable([unit.fn], [unit.tree], grad)
        if why is None:
            self._result(item, unit, ERROR, reason)
            return
        try:
            run = self._one if plain else self._random
            subject = run(item, unit, grad, fullgraph=False)
        except Mismatch as wrong:
            self._result(item, unit, wrong.cls, f"with graph breaks: {wrong.reason}")
        except Exception as broken:
            known = allowed_fallback(one_line(broken))
            if known is not None:
                self._result(item, unit, SKIPPED, known)
            elif not runs_under_aot([unit.fn], [unit.tree], grad):
                self._result(item, unit, UNTRACEABLE, f"with graph breaks too: {why}")
            else:
                self._result(item, unit, ERROR, f"with graph breaks: {one_line(broken)}")
        else:
            self._result(item, unit, UNTRACEABLE, why, subject)

    # -- sending ---------------------------------------------------------------------------------
    def _die_with_context(self, unit: str, error: Exception) -> None:
        """After an error that ends the GPU's context nothing here can go on."""
        text = str(error)
        if self.device == "cuda" and any(word in text for word in DEAD_CONTEXT):
            self.send({"dying": unit, "why": one_line(error)})
            os._exit(77)

    def _result(
        self,
        item: Item,
        unit: Unit,
        cls: str,
        reason: str,
        subject: Subject | None = None,
        graphs: int | None = None,
    ) -> None:
        result = Result(item.entry, item.dtype, item.mode, unit.id, cls, reason)
        if subject is not None:
            result.graphs = subject.graphs if graphs is None else graphs
            result.kernels, result.externs = subject.kernels, subject.externs
        self._send(result)

    def _send(self, result: Result) -> None:
        self.settled += result.failed or result.cls in (SKIPPED, UNTRACEABLE)
        self.send({"result": vars(result)})


def main() -> None:
    """Serves items until the input ends."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")

    def send(message: dict[str, Any]) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    settings = json.loads(sys.argv[1])
    torch.set_num_threads(settings["threads"])
    worker = Worker(send, settings)
    entries()
    send({"ready": True})
    for line in sys.stdin:
        worker.run(Item.of(json.loads(line)))
        send({"done": True})


if __name__ == "__main__":
    main()
