"""kernel-reciprocal: divisions by a number become products with its reciprocal.

Before, target triton:
    %c = scalar.constant 3.0 : f32
    %q = scalar.div %x, %c : f32

After:
    %r = scalar.constant 0.33333334 : f32
    %q = scalar.mul %x, %r : f32

A GPU divides in a dozen instructions, and in a subroutine where the dividend is 0. By powers of two
the product is exact; by other numbers it is what PyTorch's CUDA kernels compute for a division by a
Python number, with an error of at most 1.5 units in the last place. The number and its reciprocal
must both be normal, so that nothing overflows that would not have.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.rewriter import InsertPoint, Rewriter

from minductor.dialects.scalar.ops import ConstantOp, TableOp, scalar
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import ops_of
from minductor.passes.remarks import sink_of

_LEAST, _MOST = 2.0**-126, 2.0**126


@dataclass(frozen=True)
class KernelReciprocalPass(MiniPass):
    """Replace divisions by constants in Triton kernels.

    reciprocal: false leaves all as it is.
    """

    name = "kernel-reciprocal"
    needs = frozenset({"kernel"})

    reciprocal: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every Triton kernel."""
        if not self.reciprocal:
            return
        for kernel, div in ops_of(op, "triton", TableOp):
            by = div.operands[-1].owner
            if div.ROW.name != "div" or not isinstance(by, ConstantOp):
                continue
            if div.results[0].type != f32:
                continue
            number = float(by.number)
            if not _LEAST <= abs(number) <= _MOST:
                why = f"{number} or its reciprocal is not a normal number"
                sink_of(ctx).refused(self.name, kernel.sym_name.data, why)
                continue
            inverse = ConstantOp.of(_rounded(1 / number), f32)
            product = scalar("mul", div.operands[0], inverse.result)
            product.results[0].name_hint = div.results[0].name_hint
            product.location = div.location
            Rewriter.insert_op(inverse, InsertPoint.before(div))
            Rewriter.replace_op(div, product)
            if not by.result.uses:
                by.detach()
                by.erase()


def _rounded(number: float) -> float:
    """The nearest f32."""
    return struct.unpack("f", struct.pack("f", number))[0]
