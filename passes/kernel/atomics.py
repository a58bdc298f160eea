"""kernel-atomics: ordered loops that only combine into memory run in any order with atomics.

Before, target triton:
    kernel.for d0 : s0 {
      kernel.parallel d1 : 64 {
        kernel.store add %b, %w[d1 + 64 * %j] } }

After:
    kernel.parallel d0 : s0 {
      kernel.parallel d1 : 64 {
        kernel.store add %b, %w[d1 + 64 * %j] {by = "atomic"} } }

Stores without a combine word that may hit one element twice have no defined winner on a GPU, as in
eager, so their loops need no order either; `mul` and `last` keep it, and so does a dtype without an
atomic.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.rewriter import Rewriter

from minductor.dialects.kernel import ops as k
from minductor.dialects.types import BufType
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import kernels_of
from minductor.passes.remarks import sink_of

_ATOMIC = {
    "add": frozenset({"f64", "f32", "f16", "bf16", "i32", "i64"}),
    "max": frozenset({"f32", "f64", "i32", "i64"}),
    "min": frozenset({"f32", "f64", "i32", "i64"}),
}


@dataclass(frozen=True)
class KernelAtomicsPass(MiniPass):
    """Make ordered loops of Triton kernels parallel where atomics keep the result right."""

    name = "kernel-atomics"
    needs = frozenset({"kernel"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Decide per kernel: all its combining stores, or none."""
        for func in kernels_of(op, "triton"):
            loops = [o for o in func.walk() if isinstance(o, k.ForOp)]
            if not loops:
                continue
            stores = [o for o in func.walk() if isinstance(o, k.StoreOp)]
            reason = next((r for s in stores if (r := refusal(s)) is not None), None)
            if reason is not None:
                sink_of(ctx).refused(self.name, func.sym_name.data, reason)
                continue
            for store in stores:
                if store.combine is not None:
                    store.by = StringAttr("atomic")
            for loop in loops:
                block = loop.body.detach_block(0)
                new = k.ParallelOp.make(loop.var.data, loop.extent.data, block, loop.words.data)
                Rewriter.replace_op(loop, new)


def refusal(store: k.StoreOp) -> str | None:
    """Why a store needs its loop's order, or None."""
    if store.combine is None:
        return None
    word = store.combine.data
    type_ = store.buffer.type
    assert isinstance(type_, BufType)
    if word not in _ATOMIC:
        return f"`store {word}` depends on the order of iterations"
    if type_.dtype not in _ATOMIC[word]:
        return f"no atomic {word} on {type_.dtype}"
    return None
