"""Which ops of a graph on two devices run as kernels.

A graph has kernels of one target. Beside a GPU's tensors a graph may hold CPU tensors: positions
that are copied over, an index, a mask. Ops on them stay calls of PyTorch's kernels:

    %p = aten.arange(8)  : !aten.t<i64[8]>            --> loop.extern "aten.arange.default"
    %q = aten._to_copy(%p) : !aten.t<i64[8]@cuda>     --> loop.extern "aten._to_copy.default"
    %r = aten.add(%q, %x)  : !aten.t<f32[8]@cuda>     --> loop.nest

0-d CPU tensors count as numbers, as in eager: a kernel takes them.
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp

from minductor.dialects.aten.ops import AtenOp
from minductor.dialects.aten.traits import View
from minductor.dialects.types import TensorType


def main_device(func: FuncOp) -> str:
    """The device of a function's kernels: the first that is not the CPU, else the CPU."""
    for value in (*func.body.block.args, *(r for op in func.body.block.ops for r in op.results)):
        if isinstance(value.type, TensorType) and value.type.device != "cpu":
            return value.type.device
    return "cpu"


def lies_elsewhere(type_: object, device: str) -> bool:
    """A tensor with dimensions on another device."""
    return isinstance(type_, TensorType) and type_.device != device and bool(type_.sizes)


def runs_elsewhere(op: AtenOp, device: str) -> bool:
    """The op reads or writes elements on another device than the kernels'; a view does neither."""
    if op.has_trait(View):
        return False
    return any(lies_elsewhere(v.type, device) for v in (*op.operands, *op.results))
