"""mini-plan: read plans, the text that `-t plan` and the option `plan` write.

    mini-plan show A             kernels by bytes moved, most first
    mini-plan diff A B           what changed from A to B: kernels, calls, pairs, bytes, peak

`diff` exits with 0 where nothing changed, with 1 where something did, as diff(1) does. A kernel is
known by its ops and their lines, so that a mere change of name is none.

    @call: kernels 2 -> 1, calls 0 -> 0, planned 24576 -> 12288 bytes (-50.0 %)
      - add_relu: planned 12288
      - mul: planned 12288
      + add_mul_relu: planned 12288
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_HEAD = re.compile(r"plan of @(\S+?)(?:, at .*)?$")
_ROW = re.compile(r"  (kernel|group|nest|extern) ([^:]+?)(?:: (.*))?$")
_PRICE = re.compile(r"floor (-?\d+), unfused (-?\d+), planned (-?\d+)")
_PAIR = re.compile(r"  ((?:fused|regrouped|refused) .*)$")
_PEAK = re.compile(r"  peak: (?:eager \d+, )?planned (\d+)$")
_TOTAL = re.compile(r"graph: .*")
_PART = re.compile(r"    (?:[\w.]+: )?(.*)$")


class PlanError(ValueError):
    """A file is no plan; the text names the file, the line and what was expected."""


@dataclass
class Row:
    """A kernel, group, bare nest or call: its bytes as planned, or None, and its ops."""

    kind: str
    name: str
    planned: int | None = None
    ops: list[str] = field(default_factory=list[str])

    @property
    def key(self) -> tuple[str, ...]:
        """What a row is known by: its ops with their lines, else its name."""
        return (self.kind, *self.ops) if self.ops else (self.kind, self.name)

    def text(self) -> str:
        """Name and price."""
        what = f"{self.kind} {self.name}" if self.kind in ("extern", "nest") else self.name
        return what if self.planned is None else f"{what}: planned {self.planned}"


@dataclass
class Plan:
    """The plan of one graph."""

    name: str
    rows: list[Row] = field(default_factory=list[Row])
    pairs: list[str] = field(default_factory=list[str])
    planned: int = 0
    peak: int | None = None

    def count(self, *kinds: str) -> int:
        """How many rows are of these kinds."""
        return sum(row.kind in kinds for row in self.rows)


def parse(text: str, where: str = "plan") -> list[Plan]:
    """The plans of a text. Raises PlanError."""
    plans: list[Plan] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        if head := _HEAD.fullmatch(line):
            plans.append(Plan(head[1]))
        elif not plans:
            raise PlanError(f"{where}:{number}: `{line}` before a line `plan of @NAME`")
        elif not _take(plans[-1], line):
            raise PlanError(f"{where}:{number}: `{line}` is no line of a plan")
    if not plans:
        raise PlanError(f"{where}: no line `plan of @NAME`; -t plan writes such files")
    return plans


def _take(plan: Plan, line: str) -> bool:
    """Adds a line to its plan; False where it is none."""
    if row := _ROW.fullmatch(line):
        price = _PRICE.search(row[3] or "")
        name = row[2] if price or not row[3] else f"{row[2]}: {row[3]}"
        plan.rows.append(Row(row[1], name, int(price[3]) if price else None))
    elif pair := _PAIR.fullmatch(line):
        plan.pairs.append(pair[1])
    elif peak := _PEAK.fullmatch(line):
        plan.peak = int(peak[1])
    elif part := _PART.fullmatch(line):
        if not plan.rows:
            return False
        plan.rows[-1].ops += part[1].split(", ")
    elif _TOTAL.fullmatch(line):
        price = _PRICE.search(line)
        plan.planned = int(price[3]) if price else 0
    else:
        return False
    return True


def difference(old: Plan, new: Plan) -> list[str]:
    """Lines that say what changed; none where nothing did."""
    lines = list(_rows(old, new))
    lines += [f"  - {t}" for t in old.pairs if t not in new.pairs]
    lines += [f"  + {t}" for t in new.pairs if t not in old.pairs]
    if old.peak != new.peak:
        before, after = ("-" if p is None else p for p in (old.peak, new.peak))
        lines.append(f"  peak {before} -> {after} bytes")
    if not lines and old.planned == new.planned:
        return []
    counts = [
        f"{what} {old.count(*kinds)} -> {new.count(*kinds)}"
        for what, kinds in (("kernels", ("kernel", "group", "nest")), ("calls", ("extern",)))
    ]
    share = f" ({100 * (new.planned / old.planned - 1):+.1f} %)" if old.planned else ""
    moved = f"planned {old.planned} -> {new.planned} bytes{share}"
    return [f"@{new.name}: {', '.join([*counts, moved])}", *lines]


def _rows(old: Plan, new: Plan) -> Iterator[str]:
    """Rows that left, came, or have another price; the same ops may stand in several rows."""
    left = list(old.rows)
    came: list[Row] = []
    changed: list[str] = []
    for row in new.rows:
        twin = next((r for r in left if r.key == row.key), None)
        if twin is None:
            came.append(row)
            continue
        left.remove(twin)
        if twin.planned != row.planned:
            changed.append(f"  ~ {row.name}: planned {twin.planned} -> {row.planned}")
    yield from (f"  - {row.text()}" for row in left)
    yield from (f"  + {row.text()}" for row in came)
    yield from changed


def show(plan: Plan) -> list[str]:
    """The plan's rows, most bytes first, with their share of all bytes."""
    peak = "" if plan.peak is None else f", at most {plan.peak} of new memory at once"
    lines = [f"@{plan.name}: planned {plan.planned} bytes{peak}"]
    for row in sorted(plan.rows, key=lambda r: -(r.planned or 0)):
        share = 100 * (row.planned or 0) / plan.planned if plan.planned else 0.0
        lines.append(f"  {share:5.1f} % {row.text()}")
    return lines


def _read(path: str) -> list[Plan]:
    try:
        return parse(Path(path).read_text(), path)
    except UnicodeDecodeError as error:
        raise PlanError(f"{path}: not a text file") from error
    except OSError as error:
        raise PlanError(f"cannot read {path}: {error.strerror}") from error


def _compare(a: str, b: str) -> list[str]:
    """Differences of all graphs of two files."""
    old, new = ({plan.name: plan for plan in _read(path)} for path in (a, b))
    lines: list[str] = []
    for name in dict.fromkeys([*old, *new]):
        if name in old and name in new:
            lines += difference(old[name], new[name])
        else:
            lines.append(f"@{name}: only in {a if name in old else b}")
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; the exit status is 2 for an error."""
    parser = argparse.ArgumentParser(prog="mini-plan", description="Read and compare plans.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("show", help="kernels by bytes moved").add_argument("plan")
    both = commands.add_parser("diff", help="what changed from one plan to another")
    both.add_argument("old")
    both.add_argument("new")
    args = parser.parse_args(argv)
    try:
        if args.command == "show":
            print("\n".join(line for plan in _read(args.plan) for line in show(plan)))
            return 0
        lines = _compare(args.old, args.new)
    except PlanError as error:
        print(f"mini-plan: error: {error}", file=sys.stderr)
        return 2
    print("\n".join(lines), end="\n" if lines else "")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
