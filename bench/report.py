"""Tables: markdown of the rows of a run, beside the rows of an older one where given."""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Row = dict[str, Any]

OURS = "minductor"


def geomean(values: Iterable[float]) -> float | None:
    """Geometric mean, or `None` of nothing."""
    logs = [math.log(v) for v in values if v > 0]
    return math.exp(sum(logs) / len(logs)) if logs else None


def seconds(row: Row, contender: str) -> float | None:
    """Median seconds a call of a contender that is right, else `None`."""
    entry = row.get("contenders", {}).get(contender, {})
    return entry.get("seconds") if not entry.get("wrong") else None


def limit(row: Row) -> float | None:
    """The best of the measured limits."""
    entries = row.get("contenders", {})
    found = [e["seconds"] for n, e in entries.items() if n.startswith("limit ") and "seconds" in e]
    return min(found) if found else None


def ratio(row: Row, contender: str, base: str) -> float | None:
    """How many times faster than `base`: median of the ratios of each round."""
    if seconds(row, contender) is None or seconds(row, base) is None:
        return None
    entries = row["contenders"]
    pairs = zip(entries[base]["times"], entries[contender]["times"], strict=True)
    return statistics.median(b / a for b, a in pairs)


def fraction(row: Row, contender: str) -> float | None:
    """Share of the limit that a contender reaches."""
    best, own = limit(row), seconds(row, contender)
    return best / own if best and own else None


def cell(value: float | None, form: str) -> str:
    """Formatted, or a dash."""
    return "-" if value is None else format(value, form)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A markdown table, the first column left-aligned, the others right-aligned."""
    lines = [f"| {' | '.join(heads)} |", "| --- |" + " ---: |" * (len(heads) - 1)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def key(row: Row) -> tuple[str, ...]:
    """What makes a row of two runs the same row."""
    return tuple(str(row[k]) for k in ("set", "name", "device", "dtype", "size", "memory"))


def change(row: Row, old: dict[tuple[str, ...], Row]) -> float | None:
    """Our speed in this run by that in the older one, each measured against TorchInductor."""
    before = old.get(key(row))
    if before is None:
        return None
    now, then = (ratio(r, OURS, "inductor") for r in (row, before))
    return now / then if now and then else None


def remarks(row: Row) -> str:
    """Errors, wrong results, noise."""
    notes = [row["error"]] if "error" in row else []
    for name, entry in row.get("contenders", {}).items():
        if entry.get("error"):
            notes.append(f"{name}: {entry['error'].splitlines()[0][:90]}")
        if entry.get("wrong"):
            notes.append(f"{name} WRONG: {entry['wrong']}")
    if row.get("noisy"):
        notes.append("noisy")
    return "; ".join(notes).replace("|", "/")


def timed_table(rows: list[Row], contenders: Sequence[str], old: dict[tuple[str, ...], Row]) -> str:
    """Microseconds, ratios and fractions of the limit, with geometric means below."""
    rivals = [c for c in contenders if c != OURS]
    limited = [c for c in contenders if c != "eager"] if any(map(limit, rows)) else []
    heads = ["workload", *(f"{c} us" for c in contenders)]
    heads += (["limit us"] if limited else []) + [f"x {r}" for r in rivals]
    heads += [f"{c} % of limit" for c in limited] + (["change"] if old else []) + ["remarks"]
    lines: list[list[str]] = []
    for row in rows:
        times = [seconds(row, c) for c in contenders]
        if limited:
            times.append(limit(row))
        line = [row["name"], *(cell(t and t * 1e6, ".1f") for t in times)]
        line += [cell(ratio(row, OURS, r), ".2f") for r in rivals]
        line += [cell(f and 100 * f, ".0f") for f in (fraction(row, c) for c in limited)]
        lines.append(line + ([cell(change(row, old), ".2f")] if old else []) + [remarks(row)])
    return table(heads, lines) + "\n\n" + summary(rows, contenders)


def summary(rows: list[Row], contenders: Sequence[str]) -> str:
    """Geometric means, worst rows, and how many fall below the bars."""
    lines: list[str] = []
    for rival in (c for c in contenders if c != OURS):
        pairs = [(ratio(r, OURS, rival), r["name"]) for r in rows]
        known = [(value, name) for value, name in pairs if value is not None]
        if known:
            worst = ", ".join(f"{n} {v:.2f}" for v, n in sorted(known)[:3])
            mean = cell(geomean(v for v, _ in known), ".2f")
            below = sum(v < 0.95 for v, _ in known)
            lines.append(
                f"- {OURS} {mean}x {rival} in geomean; below 0.95x: {below}; worst: {worst}"
            )
    for contender in (c for c in contenders if c != "eager"):
        shares = [f for r in rows if (f := fraction(r, contender)) is not None]
        if shares:
            mean = cell(geomean(shares), ".0%")
            count = sum(f < 0.6 for f in shares)
            lines.append(
                f"- {contender} {mean} of the limit in geomean; {count} of {len(shares)} below 60 %"
            )
    return "\n".join(lines)


def compile_table(rows: list[Row], contenders: Sequence[str]) -> str:
    """Seconds of cold, next and warm compiles, and our ratios to TorchInductor's."""
    phases = ("cold", "next", "warm")
    names = [c for c in contenders if c != "eager"]
    heads = ["program", *(f"{c} {p} s" for c in names for p in phases)]
    heads += [f"x inductor {p}" for p in phases] + ["remarks"]
    lines: list[list[str]] = []
    for row in rows:
        entries = row["contenders"]
        line = [row["name"]]
        line += [cell(entries.get(c, {}).get(p), ".2f") for c in names for p in phases]
        for phase in phases:
            theirs, ours = (entries.get(c, {}).get(phase) for c in ("inductor", OURS))
            line.append(cell(theirs / ours if theirs and ours else None, ".1f"))
        lines.append([*line, remarks(row)])
    return table(heads, lines)


def memory_table(rows: list[Row], contenders: Sequence[str]) -> str:
    """Peak bytes of a step on a GPU."""
    known = [r for r in rows if any("peak_bytes" in e for e in r.get("contenders", {}).values())]
    if not known:
        return ""
    lines: list[list[str]] = []
    for row in known:
        peaks = [row["contenders"].get(c, {}).get("peak_bytes") for c in contenders]
        lines.append([row["name"], *(cell(p and p / 1e6, ".0f") for p in peaks)])
    return table(["workload", *(f"{c} peak MB" for c in contenders)], lines)


def markdown(run: Row, old: Row | None = None) -> str:
    """The whole run as markdown."""
    before = {key(r): r for r in (old or {}).get("rows", [])}
    head = ", ".join(f"{k} {v}" for k, v in run["machine"].items())
    parts = [f"`{run['command']}`, {run['date']}: {head}"]
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in run["rows"]:
        groups.setdefault((row["set"], row["dtype"], row["memory"]), []).append(row)
    for (name, dtype, memory), rows in groups.items():
        contenders: list[str] = run["contenders"][name]
        parts.append(f"### {name}, {dtype}, memory {memory}")
        if name == "compile":
            parts.append(compile_table(rows, contenders))
            continue
        parts.append(timed_table(rows, contenders, before))
        parts.append(memory_table(rows, contenders))
    return "\n\n".join(p for p in parts if p) + "\n"


Printer = Callable[[str], None]


def progress(row: Row, contenders: Sequence[str]) -> str:
    """One line of a row that has just been measured."""
    entries = row.get("contenders", {})
    if row["set"] == "compile":
        parts = [f"{c} {cell(entries.get(c, {}).get('cold'), '.2f')} s" for c in contenders]
    else:
        parts = [f"{c} {cell((s := seconds(row, c)) and s * 1e6, '.1f')} us" for c in contenders]
        parts.append(f"limit {cell((b := limit(row)) and b * 1e6, '.1f')} us")
    return f"{row['set']:9} {row['name']:22} " + ", ".join(parts) + f"  {remarks(row)}"
