"""Gives a grouped convolution's weight gradient an input that its library needs no scratch for.

    before, 256 channels of 2 x 2 pixels, channels last, each with a kernel of its own:
      %gx, %gw, %gb = aten.convolution_backward.default(%g, %x, %w, .., groups = 256, ..)
    after:
      %c = aten.clone.default(%x, memory_format = contiguous_format)
      %d, %gw, %gb = aten.convolution_backward.default(%g, %c, %w, .., groups = 256, ..)
      %gx = aten.clone.default(%d, memory_format = channels_last)

On a CPU the library computes the weight's gradient of a grouped convolution over channels-last
pixels as that of a convolution without groups, and keeps the groups: its scratch is at least
`groups` times the weight. Over contiguous pixels it needs none, and takes longer where there are
many. So the pixels are copied where the scratch has more than `scratch=10` times their elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from minductor.dialects.aten import AtenOp
from minductor.dialects.expr import const
from minductor.dialects.types import TensorType, contiguous_strides
from minductor.passes.aten._match import tensor_type
from minductor.passes.aten._rewriter import Ops, Outcome, Refusal, rewrite_module
from minductor.passes.base import MiniPass

BACKWARD = "aten.convolution_backward.default"


@dataclass(frozen=True)
class AtenConvLayoutPass(MiniPass):
    """Copies the input of weight gradients that would need much scratch; `scratch=0` never."""

    name = "aten-conv-layout"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})

    scratch: int = 10

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.scratch:
            rewrite_module(ctx, op, self.name, {BACKWARD: (self._copied,)})

    def _copied(self, op: AtenOp) -> Outcome:
        args = op.bind()
        source, weight = args["input"], tensor_type(args["weight"])
        type_ = tensor_type(source)
        if type_ is None or weight is None or type_.device != "cpu" or args["groups"] == 1:
            return None
        if not args["output_mask"][1] or not channels_last(type_):
            return None
        scratch, pixels = (weight.numel * args["groups"]).as_int, type_.numel.as_int
        if scratch is None or pixels is None:
            return Refusal("sizes that are known when it runs do not tell the scratch")
        if scratch <= self.scratch * pixels:
            return Refusal(f"a scratch of {scratch} elements for {pixels} of the input")
        return self._ops(op, source, type_, scratch)

    def _ops(self, op: AtenOp, source: SSAValue, type_: TensorType, scratch: int) -> Ops:
        plain = type_.with_(strides=contiguous_strides(type_.sizes))
        copy = _clone(source, "contiguous_format", plain)
        types = [r.type for r in op.results]
        gradient = tensor_type(op.results[0])
        turned = gradient is not None and channels_last(gradient)
        if gradient is not None and turned:
            types[0] = gradient.with_(strides=contiguous_strides(gradient.sizes))
        new = AtenOp.make(op.overload, {**op.bind(), "input": copy.results[0]}, types)
        values: list[SSAValue] = list(new.results)
        ops = [copy, new]
        if gradient is not None and turned:
            back = _clone(values[0], "channels_last", gradient)
            ops.append(back)
            values[0] = back.results[0]
        note = "the input is copied in place of a dense weight gradient"
        return Ops(tuple(ops), tuple(values), note, const(scratch * type_.info.size))


def _clone(value: SSAValue, layout: str, type_: TensorType) -> AtenOp:
    return AtenOp.make("clone.default", {"self": value, "memory_format": layout}, [type_])


def channels_last(type_: TensorType) -> bool:
    """Channels next to each other, then columns, then rows; and not contiguous as well."""
    if type_.rank != 4 or type_.is_contiguous:
        return False
    n, c, h, w = range(4)
    return type_.strides == type_.dense((n, h, w, c)).strides
