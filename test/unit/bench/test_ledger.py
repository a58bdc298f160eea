"""The check of the ledger: what it reads of sources, launches and the profiler."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from bench import counters, ledger
from bench.counters import Counted, by_kernel, counted, own_process, rows_of
from bench.launches import launches_of, write_share, written
from bench.ledger import Entry, by_counters, in_runs, share_within
from bench.workload import Where

CPP = """
extern "C" int cpp_fused_add_0(void *const *ptrs, const i64 *sizes) {
  return cpp_fused_add_0_body((const f32 *)ptrs[0], (f32 *)ptrs[1], sizes[0]);
}
"""
TRITON = """
@triton.jit
def triton_poi_fused_add_0(arg0, buf0, acc, n: tl.constexpr):
    v = tl.load(arg0 + d0)

    tl.store(buf0 + (d0), v)
    tl.atomic_add(acc + d0, v)

def other(arg0):
    tl.store(arg0, 1)
"""


def test_written() -> None:
    assert written(CPP, "cpp_fused_add_0") == [False, True]
    assert written(TRITON, "triton_poi_fused_add_0") == [False, True, True, False]
    assert written(CPP, "another") == []


def test_share_of_writes() -> None:
    a, b = torch.empty(300), torch.empty(100)
    assert write_share([a, b, 7], [False, True]) == 0.25
    assert write_share([7], []) == 0.5


PROFILE = """==PROF== Connected to process 1
"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","triton_a_0","dram__bytes_read.sum","byte","1,024"
"0","triton_a_0","dram__bytes_write.sum","Kbyte","2"
"0","triton_a_0","gpu__time_duration.sum","ns","9"
"1","void reduce","dram__bytes_read.sum","byte","4096"
"1","void reduce","dram__bytes_write.sum","byte","5"
"2","triton_a_0","dram__bytes_read.sum","byte","7"
"""


def test_counters() -> None:
    """What a kernel leaves in the cache is written by the launches behind it."""
    rows = rows_of(PROFILE)
    first, second = Counted("triton_a_0", 1024, 2005), Counted("triton_a_0", 7, 0)
    assert by_kernel(rows, ["triton_a.0", "triton_a_0"]) == [first, second]
    assert by_kernel(rows, ["triton_a_0", "triton_b_0"])[:1] == by_kernel(rows, ["triton_a_0"])


FAKE = """#!/bin/sh
while [ "$1" != --log-file ]; do shift; done
cp "$TABLE" "$2"
exit $STATUS
"""


def test_profiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The profiler's table becomes bytes; a kernel that it missed is an error with its words."""
    fake, table, told = tmp_path / "ncu", tmp_path / "table.csv", tmp_path / "told"
    fake.write_text(FAKE)
    fake.chmod(0o755)
    table.write_text(PROFILE)
    told.write_text("".join(json.dumps({"name": "triton_a_0"}) + "\n" for _ in range(2)))
    for key, value in {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "TABLE": table,
        "STATUS": 0,
    }.items():
        monkeypatch.setenv(key, str(value))
    argv = own_process("bench.ledger", told, [])
    assert argv[0] == sys.executable
    assert [one.read for one in counted(argv, told)] == [1024, 7]
    table.write_text("==ERROR== LibraryNotLoaded\n")
    with pytest.raises(RuntimeError, match="none of 2 kernels counted: ==ERROR== LibraryNotLoaded"):
        counted(argv, told)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(counters, "HOMES", ())
    with pytest.raises(RuntimeError, match="no `ncu`"):
        counted(argv, told)


def test_profiler_ends_with_what_it_started() -> None:
    """A process behind the profiler would hold the pipe, and the device, for minutes."""
    start = time.monotonic()
    with pytest.raises(RuntimeError, match="took more than 1 s"):
        counters.run_all(["/bin/sh", "-c", "sleep 60 & sleep 60"], 1.0)
    assert time.monotonic() - start < 20
    assert counters.run_all(["/bin/sh", "-c", "echo $MINDUCTOR_TRITON_WORKERS"], 9.0) == "0\n"


def test_figures_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known when a run is cut short stands in the file."""

    def rows(*_: object) -> Iterator[Entry]:
        yield Entry("a", "k", 90, 100.0)
        assert len(json.loads(out.read_text())["rows"]) == 1
        yield Entry("b", "k", 50, 100.0, 2.0, 1.9)
        yield Entry("c", "k", 50, 100.0)

    out = tmp_path / "ledger.json"
    monkeypatch.setattr(ledger, "rows_by", rows)
    assert ledger.main(["--json", str(out)]) == 0
    found = json.loads(out.read_text())
    assert (found["device"], found["by"], found["within"]) == ("cpu", "time", 0.5)
    assert [row["ratio"] for row in found["rows"]] == [0.9, 0.5, 0.5]


def test_runs_of_workloads() -> None:
    assert in_runs("abcdefg", 3) == ["abc", "def", "g"]
    assert in_runs("ab", 4) == ["a", "b"]


def profile_of(monkeypatch: pytest.MonkeyPatch, fails: str, seconds: float) -> None:
    """A profiler that counts one kernel a workload, takes its time, and fails for one of them."""
    clock = [0.0]

    def one_run(names: list[str], argv: list[str], left: float) -> list[Entry]:
        clock[0] += seconds
        if fails in names:
            raise RuntimeError("no leave")
        return [Entry(name, "k", 1, 1.0) for name in names]

    for name, value in {
        "profiler": lambda: "ncu",
        "warm": lambda *_: None,
        "profiled": one_run,
    }.items():
        monkeypatch.setattr(ledger, name, value)
    monkeypatch.setattr(ledger.time, "monotonic", lambda: clock[0])


def test_rows_as_they_come(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A later run that fails, or has no time left, costs its own rows alone."""
    names = [f"w{i}" for i in range(8)]
    profile_of(monkeypatch, "w2", 50.0)
    rows = by_counters(names, [], 180.0)
    assert [next(rows).workload, next(rows).workload] == ["w0", "w1"]
    assert [one.workload for one in rows] == ["w4", "w5"]
    told = capsys.readouterr().err
    assert "w2 to w3: no leave" in told
    assert "w6 and what follows: not begun" in told
    profile_of(monkeypatch, "w0", 50.0)
    with pytest.raises(RuntimeError, match="no leave"):
        next(by_counters(names, [], 180.0))


def test_kernels_of_a_cpu_run_over_the_cache() -> None:
    """A shadow is of a build whose stores stay in the caches."""
    where = Where("cpu", torch.float32)
    launches = launches_of("relu_add", where)
    for one in launches:
        one.shadow = None
    ledger.in_cache(launches, "relu_add", where)
    assert launches
    assert all(one.shadow is not None for one in launches)
    assert ledger.seconds_of_instructions(launches[0], ledger.Plan(0.01, 1)) > 0


MOVE = """
import torch
from bench import moves
source, target = torch.ones(6 * moves.BLOCK), torch.zeros(2 * moves.BLOCK)
moves.move[(2,)](source, target, R=3, W=1, B=moves.BLOCK)
assert target.eq(3).all()
"""


def test_loop_of_a_mix() -> None:
    pytest.importorskip("triton")
    from bench.moves import mixes

    assert list(mixes(3 << 20, 1 << 20)) == [(3, 1), (6, 2)]
    assert next(mixes(100, 0)) == (1, 0)
    assert next(mixes(100, 101)) == (1, 1)
    env = os.environ | {"TRITON_INTERPRET": "1"}
    subprocess.run([sys.executable, "-c", MOVE], env=env, check=True, timeout=120)


COMPILE = """
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from bench import moves
signature = {"source": "*fp32", "target": "*fp32", **dict.fromkeys("RWB", "constexpr")}
aligned = {(k,): [["tt.divisibility", 16]] for k in range(2)}
for reads, writes in ((3, 1), (8, 0), (0, 4)):
    constants = {"R": reads, "W": writes, "B": moves.BLOCK}
    source = ASTSource(moves.move, signature, constants, aligned)
    text = triton.compile(source, GPUTarget("cuda", 90, 32), {"num_warps": 4}).asm["ptx"]
    assert text.count("ld.global") >= reads, text
    assert text.count("st.global") >= writes, text
"""


def test_loop_compiles() -> None:
    """For a GPU, without one."""
    pytest.importorskip("triton")
    subprocess.run([sys.executable, "-W", "ignore", "-c", COMPILE], check=True, timeout=200)


def test_entry() -> None:
    assert Entry("w", "k", 90, 100.0).ratio == 0.9
    assert Entry("w", "k", 90, 0.0).ratio == 0.0


def test_within() -> None:
    assert share_within([1.0, 0.86, 1.2, 0.5]) == 0.5
    assert share_within([]) == 0.0


def test_launches_of_a_step() -> None:
    """Both graphs of a training step; the bytes are the plan's."""
    forward, backward = launches_of("layer_norm_train", Where("cpu", torch.float32))
    rows, width = 2048, 768
    assert forward.planned >= 4 * 2 * rows * width
    assert backward.planned >= 4 * 3 * rows * width
    assert 0.2 < backward.share < 0.5
    forward.run()
    backward.run()
