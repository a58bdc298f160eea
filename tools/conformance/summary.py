"""What is printed and written at the end."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from minductor.tools.conformance.results import CLASSES, SKIPPED, UNTRACEABLE, Result
from minductor.tools.conformance.settings import Settings


def text(results: Sequence[Result], settings: Settings, seconds: float) -> str:
    """Counts by class, what is not compared and why, and each failure with its command."""
    lines = [_table(results), ""]
    lines += _named("not traced whole by torch itself", results, UNTRACEABLE)
    lines += _named("skipped", results, SKIPPED)
    bare = sorted(_without_graph(results))
    if bare:
        lines += [f"entries that give no graph ({len(bare)}): {', '.join(bare)}", ""]
    failures = [r for r in results if r.failed]
    for one in failures:
        where = f"{one.entry} {one.dtype} {one.mode} sample {one.unit}"
        lines.append(f"FAILED {one.cls}: {where}: {one.reason}")
        lines.append(f"    {settings.rerun(one.entry, one.dtype, one.mode, one.unit)}")
    graphs = sum(r.graphs for r in results)
    entries = len({r.entry for r in results})
    lines.append(
        f"{len(failures)} failures, {len(results)} samples of {entries} entries, {graphs} graphs, "
        f"{seconds:.0f} s"
    )
    return "\n".join(lines)


def write_json(path: str, results: Iterable[Result]) -> None:
    """All results, one object each."""
    Path(path).write_text("\n".join(json.dumps(vars(r)) for r in results) + "\n")


def _table(results: Sequence[Result]) -> str:
    """Counts by dtype and mode (rows) and class (columns)."""
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for one in results:
        rows[f"{one.dtype} {one.mode}"][one.cls] += 1
        rows["all"][one.cls] += 1
    rows["all"] = rows.pop("all", Counter())
    head = " ".join(f"{name:>14}" for name in CLASSES)
    body = [
        f"{name:<14}" + " ".join(f"{counts[c]:>14}" for c in CLASSES)
        for name, counts in rows.items()
    ]
    return "\n".join([" " * 14 + head, *body])


def _named(title: str, results: Sequence[Result], cls: str) -> list[str]:
    """Entries by the reason."""
    reasons: dict[str, str] = {}
    for one in results:
        if one.cls == cls:
            reasons.setdefault(one.entry, one.reason)
    if not reasons:
        return []
    return (
        [f"{title} ({len(reasons)} entries):"]
        + [f"  {name}: {reason[:160]}" for name, reason in sorted(reasons.items())]
        + [""]
    )


def _without_graph(results: Sequence[Result]) -> set[str]:
    """Entries of which no sample gave a graph, though some passed."""
    graphs: Counter[str] = Counter()
    for one in results:
        if not one.failed and one.cls != SKIPPED:
            graphs[one.entry] += one.graphs
    return {name for name, count in graphs.items() if count == 0}
