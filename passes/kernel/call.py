"""kernel-call: kernels of many costly functions call them, so that they compile in bounded time.

Before, target cpp, a hundred sines one after another:
    kernel.func @k(..) config {target = "cpp"} { .. %s = scalar.sin %v : f32 .. }

After:
      config {target = "cpp", call = 8} { .. }

A function of the prelude is some twenty instructions, written out wherever it is used; the C++
compiler's time grows faster than they do. In a kernel with `call = N` the emitter prints calls of
the functions that cost at least N, one vector register at a time, each compiled once: a quarter of
the compiler's time, for a sixth of the kernel's speed. Kernels with few of them have no call.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp

from minductor.dialects.kernel import ops as k
from minductor.dialects.scalar.ops import TableOp
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import kernels_of
from minductor.passes.remarks import sink_of


@dataclass(frozen=True)
class KernelCallPass(MiniPass):
    """Set `call` in the configuration of C++ kernels.

    many: functions from which a kernel calls them, 0: never; dear: what a function must cost to be
    called, an add is 1.
    """

    name = "kernel-call"
    needs = frozenset({"kernel"})

    many: int = 64
    dear: int = 8

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Decide for every C++ kernel."""
        for func in kernels_of(op, "cpp") if self.many else ():
            count = self._functions(func)
            if count >= self.many:
                func.config = func.config.with_(call=self.dear)
            elif count:
                sink_of(ctx).refused(
                    self.name, func.sym_name.data, f"{count} functions are fewer than {self.many}"
                )

    def _functions(self, func: k.FuncOp) -> int:
        return sum(
            isinstance(op, TableOp)
            and op.ROW.cost >= self.dear
            and op.ROW.is_function
            and not isinstance(op.result.type, IntegerType)
            for op in func.walk()
        )
