"""Functions that a kernel calls (`kernel-call`) give the bits of those written out in it."""

import pytest
import torch

from minductor.compiler import machine_isa


def chain(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Nine functions of one operand and of two, with a row sum between."""
    for k in range(3):
        x = torch.sin(x) * 1.7 + torch.tanh(y * x)
        x = torch.pow(torch.sigmoid(x) + 0.5, y) - x.mean(1, keepdim=True) * k
    return x


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_calls_change_no_bit(dtype: torch.dtype) -> None:
    """129 columns: vectors of one register and of two, and a tail."""
    x, y = torch.randn(17, 129).to(dtype), torch.randn(17, 129).to(dtype)
    x[0, :3] = torch.tensor([1e6, float("nan"), float("inf")]).to(dtype)
    found: list[torch.Tensor] = []
    for many in (0, 4):
        torch._dynamo.reset()
        pipeline = f"default-cpu{{many={many} isa={machine_isa()}}}"
        options = {"pipeline": pipeline, "strict": True}
        found.append(torch.compile(chain, backend="minductor", options=options)(x, y))
    assert torch.equal(found[0].nan_to_num(7.0), found[1].nan_to_num(7.0))
    torch.testing.assert_close(found[1], chain(x.double(), y.double()).to(dtype), equal_nan=True)
