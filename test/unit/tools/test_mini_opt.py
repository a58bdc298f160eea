"""The driver: start-up, errors, remarks and dumps around passes."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.utils.exceptions import PassFailedException

from minductor.passes import pipelines, registry
from minductor.passes.base import MiniPass
from minductor.passes.remarks import sink_of
from minductor.tools import mini_opt, mini_run

TEXT = "func.func @f() {\n  func.return\n}\n"


@dataclass(frozen=True)
class RenamePass(MiniPass):
    """Renames functions."""

    name = "t-rename"
    to: str = "g"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.ops:
            inner.properties["sym_name"] = StringAttr(self.to)
        sink_of(ctx).refused(self.name, "f", "the name is taken", bytes=4)


@dataclass(frozen=True)
class RefusePass(MiniPass):
    """Refuses, or breaks."""

    name = "t-refuse"
    bug: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise KeyError("a bug") if self.bug else PassFailedException("not this; do that instead")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    classes = {"t-rename": RenamePass, "t-refuse": RefusePass}
    for name in classes:
        monkeypatch.setitem(registry.PASSES, name, f"{__name__}:{classes[name].__name__}")
    monkeypatch.setattr(pipelines, "load_pass", classes.__getitem__)
    path = tmp_path / "f.mlir"
    path.write_text(TEXT)
    return str(path)


def test_remarks_follow_the_module(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert mini_opt.main([source, "-p", "t-rename{to=h}", "--print-remarks"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert "  func.func @h() {" in out
    assert out[-1] == "// remark: [t-rename] refused f: the name is taken {bytes = 4}"
    assert mini_opt.main([source, "-p", "t-rename"]) == 0
    assert "remark" not in capsys.readouterr().out


def test_dumps_and_times(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["-p", "t-rename,t-rename{to=h}", "--print-between-passes", "--time-passes"]
    assert mini_opt.main([source, *arguments]) == 0
    out = capsys.readouterr().out
    assert out.index("// IR after t-rename:") < out.index("@g") < out.index("@h")
    assert out.count("// t-rename: ") == 2


def test_a_refusal_is_a_diagnostic(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert mini_opt.main([source, "-p", "t-refuse"]) == 1
    err = capsys.readouterr().err
    assert err == "mini-opt: error: in pass 't-refuse': not this; do that instead\n"
    assert mini_opt.main([source, "-p", "t-refuse", "--verify-diagnostics"]) == 0
    assert "do that instead" in capsys.readouterr().out


def test_a_bug_names_the_pass_and_how_to_replay(
    source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mini_opt.main([source, "-p", "t-rename,t-refuse{bug}"]) == 1
    err = capsys.readouterr().err
    assert "error: pass 't-refuse' failed: KeyError: 'a bug'" in err
    assert "replay: -p 't-rename,t-refuse{bug=true}'" in err
    with pytest.raises(Exception, match="t-refuse"):
        mini_opt.main([source, "-p", "t-refuse{bug}", "--traceback"])


def test_lists(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert mini_opt.main(["--list-pipelines"]) == 0
    out = capsys.readouterr().out
    assert "default-cpu\n" in out
    assert "default-cuda\n" in out


def test_parse_errors_are_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "long.mlir"
    path.write_text("func.func @f() { func.return" + " " * 3000 + "?? }")
    assert mini_opt.main([str(path)]) == 1
    err = capsys.readouterr().err
    assert err.startswith("mini-opt: error: cannot parse\n")
    assert max(map(len, err.splitlines())) < 300


def test_pt2_needs_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert mini_opt.main(["/nowhere/model.pt2"]) == 1
    assert "No such file" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="reads the children's processor time")
def test_start_up_is_quick(tmp_path: Path) -> None:
    """Under 0.35 s of processor time, the best of a few starts."""
    path = tmp_path / "f.mlir"
    path.write_text(TEXT)
    best = 1e9
    for _ in range(5):
        before = os.times()
        subprocess.run(
            [sys.executable, "-m", "minductor.tools.mini_opt", str(path)],
            check=True,
            capture_output=True,
        )
        after = os.times()
        spent = after.children_user + after.children_system
        best = min(best, spent - before.children_user - before.children_system)
    assert best < 0.35


@pytest.mark.parametrize("tool", [mini_opt.main, mini_run.main])
def test_missing_and_binary_files_are_named(tool, tmp_path, capsys):
    binary = tmp_path / "noise.mlir"
    binary.write_bytes(b"\xca\xfe\x00")
    for path, why in ((binary, "text"), (tmp_path / "none.mlir", "No such file")):
        assert tool([str(path)]) != 0
        err = capsys.readouterr().err
        assert path.name in err
        assert why in err
        assert "Errno" not in err


@pytest.mark.parametrize("text", ["", " // a comment\n"])
def test_a_file_without_ir_is_named(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "nothing.mlir"
    path.write_text(text)
    assert mini_opt.main([str(path)]) == 1
    assert "nothing.mlir: holds no IR, where a module is expected" in capsys.readouterr().err


def test_what_torch_says_of_operands_is_an_error_of_mini_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "shapes.mlir"
    product = "%c = aten.mm.default(%a, %a) : !aten.t<f32[2, 3]>"
    path.write_text(
        f"func.func @f(%a: !aten.t<f32[2, 3]>) -> !aten.t<f32[2, 3]> {{\n  {product}\n"
        "  func.return %c : !aten.t<f32[2, 3]>\n}\n"
    )
    assert mini_run.main([str(path)]) == 2
    assert "mini-run: error: the module cannot be run: RuntimeError: mat1 and mat2" in (
        capsys.readouterr().err
    )
