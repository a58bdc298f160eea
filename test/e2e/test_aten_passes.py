"""The graph passes of `aten`, end to end: numbers as eager's, and the form that they give."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
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


def linear(x: Tensor, *weights: Tensor) -> Tensor:
    w, b, v, c = weights
    return torch.addmm(c, torch.relu(torch.addmm(b, x, w)), v)


@ours_only
def test_a_bias_is_added_where_it_costs_least(modules: list[str]) -> None:
    def make() -> list[Tensor]:
        return [uniform(6, 8), uniform(8, 9), uniform(9), uniform(9, 5), uniform(5)]

    check(lambda *a: (linear(*a), (a[0] @ a[1]) + a[2]), make, options=FRESH)
    (text,) = modules
    assert (text.count("aten.mm."), text.count("aten.addmm.")) == (1, 2)


@ours_only
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_bias_of_a_training_step(dtype: torch.dtype) -> None:
    def make() -> list[Tensor]:
        shapes = [(6, 8), (8, 9), (9,), (9, 5), (5,)]
        return [uniform(*s).to(dtype).requires_grad_() for s in shapes]

    check(linear, make, grad=True)


@ours_only
def test_reductions_in_one_form(modules: list[str]) -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        top = x.max(1).values
        total = x.t().contiguous().sum(0)
        share = x / x.sum(1, keepdim=True)
        return top + total, share, torch.log(torch.softmax(x * 90, 1)), x.min(0).indices

    def make() -> list[Tensor]:
        x = uniform(5, 7)
        x[1, 2] = float("nan")
        return [x]

    check(f, make, options=FRESH)
    (text,) = modules
    assert text.count("aten.sum.dim_IntList(%arg0") == 1
    assert "aten.max.dim" not in text
    assert "aten.min.dim" in text or "argmin" in text


def planned(reports: list[dict[str, Any]], kind: str) -> int:
    return next(r["bytes"]["planned"] for r in reports if r["kind"] == kind)


@ours_only
def test_the_gradient_of_a_cross_entropy_is_pointwise(modules: list[str]) -> None:
    def f(x: Tensor, t: Tensor) -> Tensor:
        return F.cross_entropy(x, t, ignore_index=2, label_smoothing=0.1)

    def make() -> list[Tensor]:
        return [uniform(64, 300).requires_grad_(), torch.arange(64) % 7]

    subject = check(f, make, grad=True, options=FRESH)
    assert all("aten.scatter" not in text for text in modules)
    # the logits are read, their gradient is written; the rest is rows
    assert planned(subject.reports, "backward") < 2.2 * 64 * 300 * 4


@ours_only
def test_an_index_outside_is_still_an_error() -> None:
    def f(i: Tensor) -> Tensor:
        return torch.zeros(3, 5).scatter(1, i, 2.0) * 3

    subject = check(f, lambda: [torch.tensor([[1], [4], [0]])])
    for bad in (5, -1):
        with pytest.raises((IndexError, RuntimeError), match="index"):
            subject(torch.tensor([[1], [bad], [0]]))


@ours_only
def test_a_sum_into_zeros_has_no_negative_zero() -> None:
    def f(i: Tensor, x: Tensor) -> Tensor:
        return torch.zeros(5, 3).scatter_add(0, i, x)

    def make() -> list[Tensor]:
        return [torch.tensor([[1, 4, 0]]), torch.tensor([[-0.0, 2.0, float("nan")]])]

    check(f, make, tol=(0, 0))
