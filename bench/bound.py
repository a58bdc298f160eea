"""`python -m bench.bound`: what bounds a workload on this CPU, its memory or its instructions?

The kernels of a workload run as they are, and over tensors whose memory always lies in the cache
(bench/shadow.py, compiled without stores past it): the second is the time of their instructions.
No way of moving bytes gets a workload below the greater of that and the memory limit; the last
column is how near to it the kernels are.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from bench.launches import Launch, launches_of
from bench.limit import limit_steps
from bench.measure import Plan, take_rounds
from bench.report import table
from bench.workload import Where, step_of, tensors, traffic
from bench.workloads import MICRO
from minductor.compiler import local_pipeline


@dataclass(frozen=True)
class Bound:
    """A workload's seconds: by memory, by instructions alone, and of its kernels as they are."""

    name: str
    memory: float
    instructions: float
    kernels: float

    @property
    def reached(self) -> float:
        """The share of the nearest bound: 1 where nothing is left to gain."""
        return max(self.memory, self.instructions) / self.kernels

    def cells(self) -> list[str]:
        """The row as text."""
        times = (self.memory, self.instructions, self.kernels)
        by = "instructions" if self.instructions > self.memory else "memory"
        return [self.name, *(f"{t * 1e6:.0f}" for t in times), by, f"{100 * self.reached:.0f}"]


def bound_of(name: str, where: Where, plan: Plan) -> Bound | None:
    """Measure one workload; None where no kernel of ours runs."""
    # stores past the caches would reach memory whatever lies in the cache
    pipeline = local_pipeline(stream=0)
    launches = launches_of(name, where)
    resident = launches_of(name, where, {"pipeline": pipeline})
    if not launches or [one.name for one in launches] != [one.name for one in resident]:
        return None
    torch.manual_seed(0)
    work = MICRO[name](where)
    results = tensors(step_of(work, work.fn)()) if work.writes is None else []
    limits = limit_steps("cpu", *traffic(work, results))
    steps = {
        "kernels": in_turn([one.run for one in launches]),
        "instructions": in_turn([shadowed(one) for one in resident]),
        **{f"limit {key}": step for key, step in limits.items()},
    }
    rounds = take_rounds(steps, "cpu", plan)
    memory = min(rounds.median(f"limit {key}") for key in limits)
    return Bound(name, memory, rounds.median("instructions"), rounds.median("kernels"))


def shadowed(launch: Launch) -> Callable[[], object]:
    """The launch over memory in the cache."""
    assert launch.shadow is not None
    return launch.shadow()


def in_turn(runs: Sequence[Callable[[], object]]) -> Callable[[], object]:
    """A step of several launches."""

    def step() -> object:
        for run in runs:
            run()
        return None

    return step


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; exit status 0."""
    parser = argparse.ArgumentParser(prog="python -m bench.bound", description=__doc__)
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--only", action="append", default=[], help="workloads that hold this text")
    parser.add_argument("--seconds", type=float, default=0.5, help="measuring time a workload")
    args = parser.parse_args(argv)
    where = Where("cpu", {"f32": torch.float32, "bf16": torch.bfloat16}[args.dtype])
    found: list[Bound] = []
    for name in MICRO:
        if args.only and not any(text in name for text in args.only):
            continue
        one = bound_of(name, where, Plan(args.seconds, 5))
        if one is None:
            print(f"{name}: no kernels of its own", file=sys.stderr)
            continue
        found.append(one)
        print(" ".join(one.cells()), file=sys.stderr, flush=True)
    heads = ["workload", "memory us", "instructions us", "kernels us", "bound by", "% reached"]
    print(table(heads, [one.cells() for one in sorted(found, key=lambda b: b.reached)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
