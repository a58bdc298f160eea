"""The package layout: links, entry points and the tools' settings name the same folders."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from minductor.tools.source_tree import LAYERS, module_name, project_root, python_files

ROOT = project_root()


def settings() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.mark.parametrize("layer", LAYERS)
def test_each_code_folder_is_linked_into_the_package(layer: str) -> None:
    link = ROOT / "minductor" / layer
    assert link.is_symlink()
    assert os.readlink(link) == f"../{layer}"
    tools = settings()["tool"]
    assert f"minductor/{layer}" in tools["pyright"]["include"]
    assert f"minductor/{layer}" in tools["ruff"]["extend-exclude"]


def test_each_folder_with_code_is_a_package() -> None:
    for layer in LAYERS:
        for path in python_files(ROOT / layer):
            folder = path.parent
            assert (folder / "__init__.py").is_file(), f"{folder} has no __init__.py"


def test_files_are_named_once() -> None:
    names = [module_name(ROOT, path) for path in python_files(ROOT)]
    assert "minductor.tools.source_tree" in names
    assert "minductor" in names
    assert len(names) == len(set(names))


def test_importing_the_package_is_cheap() -> None:
    script = "import sys, minductor; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_xdsl_sees_our_dialects_passes_and_targets() -> None:
    from xdsl.universe import Universe

    from minductor.passes.registry import PASSES
    from minductor.universe import MINDUCTOR_UNIVERSE

    every = Universe.get_multiverse()
    assert set(every.all_dialects) >= {"aten", "loop", "kernel", "scalar"}
    assert set(every.all_targets) >= {"cpp", "triton", "wrapper", "plan"}
    assert set(every.all_passes) >= set(PASSES)
    assert set(MINDUCTOR_UNIVERSE.all_targets) == {"cpp", "triton", "wrapper", "plan"}


def test_entry_points_name_modules_that_exist() -> None:
    project = settings()["project"]
    targets = [
        *project["scripts"].values(),
        *project["entry-points"]["torch_dynamo_backends"].values(),
        *project["entry-points"]["xdsl.universe"].values(),
    ]
    for target in targets:
        module = target.partition(":")[0]
        path = ROOT / Path(*module.split(".")).with_suffix(".py")
        assert path.is_file(), f"{target}: no file {path.relative_to(ROOT)}"


def test_data_files_are_packaged() -> None:
    patterns = settings()["tool"]["setuptools"]["package-data"]["*"]
    for layer in LAYERS:
        for path in sorted((ROOT / layer).rglob("*")):
            built = "__pycache__" in path.parts or path.suffix in (".pyc", ".so")
            if path.is_file() and path.suffix != ".py" and not built:
                assert any(path.match(one) for one in patterns), f"{path} is not packaged"
