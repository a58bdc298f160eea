"""One line on a terminal while a compile takes long: the stage and the kernels built so far.

Nothing is written before a second has passed, on streams that are no terminal, or when switched off
(`enabled=False`, or MINDUCTOR_PROGRESS=0). The line is erased at the end.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from types import TracebackType
from typing import TextIO

_DELAY_S = 1.0
_STEP_S = 0.1


class Progress:
    """A context manager around one compile; all methods may be called from any thread."""

    def __init__(
        self, name: str, enabled: bool = True, stream: TextIO | None = None, delay: float = _DELAY_S
    ) -> None:
        self._stream = sys.stderr if stream is None else stream
        wanted = enabled and os.environ.get("MINDUCTOR_PROGRESS", "1") not in ("0", "off", "false")
        self._on = wanted and self._stream.isatty()
        self._name = name
        self._delay = delay
        self._stage = ""
        self._counts: tuple[int, int] | None = None
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._width = 0

    def stage(self, name: str) -> None:
        """A new stage begins, such as "fusion" or "C++ compiler"."""
        self._stage, self._counts = name, None

    def kernels(self, built: int, total: int) -> None:
        """So many kernels of so many are built."""
        self._counts = (built, total)

    def text(self, seconds: float) -> str:
        """The line after so many seconds."""
        counts = "" if self._counts is None else f", kernels {self._counts[0]}/{self._counts[1]}"
        return f"minductor: compiling {self._name}: {self._stage}{counts} ({seconds:.0f} s)"

    def _draw(self) -> None:
        start = time.monotonic()
        wait = self._delay
        while not self._end.wait(wait):
            line = self.text(time.monotonic() - start)
            self._write("\r" + line.ljust(self._width))
            self._width = max(self._width, len(line))
            wait = _STEP_S
        if self._width:
            self._write("\r" + " " * self._width + "\r")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._end.set()  # the terminal has gone

    def __enter__(self) -> Progress:
        if self._on:
            self._thread = threading.Thread(target=self._draw, name="minductor", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end.set()
        if self._thread is not None:
            self._thread.join()
