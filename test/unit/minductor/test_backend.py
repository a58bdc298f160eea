"""The entry point: options and modes reach us, failures fall back or raise, reports are given."""

import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.exc import BackendCompilerFailed

import minductor
from minductor.compiler import Compile
from minductor.errors import CompileError, FallbackWarning, OptionError, Unsupported


@pytest.fixture(autouse=True)
def clean_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def double(x: Tensor) -> Tensor:
    return x * 2


def broken(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def run(self: Compile, gm: Any) -> Any:
        raise error

    monkeypatch.setattr(Compile, "run", run)


def test_unknown_option_and_mode() -> None:
    with pytest.raises(BackendCompilerFailed, match="did you mean 'preset'"):
        torch.compile(double, backend="minductor", options={"presett": "seed"})(torch.ones(2))
    with pytest.raises(BackendCompilerFailed, match="unknown mode 'max-autotune'"):
        torch.compile(double, backend="minductor", mode="max-autotune")(torch.ones(2))
    with pytest.raises(OptionError, match="did you mean 'preset'"):
        minductor.compile(double, presett="seed")
    with pytest.raises(OptionError, match="unknown mode"):
        minductor.compile(double, mode="max-autotune")


def test_a_failure_falls_back_to_eager_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, CompileError("pass loop-fuse", "KeyError: 'd3'"))
    reports: list[dict[str, Any]] = []
    subject = minductor.compile(double, report=reports.append)
    with pytest.warns(FallbackWarning, match="pass loop-fuse failed: KeyError"):
        assert subject(torch.ones(2)).tolist() == [2, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert subject(torch.ones(2)).tolist() == [2, 2]
    assert [r["kind"] for r in reports] == ["inference"]
    assert "loop-fuse" in reports[0]["fallback"]
    assert reports[0]["externs"] == {"aten.mul.Tensor": 1}


def test_fallback_of_a_graph_that_mutates(monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, Unsupported("a sparse tensor"))

    def f(x: Tensor) -> tuple[Tensor, Tensor]:
        y = x + 0
        x.mul_(3)
        return x.view(-1), y

    x = torch.arange(4.0).reshape(2, 2)
    with pytest.warns(FallbackWarning, match="to eager: a sparse tensor"):
        view, old = minductor.compile(f)(x)
    assert x.tolist() == [[0, 3], [6, 9]]
    assert view.data_ptr() == x.data_ptr()
    assert old.tolist() == [[0, 1], [2, 3]]


def test_fallback_in_training(monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, CompileError("import", "no"))
    x = torch.ones(3, requires_grad=True)
    with pytest.warns(FallbackWarning):
        minductor.compile(lambda x: (x * x).sum())(x).backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2, 2, 2]


@pytest.mark.parametrize("error", [CompileError("emit cpp", "no"), Unsupported("a sparse tensor")])
def test_strict_raises(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    broken(monkeypatch, error)
    with pytest.raises(BackendCompilerFailed, match=r"no|a sparse tensor"):
        minductor.compile(double, strict=True)(torch.ones(2))


def test_as_a_decorator(monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, Unsupported("of a test"))

    @minductor.compile(dynamic=True)
    def f(x: Tensor) -> Tensor:
        return x + 1

    with pytest.warns(FallbackWarning):
        assert f(torch.zeros(2)).tolist() == [1, 1]


def test_the_other_compiler_is_not_loaded() -> None:
    script = """
import sys, torch
m = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU(), torch.nn.LayerNorm(4))
torch.compile(m, backend="minductor")(torch.ones(2, 4)).sum().backward()
names = ("compile_fx", "lowering", "scheduler", "ir", "graph")
print("loaded", [n for n in names if f"torch._inductor.{n}" in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=200
    )
    assert "loaded []" in done.stdout
