"""Short rows side by side: the bits of one row after the other, for any number of rows."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from minductor.compiler import local_pipeline


def compiled(fn, rows: int):
    torch.compiler.reset()
    options = {"strict": True, "pipeline": local_pipeline(abreast=rows, tables=0)}
    return torch.compile(fn, backend="minductor", dynamic=False, options=options)


def stages(x: Tensor, w: Tensor) -> tuple[Tensor, ...]:
    return (
        x.softmax(-1),
        F.layer_norm(x, x.shape[-1:], w),
        x.logsumexp(-1),
        (x - x.amax(-1, keepdim=True)).cumsum(-1),
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(256, 64), (129, 64), (130, 100), (4, 64, 7), (128, 1000)])
def test_same_bits(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x, w = torch.randn(shape).to(dtype), torch.randn(shape[-1]).to(dtype)
    x[1, 2] = torch.nan
    wide = compiled(stages, 4)(x, w)
    for got, want in zip(wide, compiled(stages, 1)(x, w), strict=True):
        torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)
    for got, want in zip(wide, stages(x, w), strict=True):
        torch.testing.assert_close(got, want, rtol=1.6e-2, atol=1e-2, equal_nan=True)
