"""Splits a convolution's backward where memory is at its peak: the weight's gradient first.

    before:
      %gx, %gw, %gb = aten.convolution_backward.default(%g, %x, %w, .., [true, true, true])
    after; %gx is not there yet when %gw is computed, and %x may be dead when %gx is:
      %a, %gw, %gb = aten.convolution_backward.default(%g, %x, %w, .., [false, true, true])
      %gx = aten.convolution.default(%g, %w, .., transposed = true, ..)

On a CPU the library computes the two one after the other, the input's gradient by a transposed
convolution, and turns contiguous tensors into an order of its own: the call holds the input, the
gradients and copies. Done where the call, with those copies, needs at least what the function needs
at its peak, and its input has at least `large=1048576` bytes: a call more takes time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from minductor.dialects.aten import AtenOp
from minductor.dialects.types import AbsentType, TensorType
from minductor.passes.aten._match import tensor_type
from minductor.passes.aten._rewriter import Ops, Outcome, Refusal, Rewriter, functions
from minductor.passes.aten.conv_layout import BACKWARD
from minductor.passes.aten.peak import storage_of
from minductor.passes.base import MiniPass
from minductor.passes.peak import bytes_of, lives_of
from minductor.passes.remarks import sink_of


@dataclass(frozen=True)
class AtenConvSplitPass(MiniPass):
    """Weight gradients before input gradients, at the peak; `split=false` leaves calls whole."""

    name = "aten-conv-split"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})

    split: bool = True
    large: int = 1 << 20

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            if self.split and any(one.name == BACKWARD for one in func.body.block.ops):
                rule = _Rule(func, self.large)
                Rewriter(func.body.block, self.name, sink_of(ctx)).run({BACKWARD: (rule.parts,)})


class _Rule:
    """What calls need, and which of them go in parts."""

    def __init__(self, func: FuncOp, large: int) -> None:
        self.large = large
        self.storage = storage_of(func)
        lives = lives_of(func, self.storage)
        self.peak = lives.peak()[0]
        ops = list(func.body.block.ops)
        freed = [0, *accumulate(lives.freed)]
        self.alive = {
            op: made - dead
            for op, made, dead in zip(ops, accumulate(lives.made), freed, strict=False)
        }

    def parts(self, op: AtenOp) -> Outcome:
        """The call as two, or why not."""
        args = op.bind()
        types = [tensor_type(args[n]) for n in ("grad_output", "input", "weight")]
        gradient, mask = tensor_type(op.results[0]), args["output_mask"]
        grad, source, weight = types
        if grad is None or source is None or weight is None or gradient is None:
            return None
        if not mask[1] or args["transposed"] or source.device != "cpu":
            return None
        if op not in self.alive:
            return None  # one that was split
        copies = [bytes_of(args[name], self.storage.hints) for name in ("input", "grad_output")]
        if copies[0] < self.large:
            return Refusal(f"an input of {copies[0]} bytes")
        needed = self.alive[op] + sum(copies)
        if needed < self.peak:
            return Refusal(f"{needed} bytes more than at entry live then, {self.peak} at the peak")
        if not all(t.is_contiguous for t in (grad, source, weight, gradient)):
            return Refusal("the library takes the operands as they lie")
        return self._two(op, (grad, source, weight))

    def _two(self, op: AtenOp, types: tuple[TensorType, TensorType, TensorType]) -> Outcome:
        args = op.bind()
        padding = output_padding(types, args)
        if padding is None:
            return Refusal("sizes that are known when it runs do not tell the padding")
        kept = [r.type for r in op.results[1:]]
        mask = [False, *args["output_mask"][1:]]
        first = AtenOp.make(op.overload, {**args, "output_mask": mask}, [AbsentType(None), *kept])
        names = ("weight", "stride", "padding", "dilation", "groups")
        given = {"input": args["grad_output"], **{n: args[n] for n in names}, "bias": None}
        turned = {**given, "transposed": True, "output_padding": padding}
        second = AtenOp.make("convolution.default", turned, [op.results[0].type])
        note = "the weight's gradient is done before the input's is there"
        saved = types[1].numel * types[1].info.size
        return Ops((first, second), (second.results[0], *first.results[1:]), note, saved)


def output_padding(
    types: tuple[TensorType, TensorType, TensorType], args: Mapping[str, Any]
) -> list[int] | None:
    """What a transposed convolution of the gradient lacks of the input's sizes; None if unknown."""
    grad, source, weight = types
    out: list[int] = []
    rank = source.rank - 2
    for k in range(rank):
        stride, padding, dilation = (_at(args[n], k) for n in ("stride", "padding", "dilation"))
        sizes = [t.sizes[k + 2].as_int for t in (grad, source, weight)]
        if stride is None or padding is None or dilation is None or None in sizes:
            return None
        have, want, edge = (int(s or 0) for s in sizes)
        out.append(want - ((have - 1) * stride - 2 * padding + dilation * (edge - 1) + 1))
    return out


def _at(values: Sequence[Any], k: int) -> int | None:
    """The number of a dimension: one for all, or one each."""
    if not values:
        return None
    one = values[k] if len(values) > 1 else values[0]
    return one if isinstance(one, int) else one.as_int
