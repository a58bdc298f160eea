"""Tensors over few bytes: the layouts of kernels' arguments, memory that is always in the cache."""

import torch

from bench.bound import Bound, bound_of
from bench.measure import Plan
from bench.shadow import SHARE, shadow, shadows
from bench.workload import Where


def test_a_long_range_has_few_bytes_behind_it() -> None:
    x = torch.arange(SHARE // 4 * 3 + 100, dtype=torch.float32)
    one = shadow(x)
    assert one.shape == x.shape
    n = SHARE // 4
    assert torch.equal(one[:n], x[:n])
    assert torch.equal(one[n : 2 * n], x[:n])
    one[2 * n + 7] = -1.0
    assert one[7] == one[n + 7] == one[3 * n + 7] == -1.0
    assert x[7] == 7.0


def test_indices_and_small_tensors_stay() -> None:
    """Repeated indices would be others than the kernel was given."""
    index, small = torch.arange(SHARE), torch.ones(10)
    assert shadow(index) is index
    assert shadow(small) is small


def test_views_of_one_storage_stay_views_of_one() -> None:
    x = torch.randn(300, 400)
    a, b, size = shadows([x[1:], x.t(), 7])
    assert a.stride() == x[1:].stride()
    assert b.stride() == x.t().stride()
    assert size == 7
    assert a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr() != x.data_ptr()
    a[0, 0] = 5.0
    assert b[0, 1] == 5.0


def test_what_bounds_a_workload() -> None:
    one = bound_of("sin_cos", Where("cpu", torch.float32), Plan(0.05, 2))
    assert one is not None
    assert one.kernels > 0
    assert one.instructions > 0
    assert Bound("x", 2.0, 4.0, 5.0).reached == 0.8
