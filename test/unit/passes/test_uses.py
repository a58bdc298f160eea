"""Values are used by ops of the module alone: an op that was dropped leaves no use behind.

A pass that asks who uses a value would otherwise decide by ops that nobody runs.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.parser import Parser

from minductor.passes.context import MiniContext
from minductor.passes.pipelines import build_pipeline

EXAMPLES = Path(__file__).resolve().parents[3] / "docs" / "examples"
WHOLE, ROW = "!aten.t<f32[64, 4096]>", "!aten.t<f32[64, 1]>"
NORM = f"""
func.func @f(%x: {WHOLE}) -> {WHOLE} {{
  %a = aten.relu.default(%x) : {WHOLE}
  %b = aten.mul.Tensor(%a, %x) : {WHOLE}
  %s = aten.sum.dim_IntList(%b, dim = [1], keepdim = true) : {ROW}
  %t = aten.sum.dim_IntList(%a, dim = [1], keepdim = true) : {ROW}
  %u = aten.mul.Tensor(%a, %s) : {WHOLE}
  %v = aten.sub.Tensor(%u, %t) : {WHOLE}
  %w = aten.mul.Tensor(%v, %x) : {WHOLE}
  func.return %w : {WHOLE}
}}
"""


def strays(module: ModuleOp) -> Iterator[str]:
    """Uses of the module's values by ops that are not in it."""
    inside = set(module.walk())
    for op in module.walk():
        values: list[SSAValue] = list(op.results)
        values += [arg for region in op.regions for block in region.blocks for arg in block.args]
        for value in values:
            users: list[Operation] = [use.operation for use in value.uses]
            yield from (str(user) for user in users if user not in inside)


@pytest.mark.parametrize("pipeline", ["default-cpu", "default-triton"])
@pytest.mark.parametrize("name", ["norm", "readers", "softmax"])
def test_no_use_by_an_op_that_is_gone(name: str, pipeline: str) -> None:
    text = NORM if name == "norm" else (EXAMPLES / f"{name}.mlir").read_text()
    ctx = MiniContext()
    module = Parser(ctx, text).parse_module()
    for one in build_pipeline(pipeline):
        one.apply(ctx, module)
        assert not list(strays(module)), one.name
