"""Every data-movement lowering, run by the loop interpreter, against torch: values, strides."""

from __future__ import annotations

from typing import Any

import data_movement_cases
import pytest
import search_cases
import torch
from data_movement_cases import floats
from torch.fx.experimental.proxy_tensor import make_fx

from minductor.dialects.loop.ops import ExternOp
from minductor.interpreters.loop import run_loop
from minductor.lowering.aten_to_loop.convert import AtenToLoopPass
from minductor.lowering.fx_to_aten.graph import import_graph
from minductor.passes.context import MiniContext

CASES = data_movement_cases.CASES | search_cases.CASES
EXTERN = {"aten.empty_strided.default"}
"""Calls that native lowerings make: an uninitialised buffer."""


def lowered(fn: Any, inputs: tuple[torch.Tensor, ...], symbolic: bool = False) -> Any:
    """The `loop` module of a function, verified."""
    gm = make_fx(fn, tracing_mode="symbolic" if symbolic else "fake")(*inputs)
    module = import_graph(gm).module
    AtenToLoopPass().apply(MiniContext(), module)
    module.verify()
    return module


def check(module: Any, fn: Any, inputs: tuple[torch.Tensor, ...]) -> None:
    """Same values, dtypes and (in dimensions above 1) strides as torch; inputs left alone."""
    before = [t.clone() for t in inputs]
    found = run_loop(module, list(inputs))
    want = fn(*inputs)
    want = list(want) if isinstance(want, list | tuple) else [want]
    for a, b in zip(found, want, strict=True):
        torch.testing.assert_close(a, b, equal_nan=True)
        kept = [k for k in range(b.dim()) if b.shape[k] > 1 and b.numel()]
        assert [a.stride(k) for k in kept] == [b.stride(k) for k in kept]
    for a, b in zip(inputs, before, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", CASES)
def test_as_torch(name: str) -> None:
    fn, inputs = CASES[name]
    module = lowered(fn, inputs)
    called = {op.callee.data for op in module.walk() if isinstance(op, ExternOp)}
    assert called <= EXTERN
    check(module, fn, inputs)


SYMBOLIC = {
    "reshape": lambda x, y: torch.ops.aten.view(x * 2, [x.size(0) * x.size(1), 8]) + y[0],
    "heads": lambda x, y: (x + 1).view(x.size(0), x.size(1), 2, 4).permute(0, 2, 1, 3) * 2,
    "merge-heads": lambda x, y: (x + 1).permute(1, 0, 2).reshape(x.size(1), x.size(0) * 8),
    "slice-last": lambda x, y: x[:, -1:] * y[:3].unsqueeze(1),
    "slice-from": lambda x, y: torch.cat([y[2:], y[:2]], 0) * 2,
    "half": lambda x, y: torch.ops.aten.slice(x, 1, 0, x.size(1) // 2) * 2,
    "split-half": lambda x, y: [p * 1 for p in y.split(y.size(0) // 2 + 1)],
    "cat": lambda x, y: torch.cat([x, x[:, :1], x * 2], 1) + 1,
    "cat-symbolic": lambda x, y: torch.cat([y, x.view(-1, 8)], 0),
    "pad": lambda x, y: torch.ops.aten.constant_pad_nd(x, [0, 0, 1, 2], 1.0),
    "reflect": lambda x, y: torch.ops.aten.reflection_pad1d(x.permute(0, 2, 1) * 1, [1, 2]),
    "flip": lambda x, y: x.flip(1) + 1,
    "roll": lambda x, y: x.roll(2, 1),
    "index": lambda x, y: torch.ops.aten.index(x, [None, y[:, 0].long() % x.size(1)]),
    "index-put": lambda x, y: torch.ops.aten.index_put(
        x, [None, y[:4, 0].long() % 2], x[:, :4] * 3, True
    ),
    "gather": lambda x, y: torch.gather(x, 1, x[:, :2].long() % 3),
    "scatter": lambda x, y: torch.scatter_add(y, 0, y[1:].long() % 2, y[1:]),
    "expand": lambda x, y: y[:1].expand(x.size(1), 8) + x[0],
    "select": lambda x, y: torch.ops.aten.select(x, 1, x.size(1) - 1) * 2,
    "slice-scatter": lambda x, y: torch.ops.aten.slice_scatter(
        x, x[:, 1:] * 2, 1, 0, x.size(1) - 1
    ),
    "repeat": lambda x, y: y.repeat(2, 3),
    "unfold": lambda x, y: torch.ops.aten.unfold(y, 0, 3, 1) * 2,
    "diagonal": lambda x, y: torch.ops.aten.diagonal(x, 0, 1, 2) * 1,
    "tril": lambda x, y: torch.ops.aten.tril(x[0]),
    "max-pool": lambda x, y: torch.ops.aten.max_pool2d_with_indices(
        x.unsqueeze(0), [3, 3], [2, 2], [1, 1]
    ),
}


@pytest.mark.parametrize("name", SYMBOLIC)
def test_symbolic_sizes(name: str) -> None:
    """One module for many sizes: nothing is specialised, everything proved in range."""
    fn = SYMBOLIC[name]

    def inputs(a: int, b: int) -> tuple[torch.Tensor, ...]:
        return floats(3, a, 8), floats(b, 8)

    module = lowered(fn, inputs(6, 7), symbolic=True)
    assert not any(isinstance(op, ExternOp) and "aten" in op.callee.data for op in module.walk())
    for a, b in ((6, 7), (5, 9), (12, 8)):
        check(module, fn, inputs(a, b))
