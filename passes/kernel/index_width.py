"""kernel-index-width: 32-bit index arithmetic where every address of a kernel is proved to fit.

Before, target triton:
    kernel.func @k(read %x : !kernel.buf<f32[1048576]>, ..) [] config {target = "triton"} {..}

After:
    kernel.func @k(read %x : !kernel.buf<f32[1048576]>, ..) [] config {.., index = "i32"} {..}

Sizes that are known only at run time, or 2^31 elements and more, keep 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.verify import symbol_ranges
from minductor.dialects.types import BufType
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import LOOPS, kernels_of

_LIMIT = 2**31
_SLACK = 2**16
"""Room for the dead lanes of the last block."""


@dataclass(frozen=True)
class KernelIndexWidthPass(MiniPass):
    """Set `index` in the configuration of Triton kernels."""

    name = "kernel-index-width"
    needs = frozenset({"kernel"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Decide for every Triton kernel."""
        ranges = symbol_ranges(op)
        for func in kernels_of(op, "triton"):
            index = "i32" if fits(func, ranges) else "i64"
            func.config = func.config.with_(index=index)


def fits(func: k.FuncOp, ranges: Ranges) -> bool:
    """Every buffer and iteration count is below 2^31 elements."""
    sizes = [a.type.elements for a in func.body.block.args if isinstance(a.type, BufType)]
    sizes += [op.extent.data for op in func.walk() if isinstance(op, LOOPS)]
    for e in sizes:
        if e.vars("d"):
            continue
        top = ranges.interval(e)[1]
        if top is None or top >= _LIMIT - _SLACK:
            return False
    return True
