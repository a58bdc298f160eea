"""Kernel calls: pointers, sizes, faults, and the stand-ins for machines without the launcher."""

from __future__ import annotations

import ctypes
import sysconfig
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from minductor.runtime import checks, launch
from minductor.runtime.build import build_shared
from minductor.runtime.launch import CtypesKernel, bind_kernel

MANY = 300
SOURCE = f"""
extern "C" int add(void *const *p, const long long *s) {{
    const float *a = (const float *)p[0], *b = (const float *)p[1];
    float *o = (float *)p[2];
    for (long long i = 0; i < s[0]; i++) o[i] = a[i] + b[i];
    return 0;
}}
extern "C" int fault(void *const *p, const long long *s) {{ return (int)s[0]; }}
extern "C" int gather(void *const *p, const long long *s) {{
    double *o = (double *)p[{MANY}];
    o[0] = 0;
    for (int i = 0; i < {MANY}; i++) o[0] += ((double *)p[i])[0] * s[i];
    return 0;
}}
"""

Binder = Callable[[str, int, int], Any]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    out = tmp_path_factory.mktemp("launch") / "k.so"
    build_shared(SOURCE, out)
    return ctypes.CDLL(str(out))


@pytest.fixture(params=["launcher", "methods", "ctypes"])
def bind(request: pytest.FixtureRequest, library: ctypes.CDLL) -> Iterator[Binder]:
    """The three ways to call: through handles, through data_ptr in C, through ctypes."""
    module = launch.launcher()
    assert module is not None
    assert module.trusted()
    if request.param == "ctypes":
        yield lambda name, p, s: CtypesKernel(getattr(library, name), p, s, name)
        return
    if request.param == "methods":
        module.setup(-1, torch._C.TensorBase, {})
    yield lambda name, p, s: bind_kernel(library, name, p, s)
    launch._set_up(module)


def test_a_call(bind: Binder) -> None:
    x = torch.arange(10.0)
    out = torch.zeros(6)
    assert bind("add", 3, 1)(x[2:], x, out, 6) is None
    assert torch.equal(out, x[2:8] + x[:6])


def test_faults(bind: Binder) -> None:
    kernel = bind("fault", 0, 1)
    kernel(0)
    with pytest.raises(IndexError, match="index out of range in kernel fault"):
        kernel(1)
    with pytest.raises(IndexError):
        kernel(3)
    with pytest.raises(RuntimeError, match=r"ZeroDivisionError: .* in kernel fault"):
        kernel(2)
    with pytest.raises(RuntimeError, match="kernel fault failed with code 8"):
        kernel(8)


def test_hundreds_of_pointers_and_sizes(bind: Binder) -> None:
    tensors = [torch.tensor([float(i)], dtype=torch.float64) for i in range(MANY)]
    out = torch.zeros(1, dtype=torch.float64)
    bind("gather", MANY + 1, MANY)(*tensors, out, *range(MANY))
    assert out.item() == sum(i * i for i in range(MANY))


def test_wrong_arguments(bind: Binder) -> None:
    kernel = bind("add", 3, 1)
    x = torch.zeros(4)
    with pytest.raises(TypeError, match="takes 3 tensors and 1 sizes, got 3 arguments"):
        kernel(x, x, 4)


def test_arguments_of_wrong_types(library: ctypes.CDLL) -> None:
    kernel = bind_kernel(library, "add", 3, 1)
    x = torch.zeros(4)
    with pytest.raises(TypeError, match="expected a tensor, got int"):
        kernel(x, 3, x, 4)
    with pytest.raises(TypeError):
        kernel(x, x, x, "4")
    with pytest.raises(TypeError):
        kernel(x, x, x, n=4)
    with pytest.raises(OverflowError):
        kernel(x, x, x, 2**70)


def test_a_missing_kernel_is_named(library: ctypes.CDLL) -> None:
    with pytest.raises(ImportError, match="has no kernel absent"):
        bind_kernel(library, "absent", 1, 0)


def test_kernels_run_without_the_interpreter_lock(library: ctypes.CDLL) -> None:
    kernel = bind_kernel(library, "add", 3, 1)
    x = torch.ones(1 << 12)
    outs = [torch.zeros_like(x) for _ in range(4)]

    def work(out: torch.Tensor) -> None:
        for _ in range(200):
            kernel(x, x, out, x.numel())

    threads = [threading.Thread(target=work, args=(out,)) for out in outs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(bool((out == 2).all()) for out in outs)


def test_the_library_stays_loaded_with_its_kernels(tmp_path: Path) -> None:
    build_shared(SOURCE, tmp_path / "own.so")
    kernel = bind_kernel(ctypes.CDLL(str(tmp_path / "own.so")), "fault", 0, 1)
    (tmp_path / "own.so").unlink()
    kernel(0)


@pytest.mark.parametrize("lack", ["compiler", "header", "failing"])
def test_without_a_launcher(
    lack: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, library: ctypes.CDLL
) -> None:
    monkeypatch.setenv("MINDUCTOR_CACHE_DIR", str(tmp_path))
    if lack == "compiler":
        monkeypatch.setenv("CC", "/nonexistent")
    elif lack == "failing":
        monkeypatch.setenv("CC", "false")
    else:
        monkeypatch.setattr(sysconfig, "get_paths", lambda: {"include": str(tmp_path)})
    launch.prepare.cache_clear()
    launch.launcher.cache_clear()
    try:
        assert launch.launcher() is None
        kernel = bind_kernel(library, "add", 3, 1)
        assert isinstance(kernel, CtypesKernel)
        out = torch.zeros(3)
        kernel(torch.ones(3), torch.ones(3), out, 3)
        assert torch.equal(out, torch.full((3,), 2.0))
        layout = checks.Layout("x", torch.float32, "cpu", (3,), (1,))
        checks.input_check([layout])(out)
        assert not launch.has_handles()
    finally:
        launch.prepare.cache_clear()
        launch.launcher.cache_clear()


def test_a_damaged_launcher_is_built_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MINDUCTOR_CACHE_DIR", str(tmp_path))
    launch.prepare.cache_clear()
    try:
        built = launch.prepare().finish()
        built.write_bytes(built.read_bytes()[:100])
        launch.prepare.cache_clear()
        assert launch.prepare().finish().stat().st_size > 1000
    finally:
        launch.prepare.cache_clear()
