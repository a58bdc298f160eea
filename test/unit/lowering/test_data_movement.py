"""Every data-movement lowering, run by the loop interpreter, against torch: values, strides."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from minductor.dialects.loop.ops import ExternOp
from minductor.interpreters.loop import run_loop
from minductor.lowering.aten_to_loop.convert import AtenToLoopPass
from minductor.lowering.fx_to_aten.graph import import_graph
from minductor.passes.context import MiniContext

from .data_movement_cases import CASES

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
