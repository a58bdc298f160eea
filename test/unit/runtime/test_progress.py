"""The progress line: only on terminals, only after a while, and gone at the end."""

from __future__ import annotations

import io
import time

import pytest

from minductor.runtime.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(stream: io.StringIO, enabled: bool = True, delay: float = 0.01) -> str:
    with Progress("forward", enabled, stream, delay) as progress:
        progress.stage("C++ compiler")
        progress.kernels(3, 10)
        time.sleep(0.2)
    return stream.getvalue()


def test_shows_stage_and_kernels() -> None:
    text = run(Terminal())
    assert "minductor: compiling forward: C++ compiler, kernels 3/10" in text
    assert text.endswith("\r")


def test_nothing_before_the_delay() -> None:
    assert run(Terminal(), delay=60.0) == ""


def test_nothing_on_files() -> None:
    assert run(io.StringIO()) == ""


def test_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(Terminal(), enabled=False) == ""
    monkeypatch.setenv("MINDUCTOR_PROGRESS", "0")
    assert run(Terminal()) == ""


def test_a_new_stage_forgets_the_counts() -> None:
    progress = Progress("forward", False)
    progress.kernels(1, 2)
    progress.stage("loading")
    assert progress.text(2.4) == "minductor: compiling forward: loading (2 s)"


def test_a_terminal_that_goes_away() -> None:
    stream = Terminal()
    with Progress("forward", True, stream, 0.01):
        stream.close()
        time.sleep(0.1)
