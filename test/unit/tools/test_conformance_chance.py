"""Random entries: found by their dependence on the seed, judged by their distribution."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from minductor.tools.conformance.chance import check_distribution, is_random
from minductor.tools.conformance.entries import Unit
from minductor.tools.conformance.results import Mismatch


def unit(f: Callable[[Tensor], Any]) -> Unit:
    return Unit("0", f, torch.ones(20, 30), (), {}, lambda out: out)


def check(ours: Callable[[Tensor], Any], eager: Callable[[Tensor], Any]) -> None:
    check_distribution(unit(eager), lambda tree: [ours(tree[0])], lambda tree: [eager(tree[0])])


def test_what_depends_on_the_seed_is_random() -> None:
    assert is_random(unit(torch.rand_like))
    assert is_random(unit(lambda x: x.normal_()))
    assert not is_random(unit(torch.exp))
    assert not is_random(unit(lambda x: torch.rand(3).sum() * 0 + x))


def test_the_same_distribution_by_other_numbers_is_right() -> None:
    check(lambda x: 1 - torch.rand_like(x), torch.rand_like)
    check(lambda x: x * (torch.rand_like(x) > 0.3) / 0.7, lambda x: torch.dropout(x, 0.3, True))


def test_elements_that_share_a_draw_are_no_evidence() -> None:
    """Two rows decide for fifteen hundred elements."""
    for _ in range(5):
        check(lambda x: drop(x, 0.5), lambda x: 1.0 - drop(x, 0.5))


def drop(x: Tensor, p: float) -> Tensor:
    return (torch.rand(2, 1) > p).float().repeat(1, 750)


def test_a_shared_draw_of_another_rate_is_wrong() -> None:
    with pytest.raises(Mismatch, match="another distribution"):
        check(lambda x: x * (torch.rand(20, 1) > 0.2), lambda x: x * (torch.rand(20, 1) > 0.6))


@pytest.mark.parametrize(
    ("ours", "word"),
    [
        (lambda x: torch.rand_like(x) * 1.1, "another distribution"),
        (lambda x: torch.rand_like(x).round(), "another distribution"),
        (lambda x: torch.rand_like(x)[:, :5], "shape"),
        (lambda x: torch.rand_like(x, dtype=torch.float64), "dtype"),
        (lambda x: torch.rand_like(x) / 0 - torch.inf, "NaN"),
    ],
)
def test_another_distribution_is_wrong(ours: Callable[[Tensor], Any], word: str) -> None:
    with pytest.raises(Mismatch, match=word):
        check(ours, torch.rand_like)


def test_a_seed_must_repeat() -> None:
    count = iter(range(1000))
    with pytest.raises(Mismatch, match="the same seed"):
        check(lambda x: torch.rand_like(x) + next(count) * 1e-3, torch.rand_like)


def test_of_a_generators_state_metadata_alone_count() -> None:
    def ours(x: Tensor) -> list[Tensor]:
        return [torch.rand_like(x), torch.rand(3) * 7 + 1, x]

    def eager(x: Tensor) -> list[Tensor]:
        return [torch.rand_like(x), torch.rand(3), x]

    def judge(states: tuple[int, ...]) -> None:
        check_distribution(unit(eager), lambda t: [ours(t[0])], lambda t: [eager(t[0])], states)

    judge((1,))
    with pytest.raises(Mismatch, match="result 1: another distribution"):
        judge(())
