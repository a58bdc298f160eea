"""Drops ops whose results nobody uses.

    before:
      %a = aten.exp.default(%x) : !aten.t<f32[4]>
      %b = aten.relu.default(%x) : !aten.t<f32[4]>
      %c = aten.copy_.default(%x, %b) : !aten.t<f32[4]>
      func.return
    after:
      %b = aten.relu.default(%x) : !aten.t<f32[4]>
      %c = aten.copy_.default(%x, %b) : !aten.t<f32[4]>
      func.return

What writes into an operand (`copy_` to an argument) and what is checked or communicated stays. An
unused draw of random numbers goes: no other draw depends on it, each has a stream of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.traits import IsTerminator

from minductor.dialects.aten import is_removable
from minductor.passes.aten._rewriter import functions
from minductor.passes.base import MiniPass
from minductor.passes.remarks import sink_of


@dataclass(frozen=True)
class AtenDcePass(MiniPass):
    """Drops ops whose results nobody uses."""

    name = "aten-dce"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            dropped = drop_dead(func.body.block)
            if dropped:
                sink_of(ctx).note(self.name, func.sym_name.data, f"{dropped} dead ops dropped")


def drop_dead(block: Block) -> int:
    """Erase dead ops from the end to the start; how many there were."""
    dropped = 0
    for op in reversed(list(block.ops)):
        if op.has_trait(IsTerminator) or not is_removable(op):
            continue
        if all(result.first_use is None for result in op.results):
            op.detach()
            op.erase()
            dropped += 1
    return dropped
