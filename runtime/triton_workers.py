"""Processes that compile Triton kernels side by side.

Threads share Python's lock, which Triton holds while it reads a kernel and in parts of its code
generation. Workers start when the first graph on a GPU is given to us, and get ready while it is
traced. They only fill Triton's cache: the kernel is then compiled here, which finds it there. A
kernel that no worker is ready for, or that one fails on, is compiled here alone.

MINDUCTOR_TRITON_WORKERS says how many; not set, half of the processors and at most eight; 0: none.
"""

from __future__ import annotations

import atexit
import json
import os
import queue
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from threading import Lock, Thread
from typing import IO, Any

from minductor.runtime.triton_worker import READY

_MOST = 8

Job = Mapping[str, Any]


def worker_count() -> int:
    """How many processes to start; one alone would bring nothing."""
    text = os.environ.get("MINDUCTOR_TRITON_WORKERS", "").strip()
    if text.isdigit():
        return int(text)
    count = min(_MOST, (os.cpu_count() or 1) // 2)
    return count if count > 1 else 0


class Workers:
    """`count` processes, each served by a thread."""

    def __init__(self, count: int) -> None:
        self._jobs: queue.Queue[tuple[str, Future[str | None]] | None] = queue.Queue()
        self._processes = [self._start() for _ in range(count)]
        self._ready = 0
        self._lock = Lock()
        self._threads = [
            Thread(target=self._serve, args=(one,), daemon=True) for one in self._processes
        ]
        for thread in self._threads:
            thread.start()
        atexit.register(self.close)

    def _start(self) -> subprocess.Popen[str]:
        script = Path(__file__).with_name("triton_worker.py")
        # -P: the folder of the script holds modules named like Python's own
        return subprocess.Popen(
            [sys.executable, "-P", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ready(self) -> int:
        """How many can take a job."""
        return self._ready

    def submit(self, job: Job) -> Future[str | None]:
        """The future answer: "" when the kernel is in Triton's cache, else what went wrong; None
        when no worker took the job."""
        future: Future[str | None] = Future()
        if not self._ready:
            future.set_result(None)
        else:
            self._jobs.put((json.dumps(job), future))
            if not self._ready:  # the last one has gone meanwhile
                self._forget()
        return future

    def _serve(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        if process.stdout.readline().strip() != READY:
            return
        self._counted(1)
        while (item := self._jobs.get()) is not None:
            line, future = item
            answer = _asked(line, process.stdin, process.stdout)
            future.set_result(answer)
            if answer is None:
                break
        self._counted(-1)
        if not self._ready:
            self._forget()

    def _counted(self, more: int) -> None:
        with self._lock:
            self._ready += more

    def _forget(self) -> None:
        """Answer what nobody will take."""
        while True:
            try:
                item = self._jobs.get_nowait()
            except queue.Empty:
                return
            if item is not None:
                item[1].set_result(None)

    def close(self) -> None:
        """End all processes."""
        for _ in self._threads:
            self._jobs.put(None)
        for process in self._processes:
            process.kill()
            process.wait()


def _asked(line: str, stdin: IO[str], stdout: IO[str]) -> str | None:
    """The answer to a job; None when the process has ended."""
    try:
        stdin.write(line + "\n")
        stdin.flush()
        answer = stdout.readline()
    except OSError:
        return None
    return answer.rstrip("\n") if answer else None


@cache
def workers() -> Workers | None:
    """The process's workers, started at the first call; None where there are to be none."""
    count = worker_count()
    try:
        return Workers(count) if count else None
    except OSError:
        return None
