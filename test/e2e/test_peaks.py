"""Training steps need at most eager's memory: traced allocations of torch's allocator."""

import pytest

from bench.memory import peaks
from minductor.runtime.pool import pool


@pytest.mark.parametrize("name", ["gpt2_train", "resnet_train"])
def test_a_step_needs_no_more_than_eager(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool(), "least", pool().least)  # which the count changes
    contenders = ["eager", "minductor"]
    job = {"name": name, "size": "tiny", "device": "cpu", "dtype": "f32", "options": {}}
    row = peaks({**job, "contenders": contenders})
    eager, ours = (row["contenders"][one]["peak_bytes"] for one in contenders)
    assert 0 < ours <= eager
