"""The graph passes of `aten`, end to end: numbers as eager's, and the form that they give."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from harness import check, compiled, ours_only, uniform
from torch import Tensor

import minductor.compiler as compiler
from minductor.dialects.printing import module_text


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


def scores_of(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.transpose(-1, -2)


ATTENTION: dict[str, Callable[..., Tensor]] = {
    "div": lambda q, k, v, m: torch.softmax(scores_of(q, k) / 8**0.5, -1) @ v,
    "mul": lambda q, k, v, m: torch.softmax(scores_of(q, k) * 0.3, -1) @ v,
    "plain": lambda q, k, v, m: torch.softmax(scores_of(q, k), dim=-1) @ v,
    "added": lambda q, k, v, m: torch.softmax(scores_of(q, k) * 0.3 + m, -1) @ v,
    "added_2d": lambda q, k, v, m: torch.softmax(m[0, 0] + scores_of(q, k) / 3, -1) @ v,
    "boolean": lambda q, k, v, m: (
        torch.softmax((scores_of(q, k) * 0.3).masked_fill(m > 1, float("-inf")), -1) @ v
    ),
    "kept": lambda q, k, v, m: (
        torch.softmax(torch.where(m < 1, scores_of(q, k), float("-inf")), -1) @ v
    ),
    "grouped": lambda q, k, v, m: (
        torch.softmax(scores_of(q, k[:, :2].repeat_interleave(2, 1)) * 0.3, -1)
        @ v[:, :2].repeat_interleave(2, 1)
    ),
    "expanded": lambda q, k, v, m: (
        torch.softmax(scores_of(q, k[:, :2, None].expand(2, 2, 2, 11, 8).reshape(2, 4, 11, 8)), -1)
        @ v[:, :2, None].expand(2, 2, 2, 11, 8).reshape(2, 4, 11, 8)
    ),
    "arranged": lambda q, k, v, m: (
        torch.softmax(scores_of(q.view(2, 6, 4, 8).transpose(1, 2), k) / 3, -1) @ v
    ).transpose(1, 2),
    "rank_3": lambda q, k, v, m: torch.softmax(scores_of(q[0], k[0]) / 3 + m[0], -1) @ v[0],
}
FINITE = {"pipeline": "default-cpu{scores=finite threads=2}", **FRESH}


@ours_only
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("form", ATTENTION)
def test_attention_written_out(modules: list[str], form: str, dtype: torch.dtype) -> None:
    def make() -> list[Tensor]:
        shapes = [(2, 4, 6, 8), (2, 4, 11, 8), (2, 4, 11, 8), (2, 1, 6, 11)]
        return [uniform(*s, seed=i).to(dtype) for i, s in enumerate(shapes)]

    f = ATTENTION[form]
    with torch.no_grad():
        if dtype.itemsize > 2:
            check(f, make, options=FINITE)
        else:  # eager rounds the scores: compared are the errors
            got = compiled(f, options=FINITE)(*make())
            want = f(*(t.double() for t in make()))
            error, own = ((t.double() - want).abs().max() for t in (got, f(*make())))
            assert error <= own + torch.finfo(dtype).eps
            assert (got.dtype, got.stride()) == (dtype, f(*make()).stride())
    (text,) = modules
    assert text.count("scaled_dot_product") == 1
    assert text.count("aten.bmm.") == 0


@ours_only
def test_attention_stays_where_rows_may_have_no_score(modules: list[str]) -> None:
    def make() -> list[Tensor]:
        q, k, v, m = (uniform(1, 2, 5, 8, seed=i) for i in range(4))
        mask = m[:, :1, :, :5].clone()
        mask[..., 2, :] = float("-inf")
        q[0, 0, 1, 0] = float("nan")
        return [q, k, v, mask]

    with torch.no_grad():
        check(ATTENTION["added"], make, options=FRESH)
    assert "scaled_dot_product" not in modules[0]


@ours_only
def test_attention_with_a_backward_or_dropout_stays(modules: list[str]) -> None:
    def dropped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.dropout(torch.softmax(scores_of(q, k), -1), 0.5) @ v

    make = lambda: [uniform(2, 4, 6, 8).requires_grad_() for _ in range(3)]  # noqa: E731
    options: dict[str, Any] = FINITE
    check(lambda q, k, v: ATTENTION["mul"](q, k, v, None), make, grad=True, options=options)
    with torch.no_grad():
        torch._dynamo.reset()
        torch.compile(dropped, backend="minductor", options=options)(*make())
    assert all("scaled_dot_product" not in text for text in modules)


@ours_only
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dynamic", [True, False])
def test_a_norm_goes_into_the_convolution(
    modules: list[str], affine: bool, bias: bool, dynamic: bool
) -> None:
    torch.manual_seed(0)
    conv = torch.nn.Conv2d(4, 6, 3, bias=bias)
    norm = torch.nn.BatchNorm2d(6, eps=0.1, affine=affine)
    last = torch.nn.Conv2d(6, 5, 1)
    norm(uniform(9, 6, 4, 4) * 3 + 1)
    net = torch.nn.Sequential(conv, norm, last, torch.nn.ReLU()).eval().requires_grad_(False)
    subject = compiled(net, dynamic=dynamic, options=FRESH)
    with torch.no_grad():
        for batch in (3, 3, 5) if dynamic else (3, 3):
            x = uniform(batch, 4, 9, 9)
            torch.testing.assert_close(subject(x), net(x), rtol=1e-4, atol=1e-5)
            for weight in norm.parameters():  # they are arguments of the graph
                weight.mul_(0.5)
    for text in modules:
        products = [line for line in text.splitlines() if "aten.convolution.default" in line]
        assert len(products) == 2
        first = products[0].split(" = ")[0].strip()
        assert f"aten.convolution.default({first}," in products[1]


@ours_only
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_transposes_go_into_products(modules: list[str], dtype: torch.dtype) -> None:
    def f(x: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        back = (b @ b.transpose(1, 2)).transpose(1, 2).contiguous()
        return x.t().contiguous() @ w, (x.t() @ w).t().contiguous() + 1, back

    def make() -> list[Tensor]:
        return [uniform(9, 7).to(dtype), uniform(9, 5).to(dtype), uniform(3, 4, 6).to(dtype)]

    check(f, make, options=FRESH)
    assert all("aten.clone" not in text for text in modules)
