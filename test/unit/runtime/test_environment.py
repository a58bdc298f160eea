"""The key of what surrounds a graph: the same in every process, and sensitive to what matters."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import torch

from minductor.runtime.build import BuildConfig
from minductor.runtime.environment import environment_key

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
