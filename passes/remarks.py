"""Remarks: what a pass did or refused to do, and why.

Every refusal has a printable reason. A pass asks `sink_of(ctx)` for the sink of its context and
emits; `mini-opt --print-remarks` prints them as comment lines, one a line:

    // remark: [loop-fuse] refused op0, op1: no shared data {bytes = 0}
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from xdsl.context import Context

RemarkKind = Literal["accepted", "refused", "note"]


@dataclass(frozen=True)
class Remark:
    """One decision of a pass.

    `subject` names what it is about (ops, buffers, a pair of nodes), `reason` is a sentence
    without a full stop, `location` the printed source location if known, `bytes` the traffic that
    the decision saves or costs: a number, or the text of an expression over symbols.
    """

    pass_name: str
    kind: RemarkKind
    subject: str
    reason: str = ""
    location: str | None = None
    bytes: int | str | None = None

    def __str__(self) -> str:
        text = f"[{self.pass_name}] {self.kind} {self.subject}"
        if self.reason:
            text += f": {self.reason}"
        if self.bytes is not None:
            text += f" {{bytes = {self.bytes}}}"
        if self.location is not None:
            text += f" at {self.location}"
        return text.replace("\n", " ")


@dataclass
class RemarkSink:
    """Collects remarks in the order in which they were emitted. `enabled = False` drops them."""

    enabled: bool = True
    remarks: list[Remark] = field(default_factory=list[Remark])

    def emit(self, remark: Remark) -> None:
        """Adds a remark."""
        if self.enabled:
            self.remarks.append(remark)

    def accepted(
        self,
        pass_name: str,
        subject: str,
        reason: str = "",
        *,
        location: str | None = None,
        bytes: int | str | None = None,
    ) -> None:
        """Adds a remark of something that was done."""
        self.emit(Remark(pass_name, "accepted", subject, reason, location, bytes))

    def refused(
        self,
        pass_name: str,
        subject: str,
        reason: str,
        *,
        location: str | None = None,
        bytes: int | str | None = None,
    ) -> None:
        """Adds a remark of something that was not done; the reason is required."""
        self.emit(Remark(pass_name, "refused", subject, reason, location, bytes))

    def note(
        self,
        pass_name: str,
        subject: str,
        reason: str = "",
        *,
        location: str | None = None,
        bytes: int | str | None = None,
    ) -> None:
        """Adds a remark that is neither: a figure, a choice among equals."""
        self.emit(Remark(pass_name, "note", subject, reason, location, bytes))

    def drain(self) -> list[Remark]:
        """Returns the remarks so far and forgets them."""
        remarks, self.remarks = self.remarks, []
        return remarks

    def of(self, pass_name: str, kind: RemarkKind | None = None) -> Iterator[Remark]:
        """The remarks of one pass, of one kind or of all."""
        for remark in self.remarks:
            if remark.pass_name == pass_name and kind in (None, remark.kind):
                yield remark

    def lines(self) -> Iterator[str]:
        """The remarks as comment lines of IR text."""
        for remark in self.remarks:
            yield f"// remark: {remark}"


def sink_of(ctx: Context) -> RemarkSink:
    """The sink of `ctx`; for a context that is not ours, one that drops everything."""
    sink = getattr(ctx, "remarks", None)
    return sink if isinstance(sink, RemarkSink) else RemarkSink(enabled=False)
