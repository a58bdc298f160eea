"""Import direction: the check sees every form of an import."""

import pytest

from minductor.tools.check_imports import check, check_loading, check_text
from minductor.tools.source_tree import project_root


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("minductor.dialects.a", "from minductor.passes import base"),
        ("minductor.dialects.a", "import minductor.lowering.b"),
        ("minductor.dialects.a", "def f():\n    from minductor.codegen import cpp"),
        ("minductor.dialects.a", "from minductor import passes"),
        ("minductor.passes.a", "from minductor.interpreters.loop import run"),
        ("minductor.interpreters.a", "from minductor.passes.base import MiniPass"),
        ("minductor.lowering.a", "from minductor.codegen.cpp import x"),
        ("minductor.codegen.a", "from minductor.runtime import cache"),
        ("minductor.runtime.a", "from minductor.backend import f"),
        ("minductor.runtime.a", "from minductor.tools import mini_opt"),
        ("minductor.dialects.loop.a", "from ...passes import base"),
    ],
)
def test_wrong_direction(module: str, text: str) -> None:
    (problem,) = check_text(text, module)
    assert "may not import" in problem


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("minductor.passes.a", "from minductor.dialects import expr"),
        ("minductor.lowering.a", "from minductor.passes.base import MiniPass"),
        ("minductor.runtime.a", "from minductor.codegen.cpp.module import emit_cpp"),
        ("minductor.backend", "from minductor.runtime.cache import Cache"),
        ("minductor.tools.a", "from minductor.backend import f"),
        ("minductor.dialects.loop.a", "from . import ops\nfrom ..expr import Expr"),
        ("test.unit.a", "from minductor.runtime import cache\nfrom minductor.dialects import expr"),
    ],
)
def test_right_direction(module: str, text: str) -> None:
    assert check_text(text, module) == []


@pytest.mark.parametrize(
    "text",
    [
        "import torch._inductor",
        "import torch._inductor.config as c",
        "from torch import _inductor",
        "from torch._inductor import scheduler",
        "def f():\n    from torch._inductor.ir import Loops",
        "import torch\nx = torch._inductor.config",
    ],
)
def test_inductor_is_refused_everywhere(text: str) -> None:
    for module in ("minductor.runtime.a", "bench.run", "test.e2e.a"):
        assert any("torch._inductor" in problem for problem in check_text(text, module))


def test_light_modules_load_no_heavy_package() -> None:
    for module in ("minductor.dialects.a", "minductor.lowering.aten_to_loop.view"):
        assert "light" in check_text("import torch", module)[0]
        assert "light" in check_text("try:\n    from sympy import S\nfinally:\n    pass", module)[0]
        assert check_text("def f():\n    import torch", module) == []
    typing_only = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch"
    assert check_text(typing_only, "minductor.passes.a") == []
    assert check_text("import torch", "minductor.lowering.fx_to_aten") == []


def test_loading_names_the_module_that_brings_a_heavy_package() -> None:
    assert check_loading(["minductor.passes.base"]) == []
    assert check_loading(["json", "sympy"]) == ["sympy: importing it loads sympy"]


def test_this_project_imports_one_way() -> None:
    assert check(project_root()) == []
