"""aten-peak: notes what running the function op by op needs at its peak.

Before:
    func.func @inference(%x: T) -> T {
      %a = aten.sin.default(%x)
      %b = aten.cos.default(%a)
      func.return %b }

After: `%a` and `%b` live at once, 4096 bytes each:
    func.func @inference(%x: T) -> T attributes {eager_peak = 8192 : i64} { .. }

Bytes are those of tensors that the run makes, beyond what lives before it, at the hints. A tensor
is freed after its last use; views share their operand's storage; what is copied into an argument at
the end was computed there at once. Arguments in `dying` (numbers of arguments that nobody holds
outside, such as what a forward saved for its backward) are freed at their last use too. The figure
is the bound that `kernel-memory{max-peak=eager}` holds its plan to, so it is taken before any other
pass changes the graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from minductor.dialects.aten import AtenOp, ConstantOp, MayCopy, is_mutating, is_view
from minductor.dialects.types import TensorType
from minductor.passes.base import MiniPass
from minductor.passes.peak import EAGER, Storage, peak_of


@dataclass(frozen=True)
class AtenPeakPass(MiniPass):
    """Note the peak memory of running each function op by op."""

    name = "aten-peak"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})
    provides: ClassVar[frozenset[str]] = frozenset({"eager-peak"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Write the attribute on every function with a body that is not a sub-graph."""
        for fn in op.ops:
            if isinstance(fn, FuncOp) and fn.body.blocks and fn.sym_visibility is None:
                fn.attributes[EAGER] = IntegerAttr(eager_peak(fn), i64)


def eager_peak(fn: FuncOp) -> int:
    """Bytes at the peak of running a function's ops one after another."""
    return peak_of(fn, storage_of(fn))


def storage_of(fn: FuncOp) -> Storage:
    """Which values of a function share storage when its ops run one after another."""
    block = fn.body.block
    storage = Storage.of(fn)
    written = _written_back(block)
    for op in block.ops:
        if not isinstance(op, AtenOp):
            continue
        if isinstance(op, ConstantOp):
            storage.outside.update(op.results)
        elif op.operands and (is_mutating(op) or (is_view(op) and not _copies(op))):
            for result in op.results:
                storage.share(result, op.operands[0])
        if op in written:
            # an op that computes what an argument becomes could have written it there
            new = storage.root(op.operands[1])
            if not isinstance(new.owner, Block) and new.type == op.operands[0].type:
                storage.share(new, op.operands[0])
    return storage


def _copies(op: Operation) -> bool:
    """A reshape or the like that the layout of its operand makes a copy."""
    if not op.has_trait(MayCopy):
        return False
    old, new = op.operands[0].type, op.results[0].type
    if not isinstance(old, TensorType) or not isinstance(new, TensorType):
        return False
    return new.is_contiguous and not old.is_contiguous


def _written_back(block: Block) -> set[Operation]:
    """The copies into arguments at the end of a block."""
    found: set[Operation] = set()
    here = block.last_op
    while here is not None and here.name in ("aten.copy_.default", "func.return"):
        if here.name != "func.return":
            found.add(here)
        here = here.prev_op
    return found
