"""Lines asked for ahead: the same bits as without, also at the ends of buffers."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from harness import ours_only

pytestmark = ours_only


def program(x):
    n = x.shape[0]
    turned = x.view(n, 4, -1).transpose(0, 1).contiguous() * 2
    return F.layer_norm(x, x.shape[-1:]), x.var(0), x.softmax(-1), turned, x.exp().sum()


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_same_bits(dtype, dynamic):
    x = (torch.randn(97, 516) * 3).to(dtype)
    results = []
    for setting in ("beyond=0", "prefetch=0"):
        torch.compiler.reset()
        options = {"strict": True, "pipeline": f"default-cpu{{{setting} threads=2}}"}
        fn = torch.compile(program, backend="minductor", dynamic=dynamic, options=options)
        results.append(fn(x))
    for ahead, plain, eager in zip(*results, program(x), strict=True):
        assert torch.equal(ahead, plain)
        torch.testing.assert_close(ahead, eager, rtol=2e-2, atol=2e-2)
