"""kernel-fast-math: functions to some bits more than a half-precision result keeps.

Before, target triton:
    kernel.func @k(read %x : !kernel.buf<bf16[4096]>, write %o : !kernel.buf<bf16[4096]>) ..
      config {target = "triton"} { .. %t = scalar.tanh %v : f32 .. }

After:
      config {target = "triton", math = "fast"} { .. }

A kernel qualifies when all that it stores is bf16 or f16, so that every value is rounded to 8 or 11
bits before anyone sees it, and when it reads no wider floats, of which differences could bring
lower bits to the front. The emitters print its functions with relative errors of at most 2^-15
(`mi_fast_` helpers of Triton, with division, `m_fast_` ones of C++). A C++ kernel with no f16 gets
`math = "bf16"`: errors of at most 2^-12, an eighth of what rounding to bf16 adds (`m_bf16_`). These
begin with estimates of the machine, so one result in some hundreds is the next bf16 on a machine
with other instructions.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from minductor.dialects.dtypes import DTYPES
from minductor.dialects.kernel import ops as k
from minductor.dialects.types import BufType
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import kernels_of
from minductor.passes.remarks import sink_of


@dataclass(frozen=True)
class KernelFastMathPass(MiniPass):
    """Set `math` in the configuration of kernels whose results are of half precision.

    target: whose kernels, "cpp" or "triton"; fast_math: false leaves all as it is.
    """

    name = "kernel-fast-math"
    needs = frozenset({"kernel"})

    target: str = "triton"
    fast_math: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Decide for every kernel of the target."""
        if not self.fast_math:
            return
        for func in kernels_of(op, self.target):
            reason = refusal(func)
            if reason is None:
                short = self.target == "cpp" and "f16" not in _dtypes(func)
                func.config = func.config.with_(math="bf16" if short else "fast")
            else:
                sink_of(ctx).refused(self.name, func.sym_name.data, reason)


def _dtypes(func: k.FuncOp) -> set[str]:
    """What a kernel's buffers hold."""
    return {arg.type.dtype for arg in func.body.block.args if isinstance(arg.type, BufType)}


def refusal(func: k.FuncOp) -> str | None:
    """Why a kernel's functions stay as exact as f32, or None."""
    half = False
    for arg, access in zip(func.body.block.args, func.access.data, strict=True):
        if not isinstance(arg.type, BufType):
            continue
        row = DTYPES[arg.type.dtype]
        if row.is_float and row.size > 2:
            return f"it {'reads' if access == 'read' else 'stores'} {row.name}"
        if access != "read" and not row.is_float:
            return f"it stores {row.name}, which may hang on the last bit of a comparison"
        half = half or row.is_float
    return None if half else "it has no floats"
