"""Takes the bias out of a convolution on CUDA, for kernels to add.

    before, on cuda:
      %a = aten.convolution.default(%x, %w, %b, ..) : !aten.t<bf16[8, 64, 56, 56]>
      %c = aten.relu.default(%a)
    after:
      %a = aten.convolution.default(%x, %w, ..) : !aten.t<bf16[8, 64, 56, 56]>
      %b4 = aten.view.default(%b, size = [1, 64, 1, 1])
      %d = aten.add.Tensor(%a, %b4)                        // fused into the relu
      %c = aten.relu.default(%d)

There PyTorch calls the library without the bias and adds it in a kernel of its own, which reads
the result and writes it again: for a result of N bytes that is 2 N and a launch. A kernel that
reads the sum adds the bias as it reads. Half types are rounded before and after the sum in both
forms; the few convolutions whose kernels add the bias themselves (depthwise ones, of some sizes)
are rounded once more.

On a CPU the library adds the bias as it writes. Where no kernel of ours reads the result, nothing
would be saved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from minductor.dialects.aten import AtenOp
from minductor.dialects.expr import ONE
from minductor.dialects.types import TensorType
from minductor.passes.aten._match import result_type, tensor_type
from minductor.passes.aten._price import kernels_read, traffic
from minductor.passes.aten._rewriter import Ops, Outcome, Refusal, Rules, rewrite_module
from minductor.passes.base import MiniPass


@dataclass(frozen=True)
class AtenConvBiasPass(MiniPass):
    """Adds the bias of a convolution in the kernel that reads the result."""

    name = "aten-conv-bias"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite_module(ctx, op, self.name, RULES)


def apart(op: AtenOp) -> Outcome:
    """convolution(x, w, b) -> convolution(x, w) + b."""
    bias, result = op.bind()["bias"], result_type(op)
    row = tensor_type(bias)
    if row is None or result is None or result.rank < 3:
        return None
    if result.device.partition(":")[0] != "cuda":
        return Refusal("the library adds the bias as it writes: nothing is saved")
    if not kernels_read(op.results[0]):
        return Refusal("no kernel reads the result: nothing is saved")
    sizes = [ONE, result.sizes[1], *[ONE] * (result.rank - 2)]
    wide = TensorType.make(row.dtype, sizes, device=row.device)
    product = op.with_args(bias=None)
    view = AtenOp.make("view.default", {"self": bias, "size": sizes}, [wide])
    terms = {"self": product.results[0], "other": view.results[0]}
    total = AtenOp.make("add.Tensor", terms, [result])
    note = "the kernel that reads the result adds the bias"
    return Ops((product, view, total), (total.results[0],), note, 2 * traffic(result))


RULES: Rules = {"aten.convolution.default": (apart,)}
"""Op name -> its rules, tried in order."""
