"""Caches that are damaged, shared or not writable; fork; copies of modules; absent compiler."""

import copy
import io
import os
import stat
import warnings
from pathlib import Path

import torch
from child import run_child
from harness import compiled, ours_only, same, uniform
from torch import nn

SCRIPT = """
f = compile(lambda x: (x * 2.5 - 1).cos().sum(0))
x = torch.arange(35.).reshape(5, 7)
print("right" if torch.allclose(f(x), (x * 2.5 - 1).cos().sum(0), atol=1e-5) else "wrong")
"""

UNWRITABLE = """
try:
    print("value", compile(lambda x: (x * 3).sum())(torch.ones(5)).item())
except Exception as e:
    print("message", type(e).__name__, str(e)[:3000])
"""

FORK = """
torch.set_num_threads(1)
f = compile(lambda x: (x * 2 + 1).relu().sum(1))
x = torch.arange(12.).reshape(3, 4)
want = (x * 2 + 1).relu().sum(1)
assert torch.equal(f(x), want)
pid = os.fork()
if pid == 0:
    import signal
    signal.alarm(90)
    g = compile(lambda x: (x - 3).abs().amax(0))
    ok = torch.equal(f(x), want) and torch.equal(g(x), (x - 3).abs().amax(0))
    os._exit(0 if ok else 3)
_, status = os.waitpid(pid, 0)
print("child", status)
assert status == 0
"""

THREADS = """
import threading
f = compile(lambda x: (x.sin() * 2).sum(1) + x.amax(1))
x = torch.arange(400.).reshape(20, 20)
want = f(x)
wrong = []
def work():
    for _ in range(200):
        if not torch.equal(f(x), want):
            wrong.append(1)
ts = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in ts]
[t.join() for t in ts]
print("wrong", len(wrong))
"""


def test_an_unusable_cache_folder_is_said_once(tmp_path: Path) -> None:
    """One warning a compile, although the cache serves products and failures."""
    (tmp_path / "file").write_text("")
    torch._dynamo.reset()
    options = {"cache_dir": str(tmp_path / "file" / "cache")}
    f = torch.compile(lambda x: (x.sin() + 1).sum(0), backend="minductor", options=options)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        f(torch.ones(5, 31))
    assert [w.category for w in seen].count(RuntimeWarning) == 1


def test_cache_folder_that_cannot_be_written(tmp_path: Path) -> None:
    block = tmp_path / "file"
    block.write_text("not a folder")
    code, out = run_child(UNWRITABLE, MINDUCTOR_CACHE_DIR=str(block / "cache"))
    assert code == 0, out
    assert "value 15.0" in out or str(block) in out


def test_damaged_cache_is_rebuilt(tmp_path: Path) -> None:
    for cut in (None, 0.5, 0.0):
        for path in tmp_path.rglob("*"):
            if cut is not None and path.is_file():
                os.truncate(path, int(path.stat().st_size * cut))
        code, out = run_child(SCRIPT, MINDUCTOR_CACHE_DIR=str(tmp_path))
        assert code == 0, out
        assert "right" in out


@ours_only
def test_cache_is_private_and_answers_the_next_process(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    assert "right" in run_child(SCRIPT, MINDUCTOR_CACHE_DIR=str(folder))[1]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    before = {p: p.stat().st_mtime_ns for p in folder.rglob("*.so")}
    assert before
    # No compiler is found, and none is needed.
    code, out = run_child(SCRIPT, MINDUCTOR_CACHE_DIR=str(folder), CXX="/no/such/compiler")
    assert code == 0, out
    assert "right" in out
    assert before == {p: p.stat().st_mtime_ns for p in folder.rglob("*.so")}


@ours_only
def test_absent_compiler_is_named(tmp_path: Path) -> None:
    strict = SCRIPT.replace(".sum(0))\nx", '.sum(0), options={"strict": True})\nx')
    code, out = run_child(strict, MINDUCTOR_CACHE_DIR=str(tmp_path), CXX="/no/such/compiler")
    assert code != 0
    assert "/no/such/compiler" in out


@ours_only
def test_no_part_of_the_other_compiler_is_loaded() -> None:
    script = """
m = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU())
compile(m)(torch.ones(2, 4)).sum().backward()
names = ("compile_fx", "lowering", "scheduler", "ir", "graph")
print("loaded", [n for n in names if f"torch._inductor.{n}" in sys.modules])
"""
    code, out = run_child(script)
    assert code == 0, out
    assert "loaded []" in out


def test_compiled_code_after_fork() -> None:
    code, out = run_child(FORK)
    assert code == 0, out


def test_calls_from_several_threads() -> None:
    code, out = run_child(THREADS)
    assert code == 0, out
    assert "wrong 0" in out


def test_copying_and_saving_a_compiled_module() -> None:
    m = nn.Sequential(nn.Linear(4, 5), nn.GELU(), nn.LayerNorm(5))
    x, near = uniform(3, 4), (1e-5, 1e-5)
    subject = compiled(m)
    want = m(x)
    same(subject(x), want, tol=near)
    buffer = io.BytesIO()
    torch.save(m.state_dict(), buffer)
    twin = copy.deepcopy(m)
    with torch.no_grad():
        m[0].weight.zero_()
    same(compiled(twin)(x), want, "copy", tol=near)
    same(subject(x), m(x), "after the weights changed", tol=near)
    buffer.seek(0)
    m.load_state_dict(torch.load(buffer))
    same(subject(x), want, "after loading", tol=near)
