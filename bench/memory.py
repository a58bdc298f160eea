"""Peak memory of a step: the most bytes of tensors alive at once beyond those alive before it.

On a CPU the profiler's allocation events are summed up in their order; on a GPU the allocator
counts. Weights, inputs and what else lives before the step are the same for all contenders and
count for none.
"""

import argparse
import gc
import sys
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.autograd.profiler import profile

from bench.contenders import compile_for
from bench.models import MODELS, SIZES
from bench.report import OURS, table
from bench.tasks import model_workload
from bench.workload import Where, step_of

Row = dict[str, Any]


def traced_peak(events: Iterable[int]) -> int:
    """The highest partial sum of allocations (positive bytes) and frees (negative ones)."""
    alive = most = 0
    for one in events:
        alive += one
        most = max(most, alive)
    return most


def cpu_peak(step: Callable[[], object]) -> int:
    """Peak bytes of torch's CPU allocator during a step."""
    gc.collect()
    with profile(profile_memory=True, use_kineto=True) as found:
        result = step()
    del result
    traced: Any = found
    memory = [e for e in traced.kineto_results.events() if e.name() == "[memory]"]
    memory.sort(key=lambda e: e.start_ns())  # stable: ties keep the order of recording
    return traced_peak(e.nbytes() for e in memory)


def cuda_peak(step: Callable[[], object]) -> int:
    """Peak bytes of torch's CUDA allocator during a step."""
    torch.cuda.synchronize()
    gc.collect()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    result = step()
    torch.cuda.synchronize()
    del result
    return torch.cuda.max_memory_allocated() - before


def peaks(job: Row) -> Row:
    """Peak bytes of one model's step for every contender of the job."""
    device = job["device"]
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[job["dtype"]]
    torch.manual_seed(0)
    work = model_workload(job["name"], job["size"], Where(device, dtype))
    row: Row = {"contenders": {}}
    for name in job["contenders"]:
        entry: Row = {}
        try:
            if name == OURS and device == "cpu":
                _count_large()
            torch._dynamo.reset()
            step = step_of(work, compile_for(name, work.fn, job["options"]))
            for _ in range(2):  # the first compiles, the second settles caches
                step()
            entry["peak_bytes"] = (cpu_peak if device == "cpu" else cuda_peak)(step)
        except Exception as error:
            entry["error"] = f"{type(error).__name__}: {error}"[:500]
        row["contenders"][name] = entry
    return row


def _count_large() -> None:
    """Large buffers come from torch's allocator, whose events are traced, in place of the pool."""
    from minductor.runtime.pool import pool

    pool().least = 1 << 62


def memory_table(rows: Iterable[Row], contenders: list[str]) -> str:
    """A line a model: MiB at the peak, and ours as a share of the others'."""
    others = [name for name in contenders if name != OURS]
    heads = ["step", *(f"{name} MiB" for name in contenders), *(f"of {name}" for name in others)]
    lines: list[list[str]] = []
    for row in rows:
        found = {n: row.get("contenders", {}).get(n, {}).get("peak_bytes") for n in contenders}
        own = found.get(OURS)
        cells = ["-" if b is None else f"{b / 2**20:.2f}" for b in found.values()]
        shares = [found[n] for n in others]
        cells += ["-" if not s or own is None else f"{100 * own / s:.0f} %" for s in shares]
        lines.append([row["name"], *cells])
    return table(heads, lines)


def exceeds(row: Row) -> list[str]:
    """The contenders that need less than we do; an allocation's rounding is no difference."""
    entries = row.get("contenders", {})
    own = entries.get(OURS, {}).get("peak_bytes")
    if own is None:
        return []
    return [n for n, e in entries.items() if e.get("peak_bytes", own) * 1.001 + 4096 < own]


STEPS = [f"{name}_train" for name in MODELS if name not in ("mlp", "mixer")]
"""The models of the table, forward and backward."""


def main(argv: list[str] | None = None) -> int:
    """Print the table, with what exceeds another; exit status 1 when a figure is missing."""
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=__doc__)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    parser.add_argument("--size", choices=list(SIZES), default="small")
    parser.add_argument("--only", action="append", default=[], help="names that hold this text")
    parser.add_argument("--contenders", default="eager,inductor,minductor")
    args = parser.parse_args(argv)
    contenders = args.contenders.split(",")
    rows: list[Row] = []
    for name in STEPS:
        if args.only and not any(text in name for text in args.only):
            continue
        job = {**vars(args), "name": name, "contenders": contenders, "options": {"strict": True}}
        rows.append({"name": name, **peaks(job)})
        print(name, rows[-1]["contenders"], file=sys.stderr, flush=True)
    print(memory_table(rows, contenders))
    for row in rows:
        for other in exceeds(row):
            print(f"\n{row['name']} needs more than {other}")
    entries = [e for row in rows for e in row["contenders"].values()]
    return int(any("error" in e for e in entries))


if __name__ == "__main__":
    sys.exit(main())
