"""What runs in a child process: one job, described by JSON on the command line, JSON on stdout."""

import fcntl
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch

from bench.contenders import compile_for, prepare
from bench.limit import limit_steps
from bench.measure import Plan, take_rounds
from bench.overhead import OVERHEAD
from bench.programs import PROGRAMS
from bench.verify import wrong
from bench.workload import Where, Workload, in_f64, step_of, tensors, traffic

Job = dict[str, Any]
Row = dict[str, Any]

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
MARK = "BENCH-RESULT "


def find(job: Job) -> Workload:
    """The workload that the job names."""
    where = Where(job["device"], DTYPES[job["dtype"]])
    if job["set"] == "micro":
        from bench.workloads import MICRO

        return MICRO[job["name"]](where)
    if job["set"] == "models":
        from bench.tasks import model_workload

        return model_workload(job["name"], job["size"], where)
    if job["set"] == "overhead":
        return OVERHEAD[job["name"]](where)
    from bench.reference import REFERENCE

    return REFERENCE[job["name"]](where)


def snapshot(work: Workload, fn: Callable[..., Any]) -> list[torch.Tensor]:
    """Results of one call on fresh inputs, mutated inputs among them."""
    if work.remake is None:
        return [t.clone() for t in tensors(step_of(work, fn)())]
    args = work.remake()
    out = fn(*args)
    return [t.clone() for t in tensors([out, list(args)])]


def exact_of(work: Workload) -> Callable[[], list[torch.Tensor] | None]:
    """Results in f64, made once and only for who asks; None where there are none."""

    @cache
    def exact() -> list[torch.Tensor] | None:
        wide = in_f64(work)
        return None if wide is None else tensors(step_of(wide, wide.fn)())

    return exact


def measure(job: Job) -> Row:
    """Check and time one workload with all contenders of the job."""
    torch.manual_seed(0)
    work = find(job)
    want, exact = snapshot(work, work.fn), exact_of(work)
    row: Row = {"contenders": {}}
    steps: dict[str, Callable[[], object]] = {}
    for name in job["contenders"]:
        entry: Row = {}
        try:
            fn = compile_for(name, work.fn, job["options"])
            start = time.perf_counter()
            got = snapshot(work, fn)
            entry["first_call_s"] = time.perf_counter() - start
            how: Any = {"tolerance": work.tolerance, "slack": work.slack, "exact": exact}
            entry["wrong"] = wrong(got, want, **how)
            steps[name] = step_of(work, fn)
            if job["device"] != "cpu":
                entry["peak_bytes"] = peak(steps[name])
        except Exception as error:
            entry["error"] = f"{type(error).__name__}: {error}"[:500]
        row["contenders"][name] = entry
    reads, writes = traffic(work, tensors(step_of(work, work.fn)()) if work.writes is None else [])
    row["bytes"] = [reads, writes]
    limits: dict[str, Callable[[], object]] = {}
    if work.floor is not None:
        limits = {"library": work.floor}
    elif job["set"] in ("micro", "reference"):
        limits = limit_steps(job["device"], reads, writes)
    steps.update({f"limit {name}": step for name, step in limits.items()})
    plan = Plan(**job["plan"])
    with turn(job["lock"]):
        rounds = take_rounds(steps, job["device"], plan, host=job["set"] in ("models", "overhead"))
    for name in steps:
        target = row["contenders"].setdefault(name, {})
        target["seconds"] = rounds.median(name)
        target["times"] = rounds.times[name]
    return {**row, "dropped": rounds.dropped, "noisy": rounds.noisy}


@contextmanager
def turn(lock: str) -> Generator[None]:
    """Measure alone: children that compile at once wait here for each other."""
    with Path(lock).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def peak(step: Callable[[], object]) -> int:
    """Most bytes that torch's allocator held during one step beyond what it held before."""
    step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    step()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before


def compile_once(job: Job) -> Row:
    """Seconds from first call to first result, imports not counted, and the memory it took."""
    contender = job["contenders"][0]
    torch.manual_seed(0)
    program = PROGRAMS[job["name"]](job["variant"], Where(job["device"], DTYPES[job["dtype"]]))
    prepare([contender])
    fn = compile_for(contender, program.fn, job["options"])
    start = time.perf_counter()
    step_of(program, fn)()
    if job["device"] != "cpu":
        torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    kilobytes = {
        "memory_kb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "children_kb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss,
    }
    return {"seconds": seconds, **kilobytes}


def main() -> None:
    """Run the jobs of `argv[1]`, one after the other, each with compilers that know nothing yet."""
    jobs: list[Job] = json.loads(sys.argv[1])
    for job in jobs:
        if job.get("threads"):
            torch.set_num_threads(job["threads"])
        if job["device"] != "cpu" and not torch.cuda.is_available():
            raise SystemExit("no CUDA device here")
        result = compile_once(job) if job["set"] == "compile" else measure(job)
        result["load"] = os.getloadavg()[0]
        print(MARK + json.dumps(result), flush=True)
        torch._dynamo.reset()
        if job["device"] != "cpu":
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
