"""The command line of the conformance suite."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

DTYPES = ("f32", "f64", "bf16", "f16", "i64", "i32", "u8", "bool", "c64")
"""Short names of the dtypes that are run, in order."""

FLOATING = ("f32", "f64", "bf16", "f16")


@dataclass(frozen=True)
class Settings:
    """What is run and how."""

    device: str = "cpu"
    target: str = "auto"
    pipeline: str = ""
    dtypes: tuple[str, ...] = DTYPES
    only: str = ""
    samples: int = 4
    unit: str | None = None
    shard: tuple[int, int] = (1, 1)
    jobs: int = 1
    json: str | None = None
    modes: tuple[str, ...] = ("forward", "grad")
    timeout: float = 60.0
    threads: int = 2
    quiet: bool = False

    def rerun(self, entry: str, dtype: str, mode: str, unit: str) -> str:
        """The command that runs one unit again."""
        device = "" if self.device == "cpu" else f" --device {self.device}"
        device += "" if self.target == "auto" else f" --target {self.target}"
        device += f" --pipeline '{self.pipeline}'" if self.pipeline else ""
        samples = "" if self.samples == Settings.samples else f" --samples {self.samples}"
        return (
            f"python -m minductor.tools.conformance --only '^{re.escape(entry)}$'{device} "
            f"--dtypes {dtype} --modes {mode}{samples} --unit {unit}"
        )


def parse(argv: Sequence[str] | None = None) -> Settings:
    """Settings of a command line; exits on a wrong one."""
    p = argparse.ArgumentParser(prog="conformance", description=__doc__)
    p.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    p.add_argument("--target", choices=("auto", "cpp", "triton"), default="auto")
    p.add_argument("--pipeline", default="", metavar="TEXT", help="passes in place of the default")
    p.add_argument("--dtypes", default=",".join(DTYPES), help="some of " + ",".join(DTYPES))
    p.add_argument("--only", default="", metavar="REGEX", help="entries whose full name matches")
    p.add_argument("--samples", type=int, default=4, help="samples of each item, spread")
    p.add_argument("--unit", help="this sample alone, as a failure names it")
    p.add_argument("--shard", default="1/1", metavar="K/N", help="every Nth entry, from the Kth")
    p.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 2))
    p.add_argument("--json", metavar="FILE", help="writes every result")
    p.add_argument("--modes", default="forward,grad", help="of forward, grad, inplace")
    p.add_argument("--no-grad", action="store_true", help="no gradients")
    p.add_argument("--timeout", type=float, default=60.0, help="seconds for one sample")
    p.add_argument("--threads", type=int, default=2, help="threads of a worker")
    p.add_argument("--quiet", action="store_true", help="no progress lines")
    given = p.parse_args(argv)
    dtypes = tuple(given.dtypes.split(","))
    modes = tuple(m for m in given.modes.split(",") if not (given.no_grad and m == "grad"))
    if unknown := [d for d in dtypes if d not in DTYPES]:
        p.error(f"unknown dtypes: {', '.join(unknown)}")
    if unknown := [m for m in modes if m not in ("forward", "grad", "inplace")]:
        p.error(f"unknown modes: {', '.join(unknown)}")
    shard = _shard(given.shard)
    if shard is None:
        p.error(f"a shard is K/N with 1 <= K <= N, not {given.shard}")
    return Settings(
        device=given.device,
        target=given.target,
        pipeline=given.pipeline,
        dtypes=dtypes,
        only=given.only,
        samples=max(1, given.samples),
        unit=given.unit,
        shard=shard,
        jobs=max(1, given.jobs),
        json=given.json,
        modes=modes,
        timeout=given.timeout,
        threads=given.threads,
        quiet=given.quiet,
    )


def _shard(text: str) -> tuple[int, int] | None:
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if found is None:
        return None
    k, n = int(found[1]), int(found[2])
    return (k, n) if 1 <= k <= n else None
