"""kernel-overlap: the last vector of a row ends with the row, over elements that are done already.

Before:
    kernel.parallel d1 : 28 <lanes 16, tail mask> {
      .. kernel.load %x[2 * d1 + 56 * d0] .. kernel.store %v, %o[28 * d0 + d1] }

After:
    kernel.parallel d1 : 28 <lanes 16, tail overlap> {..}

Elements 12 to 15 are computed twice, to the same values, where a masked vector would have taken
several instructions for each access, and scalars sixteen times as many. Legal where a second run of
an iteration changes nothing: plain stores, to buffers that the loop does not read. Divisions of the
variable keep their place in the vector: their divisors divide what is left over.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.traits import is_side_effect_free

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.verify import op_exprs
from minductor.dialects.scalar.ops import BoundOp, IfOp, YieldOp
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import kernels_of, set_words
from minductor.passes.kernel._walks import functions
from minductor.passes.remarks import sink_of


@dataclass(frozen=True)
class KernelOverlapPass(MiniPass):
    """Let the vector loops of C++ kernels end with a vector over what is done already.

    overlap: false leaves all as it is.
    """

    name = "kernel-overlap"
    needs = frozenset({"lanes", "in-place"})

    overlap: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Look at every vector loop with a tail."""
        if not self.overlap:
            return
        for kernel in kernels_of(op, "cpp"):
            for loop in kernel.walk():
                if not isinstance(loop, k.ParallelOp) or loop.words.data.tail == "none":
                    continue
                why = _refusal(loop)
                if why:
                    sink_of(ctx).refused(self.name, kernel.sym_name.data, why)
                else:
                    set_words(loop, tail="overlap")


def _refusal(loop: k.ParallelOp) -> str:
    """Why a loop keeps its tail."""
    words, extent = loop.words.data, loop.extent.data.as_int
    if words.run != "seq":
        return "threads would write each other's elements"
    if extent is None or extent < words.lanes:
        return "it is not known to fill a vector"
    stored = {op.buffer for op in loop.walk() if isinstance(op, k.StoreOp)}
    for op in loop.body.block.walk():
        if isinstance(op, k.StoreOp):
            if op.combine is not None or op.by is not None:
                return "its stores combine"
        elif isinstance(op, k.LoadOp):
            if op.buffer in stored:
                return "it reads what it writes"
        elif not (is_side_effect_free(op) or isinstance(op, BoundOp | IfOp | YieldOp | k.YieldOp)):
            return f"`{op.name}` in its body"
        if not _keeps_places(op, ex.dim_atom(loop.var.data), extent % words.lanes):
            return "its indices repeat in another step"
    return ""


def _keeps_places(op: Operation, atom: Atom, left: int) -> bool:
    """A vector that begins so many elements after a multiple of its lanes is like any other."""
    for e in op_exprs(op):
        for fn in functions(e):
            if not any(atom in arg.vars("d") for arg in fn.args):
                continue
            by = fn.args[1].as_int if fn.kind in ("floordiv", "mod") else None
            if not by or left % by:
                return False
    return True
