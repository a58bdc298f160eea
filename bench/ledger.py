"""`python -m bench.ledger`: are the bytes that plans state the bytes that kernels move?

Every kernel of the micro workloads that moves more than the caches hold runs alone. With `--ncu`,
on a GPU, its bytes are those of the memory's counters, in which time plays no part:

    python -m bench.ledger --device cuda --ncu

That ends within 200 seconds (`--budget`): kernels are compiled before, side by side, and profiled
in a few runs, each of which prints its rows when it ends.

Otherwise they are its time by the bandwidth of a loop of the same reads and writes, timed in turns
with it. A kernel that takes as long when its data lie in the cache is bound by something else than
bytes, and its time says nothing of them: such kernels are shown, and not counted. That is measured:
on a GPU parts of the kernel that fit the cache are timed there, on a CPU the kernel runs over
memory that always lies in the cache (bench/shadow.py).

The table shows priced bytes, moved bytes and their ratio; the last line the share within 15 %.
`--json PATH` writes the same as JSON, whole after every row.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from bench.counters import Counted, counted, own_process, profiler
from bench.launches import Launch, launches_of
from bench.limit import limit_steps
from bench.measure import Plan, take_rounds
from bench.report import table
from bench.workload import Where
from bench.workloads import MICRO
from minductor.compiler import local_pipeline

LEAST = {"cpu": 1 << 25, "cuda": 1 << 26}
"""Bytes of a kernel, by device, below which caches hide what it moves."""
WITHIN = 0.15
IN_CACHE = 12 << 20
"""Bytes of a part of a kernel that stay in a GPU's second-level cache."""
FILLED = 2 * 132
"""Programs below which a part may leave a GPU idle."""
TIMES = 16
"""Launches of a part that are timed together."""
BUDGET = 180.0
"""Seconds for all profiled runs together, unless `--budget` says another number."""
RUNS = 4
"""Profiled runs: each prints its rows when it ends."""
WARM, WARMERS = 60.0, 8
"""Seconds for compiling everything before, and processes that do it."""
START = 20.0
"""Seconds until a profiled process is ready to run; with less than twice that none is begun."""
BOUND = 0.85
"""Share of a kernel's time that it takes without memory, above which it is not bound by that."""


@dataclass
class Entry:
    """A row: bytes as priced and as moved, seconds; `bound` where something else took the time."""

    workload: str
    kernel: str
    planned: int
    moved: float
    seconds: float = 0.0
    bound: float = 0.0

    @property
    def ratio(self) -> float:
        """Priced over moved."""
        return self.planned / self.moved if self.moved else 0.0

    def cells(self) -> list[str]:
        """The row as text."""
        figures = [f"{self.planned / 1e6:.2f}", f"{self.moved / 1e6:.2f}", f"{self.ratio:.2f}"]
        times = [f"{one * 1e6:.1f}" if one else "-" for one in (self.seconds, self.bound)]
        return [self.kernel, self.workload, *figures, *times]


def share_within(ratios: Sequence[float]) -> float:
    """Share of the ratios that are 1 within 15 % either way."""
    good = sum(1 - WITHIN <= r <= 1 + WITHIN for r in ratios)
    return good / len(ratios) if ratios else 0.0


# -- by time --------------------------------------------------------------------------------------
def reference(device: str, reads: int, writes: int) -> dict[str, tuple[Callable[[], object], int]]:
    """Loops that move bytes of one mix, with the bytes of each."""
    if device == "cuda":
        from bench.moves import move_steps

        return move_steps(reads, writes)
    steps = limit_steps(device, max(64, reads), max(64, writes))
    return {name: (step, reads + writes) for name, step in steps.items()}


def moved(launch: Launch, device: str, plan: Plan) -> tuple[float, float]:
    """Seconds of a launch, and the bytes that a loop of its mix would have moved meanwhile."""
    writes = int(launch.planned * launch.share) // 64 * 64
    loops = reference(device, launch.planned - writes, writes)
    steps = {f"loop {name}": step for name, (step, _) in loops.items()}
    rounds = take_rounds({"kernel": launch.run, **steps}, device, plan)
    amounts = [rounds.ratio(f"loop {k}", "kernel") * size for k, (_, size) in loops.items()]
    return rounds.median("kernel"), max(amounts)


def seconds_in_cache(launch: Launch, plan: Plan) -> float:
    """What a launch would take with its data in the cache, from parts of it that fit there.

    Launches after the first one find their data; the difference between a part and half of it is
    free of what every launch costs. Zero where that cannot be known: half a part would leave the
    machine idle.
    """
    share = -(-launch.planned // IN_CACHE)
    if launch.part is None or launch.programs < 2 * share * FILLED:
        return 0.0
    steps: dict[str, Callable[[], object]] = {}
    for name, part in (("whole", launch.part(share)), ("half", launch.part(2 * share))):
        steps[name], steps[f"{name}, again"] = part, repeated(part)
    rounds = take_rounds(steps, "cuda", plan)
    whole, half = (rounds.median(f"{n}, again") - rounds.median(n) for n in ("whole", "half"))
    return (whole - half) / (TIMES - 1) * 2 * share


def seconds_of_instructions(launch: Launch, plan: Plan) -> float:
    """What a launch on a CPU takes over memory that lies in the cache; zero where not known."""
    if launch.shadow is None:
        return 0.0
    rounds = take_rounds({"shadow": launch.shadow()}, "cpu", plan)
    return rounds.median("shadow")


def repeated(run: Callable[[], object]) -> Callable[[], object]:
    """A step of several launches."""

    def step() -> object:
        for _ in range(TIMES):
            run()
        return None

    return step


def timed(
    names: Sequence[str], where: Where, least: int, plan: Plan, end: float = math.inf
) -> Iterator[Entry]:
    """A row a kernel; no workload is begun after `end`."""
    inside_of = seconds_in_cache if where.device == "cuda" else seconds_of_instructions
    for name, one in each(names, where, least, end):
        seconds, amount = moved(one, where.device, plan)
        inside = inside_of(one, plan)
        bound = inside if inside > BOUND * seconds else 0.0
        yield Entry(name, one.name, one.planned, amount, seconds, bound)


def each(
    names: Sequence[str], where: Where, least: int, end: float = math.inf
) -> Iterator[tuple[str, Launch]]:
    """Workload and kernel, those that are large enough; none is begun after `end`."""
    for name in names:
        if time.monotonic() > end:
            print(f"{name} and what follows: not begun, the time is up", file=sys.stderr)
            break
        try:
            launches = launches_of(name, where)
            if where.device == "cpu":
                in_cache(launches, name, where)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}"[:300], file=sys.stderr)
            continue
        yield from ((name, one) for one in launches if one.planned >= least)


def in_cache(launches: Sequence[Launch], name: str, where: Where) -> None:
    """Shadows of a build whose stores all go by way of the caches, where that has these kernels."""
    resident = launches_of(name, where, {"pipeline": local_pipeline(stream=0)})
    alike = [one.name for one in launches] == [one.name for one in resident]
    for i, one in enumerate(launches):
        one.shadow = resident[i].shadow if alike else None


# -- by counters ----------------------------------------------------------------------------------
def once(names: Sequence[str], where: Where, least: int, out: Path, seconds: float) -> None:
    """Each kernel once, between two reads of a large buffer, for the profiler; `out` is told."""
    large = torch.ones(1 << 27, device=where.device)
    with out.open("w", encoding="utf-8") as file:
        for name, one in each(names, where, least, time.monotonic() + seconds):
            row = {"workload": name, "name": one.name, "planned": one.planned}
            large.sum()
            torch.cuda.synchronize()
            torch.cuda.profiler.start()
            one.run()
            large.sum()
            torch.cuda.synchronize()
            torch.cuda.profiler.stop()
            file.write(json.dumps(row) + "\n")
            file.flush()


def by_counters(names: Sequence[str], argv: Sequence[str], budget: float) -> Iterator[Entry]:
    """A row a kernel, a few workloads at a time: the profiler speaks when its process ends.

    Everything is compiled before, by processes side by side. Raises RuntimeError with the
    profiler's words when its first run fails.
    """
    profiler()
    end = time.monotonic() + budget
    warm(names, argv, min(WARM, budget / 3))
    for number, some in enumerate(in_runs(names, RUNS)):
        left = end - time.monotonic()
        if left < 2 * START:
            print(f"{some[0]} and what follows: not begun, the time is up", file=sys.stderr)
            return
        try:
            yield from profiled(some, argv, left)
        except RuntimeError as error:
            if number == 0:
                raise
            print(f"{some[0]} to {some[-1]}: {error}", file=sys.stderr)


def profiled(names: Sequence[str], argv: Sequence[str], seconds: float) -> list[Entry]:
    """A row for each kernel of these workloads. Raises RuntimeError with the profiler's words."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "kernels.jsonl"
        told.touch()
        given = [*argv, "--budget", str((seconds - START) * 0.8), *exactly(names)]
        run = own_process("bench.ledger", told, given)
        found: list[Counted] = counted(run, told, seconds)
        rows = [json.loads(line) for line in told.read_text().splitlines()]
    return [
        Entry(row["workload"], row["name"], row["planned"], one.read + one.written)
        for row, one in zip(rows, found, strict=False)  # those before a kernel that was missed
    ]


def in_runs(names: Sequence[str], count: int) -> list[Sequence[str]]:
    """The names in order, cut into at most `count` parts of about as many."""
    size = max(1, -(-len(names) // count))
    return [names[i : i + size] for i in range(0, len(names), size)]


def exactly(names: Sequence[str]) -> list[str]:
    """Words of a command line for these workloads alone."""
    return [word for name in names for word in ("--exactly", name)]


def warm(names: Sequence[str], argv: Sequence[str], seconds: float) -> None:
    """Compile all kernels, for the processes that follow: they take them from the caches."""
    env = {**os.environ, "MINDUCTOR_TRITON_WORKERS": "0"}
    shares = [names[i::WARMERS] for i in range(min(WARMERS, len(names)))]
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "bench.ledger", "--warm", *argv, *exactly(share)],
            env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for share in shares
    ]  # fmt: skip
    end = time.monotonic() + seconds
    for one in running:
        try:
            one.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            one.kill()
            one.wait()


# -- the table ------------------------------------------------------------------------------------
def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.ledger",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--only", action="append", default=[], help="workloads that hold this text")
    parser.add_argument("--least", type=int, help="bytes of the smallest kernel")
    parser.add_argument("--seconds", type=float, default=0.2, help="measuring time a kernel")
    parser.add_argument("--ncu", action="store_true", help="bytes from the profiler's counters")
    parser.add_argument("--budget", type=float, help="seconds for all; with --ncu 180")
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    parser.add_argument("--once", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--warm", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--exactly", action="append", help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Print a row a kernel, and the share within 15 %; exit status 0, 1 without counters."""
    args = parse_args(argv)
    where = Where(args.device, {"f32": torch.float32, "bf16": torch.bfloat16}[args.dtype])
    least = LEAST[args.device] if args.least is None else args.least
    names = [n for n in MICRO if not args.only or any(text in n for text in args.only)]
    names = names if args.exactly is None else args.exactly
    if args.once:
        once(names, where, least, args.once, args.budget)
        return 0
    if args.warm:
        for _ in each(names, where, least):
            pass
        return 0
    found: list[Entry] = []
    how = "counters" if args.ncu else "time"
    try:
        for entry in rows_by(args, names, where, least):
            found.append(entry)
            print(" ".join(entry.cells()), file=sys.stderr, flush=True)
            if args.json:
                args.json.write_text(as_json(found, least, how, where) + "\n", encoding="utf-8")
    except RuntimeError as error:
        print(f"no counters: {error}", file=sys.stderr)
        return 1
    report(found, least, how)
    return 0


def rows_by(
    args: argparse.Namespace, names: Sequence[str], where: Where, least: int
) -> Iterator[Entry]:
    """The rows that the command line asks for. Raises RuntimeError without counters."""
    given = ["--device", args.device, "--dtype", args.dtype, "--least", str(least)]
    if args.ncu:
        return by_counters(names, given, args.budget or BUDGET)
    end = time.monotonic() + (args.budget or math.inf)
    if where.device == "cuda":
        warm(names, given, min(WARM, (args.budget or math.inf) / 3))
    return timed(names, where, least, Plan(args.seconds, 5), end)


def as_json(found: Sequence[Entry], least: int, how: str, where: Where) -> str:
    """The figures with what they come to: bytes, seconds, and the share of those that count."""
    share = share_within([one.ratio for one in found if not one.bound])
    head = {"device": where.device, "dtype": str(where.dtype), "least": least, "by": how}
    rows = [{**asdict(one), "ratio": one.ratio} for one in found]
    return json.dumps({**head, "within": share, "rows": rows}, indent=1)


def report(found: Sequence[Entry], least: int, how: str) -> None:
    """The table, worst ratio first, and what it comes to."""
    rows = sorted(found, key=lambda one: (one.bound > 0, one.ratio))
    heads = ["kernel", "workload", "priced MB", "moved MB", "ratio", "us", "us in cache"]
    print(table(heads, [one.cells() for one in rows]))
    ratios = [one.ratio for one in found if not one.bound]
    text = f"{len(ratios)} kernels of at least {least} bytes, by {how}"
    if len(ratios) < len(found):
        text += f", and {len(found) - len(ratios)} that take as long in the cache"
    print(f"\n{text}: {100 * share_within(ratios):.0f} % within {100 * WITHIN:.0f} %")


if __name__ == "__main__":
    sys.exit(main())
