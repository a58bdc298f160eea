"""docs/numerics.md from the measured JSON files."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "numerics"
PAGE = FOLDER.parent / "numerics.md"
HEAD = """# Accuracy

Measured, not promised: `python -m bench.numerics --device cpu --json docs/numerics/cpp.json` (or
`--device cuda --json docs/numerics/triton.json`) measures one target, and `python -m bench.numerics
--md` writes this page from the files. `test/e2e/test_accuracy.py` holds the limits.

Errors are in units in the last place (ulp). Points are special values, subnormals, random bit
patterns and the ranges where functions turn; `inf` would mean a NaN or an infinity where there
should be a number. The f32 reference is PyTorch in f64, the f64 reference mpmath at 200 bits.
"""


def number(value: float) -> str:
    """Two digits after the point, or the exponent form for great values."""
    return f"{value:.2f}" if value < 1000 else f"{value:.0e}"


def load() -> dict[str, dict[str, Any]]:
    """Target name -> what was measured."""
    return {p.stem: json.loads(p.read_text()) for p in sorted(FOLDER.glob("*.json"))}


def functions(measured: dict[str, dict[str, Any]], dtype: str) -> list[str]:
    """The table of functions of one dtype, a pair of columns for each target."""
    names: list[str] = []
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for target, data in measured.items():
        for entry in data["functions"]:
            if entry["dtype"] == dtype:
                cells[target, entry["function"]] = entry
                names += [] if entry["function"] in names else [entry["function"]]
    lines = ["| function | " + " | ".join(f"{t} | eager" for t in measured) + " |"]
    lines.append("| --- |" + " ---: | ---: |" * len(measured))
    for name in names:
        row = [cells.get((t, name)) for t in measured]
        text = [f"{number(e['ours'])} | {number(e['eager'])}" if e else "| " for e in row]
        lines.append(f"| `{name}` | " + " | ".join(text) + " |")
    return lines


def operations(measured: dict[str, dict[str, Any]]) -> list[str]:
    """The worst case of each operation over its inputs."""
    lines = ["| operation | " + " | ".join(f"{t} | eager" for t in measured) + " |"]
    lines.append("| --- |" + " ---: | ---: |" * len(measured))
    found = {t: {e["operation"]: e["cases"] for e in d["operations"]} for t, d in measured.items()}
    for name in next(iter(found.values())):
        text: list[str] = []
        for target in measured:
            cases = found[target].get(name, {}).values()
            pair = (max((c[k] for c in cases), default=0.0) for k in ("ours", "eager"))
            text.append(" | ".join(number(v) for v in pair))
        lines.append(f"| `{name}` | " + " | ".join(text) + " |")
    return lines


def page() -> str:
    """The whole page."""
    measured = load()
    out = [HEAD, "Measured on:", ""]
    out += [f"- `{t}`: {d['device']}, torch {d['torch']}" for t, d in measured.items()]
    out += ["", "## Functions, f32", "", *functions(measured, "f32")]
    out += ["", "## Functions, f64", "", *functions(measured, "f64")]
    out += ["", "## Operations, f32", ""]
    out.append(
        "The greatest error over eight inputs (64, 1237): scales from 1e-39 to 1e4, an offset of "
        "1000, one spike a row. In ulp of the value (pointwise) or of the row's greatest value; "
        "sums against an eighth of the sum of magnitudes.\n"
    )
    return "\n".join([*out, *operations(measured), ""])
