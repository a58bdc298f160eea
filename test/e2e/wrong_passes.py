"""Passes that are wrong on purpose, for the tests of `validate`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from minductor.passes.base import MiniPass


@dataclass(frozen=True)
class SwapOperandsPass(MiniPass):
    """Swaps the operands of the first subtraction, at any level."""

    name = "swap-operands"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in op.walk():
            if inner.name in ("aten.sub.Tensor", "scalar.sub"):
                inner.operands = list(reversed(inner.operands))
                return
        raise ValueError("no subtraction to spoil")
