"""Long sources are compiled by several compilers: each kernel in one share, twins in one."""

import re
from pathlib import Path

import torch
from harness import compiled, ours_only, same, uniform
from torch import Tensor

pytestmark = ours_only

SHARE = re.compile(r"^#if (\d+) % PARTS == PART$", re.MULTILINE)


FUNCTIONS = (torch.sin, torch.erf, torch.tanh, torch.exp, torch.log1p, torch.expm1, torch.atan)


def layers(x: Tensor, w: Tensor) -> Tensor:
    for fn in (*FUNCTIONS, torch.tanh, torch.exp):
        x = fn(torch.softmax(x, -1)) @ w
    return x


def test_long_sources_are_cut_into_shares(private_cache: Path) -> None:
    before = set(private_cache.rglob("kernels.cpp"))
    args = uniform(40, 24), uniform(24, 24, seed=1)
    subject = compiled(layers)
    same(subject(*args), layers(*args), tol=(1e-4, 1e-4))
    (source,) = set(private_cache.rglob("kernels.cpp")) - before
    text = source.read_text()
    kernels = text.count("(void *const *ptrs")
    numbers = [int(n) for n in SHARE.findall(text)]
    assert len(numbers) == kernels == len(subject.reports[0]["kernels"])
    assert set(numbers) == set(range(max(numbers) + 1))
    assert len(numbers) > len(set(numbers))  # layers repeat


def test_short_sources_stay_whole(private_cache: Path) -> None:
    before = set(private_cache.rglob("kernels.cpp"))
    x = uniform(6, 5)
    subject = compiled(lambda x: torch.softmax(x, -1) @ x.t())
    same(subject(x), torch.softmax(x, -1) @ x.t())
    (source,) = set(private_cache.rglob("kernels.cpp")) - before
    assert not SHARE.findall(source.read_text())
