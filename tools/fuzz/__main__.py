"""The command line: python -m minductor.tools.fuzz --n 2000 --seed 0 [--options 'isa=avx2'].

Exit status 1 when something was found. Several jobs share the programs; a job that dies (a crash of
compiled code) is a find too: the program it was at is printed.
"""

from __future__ import annotations

import argparse
import logging
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from minductor.options import make_options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fuzz", description="Random programs against eager.")
    parser.add_argument("--n", type=int, default=200, help="programs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--validate", type=int, default=5, help="percent judged by interpreters")
    parser.add_argument("--grads", type=int, default=15, help="percent with a backward")
    parser.add_argument("--dynamic", type=int, default=15, help="percent with dynamic sizes")
    parser.add_argument("--families", default="", help="only these families, with commas")
    parser.add_argument("--options", default="", help="options of the backend: k=v,k=v")
    parser.add_argument("--keep", type=Path, help="folder for reproducers")
    return parser


def options_of(text: str) -> dict[str, Any]:
    """`isa=avx2,threads=1` as options of the backend. Raises OptionError.

    `without=kernel-peel+kernel-vectorize` leaves passes out of the CPU pipeline.
    """
    out: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        key, _, value = part.partition("=")
        if key == "without":
            out["pipeline"] = pipeline_without(value.split("+"))
        elif value in ("true", "false"):
            out[key] = value == "true"
        else:
            out[key] = int(value) if value.isdigit() else value
    make_options(out)
    return out


def pipeline_without(names: Sequence[str]) -> str:
    """The CPU pipeline without some of its passes. ValueError when it has no such pass."""
    from minductor.compiler import local_pipeline
    from minductor.passes.pipelines import without

    return without(local_pipeline(threads=2), names)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    given = _parser().parse_args(arguments)
    logging.disable(logging.ERROR)  # torch's, of programs that it does not trace
    print(f"fuzz: {given.n} programs, seed {given.seed}", flush=True)
    return _share(given, arguments) if given.jobs > 1 else _run(given)


def _run(given: argparse.Namespace) -> int:
    from minductor.tools.fuzz.draw import Wanted
    from minductor.tools.fuzz.run import Campaign, report, seconds_since

    start = time.perf_counter()
    families = tuple(filter(None, given.families.split(",")))
    options = options_of(given.options)
    campaign = Campaign(
        given.n,
        given.seed,
        given.validate,
        Wanted(given.grads, given.dynamic, families),
        options,
        lambda done: _tick(done, given, start),
    )
    at = (given.keep or Path()) / f"at-{given.seed}.py"
    if given.keep is not None:
        given.keep.mkdir(parents=True, exist_ok=True)
        campaign.before = lambda program: _note(at, program.script(options, "was running"))
    count = 0
    for find in campaign.finds():
        count += 1
        print(f"\nfuzz: find {count} (seed {given.seed}): {find.fault}", flush=True)
        print(report(find, count, options, given.keep), flush=True)
    if given.keep is not None:
        at.unlink(missing_ok=True)
    took = seconds_since(start)
    print(f"fuzz: {campaign.done} programs, seed {given.seed}, {count} finds, {took}", flush=True)
    return 1 if count else 0


def _note(path: Path, text: str) -> None:
    path.write_text(text)


def _tick(done: int, given: argparse.Namespace, start: float) -> None:
    if done % 100 == 0:
        took = f"{time.perf_counter() - start:.0f} s"
        print(f"fuzz: {done} of {given.n}, seed {given.seed}, {took}", flush=True)


def _share(given: argparse.Namespace, arguments: Sequence[str]) -> int:
    """One process per job, each with a seed of its own."""
    keep = given.keep or Path("build") / "fuzz"
    jobs: list[tuple[int, subprocess.Popen[bytes]]] = []
    for k in range(given.jobs):
        share = given.n // given.jobs + (k < given.n % given.jobs)
        seed = given.seed * given.jobs + k
        more = ["--jobs", "1", "--n", str(share), "--seed", str(seed), "--keep", str(keep)]
        command = [sys.executable, "-m", "minductor.tools.fuzz", *arguments, *more]
        jobs.append((seed, subprocess.Popen(command)))
    status = 0
    for seed, job in jobs:
        code = job.wait()
        status = status or code
        if code not in (0, 1):
            print(f"fuzz: the job with seed {seed} ended with {code}", flush=True)
            left = keep / f"at-{seed}.py"
            if left.exists():
                print(f"# kept as {left}\n{left.read_text()}", flush=True)
    print(f"fuzz: seed {given.seed}: {'clean' if status == 0 else 'something was found'}")
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
