"""Seeds follow torch's generators."""

from __future__ import annotations

import torch

from minductor.runtime.random import draw_seed


def test_shape_and_range() -> None:
    seed = draw_seed()
    assert seed.shape == (1,)
    assert seed.dtype == torch.int64
    assert int(seed) >= 0


def test_manual_seed_fixes_the_sequence() -> None:
    torch.manual_seed(7)
    first = [int(draw_seed()) for _ in range(4)]
    torch.manual_seed(7)
    assert [int(draw_seed()) for _ in range(4)] == first
    assert len(set(first)) == 4


def test_a_restored_state_brings_the_seed_back() -> None:
    with torch.random.fork_rng(devices=[]):
        inside = int(draw_seed())
    assert int(draw_seed()) == inside


def test_eager_draws_move_on_too() -> None:
    torch.manual_seed(7)
    first = int(draw_seed())
    torch.manual_seed(7)
    torch.rand(1)
    assert int(draw_seed()) != first
