"""The table of docs/fusion.md, and the lines that a run prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

Row = dict[str, Any]

BEGIN = "<!-- fusion-table: begin -->"
END = "<!-- fusion-table: end -->"


class Sum(NamedTuple):
    """Counts and bytes of a step: all its graphs together."""

    kernels: int
    calls: int
    moved: int
    called: int

    @property
    def bytes(self) -> int:
        """Of kernels and calls."""
        return self.moved + self.called


def total(graphs: list[Any]) -> Sum:
    """Graphs added."""
    kernels = [one for graph in graphs for one in graph["kernels"]]
    calls = [one for graph in graphs for one in graph["calls"]]
    return Sum(len(kernels), len(calls), sum(b for _, b in kernels), sum(b for _, b in calls))


def megabytes(count: int) -> str:
    """Bytes as MB with three digits that count."""
    return f"{count / 1e6:.2f}"


def table(figures: dict[str, Any]) -> str:
    """The table as markdown, with its totals at the end."""
    lines = [
        "| program | step | kernels | calls | MB | TorchInductor: kernels | calls | MB | ratio |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    ours = theirs = kernels = others = calls = foreign = 0
    for row in figures["rows"]:
        a, b = total(row["minductor"]), total(row["inductor"])
        lines.append(
            f"| {row['name']} | {row['phase']} | {a.kernels} | {a.calls} | {megabytes(a.bytes)} "
            f"| {b.kernels} | {b.calls} | {megabytes(b.bytes)} | {a.bytes / b.bytes:.3f} |"
        )
        ours, theirs = ours + a.bytes, theirs + b.bytes
        kernels, others = kernels + a.kernels, others + b.kernels
        calls, foreign = calls + a.calls, foreign + b.calls
    lines.append(
        f"| all | | {kernels} | {calls} | {megabytes(ours)} | {others} | {foreign} "
        f"| {megabytes(theirs)} | {ours / max(1, theirs):.3f} |"
    )
    return "\n".join(lines)


def with_table(document: str, figures: dict[str, Any]) -> str:
    """The document with the table of these figures between its markers."""
    before, _, rest = document.partition(BEGIN)
    _, _, after = rest.partition(END)
    head = f"`make fusion-table`, torch {figures['torch']}, f32, for a CPU:"
    return f"{before}{BEGIN}\n\n{head}\n\n{table(figures)}\n\n{END}{after}"


def detail(row: Row, every: bool) -> Iterator[str]:
    """A line for a row; with `every` one for each kernel and call."""
    a, b = total(row["minductor"]), total(row["inductor"])
    yield (
        f"{row['name']}, {row['phase']}: {a.kernels} + {a.calls} calls, {a.moved} + {a.called}; "
        f"TorchInductor {b.kernels} + {b.calls}, {b.moved} + {b.called}; {a.bytes / b.bytes:.3f}"
    )
    if every:
        for who in ("minductor", "inductor"):
            for number, graph in enumerate(row[who]):
                for kind in ("kernels", "calls"):
                    for name, count in graph[kind]:
                        yield f"    {who} graph {number} {kind[:-1]} {name}: {count}"


def problems(rows: list[Row]) -> Iterator[str]:
    """Rows in which minductor moves more."""
    for row in rows:
        a, b = total(row["minductor"]), total(row["inductor"])
        if a.bytes > b.bytes:
            yield f"more bytes: {row['name']}, {row['phase']}: {a.bytes - b.bytes}"
