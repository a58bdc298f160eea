"""`python -m bench`: measure, print markdown, write JSON."""

import argparse
import datetime
import json
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from bench.report import markdown, progress
from bench.runner import compile_jobs, timed_jobs

Row = dict[str, Any]
Batch = tuple[list[Row], str]

CONTENDERS = {
    "micro": ["eager", "inductor", "minductor"],
    "models": ["eager", "inductor", "minductor"],
    "reference": ["eager", "inductor", "minductor"],
    "compile": ["aot", "inductor", "minductor"],
    "overhead": ["eager", "guards", "inductor", "inductor_cpp", "minductor"],
}
PLACES = ("--json", "--md")
"""Options that say where figures go: a table's command line leaves them out."""

TIMEOUTS = {"micro": 240, "models": 900, "reference": 240, "compile": 600, "overhead": 600}


def names(chosen: str) -> list[str]:
    """Workloads of a set, in the order of its tables."""
    if chosen == "micro":
        from bench.workloads import MICRO

        return list(MICRO)
    if chosen == "models":
        from bench.tasks import NAMES

        return NAMES
    if chosen == "compile":
        from bench.programs import PROGRAMS

        return [n for n in PROGRAMS if n != "growth_10000"]
    if chosen == "overhead":
        from bench.overhead import OVERHEAD

        return list(OVERHEAD)
    from bench.reference import REFERENCE

    return list(REFERENCE)


def option(text: str) -> tuple[str, Any]:
    """`key=value` with a JSON value, or else a string."""
    key, _, value = text.partition("=")
    try:
        return key, json.loads(value)
    except json.JSONDecodeError:
        return key, value


def parse(argv: list[str] | None) -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--set", choices=[*CONTENDERS, "all"], default="micro")
    parser.add_argument("--only", action="append", default=[], help="names that hold this text")
    parser.add_argument("--exact", action="append", default=[], help="names that are this text")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--memory", choices=["reuse", "default", "both"], default="reuse")
    parser.add_argument("--size", choices=["tiny", "small", "large"], help="of the models")
    parser.add_argument("--contenders", help="comma-separated, in place of the set's own")
    parser.add_argument(
        "--option", type=option, action="append", default=[], help="key=value for minductor"
    )
    parser.add_argument("--seconds", type=float, default=2.0, help="measuring time a workload")
    parser.add_argument("--rounds", type=int, default=7, help="rounds at least")
    parser.add_argument(
        "--jobs", type=int, default=1, help="children that compile at once (they measure in turn)"
    )
    parser.add_argument("--batch", type=int, default=1, help="workloads that share a child")
    parser.add_argument("--threads", type=int, default=0, help="of torch; 0 leaves its default")
    parser.add_argument("--timeout", type=float, help="seconds a child process may take")
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--md", type=Path, help="write the tables here, too")
    parser.add_argument("--render", type=Path, help="print the tables of a run kept with --json")
    parser.add_argument("--compare", type=Path, help="JSON of an older run")
    parser.add_argument("--list", action="store_true", help="print the workloads and stop")
    return parser.parse_args(argv)


def command(argv: list[str]) -> str:
    """The command line, without where its figures go."""
    kept = [x for x, before in zip(argv, ["", *argv], strict=False) if before not in PLACES]
    return " ".join(["python -m bench", *(x for x in kept if x not in PLACES)])


def gpu() -> str:
    """The first GPU's name, without starting CUDA here."""
    query = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    try:
        found = subprocess.run(query, capture_output=True, text=True, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return found.stdout.splitlines()[0].strip()


def machine(device: str) -> dict[str, str]:
    """What the figures depend on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    model = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), "")
    cores = str(sum(x.startswith("processor") for x in lines))
    found = {} if device == "cpu" else {"gpu": gpu()}
    found |= {"cpu": model or platform.processor(), "cores": cores}
    for package in ("torch", "triton", "minductor"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def jobs(args: argparse.Namespace, sets: list[str], lock: str) -> Iterator[tuple[Row, str]]:
    """Every chosen workload with its allocator setting (`""` for the compile set's)."""
    for chosen in sets:
        contenders = args.contenders.split(",") if args.contenders else CONTENDERS[chosen]
        for name in names(chosen):
            if args.exact and name not in args.exact:
                continue
            if args.only and not any(text in name for text in args.only):
                continue
            job: Row = {
                "set": chosen,
                "name": name,
                "device": args.device,
                "dtype": args.dtype,
                "size": args.size or ("small" if args.device == "cpu" else "large"),
                "contenders": contenders,
                "options": {"strict": True, **dict(args.option)},
                "threads": args.threads,
                "plan": {"seconds": args.seconds, "least": args.rounds},
                "lock": lock,
            }
            memories = ["reuse", "default"] if args.memory == "both" else [args.memory]
            yield from ((job, m) for m in ([""] if chosen == "compile" else memories))


def batches(args: argparse.Namespace, sets: list[str], lock: str) -> Iterator[Batch]:
    """Jobs that share a child: up to `--batch` of one set and allocator setting."""
    for memory, found in groupby(jobs(args, sets, lock), key=itemgetter(1)):
        several = [job for job, _ in found]
        size = args.batch if memory else 1
        for start in range(0, len(several), size):
            yield several[start : start + size], memory


def rows(args: argparse.Namespace, sets: list[str]) -> Iterator[Row]:
    """Measure every chosen workload, `--jobs` children at once, and say so on stderr."""

    def take(batch: Batch) -> list[Row]:
        several, memory = batch
        limit = args.timeout or TIMEOUTS[several[0]["set"]] * args.jobs
        if memory:
            found = list(timed_jobs(several, memory, limit))
        else:
            found = list(compile_jobs(several[0], limit))
        for row in found:
            print(progress(row, several[0]["contenders"]), file=sys.stderr, flush=True)
        return found

    with tempfile.NamedTemporaryFile(prefix="bench-lock-") as lock:
        with ThreadPoolExecutor(args.jobs) as pool:
            for found in pool.map(take, batches(args, sets, lock.name)):
                yield from found


def main(argv: list[str] | None = None) -> int:
    """Exit status 1 when a result of minductor's is wrong or missing."""
    args = parse(argv)
    sets = list(CONTENDERS) if args.set == "all" else [args.set]
    if args.render:
        print(markdown(json.loads(args.render.read_text())), end="")
        return 0
    if args.list:
        print("\n".join(f"{chosen}: {name}" for chosen in sets for name in names(chosen)))
        return 0
    chosen = args.contenders.split(",") if args.contenders else None
    run: Row = {
        "command": command(argv or sys.argv[1:]),
        "date": datetime.date.today().isoformat(),
        "machine": machine(args.device),
        "contenders": {s: chosen or CONTENDERS[s] for s in sets},
        "rows": [],
    }
    for row in rows(args, sets):
        run["rows"].append(row)
        if args.json:  # a run that is cut short leaves what it has measured
            args.json.write_text(json.dumps(run, indent=1))
    old = json.loads(args.compare.read_text()) if args.compare else None
    text = markdown(run, old)
    print(text)
    if args.md:
        args.md.write_text(text)
    entries = [row.get("contenders", {}).get("minductor", {}) for row in run["rows"]]
    failed = any("error" in row for row in run["rows"])
    return int(failed or any(e.get("error") or e.get("wrong") for e in entries))


if __name__ == "__main__":
    sys.exit(main())
