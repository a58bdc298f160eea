"""`python -m bench.fusion`: kernels and bytes of minductor beside TorchInductor.

python -m bench.fusion                          all rows; docs/fusion.md and docs/fusion.json
python -m bench.fusion --only norm              rows whose names hold the text; printed only
python -m bench.fusion --only softmax --keep    TorchInductor's figures as docs/fusion.json has them
python -m bench.fusion --check                  whether the table is what the JSON says
python -m bench.fusion --detail                 each kernel and call, too
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from bench.fusion.child import MARK
from bench.fusion.programs import NAMES, phases
from bench.fusion.report import Row, detail, problems, table, with_table

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "fusion.md"
FIGURES = ROOT / "docs" / "fusion.json"
TIMEOUT = 280.0


def option(text: str) -> tuple[str, Any]:
    """`key=value` with a JSON value, or else a string."""
    key, _, value = text.partition("=")
    try:
        return key, json.loads(value)
    except json.JSONDecodeError:
        return key, value


def parse(argv: list[str] | None) -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.fusion",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", default=[], help="rows that hold this text")
    parser.add_argument("--phase", choices=["forward", "training"])
    parser.add_argument("--keep", action="store_true", help="TorchInductor's figures as kept")
    parser.add_argument("--detail", action="store_true", help="each kernel and call, too")
    parser.add_argument("--check", action="store_true", help="compare document and JSON")
    parser.add_argument("--json", type=Path, help="write the figures here, and no document")
    parser.add_argument("--option", type=option, action="append", default=[], help="of minductor")
    return parser.parse_args(argv)


def run_child(job: dict[str, Any], folder: Path) -> list[Any]:
    """The priced graphs of one job, from a process of its own. Raises RuntimeError."""
    log = folder / f"{job['name']}, {job['phase']}.log"
    env = os.environ | {"MINDUCTOR_CACHE_DIR": str(folder / "minductor")}
    if job["contender"] == "inductor":
        env |= {
            "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
            "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
            "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
            "TORCH_LOGS": "ir_post_fusion,output_code",
            "TORCH_LOGS_OUT": str(log),
        }
        log.unlink(missing_ok=True)
    command = [sys.executable, "-m", "bench.fusion.child", json.dumps(job)]
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    for line in done.stdout.splitlines():
        if line.startswith(MARK):
            return json.loads(line.removeprefix(MARK))
    raise RuntimeError(f"{job['name']}: {' | '.join(done.stderr.splitlines()[-3:])}")


def rows_of(args: argparse.Namespace, kept: dict[str, Any], folder: Path) -> Iterator[Row]:
    """One row after the other."""
    for name in NAMES:
        if args.only and not any(text in name for text in args.only):
            continue
        for phase in phases(name):
            if args.phase in (None, phase):
                job: dict[str, Any] = {"name": name, "phase": phase, "options": dict(args.option)}
                row: Row = {"name": name, "phase": phase}
                old = next(
                    (r for r in kept["rows"] if (r["name"], r["phase"]) == (name, phase)), None
                )
                for contender in ("minductor", "inductor"):
                    if contender == "inductor" and args.keep and old:
                        row[contender] = old[contender]
                    else:
                        row[contender] = run_child({**job, "contender": contender}, folder)
                yield row


def main(argv: list[str] | None = None) -> int:
    """The exit status."""
    args = parse(argv)
    kept: dict[str, Any] = json.loads(FIGURES.read_text()) if FIGURES.exists() else {"rows": []}
    if args.check:
        if with_table(DOCUMENT.read_text(), kept) == DOCUMENT.read_text():
            return 0
        print("docs/fusion.md is not what docs/fusion.json says: run make fusion-table")
        return 1
    rows: list[Row] = []
    base = Path(os.environ.get("TMPDIR", tempfile.gettempdir())) / f"fusion-table-{os.getuid()}"
    base.mkdir(mode=0o700, exist_ok=True)
    for row in rows_of(args, kept, base):
        rows.append(row)
        print("\n".join(detail(row, every=args.detail)), flush=True)
    figures = {"torch": torch.__version__.partition("+")[0], "rows": rows}
    if args.json:
        args.json.write_text(json.dumps(figures, separators=(",", ":")) + "\n")
    elif not args.only and args.phase is None:
        FIGURES.write_text(json.dumps(figures, separators=(",", ":")) + "\n")
        DOCUMENT.write_text(with_table(DOCUMENT.read_text(), figures))
    for line in problems(rows):
        print(line)
    print(table(figures).splitlines()[-1])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
