"""Calls of a host program that are ours."""

import pytest
import torch

from minductor.runtime.own import check, constant


def test_constant_has_content_shape_and_dtype() -> None:
    made = constant([1, 2, 3, 4], [2, 2], torch.float64)
    assert torch.equal(made, torch.tensor([[1, 2], [3, 4]], dtype=torch.float64))
    assert constant([], [0, 3], torch.int64).shape == (0, 3)
    assert constant([True], [], torch.bool).item() is True


def test_each_call_gives_new_memory() -> None:
    a, b = (constant([1.0], [1], torch.float32) for _ in range(2))
    assert a.data_ptr() != b.data_ptr()


def test_a_size_that_does_not_hold_is_an_error() -> None:
    check(0, "never")
    with pytest.raises(RuntimeError, match="at least three rows"):
        check(-1, "at least three rows")
