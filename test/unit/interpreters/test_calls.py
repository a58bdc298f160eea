"""Calls that are no ops of torch, in the interpreter of the loop level."""

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from minductor.interpreters.loop import run_loop
from minductor.passes.context import MiniContext

PROGRAM = """
func.func @forward(%x: !aten.t<f32[s0, s0]>) -> !aten.int<s0 * s0> {
  %n = loop.extern "minductor.size"() args [#loop.expr<s0 * s0>] : () -> !aten.int<s0 * s0>
  func.return %n : !aten.int<s0 * s0>
}
"""


def test_a_size_that_a_graph_returns_is_computed_from_its_symbols() -> None:
    module = Parser(MiniContext(), PROGRAM).parse_module()
    assert isinstance(module, ModuleOp)
    assert run_loop(module, [torch.empty(3, 3)]) == [9]
