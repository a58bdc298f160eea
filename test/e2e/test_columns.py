"""Sums over columns that gather while the rows are made."""

from typing import Any

import pytest
import torch
from torch import Tensor


@pytest.mark.parametrize("shape", [(4, 33, 40), (3, 5, 7, 16), (512, 64)])
def test_rows_of_several_loops_and_their_columns(shape: tuple[int, ...]) -> None:
    """One kernel: the sum walks (4, 33) where the rows do, not 132."""

    def f(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        z = torch.sin(x) * y
        return z, z.reshape(-1, z.shape[-1]).sum(0)

    x, y = torch.randn(shape), torch.randn(shape[-1])
    reports: list[dict[str, Any]] = []
    options: Any = {"strict": True, "report": reports.append}
    got = torch.compile(f, backend="minductor", options=options)(x, y)
    for a, b in zip(got, f(x, y), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-4)
    assert len(reports[0]["kernels"]) == 1
