"""Runs jobs in child processes: own environment, own caches, a time limit each."""

import compileall
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MARK = "BENCH-RESULT "

REUSE = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "68719476736"}
"""glibc settings under which freed memory is kept: kernels are compared, not page faults."""

IN_PROCESS = {"TORCHINDUCTOR_COMPILE_THREADS": "1"}
"""TorchInductor starts no workers where compile time does not count: each imports torch anew."""

PHASES = (("cold", 0), ("next", 1), ("warm", 0))
"""Compile phases in order, with the variant of the program that each compiles."""

Job = dict[str, Any]
Row = dict[str, Any]


@dataclass
class Caches:
    """A folder that holds every contender's caches, private to a run."""

    root: Path

    def env(self, owner: str) -> dict[str, str]:
        """Environment that points all caches below a folder named `owner`."""
        result: dict[str, str] = {}
        for name in (
            "TORCHINDUCTOR_CACHE_DIR",
            "MINDUCTOR_CACHE_DIR",
            "TRITON_CACHE_DIR",
            "TMPDIR",
        ):
            folder = self.root / owner / name.lower()
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            result[name] = str(folder)
        return result


def run_child(jobs: list[Job], env: dict[str, str], timeout: float) -> list[Row]:
    """The child's result of each job, or `{"error": ...}` when it failed or ran past its limit."""
    runs_on_cpu = jobs[0]["device"] == "cpu" and jobs[0]["set"] != "compile"
    bound = {"OMP_PROC_BIND": "true"} if runs_on_cpu else {}  # processes of a compiler inherit it
    full = {**os.environ, **bound, **env}
    full.pop("PYTHONDONTWRITEBYTECODE", None)  # see `as_installed`
    full["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    child = subprocess.Popen(
        [sys.executable, "-m", "bench.child", json.dumps(jobs)],
        env=full,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = child.communicate(timeout=timeout)
        why = f"exit status {child.returncode}: {' | '.join(err.splitlines()[-3:])[:600]}"
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, _ = child.communicate()
        why = f"no result after {timeout:.0f} s"
    marked = [line.removeprefix(MARK) for line in out.splitlines() if line.startswith(MARK)]
    found: list[Row] = [json.loads(line) for line in marked]
    return found + [{"error": why}] * (len(jobs) - len(found))


def as_installed() -> None:
    """Writes the bytecode of minductor's modules, as an installation does and as torch's is there:
    else a first process would compile them from source, and with `PYTHONDONTWRITEBYTECODE` all.
    """
    for folder in {path.resolve() for path in (ROOT / "minductor").iterdir() if path.is_dir()}:
        compileall.compile_dir(folder, quiet=2)
    compileall.compile_dir(ROOT / "minductor", maxlevels=0, quiet=2)


def timed_jobs(bases: list[Job], memory: str, timeout: float) -> Iterator[Row]:
    """A row for each job: all its contenders in one process, with the allocator setting. The jobs
    share the process, one after the other; `timeout` is that of one."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        env = Caches(Path(folder)).env("run") | IN_PROCESS | (REUSE if memory == "reuse" else {})
        found = run_child(bases, env, timeout * len(bases))
        for base, row in zip(bases, found, strict=True):
            yield {**identity(base), "memory": memory, **row}


def compile_jobs(base: Job, timeout: float) -> Iterator[Row]:
    """One row: cold, next and warm of each contender, each in a fresh process."""
    as_installed()
    row: Row = {**identity(base), "memory": "default", "contenders": {}}
    for contender in base["contenders"]:
        if contender == "eager":
            continue
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            env = Caches(Path(folder)).env(contender)
            entry: Row = {}
            for phase, variant in PHASES:
                job = {**base, "contenders": [contender], "variant": variant}
                (result,) = run_child([job], env, timeout)
                entry[phase] = result.get("seconds")
                entry[f"{phase}_memory_kb"] = result.get("memory_kb")
                if "error" in result:
                    entry["error"] = f"{phase}: {result['error']}"
            row["contenders"][contender] = entry
    yield row


def identity(job: Job) -> Row:
    """What names a row."""
    return {key: job[key] for key in ("set", "name", "device", "dtype", "size")}
