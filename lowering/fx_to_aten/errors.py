"""What an import refuses, with a reason that a person can read."""

from __future__ import annotations


class ImportRefused(Exception):
    """A graph holds something that has no `aten` form; the caller runs it eagerly.

    `reason` is one sentence, `node` the FX name it is about (or "").
    """

    def __init__(self, reason: str, node: str = "") -> None:
        self.reason = reason
        self.node = node
        super().__init__(f"{node}: {reason}" if node else reason)
