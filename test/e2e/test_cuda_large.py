"""Tensors of more than 2^31 elements on a GPU: addresses that 32 bits do not hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

ROWS, COLUMNS = 65_600, 32_800
"""2^31 elements and 4 M more."""
NEEDED = 24 << 30


def free() -> int:
    """Bytes that a GPU has left."""
    return torch.cuda.mem_get_info()[0] if torch.cuda.is_available() else 0


pytestmark = pytest.mark.skipif(free() < NEEDED, reason="needs a GPU with 24 GiB left")


def bytes_of(shape: tuple[int, ...]) -> Tensor:
    """i8 values that differ from place to place, also 2^31 apart."""
    flat = torch.arange(shape[-1], device="cuda") % 113
    rows = torch.arange(shape[0], device="cuda").remainder(7)
    return (flat[None] + rows[:, None] if len(shape) > 1 else flat).to(torch.int8)


PROGRAMS: dict[str, Callable[[Tensor], Any]] = {
    "pointwise": lambda x: x + 1,
    "strided": lambda x: x[:, ::2] * 2,
    "transposed": lambda x: x.t().contiguous(),
    "rows": lambda x: x.sum(1),
    "columns": lambda x: x.sum(0),
    "whole": lambda x: x.sum(),
    "arg": lambda x: x.argmax(1),
    "gathered": lambda x: x[torch.arange(0, ROWS, 1000, device=x.device) + 599] + 1,
    "shifted": lambda x: x[1:] - x[:-1],
}


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str, dynamic: bool) -> None:
    """Equal to eager; with symbolic sizes one compile serves a small call and a large one."""
    torch._dynamo.reset()
    f = PROGRAMS[name]
    options = {"strict": True}
    compiled: Any = torch.compile(f, backend="minductor", dynamic=dynamic, options=options)
    if dynamic and name != "gathered":
        small = bytes_of((300, 200))
        assert torch.equal(compiled(small), f(small))
    x = bytes_of((ROWS, COLUMNS))
    got, want = compiled(x), f(x)
    assert got.shape == want.shape
    assert got.stride() == want.stride()
    assert torch.equal(got, want)


def test_scatter_far_behind() -> None:
    """Elements behind the 2^31st are added to, and none before."""
    torch._dynamo.reset()
    f = lambda x, i, v: x.index_add(0, i, v)  # noqa: E731
    compiled: Any = torch.compile(f, backend="minductor", options={"strict": True})
    x = torch.zeros(ROWS, COLUMNS, dtype=torch.bfloat16, device="cuda")
    index = torch.tensor([ROWS - 1, 3, ROWS - 1, ROWS - 17], device="cuda")
    values = torch.ones(4, COLUMNS, dtype=torch.bfloat16, device="cuda")
    got = compiled(x, index, values)
    sums = got.float().sum(1)
    for row, sum_ in ((ROWS - 1, 2), (3, 1), (ROWS - 17, 1)):
        assert float(sums[row]) == sum_ * COLUMNS
    assert int(sums.count_nonzero()) == 3
