"""The key of what surrounds a graph: the same in every process, and sensitive to what matters."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from minductor.runtime.build import BuildConfig
from minductor.runtime.environment import _stamps, environment_key  # pyright: ignore[reportPrivateUsage]

ROOT = Path(__file__).resolve().parents[3]
PRINT = "from minductor.runtime.environment import environment_key; print(environment_key('cpp'))"


def test_equal_in_every_process() -> None:
    texts = {
        subprocess.run(
            [sys.executable, "-c", PRINT],
            env=dict(os.environ, PYTHONHASHSEED=seed),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1


def test_names_what_products_depend_on() -> None:
    parts = json.loads(environment_key("cpp"))
    assert torch.__version__ in parts["torch"]
    assert parts["xdsl"] == "0.75.0"
    assert "-ffp-contract=off" in parts["flags"]
    assert parts["threads"] == str(torch.get_num_threads())
    assert {"minductor", "compiler", "cpu", "capability", "deterministic", "mkldnn"} <= set(parts)
    assert "triton" in json.loads(environment_key("triton"))


def test_follows_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    before = environment_key("cpp")
    seen = {before, environment_key("triton")}
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(threads + 1)
        seen.add(environment_key("cpp"))
    finally:
        torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    try:
        seen.add(environment_key("cpp"))
    finally:
        torch.use_deterministic_algorithms(False)
    torch.set_float32_matmul_precision("high")
    try:
        seen.add(environment_key("cpp"))
    finally:
        torch.set_float32_matmul_precision("highest")
    seen.add(environment_key("cpp", BuildConfig(flags=("-O1",))))
    monkeypatch.setenv("CXX", "/nonexistent")
    seen.add(environment_key("cpp"))
    monkeypatch.delenv("CXX")
    assert len(seen) == 7
    assert environment_key("cpp") == before


@pytest.mark.parametrize("name", ["codegen/cpp/prelude", "runtime"])
def test_sources_that_are_no_python_count(name: str, tmp_path: Path) -> None:
    """An edited prelude or launcher must not meet kernels that were built with the old one."""
    copy = tmp_path / "copy"
    shutil.copytree(ROOT / name, copy, ignore=shutil.ignore_patterns("__pycache__"))
    before: list[str] = []
    _stamps(str(copy), before)
    edited = [p for p in copy.iterdir() if p.suffix in (".cpp", ".c", ".h")]
    for path in edited:
        path.write_text(path.read_text() + "\n")
    after: list[str] = []
    _stamps(str(copy), after)
    assert edited
    assert sum(a != b for a, b in zip(before, after, strict=True)) == len(edited)
