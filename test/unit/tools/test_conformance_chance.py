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
