"""A pass without its lit file is found; helpers are free."""

from pathlib import Path

from minductor.tools.check_lit_mirror import check, defines_pass
from minductor.tools.source_tree import project_root

PASS = 'class FusePass(MiniPass):\n    name = "loop-fuse"\n'


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_what_counts_as_a_pass() -> None:
    assert defines_pass(PASS)
    assert defines_pass('class A(passes.ModulePass):\n    name: ClassVar[str] = "a"\n')
    assert not defines_pass("class MiniPass(ModulePass):\n    needs = frozenset()\n")
    assert not defines_pass("def helper():\n    return 1\n")


def test_missing_and_present(tmp_path: Path) -> None:
    write(tmp_path / "passes/loop/simplify_index.py", PASS)
    write(tmp_path / "passes/loop/helper.py", "x = 1\n")
    (problem,) = check(tmp_path)
    assert problem.endswith("has no lit file test/lit/passes/loop/simplify-index.mlir")
    write(tmp_path / "test/lit/passes/loop/simplify-index.mlir", "")
    assert check(tmp_path) == []


def test_lowering_may_have_a_folder(tmp_path: Path) -> None:
    write(tmp_path / "lowering/aten_to_loop/driver.py", PASS)
    assert len(check(tmp_path)) == 1
    write(tmp_path / "test/lit/lowering/aten-to-loop/view.mlir", "")
    assert check(tmp_path) == []


def test_this_project_has_all_lit_files() -> None:
    assert check(project_root()) == []
