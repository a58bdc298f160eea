"""The table of what schedule passes gain: which are left out, where they show, how gains add up."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from bench.ablation import candidates, gains, left_out, shown, table
from bench.contenders import compile_for
from minductor.passes.pipelines import PipelineError, build_pipeline, check_order, without

RELU = """
func.func @f(%x: !aten.t<f32[512, 1024]>) -> !aten.t<f32[512, 1024]> {
  %r = aten.relu.default(%x) : !aten.t<f32[512, 1024]>
  func.return %r : !aten.t<f32[512, 1024]>
}
"""
VARIANCE = """
func.func @f(%x: !aten.t<f32[512, 1024]>) -> !aten.t<f32[512]> {
  %r = aten.var.correction(%x, dim = [1], correction = 1, keepdim = false) : !aten.t<f32[512]>
  func.return %r : !aten.t<f32[512]>
}
"""


def test_a_pass_goes_with_those_that_need_it() -> None:
    assert left_out("kernel-moments") == ["kernel-moments"]
    gone = left_out("kernel-vectorize")
    assert gone[0] == "kernel-vectorize"
    assert {"kernel-strength", "kernel-stream", "kernel-prefetch"} <= set(gone)
    assert "kernel-memory" not in gone


@pytest.mark.parametrize("name", candidates())
def test_what_is_left_is_in_order(name: str) -> None:
    rest = build_pipeline(without("default-cpu", left_out(name)))
    assert check_order(rest) == []
    assert name not in {one.name for one in rest}


def test_a_pass_that_is_not_there_is_an_error() -> None:
    with pytest.raises(PipelineError, match="has no pass 'kernel-blocks'"):
        without("default-cpu", ["kernel-blocks"])


def test_passes_show_where_they_change_a_kernel() -> None:
    passes = ["kernel-moments", "kernel-vectorize", "kernel-onehot"]
    assert shown([RELU], passes) == ["kernel-vectorize"]
    assert shown([RELU, VARIANCE], passes) == ["kernel-moments", "kernel-vectorize"]


def test_gains_are_of_paired_rounds_and_of_right_results() -> None:
    def row(name: str, **times: list[float]) -> dict[str, Any]:
        entries = {k.replace("_", ":"): {"times": t, "wrong": None} for k, t in times.items()}
        return {"name": name, "contenders": entries}

    broken = row("d", minductor=[1.0], without_a=[9.0])
    broken["contenders"]["without:a"]["wrong"] = "by 3"
    rows = [
        row("w", minductor=[1.0, 2.0, 1.0], without_a=[2.0, 4.0, 8.0]),
        row("x", minductor=[1.0], without_a=[8.0], without_b=[1.0]),
        row("y", minductor=[1.0]),
        broken,
    ]
    a, b = gains(rows, {"a": "without:a", "b": "without:b"})
    assert a.ratios == {"w": 2.0, "x": 8.0}
    assert a.mean() == pytest.approx(4.0)
    assert a.mean(4) == pytest.approx(2.0)
    assert b.ratios == {"x": 1.0}
    text = table([b, a], 4).splitlines()
    assert text[2] == "| `a` | 2 | 4.00 | 2.000 | x 8.00 | w 2.00 |"
    assert text[3] == "| `b` | 1 | 1.00 | 1.000 | x 1.00 | x 1.00 |"


def test_a_contender_lacks_passes() -> None:
    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    x = torch.randn(64, 32)
    lacking = compile_for("without:kernel-vectorize+kernel-strength", double, {"strict": True})
    assert torch.equal(lacking(x), x * 2)
