"""Lines of generated source, with slots that may be filled after later lines are written."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

Line = "str | Slot"


class Slot:
    """A place in the output; lines added to it appear there, at the slot's indentation."""

    __slots__ = ("depth", "lines")

    def __init__(self, depth: int):
        self.depth = depth
        self.lines: list[str] = []

    def add(self, line: str) -> None:
        """Append a line to the slot."""
        self.lines.append("  " * self.depth + line)


class Writer:
    """Indented lines."""

    def __init__(self, depth: int = 0) -> None:
        self.depth = depth
        self._out: list[str | Slot] = []

    def line(self, text: str) -> None:
        """One line at the current depth."""
        self._out.append("  " * self.depth + text)

    def slot(self) -> Slot:
        """A slot at the current place."""
        slot = Slot(self.depth)
        self._out.append(slot)
        return slot

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Generator[None, None, None]:
        """`head`, indented lines, `tail`."""
        self.line(head)
        self.depth += 1
        yield
        self.depth -= 1
        self.line(tail)

    def text(self) -> str:
        """All lines."""
        lines: list[str] = []
        for item in self._out:
            if isinstance(item, Slot):
                lines += item.lines
            else:
                lines.append(item)
        return "\n".join(lines)
