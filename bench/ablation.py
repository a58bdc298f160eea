"""`python -m bench.ablation`: what each schedule pass of a CPU gains over the micro workloads.

Each pass is left out once, with the passes that need what it provides, and measured beside the
whole pipeline in one process (contender `without:NAME`). A pass that leaves the kernels of a
workload as they are counts as 1 there and is not measured.
"""

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from bench.contenders import WITHOUT
from bench.runner import timed_jobs
from minductor.passes.context import MiniContext
from minductor.passes.manager import replay
from minductor.passes.pipelines import build_pipeline, check_order, without

Row = dict[str, Any]
PIPELINE = "default-cpu"
NEVER = ("kernel-pack",)
"""Passes of the host program, not of a kernel's speed."""


def candidates(pipeline: str = PIPELINE) -> list[str]:
    """Schedule passes in order, each once."""
    names = [one.name for one in build_pipeline(pipeline)]
    return [n for n in dict.fromkeys(names) if n.startswith("kernel-") and n not in NEVER]


def left_out(name: str, pipeline: str = PIPELINE) -> list[str]:
    """A pass and those that cannot run without it, in order."""
    out = [name]
    while True:
        passes = build_pipeline(without(pipeline, out))
        needy = next(
            (p.name for p in passes if any(f"{p.name} needs" in s for s in check_order(passes))),
            None,
        )
        if needy is None:
            return out
        out.append(needy)


def scheduled(text: str, pipeline: str) -> str:
    """A graph's module after a pipeline."""
    ctx = MiniContext()
    ctx.remarks.enabled = False
    return replay(ctx, text, build_pipeline(pipeline))


def shown(texts: Sequence[str], passes: Sequence[str], pipeline: str = PIPELINE) -> list[str]:
    """The passes without which some graph is scheduled differently."""
    whole = [scheduled(text, pipeline) for text in texts]
    return [
        name
        for name in passes
        if [scheduled(text, without(pipeline, left_out(name, pipeline))) for text in texts] != whole
    ]


@dataclass
class Gain:
    """Time without a pass by time with it, for each workload whose kernels show it."""

    name: str
    ratios: dict[str, float] = field(default_factory=dict[str, float])

    def mean(self, count: int | None = None) -> float:
        """Geometric mean over the workloads that show the pass, or over `count` in all."""
        total = sum(math.log(r) for r in self.ratios.values())
        return math.exp(total / max(1, len(self.ratios) if count is None else count))


def gains(rows: Sequence[Row], contenders: Mapping[str, str]) -> list[Gain]:
    """Medians of paired rounds for each pass and its contender; wrong results are left out."""
    found = {name: Gain(name) for name in contenders}
    for row in rows:
        entries = row.get("contenders", {})
        base = entries.get("minductor", {})
        for name, contender in contenders.items():
            entry = entries.get(contender, {})
            if (
                entry.get("wrong")
                or base.get("wrong")
                or "times" not in entry
                or "times" not in base
            ):
                continue
            pairs = zip(entry["times"], base["times"], strict=True)
            found[name].ratios[row["name"]] = median(slow / fast for slow, fast in pairs)
    return list(found.values())


def table(found: Sequence[Gain], count: int) -> str:
    """Markdown: passes by what they gain over all workloads."""
    lines = [
        "| left out | workloads | gain there | gain over all | most | least |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one in sorted(found, key=lambda g: -g.mean(count)):
        order = sorted(one.ratios, key=lambda n: one.ratios[n])
        ends = [f"{n} {one.ratios[n]:.2f}" for n in (order[-1:] + order[:1])] or ["", ""]
        means = f"{one.mean():.2f} | {one.mean(count):.3f}" if order else " | 1.000"
        lines.append(f"| `{one.name}` | {len(order)} | {means} | {ends[0]} | {ends[1]} |")
    return "\n".join(lines)


def jobs(args: argparse.Namespace, contenders: Mapping[str, str], lock: str) -> Iterator[Row]:
    """A job for each workload that shows a pass: the whole pipeline, and each pass left out."""
    import torch

    import minductor
    from bench.child import DTYPES
    from bench.workload import Where
    from bench.workloads import MICRO
    from minductor.compiler import local_pipeline

    for name, build in MICRO.items():
        if args.only and not any(text in name for text in args.only):
            continue
        torch._dynamo.reset()
        work = build(Where("cpu", DTYPES[args.dtype]))
        texts = minductor.export_aten(work.fn, *work.args, training=bool(work.tangents))
        seen = shown(list(texts.values()), list(contenders), local_pipeline())
        yield {
            "set": "micro",
            "name": name,
            "device": "cpu",
            "dtype": args.dtype,
            "size": "small",
            "contenders": ["minductor", *(contenders[one] for one in seen)],
            "options": {"strict": True},
            "threads": None,
            "plan": {"seconds": args.seconds, "least": args.rounds},
            "lock": lock,
        }


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.ablation", description=__doc__)
    parser.add_argument("--only", nargs="*", help="workloads whose name holds one of these")
    parser.add_argument("--passes", help="passes to leave out, with commas; all of the schedule")
    parser.add_argument("--dtype", default="f32", choices=["f32", "bf16"])
    parser.add_argument("--seconds", type=float, default=2.0, help="a workload's rounds")
    parser.add_argument("--rounds", type=int, default=7, help="rounds at least")
    parser.add_argument(
        "--timeout", type=float, default=180.0, help="seconds of a workload's child"
    )
    parser.add_argument("--json", type=Path, help="where the rows go, as they come")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status 1 when a child failed or a result is wrong."""
    args = parse(argv)
    passes = args.passes.split(",") if args.passes else candidates()
    contenders = {one: WITHOUT + "+".join(left_out(one)) for one in passes}
    rows: list[Row] = []
    with tempfile.NamedTemporaryFile(prefix="bench-lock-") as lock:
        for job in jobs(args, contenders, lock.name):
            row: Row = {"name": job["name"], "contenders": {}}
            if len(job["contenders"]) > 1:
                row = next(timed_jobs([job], "reuse", args.timeout))
            rows.append(row)
            print(
                job["name"],
                *job["contenders"][1:],
                row.get("error", ""),
                file=sys.stderr,
                flush=True,
            )
            if args.json:
                args.json.write_text(json.dumps(rows, indent=1))
    print(table(gains(rows, contenders), len(rows)))
    entries = [entry for row in rows for entry in row.get("contenders", {}).values()]
    failed = any("error" in row for row in rows)
    return int(failed or any(e.get("error") or e.get("wrong") for e in entries))


if __name__ == "__main__":
    sys.exit(main())
