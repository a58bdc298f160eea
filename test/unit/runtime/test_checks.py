"""Checks of inputs and of extern results: the C checker and its stand-in agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from minductor.runtime import checks
from minductor.runtime.checks import Layout

F32 = torch.float32


@pytest.fixture(params=["c", "python"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "python":
        monkeypatch.setattr(checks, "has_handles", lambda: False)


def fixed(*sizes: int, strides: tuple[int, ...], dtype: torch.dtype = F32) -> Callable[..., Any]:
    return checks.input_check([Layout("x", dtype, "cpu", sizes, strides)])


def test_fitting_tensors_pass() -> None:
    fixed(3, 4, strides=(4, 1))(torch.zeros(3, 4))
    fixed(3, 4, strides=(1, 3))(torch.zeros(4, 3).t())
    fixed(strides=())(torch.zeros(()))
    fixed(3, 4, strides=(0, 1))(torch.zeros(4).expand(3, 4))
    fixed(4, strides=(1,))(torch.zeros(9)[3:7])
    fixed(2, strides=(1,), dtype=torch.bfloat16)(torch.zeros(2, dtype=torch.bfloat16))
    fixed(2, strides=(1,))(torch.nn.Parameter(torch.zeros(2)))


def test_strides_that_say_nothing_are_not_compared() -> None:
    fixed(1, 4, strides=(4, 1))(torch.zeros(4).as_strided((1, 4), (77, 1)))
    fixed(0, 4, strides=(4, 1))(torch.zeros(4, 0).t())


@pytest.mark.parametrize(
    "given",
    [
        torch.zeros(4, 4),
        torch.zeros(3, 4, 1),
        torch.zeros(4, 3).t(),
        torch.zeros(3, 4, dtype=torch.float64),
        torch.zeros(3, 4, dtype=torch.int32),
        torch.empty(3, 4, device="meta"),
        3.0,
        None,
    ],
)
def test_others_are_refused_by_name(given: object) -> None:
    with pytest.raises(ValueError, match=r"x does not have the layout .* expected torch.float32"):
        fixed(3, 4, strides=(4, 1))(given)


def test_sizes_known_at_call_time() -> None:
    layouts = [
        Layout("x", F32, "cpu", ("s0", "2 * s1"), ("2 * s1", 1)),
        Layout("y", F32, "cpu", ("s0",), (1,)),
    ]
    assert checks.dynamic_numbers(layouts) == ("s0", "2 * s1")
    check = checks.input_check(layouts)
    check(torch.zeros(5, 6), torch.zeros(5), 5, 6)
    check(torch.zeros(0, 6), torch.zeros(0), 0, 6)
    with pytest.raises(ValueError, match=r"x .* expected torch.float32 of size \(5, 8\)"):
        check(torch.zeros(5, 6), torch.zeros(5), 5, 8)
    with pytest.raises(ValueError, match="y does not"):
        check(torch.zeros(5, 6), torch.zeros(6), 5, 6)


def test_many_inputs() -> None:
    layouts = [Layout(f"x{i}", F32, "cpu", (i,), (1,)) for i in range(200)]
    tensors = [torch.zeros(i) for i in range(200)]
    check = checks.input_check(layouts)
    check(*tensors)
    tensors[150] = torch.zeros(3)
    with pytest.raises(ValueError, match="x150"):
        check(*tensors)


def test_no_inputs() -> None:
    checks.input_check([])()


def test_results_get_the_promised_strides() -> None:
    check = checks.result_check(Layout("r", F32, "cpu", (3, 4), (1, 3)))
    right = torch.rand(4, 3).t()
    assert check(right) is right
    wrong = torch.rand(3, 4)
    repaired = check(wrong)
    assert torch.equal(repaired, wrong)
    assert repaired.stride() == (1, 3)
    with pytest.raises(ValueError, match="r does not"):
        check(torch.rand(3, 5))


def test_aliases_are_not_copied() -> None:
    check = checks.view_check(Layout("r", F32, "cpu", (3, 4), (1, 3)))
    with pytest.raises(ValueError, match="r does not"):
        check(torch.rand(3, 4))


def test_alignment() -> None:
    base = torch.arange(40.0)
    start = 4 - base.data_ptr() % 16 // 4
    fine = base[start : start + 8].view(4, 2).t()
    assert checks.aligned(fine, 16) is fine
    off = base[start + 1 : start + 9].view(4, 2).t()
    moved = checks.aligned(off, 16)
    assert moved.data_ptr() % 16 == 0
    assert torch.equal(moved, off)
    assert moved.stride() == off.stride()
