"""Worker processes that are replaced when they crash, hang or grow old."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from minductor.tools.conformance.results import CRASH, SKIPPED, TIMEOUT, TOGETHER, Item, Result
from minductor.tools.conformance.settings import Settings

STARTING = 180.0
"""Seconds that a worker may take to import torch and the database."""
LIFETIME = 200
"""Items after which a worker is replaced: what torch keeps for each compile adds up."""
WORKER = ("-m", "minductor.tools.conformance.worker")

Report = Callable[[Result], None]
Done = Callable[[], None]


class Lost(Exception):
    """The worker is gone: `cls` and the reason."""

    def __init__(self, cls: str, reason: str) -> None:
        super().__init__(reason)
        self.cls = cls
        self.reason = reason


class Process:
    """One worker process and a thread that reads its answers."""

    def __init__(self, settings: Settings, worker: Sequence[str]) -> None:
        told = {
            "device": settings.device,
            "target": settings.target,
            "pipeline": settings.pipeline,
            "samples": settings.samples,
            "threads": settings.threads,
            "unit": settings.unit,
        }
        self.served = 0
        self.child = subprocess.Popen(
            [sys.executable, *worker, json.dumps(told)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
            text=True,
        )
        self.answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.child.stdout is not None
        for line in self.child.stdout:
            self.answers.put(json.loads(line))
        self.answers.put(None)

    def send(self, item: Item) -> None:
        """Hands an item over."""
        assert self.child.stdin is not None
        self.served += 1
        try:
            self.child.stdin.write(json.dumps(item.message()) + "\n")
            self.child.stdin.flush()
        except OSError:
            pass  # it is gone already: `answer` says how

    def answer(self, seconds: float) -> dict[str, Any]:
        """The next answer. Raises Lost when none comes in time or the worker is gone."""
        try:
            found = self.answers.get(timeout=seconds)
        except queue.Empty:
            self.end()
            raise Lost(TIMEOUT, f"no answer in {seconds:.0f} s") from None
        if found is None:
            status = self.child.wait()
            cause = f"signal {-status}" if status < 0 else f"exit status {status}"
            raise Lost(CRASH, f"the process ended with {cause}")
        return found

    def end(self) -> None:
        """Ends the process."""
        self.child.kill()
        self.child.wait()


@dataclass
class Pool:
    """Runs items on `settings.jobs` workers; `report` is called with each result and `done` after
    each item, one at a time."""

    settings: Settings
    report: Report
    done: Done = lambda: None
    worker: Sequence[str] = WORKER
    lock: Any = field(default_factory=threading.Lock)

    def run(self, items: Sequence[Item]) -> None:
        """Returns when every item is done."""
        waiting: queue.Queue[Item] = queue.Queue()
        for item in items:
            waiting.put(item)
        jobs = min(self.settings.jobs, len(items))
        threads = [
            threading.Thread(target=self._serve, args=(waiting,), daemon=True) for _ in range(jobs)
        ]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            for thread in threads:
                thread.join(0.2)

    def _serve(self, waiting: queue.Queue[Item]) -> None:
        process: Process | None = None
        while True:
            try:
                item: Item | None = waiting.get_nowait()
            except queue.Empty:
                break
            while item is not None:
                if process is None:
                    process = Process(self.settings, self.worker)
                watch = _Watch(item)
                try:
                    if process.served == 0:
                        process.answer(STARTING)
                    self._one(process, watch)
                    item = None
                except Lost as lost:
                    process = None
                    item = self._after(watch, lost)
                if item is None:
                    with self.lock:
                        self.done()
            if process is not None and process.served >= LIFETIME:
                process.end()
                process = None
        if process is not None:
            process.end()

    def _one(self, process: Process, watch: _Watch) -> None:
        """One item on a live worker."""
        process.send(watch.item)
        while not (answer := process.answer(self._patience(watch))).get("done"):
            watch.heard(answer)
            if "result" in answer:
                self._report(Result(**answer["result"]))

    def _patience(self, watch: _Watch) -> float:
        """Several units in one graph take longer than one; the whole is tried again one by one."""
        return self.settings.timeout * (3 if watch.doing == TOGETHER else 1)

    def _after(self, watch: _Watch, lost: Lost) -> Item | None:
        """What remains of an item whose worker is gone."""
        item = watch.item
        reason = watch.why or lost.reason
        if watch.doing is None:
            self._report(Result(item.entry, item.dtype, item.mode, "", lost.cls, reason))
            return None
        if not item.single:
            how = (lost.cls, reason) if watch.doing == TOGETHER else ()
            return Item(item.entry, item.dtype, item.mode, True, tuple(watch.done), how)
        cls = lost.cls
        if watch.stage == "eager":
            cls, reason = SKIPPED, f"eager itself: {reason}"
        self._report(Result(item.entry, item.dtype, item.mode, watch.doing, cls, reason))
        done = (*watch.done, watch.doing)
        return Item(item.entry, item.dtype, item.mode, True, done, ())

    def _report(self, result: Result) -> None:
        with self.lock:
            self.report(result)


@dataclass
class _Watch:
    """What an item's worker has said."""

    item: Item
    doing: str | None = None
    stage: str = ""
    why: str = ""
    done: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.done.extend(self.item.after)

    def heard(self, answer: dict[str, Any]) -> None:
        """Takes an answer in."""
        if "doing" in answer:
            self.doing, self.stage = answer["doing"], answer["stage"]
        if "dying" in answer:
            self.doing, self.why, self.stage = answer["dying"], answer["why"], "ours"
        if "result" in answer:
            self.done.append(answer["result"]["unit"])
