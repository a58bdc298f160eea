"""Logs that people read while a graph is compiled, by artifact: `fusion`, `ir_pre_fusion`, ...

A pass writes through its context and never asks where the text goes:

    logs = logs_of(ctx)
    if logs.wants("fusion"):
        logs.log("fusion", "op0 and op1 has 4096 shared data")

Unlike remarks, which are data that tests and tools read, logs are lines for the eye.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Protocol, TextIO

from xdsl.context import Context

ARTIFACTS: dict[str, str] = {
    "calls": "whether a graph is called without AOTAutograd's wrappers, and why not",
    "aten": "the module as it was imported",
    "patterns": "where a pattern of the user's fits, and why it was refused where it nearly does",
    "ir_pre_fusion": "scheduler nodes before fusion, with their dependences",
    "ir_post_fusion": "scheduler nodes after fusion",
    "fusion": "each pair that fusion looked at, and what became of it",
    "kernel": "the scheduled kernels and the host program",
    "output_code": "the emitted source",
    "validate": "what became of each call that `validate` judged",
    "cudagraphs": "why a graph is not recorded as a CUDA graph, or not for all calls",
}
"""Name -> what it shows, in the order of the pipeline."""


class LogSink(Protocol):
    """Where log texts go."""

    def wants(self, artifact: str) -> bool:
        """Whether anybody reads this artifact: building the text is skipped otherwise."""
        ...

    def log(self, artifact: str, text: str) -> None:
        """Writes lines of an artifact; dropped when nobody wants them."""
        ...


@dataclass(frozen=True)
class NoLogs:
    """Drops everything."""

    def wants(self, artifact: str) -> bool:
        """Never."""
        return False

    def log(self, artifact: str, text: str) -> None:
        """Nothing."""


@dataclass
class StreamLogs:
    """Writes chosen artifacts to a stream, each line behind `prefix`; keeps them without one.

    `lines` holds (artifact, line) pairs in order of writing.
    """

    names: frozenset[str]
    stream: TextIO | None = None
    prefix: str = ""
    lines: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def wants(self, artifact: str) -> bool:
        """Whether the artifact was chosen."""
        return artifact in self.names

    def log(self, artifact: str, text: str) -> None:
        """Writes or keeps the lines of a chosen artifact."""
        if artifact not in self.names:
            return
        for line in text.splitlines():
            if self.stream is None:
                self.lines.append((artifact, line))
            else:
                self.stream.write(f"{self.prefix}{line}\n")


def parse_artifacts(names: str | Iterable[str]) -> frozenset[str]:
    """The artifacts of `fusion,kernel` or of a list; `all` means each. Raises ValueError."""
    words = names.split(",") if isinstance(names, str) else list(names)
    found: set[str] = set()
    for word in (one.strip() for one in words):
        if word == "all":
            found.update(ARTIFACTS)
        elif word in ARTIFACTS:
            found.add(word)
        elif word:
            close = get_close_matches(word, ARTIFACTS, n=1)
            hint = f", did you mean '{close[0]}'?" if close else ""
            raise ValueError(f"unknown log '{word}'{hint} Known: {', '.join(ARTIFACTS)}, all")
    return frozenset(found)


def logs_of(ctx: Context) -> LogSink:
    """The log sink of `ctx`; for a context that is not ours, one that drops everything."""
    sink = getattr(ctx, "logs", None)
    return NoLogs() if sink is None else sink
