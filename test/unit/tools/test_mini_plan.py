"""mini-plan: plans as `-t plan` writes them, read back and compared."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.parser import Parser

from minductor.passes.context import MiniContext
from minductor.passes.pipelines import build_pipeline
from minductor.tools import mini_plan
from minductor.tools.targets import emit

TEXT = """
func.func @f(%x: !aten.t<f32[64, 64]>, %y: !aten.t<f32[64, 64]>) -> !aten.t<f32[64]> {
  %a = aten.add.Tensor(%x, %y) : !aten.t<f32[64, 64]>
  %m = aten.mm.default(%a, %y) : !aten.t<f32[64, 64]>
  %r = aten.relu.default(%m) : !aten.t<f32[64, 64]>
  %s = aten.sum.dim_IntList(%r, [1], false) : !aten.t<f32[64]>
  func.return %s : !aten.t<f32[64]>
}
"""


def plan(pipeline: str = "default-cpu", text: str = TEXT) -> str:
    """The plan of a module after a pipeline."""
    ctx = MiniContext()
    module = Parser(ctx, text).parse_module()
    for item in build_pipeline(pipeline):
        item.apply(ctx, module)
    return emit("plan", module)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A plan with fusion, and one in which an op has gone."""
    a, b = tmp_path / "a.plan", tmp_path / "b.plan"
    a.write_text(plan())
    b.write_text(plan(text=TEXT.replace("aten.sum.dim_IntList(%r", "aten.sum.dim_IntList(%m")))
    return str(a), str(b)


@pytest.mark.parametrize("pipeline", ["default-cpu", "aten-to-loop,loop-fuse", "aten-to-loop"])
def test_every_line_of_a_real_plan_is_read(pipeline):
    (read,) = mini_plan.parse(plan(pipeline))
    assert read.count("kernel", "group", "nest") >= 2
    assert read.count("extern") == 1
    assert (read.planned > 0) == (pipeline != "aten-to-loop")


def test_a_plan_equals_itself_whatever_its_kernels_are_called(files, tmp_path, capsys):
    renamed = tmp_path / "renamed.plan"
    renamed.write_text(Path(files[0]).read_text().replace("cpp_fused", "cpp_other"))
    assert mini_plan.main(["diff", files[0], str(renamed)]) == 0
    assert capsys.readouterr().out == ""


def test_diff_tells_kernels_and_bytes(files, capsys):
    assert mini_plan.main(["diff", *files]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("@call: kernels 2 -> 2, calls 1 -> 1, planned ")
    assert [line[:4] for line in out[1:]] == ["  - ", "  + "]
    assert "relu" in out[1]
    assert "relu" not in out[2]


def test_a_price_that_moved_is_told():
    old, new = mini_plan.parse(plan()), mini_plan.parse(plan())
    new[0].rows[0].planned = 1
    lines = mini_plan.difference(old[0], new[0])
    assert [line[:4] for line in lines[1:]] == ["  ~ "]
    assert lines[1].endswith("-> 1")


def test_show_sorts_by_bytes(files, capsys):
    assert mini_plan.main(["show", files[0]]) == 0
    shares = [float(line.split()[0]) for line in capsys.readouterr().out.splitlines()[1:]]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kernel x\n", "before a line `plan of @NAME`"),
        ("plan of @f\nnonsense\n", ":2: `nonsense` is no line of a plan"),
        ("", "no line `plan of @NAME`"),
    ],
)
def test_what_is_no_plan_is_refused_with_its_line(tmp_path, capsys, text, message):
    path = tmp_path / "x.plan"
    path.write_text(text)
    assert mini_plan.main(["show", str(path)]) == 2
    assert message in capsys.readouterr().err


def test_missing_and_binary_files_are_named(tmp_path, capsys):
    binary = tmp_path / "b.plan"
    binary.write_bytes(b"\xff\xfe\x00")
    assert mini_plan.main(["show", str(binary)]) == 2
    assert mini_plan.main(["show", str(tmp_path / "none")]) == 2
    err = capsys.readouterr().err
    assert "b.plan: not a text file" in err
    assert "cannot read" in err


def test_pairs_and_the_peak_stand_in_the_plan_and_in_its_diff():
    explained = "aten-peak,aten-to-loop,loop-fuse{explain=true}"
    again = [plan(explained) for _ in range(2)]
    assert again[0] == again[1]
    (read,) = mini_plan.parse(again[0])
    assert [p.split(":")[0] for p in read.pairs if p.startswith("fused")]
    assert read.peak == 2 * 64 * 64 * 4
    (seed,) = mini_plan.parse(plan(explained.replace("true", "true improve=false max-rounds=0")))
    lines = mini_plan.difference(read, seed)
    assert any(line.startswith("  - fused op") for line in lines)
    assert mini_plan.difference(read, read) == []
    seed.pairs, seed.peak = read.pairs, 1
    assert mini_plan.difference(read, seed)[-1] == f"  peak {read.peak} -> 1 bytes"
