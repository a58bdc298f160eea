"""Complex tensors: calls of torch's ops, with eager's values."""

from __future__ import annotations

import pytest
import torch

PROGRAMS = {
    "pinv": torch.linalg.pinv,
    "adjoint": lambda x: x.mH @ x,
    "conj_chain": lambda x: (x.conj() * x).real.sum(0) + x.imag.abs().amax(0),
    "solve": lambda x: torch.linalg.solve(x, x.mH),
    "eigh": lambda x: torch.linalg.eigvalsh(x + x.mH),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_first_and_later_calls_agree_with_eager(name: str) -> None:
    """The first call runs under a dispatch mode of AOTAutograd's, which must not reach the ops."""
    torch.compiler.reset()
    program = PROGRAMS[name]
    compiled = torch.compile(program, backend="minductor", options={"strict": True})
    for seed in range(2):
        torch.manual_seed(seed)
        x = torch.randn(5, 5, dtype=torch.complex64)
        torch.testing.assert_close(compiled(x), program(x), rtol=1e-4, atol=1e-4)
