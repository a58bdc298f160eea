"""The command line: python -m minductor.tools.sanitize [--kinds address,thread] [--programs a,b].

`--device cuda` runs the programs on a GPU under NVIDIA's compute-sanitizer.

Exit status 1: a sanitizer reported something, a result was wrong, or a planted fault went unseen.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from minductor.tools.sanitize.builds import KINDS, Kind, environment, of_device, reports

CHILD = ("-m", "minductor.tools.sanitize.child")
LIMIT_S = 1800
LINES = 24


@dataclass
class Outcome:
    """What a sanitizer said: programs that ran, faults by program (empty name: not known which)."""

    ran: int = 0
    faults: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    given = _parser().parse_args(argv)
    kinds = list(filter(None, given.kinds.split(","))) or of_device(given.device)
    unknown = [name for name in kinds if name not in KINDS]
    if unknown:
        print(f"no sanitizer {', '.join(unknown)}: one of {', '.join(KINDS)}")
        return 2
    bad = 0
    for name in kinds:
        kind = KINDS[name]
        for isa in kind.isas if given.isa == "all" else [given.isa]:
            start = time.monotonic()
            outcome = sanitize(name, isa, given.programs, given.fuzz, given.seed)
            for program, text in outcome.faults:
                print(f"-- {name}, {isa}, {program or 'some program'}\n{_short(text)}")
            took = f"{time.monotonic() - start:.0f} s"
            print(
                f"{name}, {isa}: {outcome.ran} ran, {len(outcome.faults)} faults, {took}",
                flush=True,
            )
            bad += len(outcome.faults)
    return int(bad > 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sanitize", description="Kernels under sanitizers.")
    parser.add_argument("--kinds", default="", help=f"of {', '.join(KINDS)}, with commas")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"], help="where kinds run")
    parser.add_argument("--programs", default="all", help="names with commas, `shard` or `all`")
    parser.add_argument("--isa", default="all", help="native, avx2, portable; all: each kind's own")
    parser.add_argument("--fuzz", type=int, default=0, help="random programs besides")
    parser.add_argument("--seed", type=int, default=0, help="of the random programs")
    return parser


def sanitize(name: str, isa: str, programs: str, fuzz: int = 0, seed: int = 0) -> Outcome:
    """Programs under one sanitizer, after a planted fault that it has to find."""
    kind, outcome = KINDS[name], Outcome()
    with tempfile.TemporaryDirectory(prefix="sanitize-") as folder:
        cache = Path(folder)
        env = environment(kind, isa, cache)
        text = _run(kind, env, [*CHILD, f"planted-{name}"])[1]
        if not reports(kind, text, cache):
            outcome.faults.append(("", f"the planted fault was not seen:\n{text}"))
            return outcome
        options = [f"device={kind.device}", *_options(isa)]
        _programs(kind, env, cache, _wanted(programs), options, outcome)
        if fuzz:
            command = ["-m", "minductor.tools.fuzz", "--n", str(fuzz), "--seed", str(seed)]
            code, text = _run(kind, env, [*command, "--validate", "0"])
            found = reports(kind, text, cache)
            if found or code:
                outcome.faults.append(("fuzz", "\n".join(found) or text[-2000:]))
            outcome.ran += fuzz
    return outcome


def _wanted(programs: str) -> list[str]:
    """Names of programs. The list is read in a child only: it needs no PyTorch here."""
    from minductor.tools.sanitize.programs import PROGRAMS, SHARD

    if programs in ("all", "shard"):
        return list(PROGRAMS if programs == "all" else SHARD)
    return programs.split(",")


def _options(isa: str) -> list[str]:
    return [] if isa == "native" else [f"isa={isa}"]


def _programs(
    kind: Kind,
    env: dict[str, str],
    cache: Path,
    names: list[str],
    options: list[str],
    outcome: Outcome,
) -> None:
    """Run programs in a child; where it dies, go on after the program that it died in."""
    left = list(names)
    while left:
        code, text = _run(kind, env, [*CHILD, *options, *left])
        lines = text.splitlines()
        done = [n for n in left if f"ran {n}" in lines or any(f"WRONG {n}:" in x for x in lines)]
        outcome.ran += len(done)
        wrong = [line for line in lines if line.startswith("WRONG ")]
        outcome.faults += [(line.split(":")[0].removeprefix("WRONG "), line) for line in wrong]
        died = len(done) < len(left)
        where = left[len(done)] if died else ""
        found = reports(kind, text, cache)
        outcome.faults += [(where, report) for report in found]
        if died and not found:
            outcome.faults.append((where, f"exit status {code}\n{text[-3000:]}"))
        left = left[len(done) + 1 :] if died else []


def _run(kind: Kind, env: dict[str, str], command: list[str]) -> tuple[int, str]:
    """Exit status and all output of a child."""
    words = [*kind.prefix, sys.executable, *command]
    try:
        done = subprocess.run(
            words,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_S,
            check=False,
        )
    except FileNotFoundError:
        return 127, f"{words[0]} is not on the path: install it, or choose other --kinds"
    except subprocess.TimeoutExpired as error:
        text = (error.stdout or b"").decode("utf-8", "replace")
        return 124, f"{text}\nended after {LIMIT_S} s"
    return done.returncode, done.stdout.decode("utf-8", "replace")


def _short(text: str) -> str:
    lines = text.strip().splitlines()
    more = [f"({len(lines) - LINES} more lines)"] if len(lines) > LINES else []
    return "\n".join([*lines[:LINES], *more])


if __name__ == "__main__":
    raise SystemExit(main())
