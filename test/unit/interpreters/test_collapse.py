"""Reductions of the interpreters where order and special values matter."""

import torch

from minductor.interpreters.collapse import reduce_axes


def test_the_running_mean_of_welford_does_not_survive_an_infinity() -> None:
    x = torch.tensor([[1.0, float("-inf"), 2.0], [1.0, 2.0, 3.0]])
    mean, m2, n = reduce_axes("welford", [x], [1], [3])
    assert mean.isnan().flatten().tolist() == [True, False]
    assert (mean[1].item(), m2[1].item(), n[1].item()) == (2.0, 2.0, 3.0)
