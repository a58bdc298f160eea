"""Numbers that an integer dtype does not hold: eager raises where it converts, else they wrap."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from harness import compiled, same
from torch import Tensor

CONVERTED: dict[str, Callable[[Tensor], Any]] = {
    "clamp": lambda x: x.clamp(-500, 500),
    "fill_": lambda x: x.fill_(300),
    "where": lambda x: torch.where(x > 1, x, 400),
    "full_like": lambda x: torch.full_like(x, 300),
    "masked_fill": lambda x: x.masked_fill(x > 1, 300),
    "pad": lambda x: torch.nn.functional.pad(x, (1, 1), value=300),
}
WRAPPED: dict[str, Callable[[Tensor], Any]] = {
    "arithmetic": lambda x: (x + 300, x * 300, x // 300, x % -3, x & 511),
    "comparison": lambda x: (x == 300, x > -1, x < 1000),
    "negative": lambda x: (torch.full_like(x, -1), x.masked_fill(x > 1, -2)),
    "greatest": lambda x: (x.clamp(0, 255 if x.dtype == torch.uint8 else 127),),
}


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8])
@pytest.mark.parametrize("name", CONVERTED)
def test_a_number_that_is_converted(name: str, dtype: torch.dtype) -> None:
    subject = compiled(CONVERTED[name])
    with pytest.raises(RuntimeError, match="without overflow"):
        subject(torch.arange(3, dtype=dtype))


def test_a_negative_power_of_integers() -> None:
    subject = compiled(lambda x: x**-1)
    with pytest.raises(RuntimeError, match="negative integer powers"):
        subject(torch.tensor([1, -1, 2]))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8])
@pytest.mark.parametrize("name", WRAPPED)
def test_a_number_that_is_not(name: str, dtype: torch.dtype) -> None:
    f = WRAPPED[name]
    x = torch.arange(3, dtype=dtype)
    same(compiled(f)(x), f(x))
