"""kernel-narrow: floats that are known to be small become unsigned integers by way of i32.

Before, target triton:
    %a = scalar.maximum %zero, %x : f32     %b = scalar.minimum %top, %a : f32        // top = 255
    %u = scalar.cast %b : f32 to u8

After:
    %i = scalar.cast %b : f32 to i32        %u = scalar.cast %i : i32 to u8

A float becomes an unsigned integer by way of i64, so that negative values wrap, which a GPU
converts at a quarter of the rate. Between two constants that an i32 holds the way does not matter,
NaN included: the low bytes of what it becomes are 0 both ways.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from minductor.dialects.dtypes import dtype_of_scalar
from minductor.dialects.scalar.ops import CastOp, ConstantOp, TableOp
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import ops_of
from minductor.passes.remarks import sink_of

_MOST = 2.0**31 - 128
"""The largest f32 that is an i32."""


@dataclass(frozen=True)
class KernelNarrowPass(MiniPass):
    """Cast floats of Triton kernels by way of i32 where they fit.

    narrow: false leaves all as it is.
    """

    name = "kernel-narrow"
    needs = frozenset({"kernel"})

    narrow: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every Triton kernel."""
        if not self.narrow:
            return
        for kernel, cast in ops_of(op, "triton", CastOp):
            old, new = dtype_of_scalar(cast.arg.type), dtype_of_scalar(cast.result.type)
            if not old.is_float or new.kind != "uint" or new.size > 4:
                continue
            low, high = _bounds(cast.arg)
            if low < -_MOST or high > _MOST:
                why = f"a float that becomes {new.name} may be large"
                sink_of(ctx).refused(self.name, kernel.sym_name.data, why)
                continue
            first = CastOp.of(cast.arg, i32)
            Rewriter.insert_op(first, InsertPoint.before(cast))
            cast.operands[0] = first.result


def _bounds(value: SSAValue) -> tuple[float, float]:
    """The least and the greatest a value may be, NaN aside: of chains of minima and maxima."""
    op = value.owner
    if isinstance(op, ConstantOp):
        number = float(op.number)
        return (number, number) if number == number else (float("-inf"), float("inf"))
    if isinstance(op, TableOp) and op.ROW.name in ("minimum", "maximum"):
        (a, b), (c, d) = _bounds(op.operands[0]), _bounds(op.operands[1])
        pick = min if op.ROW.name == "minimum" else max
        return pick(a, c), pick(b, d)
    return float("-inf"), float("inf")
