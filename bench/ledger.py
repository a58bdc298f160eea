"""`python -m bench.ledger`: are the bytes that plans state the bytes that kernels move?

Every kernel of the micro workloads that moves more than the caches hold is timed alone, beside a
copy loop of the same reads and writes: what it moved is its time by that loop's bandwidth. The
table shows priced bytes, moved bytes and their ratio; the last line the share within 15 %. A kernel
bound by arithmetic takes longer than its bytes, which looks like bytes that were not priced.

With `--ncu`, where NVIDIA's profiler is at hand, the bytes are those of the memory's counters.
"""

import argparse
import contextlib
import csv
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from bench.contenders import compile_for
from bench.limit import limit_steps
from bench.measure import Plan, take_rounds
from bench.report import OURS, table
from bench.workload import Where, step_of
from bench.workloads import MICRO
from minductor.runtime.host import Host
from minductor.tools.mini_plan import parse

LEAST = {"cpu": 1 << 25, "cuda": 1 << 26}
"""Bytes of a kernel, by device, below which caches hide what it moves."""
WITHIN = 0.15
METRICS = ("dram__bytes_read.sum", "dram__bytes_write.sum")


@dataclass(eq=False)
class Launch:
    """A kernel as a graph ran it: `run` does so again. Bytes as priced, and the written share."""

    name: str
    planned: int
    share: float
    run: Callable[[], object]


@dataclass
class Recorder:
    """Takes down the kernels that graphs launch while `on`."""

    on: bool = False
    launches: list[Launch] = field(default_factory=list[Launch])

    def wrap(self, host: Host, name: str, call: Callable[..., None]) -> Callable[..., None]:
        """`call`, that also takes itself down."""
        rows = [r for plan in parse(host.artifact.plan) for r in plan.rows if r.kind == "kernel"]
        planned = {r.name.replace(".", "_"): r.planned or 0 for r in rows}
        artifact: Any = host.artifact
        writes = written(f"{artifact.cpp or ''}\n{artifact.triton or ''}", name.replace(".", "_"))

        def recorded(*args: Any) -> None:
            call(*args)
            if self.on:
                price = planned.get(name.replace(".", "_"), 0)
                run = lambda: call(*args)  # noqa: E731
                self.launches.append(Launch(name, price, write_share(args, writes), run))

        return recorded


def written(source: str, name: str) -> list[bool]:
    """For each pointer of a kernel in C++ or Triton source: does it write there?"""
    entry = re.search(rf"  return {name}_body\((.*)\);", source)
    if entry:
        casts = re.findall(r"\((const )?\w+ \*\)ptrs", entry[1])
        return [not const for const in casts]
    made = re.search(rf"^def {name}\((.*)\):\n((?:    .*\n|\n)*)", source, re.MULTILINE)
    if made is None:
        return []
    names = [one.split(":")[0].strip() for one in made[1].split(",")]
    stored = set(re.findall(r"tl\.(?:store|atomic_\w+)\((\w+)", made[2]))
    return [one in stored for one in names]


def write_share(args: Sequence[Any], writes: Sequence[bool]) -> float:
    """The share of a launch's tensor bytes that it writes; half where that is not known."""
    sizes = [a.untyped_storage().nbytes() if isinstance(a, torch.Tensor) else 0 for a in args]
    pairs = list(zip(sizes, writes, strict=False))
    total = sum(size for size, _ in pairs)
    return sum(size for size, wrote in pairs if wrote) / total if total else 0.5


@contextlib.contextmanager
def recording(found: Recorder) -> Generator[None]:
    """Kernels that are bound meanwhile are taken down."""
    kernel, triton = Host.kernel, Host.triton

    def bind_kernel(self: Host, name: str, pointers: int, sizes: int = 0) -> Callable[..., None]:
        return found.wrap(self, name, kernel(self, name, pointers, sizes))

    def bind_triton(self: Host, name: str) -> Callable[..., None]:
        return found.wrap(self, name, triton(self, name))

    Host.kernel, Host.triton = bind_kernel, bind_triton
    try:
        yield
    finally:
        Host.kernel, Host.triton = kernel, triton


def launches_of(name: str, where: Where) -> list[Launch]:
    """The kernels of one step of a workload, in order."""
    found = Recorder()
    torch._dynamo.reset()
    torch.manual_seed(0)
    work = MICRO[name](where)
    with recording(found):
        step = step_of(work, compile_for(OURS, work.fn, {}))
        for _ in range(2):  # the first compiles, the second settles choices among variants
            step()
        found.on = True
        step()
    return found.launches


def moved(launch: Launch, device: str, plan: Plan) -> tuple[float, float]:
    """Seconds of a launch, and the bytes that its reads and writes would have moved meanwhile."""
    writes = int(launch.planned * launch.share) // 64 * 64
    reads = max(64, launch.planned - writes)
    limits = {f"limit {k}": s for k, s in limit_steps(device, reads, max(64, writes)).items()}
    rounds = take_rounds({"kernel": launch.run, **limits}, device, plan)
    faster = max(rounds.ratio(k, "kernel") for k in limits)
    return rounds.median("kernel"), launch.planned * faster


def counted(argv: Sequence[str]) -> list[tuple[str, float]]:
    """Kernels and the bytes of the counters, in order, as the profiler saw a run of ours.

    Raises RuntimeError with the profiler's words.
    """
    ncu = shutil.which("ncu")
    if ncu is None:
        raise RuntimeError("there is no `ncu` on the path")
    command = [
        ncu, "--csv", "--profile-from-start", "off", "--cache-control", "all",
        "--metrics", ",".join(METRICS), sys.executable, "-m", "bench.ledger", "--once", *argv,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    if done.returncode or not lines:
        raise RuntimeError((done.stderr or done.stdout).strip()[-400:] or "no counters")
    return by_launch(csv.DictReader(lines))


_UNITS = {"byte": 1.0, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}


def by_launch(rows: Iterable[dict[str, str]]) -> list[tuple[str, float]]:
    """Name and bytes of each launch, from the profiler's table: a row for each metric."""
    out: dict[str, tuple[str, float]] = {}
    for row in rows:
        if row["Metric Name"] not in METRICS:
            continue
        value = float(row["Metric Value"].replace(",", "")) * _UNITS[row["Metric Unit"]]
        name, before = out.get(row["ID"], (row["Kernel Name"], 0.0))
        out[row["ID"]] = (name, before + value)
    return list(out.values())


def once(names: Sequence[str], where: Where, least: int) -> None:
    """Each kernel once, for the profiler."""
    for name in names:
        for launch in launches_of(name, where):
            if launch.planned >= least:
                torch.cuda.synchronize()
                torch.cuda.profiler.start()
                launch.run()
                torch.cuda.synchronize()
                torch.cuda.profiler.stop()


def share_within(ratios: Sequence[float]) -> float:
    """Share of the ratios that are 1 within 15 % either way."""
    good = sum(1 - WITHIN <= r <= 1 + WITHIN for r in ratios)
    return good / len(ratios) if ratios else 0.0


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.ledger", description=__doc__)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--only", action="append", default=[], help="workloads that hold this text")
    parser.add_argument("--least", type=int, help="bytes of the smallest kernel")
    parser.add_argument("--seconds", type=float, default=0.2, help="measuring time a kernel")
    parser.add_argument("--ncu", action="store_true", help="bytes from the profiler's counters")
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Print a row a kernel, and the share within 15 %; exit status 0."""
    args = parse_args(argv)
    where = Where(args.device, {"f32": torch.float32, "bf16": torch.bfloat16}[args.dtype])
    least = LEAST[args.device] if args.least is None else args.least
    names = [n for n in MICRO if not args.only or any(text in n for text in args.only)]
    if args.once:
        once(names, where, least)
        return 0
    counters: list[tuple[str, float]] | None = None
    if args.ncu:
        given = ["--device", args.device, "--dtype", args.dtype, "--least", str(least)]
        try:
            counters = counted([*given, *(p for text in args.only for p in ("--only", text))])
        except RuntimeError as error:
            print(f"counters: {error}; bytes are time by bandwidth", file=sys.stderr)
    rows, ratios = measured(names, where, least, (Plan(args.seconds, 5), counters))
    print(table(["kernel", "workload", "priced MB", "moved MB", "ratio", "us"], rows))
    count = f"{len(ratios)} kernels of at least {least} bytes, by {'ncu' if counters else 'time'}"
    print(f"\n{count}: {100 * share_within(ratios):.0f} % within {100 * WITHIN:.0f} %")
    return 0


def measured(
    names: Sequence[str],
    where: Where,
    least: int,
    how: tuple[Plan, list[tuple[str, float]] | None],
) -> tuple[list[list[str]], list[float]]:
    """Rows of the table, worst ratio first, and the ratios."""
    plan, counters = how
    left = iter(counters or ())
    found: list[tuple[float, list[str]]] = []
    for name in names:
        try:
            launches = [one for one in launches_of(name, where) if one.planned >= least]
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}"[:300], file=sys.stderr)
            continue
        for one in launches:
            seconds, amount = moved(one, where.device, plan)
            if counters is not None:
                amount = next(left, ("", 0.0))[1]
            ratio = one.planned / amount if amount else 0.0
            figures = [f"{one.planned / 1e6:.2f}", f"{amount / 1e6:.2f}", f"{ratio:.2f}"]
            found.append((ratio, [one.name, name, *figures, f"{seconds * 1e6:.1f}"]))
            print(f"{name} {one.name} {ratio:.2f}", file=sys.stderr, flush=True)
    found.sort(key=lambda pair: pair[0])
    return [row for _, row in found], [ratio for ratio, _ in found]


if __name__ == "__main__":
    sys.exit(main())
