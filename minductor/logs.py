"""Logs of a compile through Python's `logging`, under `minductor.<artifact>`.

Which artifacts a compile prints is decided for that compile (option `logs`, MINDUCTOR_LOGS), not by
the state of a logger; a logger that somebody set to DEBUG gets its artifact too. Lines are written
as they are, without a prefix. When nobody has given our loggers a handler, one to stderr is added.
"""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from typing import TextIO

ROOT = "minductor"

PASS_LOGS = frozenset({"patterns", "ir_pre_fusion", "ir_post_fusion", "fusion", "kernel"})
"""Logs that only a compile with passes can write: who wants them gets no product of the cache."""


class _Stderr(logging.StreamHandler[TextIO]):
    """Writes to what `sys.stderr` is at the time of the message."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self.setFormatter(logging.Formatter("%(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Writes the message alone."""
        self.stream = sys.stderr
        super().emit(record)


def _ready(logger: logging.Logger) -> None:
    """Makes sure that records of ours reach somebody."""
    if logger.hasHandlers():
        return
    root = logging.getLogger(ROOT)
    root.addHandler(_Stderr())
    root.propagate = False


@dataclass(frozen=True)
class LoggingSink:
    """Sends chosen artifacts to their loggers. `names`: artifacts that this compile prints."""

    names: frozenset[str] = frozenset()

    def wants(self, artifact: str) -> bool:
        """Whether this compile prints the artifact, or its logger is at DEBUG."""
        if artifact in self.names:
            return True
        return logging.getLogger(f"{ROOT}.{artifact}").isEnabledFor(logging.DEBUG)

    def log(self, artifact: str, text: str) -> None:
        """One record for the text, which may have several lines."""
        if not self.wants(artifact):
            return
        logger = logging.getLogger(f"{ROOT}.{artifact}")
        _ready(logger)
        record = logger.makeRecord(
            logger.name, logging.DEBUG, __file__, 0, text.rstrip("\n"), (), None
        )
        logger.handle(record)

    def needs_passes(self) -> bool:
        """Whether an artifact is wanted that only passes can write."""
        return any(self.wants(name) for name in PASS_LOGS)
