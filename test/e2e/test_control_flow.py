"""Higher-order ops: control flow with sub-graphs, regions, attention with user arithmetic."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from harness import check, compiled, leaf, ours_only, same, uniform
from torch import Tensor, nn
from torch._higher_order_ops import associative_scan, scan, while_loop
from torch._higher_order_ops.map import map as map_rows


def branch(x: Tensor, w: Tensor) -> Tensor:
    def up(x: Tensor) -> tuple[Tensor, Tensor]:
        return (x @ w).relu(), x + 1

    def down(x: Tensor) -> tuple[Tensor, Tensor]:
        return (x @ w).sin(), x * 2

    a, b = torch.cond(x.sum() > 0, up, down, (x,))
    return a.sum(1, keepdim=True) + b


def branch_in_branch(x: Tensor, w: Tensor) -> Tensor:
    def inner(x: Tensor) -> Tensor:
        return torch.cond(x.amax() > 1, lambda x: x - 1, lambda x: x + x.mean(), (x,))

    return torch.cond(x.sum() > 0, inner, lambda x: x * 2, (x,)) * w[0, 0]


def doubled_until_large(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    def again(i: Tensor, y: Tensor) -> Tensor:
        return (i < 9) & (y.abs().sum() < 500)

    i, y = while_loop(again, lambda i, y: (i + 1, y * 2), (torch.tensor(0), x))
    return i, y + w[0]


def no_step_at_all(x: Tensor, w: Tensor) -> Tensor:
    return while_loop(lambda i, y: i < 0, lambda i, y: (i + 1, y * 2), (torch.tensor(0), x))[1]


def running_sums(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    return scan(lambda c, row: (c + row, c * row), torch.zeros(3), x)


def associative(x: Tensor, w: Tensor) -> Tensor:
    return associative_scan(lambda a, b: a + b * 2, x, 0, combine_mode="generic")


def mapped(x: Tensor, w: Tensor) -> Tensor:
    return map_rows(lambda row, w: row.sin() @ w, x, w)


@torch.compiler.nested_compile_region
def region(x: Tensor) -> Tensor:
    return x.sin() * x


def regions(x: Tensor, w: Tensor) -> Tensor:
    return region(x) + region(x @ w).sum(1, keepdim=True)


PROGRAMS: dict[str, Callable[[Tensor, Tensor], Any]] = {
    f.__name__: f
    for f in (
        branch,
        branch_in_branch,
        doubled_until_large,
        no_step_at_all,
        running_sums,
        associative,
        mapped,
        regions,
    )
}


@pytest.mark.parametrize("low", [0.0, -2.0])
@pytest.mark.parametrize("name", PROGRAMS)
def test_control_flow(name: str, low: float) -> None:
    make = lambda: (uniform(4, 3, low=low, high=low + 2), uniform(3, 3, seed=1))  # noqa: E731
    check(PROGRAMS[name], make, alias=True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_control_flow_in_training(name: str) -> None:
    def make() -> Sequence[Tensor]:
        return leaf(uniform(4, 3)), leaf(uniform(3, 3, seed=1))

    check(lambda x, w: leaf_free(PROGRAMS[name](x, w)), make, calls=1, grad=True)


def leaf_free(values: Any) -> Tensor:
    """One differentiable tensor of a program's results."""
    tensors = values if isinstance(values, tuple) else (values,)
    return sum((t.float().sin() for t in tensors if t.dim()), torch.zeros(()))


@pytest.mark.parametrize("name", ["branch", "doubled_until_large", "running_sums", "mapped"])
def test_control_flow_with_dynamic_sizes(name: str) -> None:
    subject = compiled(PROGRAMS[name], dynamic=True)
    for rows in (4, 6, 9):
        args = (uniform(rows, 3), uniform(3, 3, seed=1))
        same(subject(*args), PROGRAMS[name](*args))
    assert len(subject.graphs) == 1


def test_a_branch_chosen_by_a_size() -> None:
    def f(x: Tensor) -> Tensor:
        return torch.cond(x.shape[0] > 4, lambda x: x * 2, lambda x: x + 1, (x,))

    subject = compiled(f, dynamic=True)
    for rows in (3, 5, 8):
        same(subject(uniform(rows, 3)), f(uniform(rows, 3)))


def test_a_branch_that_draws_random_numbers() -> None:
    def f(x: Tensor) -> Tensor:
        drop = lambda x: nn.functional.dropout(x, 0.5)  # noqa: E731
        return torch.cond(x.sum() > 0, drop, lambda x: x * 1, (x,))

    subject = compiled(f)
    ones = torch.ones(4000)
    first, second = subject(ones), subject(ones)
    assert set(first.unique().tolist()) == {0.0, 2.0}
    assert 0.4 < (first == 0).float().mean() < 0.6
    assert not torch.equal(first, second)
    torch.manual_seed(5)
    again = subject(ones)
    torch.manual_seed(5)
    assert torch.equal(again, subject(ones))


@ours_only
def test_branches_are_compiled_and_kept_in_the_cache() -> None:
    x, w = uniform(4, 3), uniform(3, 3)
    names: list[list[str]] = []
    for _ in range(2):
        torch._dynamo.reset()
        subject = compiled(branch)
        same(subject(x, w), branch(x, w))
        names.append([k["name"] for k in subject.reports[0]["kernels"]])
        assert subject.reports[0]["externs"]["minductor.cond"] == 1
    assert sum("relu" in n for n in names[0]) == 1
    assert names[0] == names[1]
    assert subject.reports[0]["cached"]


def test_attention_with_a_score_of_the_users() -> None:
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    bias = uniform(9)

    def score(s: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return s * 0.5 + bias[(i - j).abs() % 9]

    def causal(b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return i >= j

    mask = create_block_mask(causal, None, None, 16, 16, device="cpu")
    q, k, v = (uniform(2, 4, 16, 8, seed=s) for s in range(3))

    def f(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        both = flex_attention(q, k, v, score_mod=score, block_mask=mask)
        return both, flex_attention(q, k[:, :2], v[:, :2], enable_gqa=True)

    subject = compiled(f, fullgraph=False)
    with torch.no_grad():
        same(subject(q, k, v), f(q, k, v), tol=(1e-4, 1e-4))
    assert subject.graphs
