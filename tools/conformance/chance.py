"""Random entries: how they are found, and what is compared.

An entry is random where eager gives other results under another seed. With the option that asks for
eager's values it must give them under the same seed. Without it, metadata are compared, the seed
must repeat the values, and many draws must have eager's distribution: the two-sample test of
Kolmogorov and Smirnov on all elements of each result together; where that fails, Welch's test on
the share of elements in each call below the place where the distributions differ most.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

import torch
from scipy.stats import ks_2samp, ttest_ind  # pyright: ignore[reportMissingTypeStubs]
from torch import Tensor

from minductor.tools.conformance import trees
from minductor.tools.conformance.compare import check_metadata, dense
from minductor.tools.conformance.entries import Unit
from minductor.tools.conformance.results import WRONG_VALUE, Mismatch

DRAWS = 24
"""Calls whose results are pooled."""
LEAST_P = 1e-7
"""A probability below which two samples are of different distributions: with some thousand
comparisons in a run, chance alone fails one run in thousands."""

Run = Callable[[Any], list[Any]]


def is_random(unit: Unit) -> bool:
    """Whether eager's results depend on the state of the random generators."""
    before = _states()
    first = trees.leaves(_eager(unit))
    if all(torch.equal(a, b) for a, b in zip(before, _states(), strict=True)):
        return False
    torch.manual_seed(1)
    second = trees.leaves(_eager(unit))
    return any(not _equal(a, b) for a, b in zip(first, second, strict=False))


def _states() -> list[Tensor]:
    cuda = [torch.cuda.get_rng_state()] if torch.cuda.is_available() else []
    return [torch.random.get_rng_state(), *cuda]


def _eager(unit: Unit) -> list[Any]:
    with torch.no_grad():
        given = trees.copied(unit.tree)
        first, args, kwargs = given
        return [unit.fn(first, *args, **kwargs), given]


def _equal(a: Any, b: Any) -> bool:
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return type(a) is type(b)
    if a.shape != b.shape:
        return False
    return torch.equal(torch.nan_to_num(dense(a)), torch.nan_to_num(dense(b)))


def check_distribution(
    unit: Unit, ours: Run, eager: Run, states: Container[int] = frozenset()
) -> None:
    """Raises Mismatch where metadata differ, a seed does not repeat, or the distribution is not
    eager's. Of the results `states`, which hold a generator's state, metadata alone count."""
    torch.manual_seed(0)
    first = _leaves(unit, ours)
    torch.manual_seed(0)
    again = _leaves(unit, ours)
    for k, (a, b) in enumerate(zip(first, again, strict=True)):
        if k not in states and not _equal(a, b):
            raise Mismatch(WRONG_VALUE, f"result {k}: the same seed gives other values")
    wanted = _leaves(unit, eager)
    for got, want in zip(first, wanted, strict=True):
        check_metadata(got, want)
    mine = [first, *(_leaves(unit, ours) for _ in range(DRAWS - 1))]
    theirs = [wanted, *(_leaves(unit, eager) for _ in range(DRAWS - 1))]
    for k, leaf in enumerate(wanted):
        if isinstance(leaf, Tensor) and k not in states:
            _same_distribution(_pool(mine, k), _pool(theirs, k), k)


def _leaves(unit: Unit, run: Run) -> list[Any]:
    return trees.leaves(trees.detached(run(trees.copied(unit.tree))))


def _pool(draws: Sequence[list[Any]], k: int) -> list[Tensor]:
    """Result k of each call, as flat f64 values."""
    parts = [dense(one[k]) for one in draws]
    flat = [torch.view_as_real(p) if p.is_complex() else p for p in parts]
    return [p.double().flatten().cpu() for p in flat]


def _same_distribution(got: list[Tensor], want: list[Tensor], k: int) -> None:
    mine, theirs = torch.cat(got), torch.cat(want)
    if not mine.numel():
        return
    if int(mine.isnan().sum()) * 10 > 11 * int(theirs.isnan().sum()) + 10:
        raise Mismatch(WRONG_VALUE, f"result {k}: NaN where eager has none")
    a, b = mine[~mine.isnan()].numpy(), theirs[~theirs.isnan()].numpy()
    found: Any = ks_2samp(a, b, method="asymp")
    if found.pvalue >= LEAST_P:
        return
    # elements of one call may share a draw (a whole channel drops out): only calls are independent
    place = float(found.statistic_location)
    shares = [[float((t <= place).double().mean()) for t in group] for group in (got, want)]
    welch: Any = ttest_ind(*shares, equal_var=False)
    p = float(welch.pvalue)
    if p < LEAST_P or (p != p and shares[0] != shares[1]):
        raise Mismatch(
            WRONG_VALUE,
            f"result {k}: another distribution (p {p:.1e}): "
            f"mean {mine.nanmean().item():.4g} for {theirs.nanmean().item():.4g}",
        )
