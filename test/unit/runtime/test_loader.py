"""A product from its sources to its calls: boxed convention, lifetimes, faults, storage."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
import weakref
from pathlib import Path

import pytest
import torch

from minductor.runtime import loader
from minductor.runtime.artifact import Artifact
from minductor.runtime.build import BuildConfig, BuildError, Compiler
from minductor.runtime.cache import Cache

CPP = """
extern "C" int shift(void *const *p, const long long *s) {
    const float *x = (const float *)p[0];
    float *o = (float *)p[1];
    if (s[0] > 1000) return 1;
    for (long long i = 0; i < s[0]; i++) o[i] = x[i] + 1.0f;
    return 0;
}
"""
WRAPPER = """
import torch

shift = host.kernel("shift", pointers=2, sizes=1)
check_inputs = host.inputs(("arg1_1", torch.float32, "cpu", ("s0", 4), (4, 1)))


def call(args):
    s0, arg1_1 = args
    args.clear()
    check_inputs(arg1_1, s0)
    buf0 = host.empty_cpu((s0, 4), (4, 1), torch.float32)
    shift(arg1_1, buf0, 4 * s0)
    del arg1_1
    buf1 = buf0  # in place
    shift(buf0, buf1, 4 * s0)
    return [buf1, s0]
"""
ARTIFACT = Artifact("inference", "cpp", WRAPPER, CPP)
KEY = "c" * 64


@pytest.fixture
def store(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def test_call(store: Cache) -> None:
    artifact, call = loader.produce(KEY, ARTIFACT, store)
    assert artifact.folder == store.folder(KEY)
    assert call._boxed_call is True  # pyright: ignore[reportFunctionMemberAccess]
    x = torch.rand(3, 4)
    args = [3, x]
    out, size = call(args)
    assert args == []
    assert size == 3
    assert torch.allclose(out, x + 2)


def test_empty_tensors(store: Cache) -> None:
    _, call = loader.produce(KEY, ARTIFACT, store)
    assert call([0, torch.empty(0, 4)])[0].shape == (0, 4)


def test_inputs_die_as_early_as_the_text_says(store: Cache) -> None:
    text = WRAPPER.replace("    buf1 = buf0", "    host.artifact.meta['seen']()\n    buf1 = buf0")
    alive: list[bool] = []
    _, call = loader.produce(KEY, Artifact("inference", "cpp", text, CPP, meta={}), store)
    x = torch.rand(3, 4)
    ref = weakref.ref(x)
    call.__globals__["host"].artifact.meta["seen"] = lambda: alive.append(ref() is not None)
    args = [3, x]
    del x
    call(args)
    assert alive == [False]


def test_a_fault_shows_the_line_of_the_wrapper(store: Cache) -> None:
    artifact, call = loader.produce(KEY, ARTIFACT, store)
    with pytest.raises(IndexError, match="index out of range in kernel shift") as caught:
        call([300, torch.zeros(300, 4)])
    lines = "".join(traceback.format_tb(caught.value.__traceback__))
    assert str(artifact.folder) in lines
    assert "shift(arg1_1, buf0, 4 * s0)" in lines


def test_a_stored_product_needs_no_compiler(store: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    assert loader.fetch(store, KEY) is None
    loader.produce(KEY, ARTIFACT, store)
    monkeypatch.setenv("CXX", "/nonexistent")
    found = loader.fetch(store, KEY)
    assert found is not None
    artifact, call = found
    assert artifact == ARTIFACT
    assert torch.equal(call([1, torch.zeros(1, 4)])[0], torch.full((1, 4), 2.0))


@pytest.mark.parametrize("name", ["kernels.so", "wrapper.py", "kernels.cpp"])
def test_a_damaged_product_is_built_again(store: Cache, name: str) -> None:
    artifact, _ = loader.produce(KEY, ARTIFACT, store)
    assert artifact.folder is not None
    path = artifact.folder / name
    data = path.read_bytes()
    path.unlink()  # not in place: the library is mapped into this process
    path.write_bytes(data[: len(data) // 2])
    assert loader.fetch(store, KEY) is None
    _, call = loader.produce(KEY, ARTIFACT, store)
    assert torch.equal(call([1, torch.zeros(1, 4)])[0], torch.full((1, 4), 2.0))


def test_a_library_that_does_not_load_counts_as_absent(store: Cache) -> None:
    store.store(KEY, ARTIFACT, b"this is no library, but its checksum is right")
    assert loader.fetch(store, KEY) is None
    assert store.load(KEY) is None


def test_missing_compiler(store: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "/nonexistent")
    with pytest.raises(BuildError, match="CXX='/nonexistent' names no program"):
        loader.produce(KEY, ARTIFACT, store)
    assert os.listdir(store.root / "tmp") == []


def test_a_failing_compiler_leaves_nothing(store: Cache) -> None:
    product = loader.Product(KEY, ARTIFACT, store, BuildConfig(Compiler(("false",), "gcc", "")))
    with pytest.raises(BuildError, match="status 1"):
        product.finish()
    assert os.listdir(store.root / "tmp") == []
    assert store.load(KEY) is None


def test_cancel(store: Cache, tmp_path: Path) -> None:
    script = tmp_path / "slow"
    script.write_text("#!/bin/sh\nexec sleep 60\n")
    script.chmod(0o700)
    compiler = Compiler((str(script),), "gcc", "")
    product = loader.Product(KEY, ARTIFACT, store, BuildConfig(compiler))
    assert not product.built()
    product.cancel()
    assert os.listdir(store.root / "tmp") == []


def test_graphs_without_kernels_run_no_compiler(
    store: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "/nonexistent")
    text = "def call(args):\n    args.clear()\n    return []\n"
    _, call = loader.produce(KEY, Artifact("inference", "cpp", text), store)
    assert call([1, 2]) == []


def test_a_wrapper_without_call(store: Cache) -> None:
    with pytest.raises(loader.LoadError, match=r"wrapper\.py defines no function call"):
        loader.produce(KEY, Artifact("inference", "cpp", "x = 1\n"), store)


def test_two_graphs_share_kernel_names(store: Cache) -> None:
    other = Artifact("inference", "cpp", WRAPPER, CPP.replace("+ 1.0f", "+ 10.0f"))
    _, first = loader.produce(KEY, ARTIFACT, store)
    _, second = loader.produce("d" * 64, other, store)
    x = torch.zeros(1, 4)
    assert float(first([1, x])[0][0, 0]) == 2.0
    assert float(second([1, x])[0][0, 0]) == 20.0


def test_a_store_cleared_meanwhile(store: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    real = store.store
    calls: list[int] = []

    def store_then_lose(*args: object) -> Artifact:
        stored = real(*args)  # pyright: ignore[reportArgumentType]
        calls.append(1)
        if len(calls) == 1:
            store.discard(KEY)
        return stored

    monkeypatch.setattr(store, "store", store_then_lose)
    _, call = loader.produce(KEY, ARTIFACT, store)
    assert torch.equal(call([1, torch.zeros(1, 4)])[0], torch.full((1, 4), 2.0))


PROCESS = """
import sys, torch
from test_loader import ARTIFACT, KEY
from minductor.runtime import loader
from minductor.runtime.cache import Cache
store = Cache()
found = loader.fetch(store, KEY) or loader.produce(KEY, ARTIFACT, store)
assert torch.equal(found[1]([1, torch.zeros(1, 4)])[0], torch.full((1, 4), 2.0))
"""


def test_processes_at_once(tmp_path: Path) -> None:
    env = dict(
        os.environ,
        MINDUCTOR_CACHE_DIR=str(tmp_path / "c"),
        PYTHONPATH=os.pathsep.join([str(Path(__file__).parent), *sys.path]),
    )
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", PROCESS]
    workers = [subprocess.Popen(command, env=env, stderr=subprocess.PIPE) for _ in range(3)]
    for worker in workers:
        _, stderr = worker.communicate(timeout=200)
        assert worker.returncode == 0, stderr.decode()
