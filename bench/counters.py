"""Bytes of kernels from the counters of the GPU's memory, by NVIDIA's profiler `ncu`.

A process of ours runs each kernel once between two reads of a large buffer: the first empties the
second-level cache of what the kernel will read, the second makes it write back what the kernel
left there. A kernel's bytes are what it read, what it wrote and what the read behind it wrote.
"""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

METRICS = ("dram__bytes_read.sum", "dram__bytes_write.sum")
HOMES = ("/usr/local/cuda/bin/ncu", "/opt/nvidia/nsight-compute/*/ncu")
TIMEOUT = 180.0


@dataclass
class Counted:
    """A kernel that ran under the profiler, and the bytes that it moved."""

    name: str
    read: float = 0.0
    written: float = 0.0


def profiler() -> str:
    """The path of `ncu`. Raises RuntimeError where there is none."""
    found = shutil.which("ncu")
    if found is not None:
        return found
    for home in HOMES:
        paths = sorted(Path("/").glob(home.lstrip("/")))
        if paths:
            return str(paths[-1])
    raise RuntimeError("there is no `ncu` on the path")


def counted(argv: Sequence[str], expected: Path, seconds: float = TIMEOUT) -> list[Counted]:
    """The kernels that `argv`, a process of ours, writes as JSON lines to `expected`, counted.

    Raises RuntimeError with the profiler's words.
    """
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "counters.csv"
        command = [
            profiler(), "--csv", "--print-units", "base", "--log-file", str(table),
            "--target-processes", "application-only", "--profile-from-start", "off",
            "--cache-control", "none", "--clock-control", "none",
            "--metrics", ",".join(METRICS), *argv,
        ]  # fmt: skip
        said_there = run_all(command, seconds)
        text = table.read_text(encoding="utf-8") if table.exists() else ""
    names = [json.loads(line)["name"] for line in expected.read_text().splitlines()]
    found = by_kernel(rows_of(text), names)
    if not found:
        said = [line for line in text.splitlines() if line.startswith("==")]
        why = " ".join(line for line in said if "ERROR" in line) or " ".join(said[-2:])
        raise RuntimeError(f"none of {len(names)} kernels counted: {why or said_there[-400:]}")
    if len(found) < len(names):
        print(f"{len(found)} of {len(names)} kernels counted", file=sys.stderr)
    return found


def run_all(command: Sequence[str], seconds: float) -> str:
    """What a command says; it and what it started end after that many seconds.

    Nothing compiles beside the profiler, which would count it. Raises RuntimeError where the time
    was too short.
    """
    env = {**os.environ, "MINDUCTOR_TRITON_WORKERS": "0"}
    running = subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        return running.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired as error:
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        raise RuntimeError(f"the profiled run took more than {seconds:.0f} s") from error


def rows_of(text: str) -> list[dict[str, str]]:
    """The rows of the profiler's table, without what it says before and after."""
    return list(csv.DictReader(line for line in text.splitlines() if line.startswith('"')))


_UNITS = {"byte": 1.0, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}


def by_kernel(rows: Iterable[dict[str, str]], names: Sequence[str]) -> list[Counted]:
    """The bytes of the kernels `names`, in order, from rows of a launch and a metric each.

    Launches behind a kernel are those that read the large buffer. Ends before the first kernel
    that is not there.
    """
    launches: dict[str, Counted] = {}
    for row in rows:
        if row.get("Metric Name") in METRICS:
            one = launches.setdefault(row["ID"], Counted(row["Kernel Name"]))
            amount = float(row["Metric Value"].replace(",", "")) * _UNITS[row["Metric Unit"]]
            if row["Metric Name"] == METRICS[0]:
                one.read += amount
            else:
                one.written += amount
    out: list[Counted] = []
    for one in launches.values():
        if len(out) < len(names) and one.name == names[len(out)].replace(".", "_"):
            out.append(one)
        elif out:
            out[-1].written += one.written
    return out


def own_process(module: str, expected: Path, argv: Sequence[str]) -> list[str]:
    """The command of a process that writes to `expected` what it runs."""
    return [sys.executable, "-m", module, "--once", str(expected), *argv]
