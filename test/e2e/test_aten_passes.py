"""The graph passes of `aten`, end to end: numbers as eager's, and the form that they give."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from harness import check, ours_only, uniform
from torch import Tensor

import minductor.compiler as compiler
from minductor.passes.manager import module_text


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The text of each module right before it is lowered."""
    found: list[str] = []
    lower: Callable[..., Any] = compiler.Compile.lower

    def spy(self: Any, module: Any, target: str, *rest: Any) -> Any:
        from minductor.passes.context import MiniContext
        from minductor.passes.manager import PassManager

        copy = module.clone()
        passes = self._passes(target)
        at = next(i for i, one in enumerate(passes) if one.name == "aten-to-loop")
        PassManager(passes[:at]).run(MiniContext(), copy)
        found.append(module_text(copy))
        return lower(self, module, target, *rest)

    monkeypatch.setattr(compiler.Compile, "lower", spy)
    return found


FRESH = {"cache": False}


@ours_only
def test_pieces_put_together_again(modules: list[str]) -> None:
    def f(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        a, b, c = x.split(4, 1)
        whole = torch.cat([a, b, c], 1)
        joined = torch.cat([whole, y], 1)
        return joined[:, 12:] * 2, torch.cat([b, c], 1), whole + 1, torch.cat([x[:1], x[1:]])

    check(f, lambda: (uniform(4, 12), uniform(4, 4)), options=FRESH)
    assert all("aten.split" not in m for m in modules)
    # the last one is a result, which must not be the argument itself
    assert [m.count("aten.cat.default") for m in modules] == [1]
