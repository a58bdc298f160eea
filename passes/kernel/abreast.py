"""kernel-abreast: short rows of several stages run side by side.

Before, a softmax over 64 elements:
    kernel.parallel d0 : 32768 <run threads> {
      %m = kernel.reduce d1 : 64 <lanes 16, ..> [max] -> f32 { .. kernel.load %x[64 * d0 + d1] .. }
      %s = kernel.reduce d1 : 64 <lanes 16, ..> [add] -> f32 { .. }
      kernel.parallel d1 : 64 <lanes 32, ..> { .. } }

After:
    kernel.parallel d0 : 8192 <run threads> {
      %m0 = kernel.reduce d1 : 64 <lanes 16, ..> [max] -> f32 { .. %x[256 * d0 + d1] .. }
      %m1 = kernel.reduce d1 : 64 <lanes 16, ..> [max] -> f32 { .. %x[256 * d0 + d1 + 64] .. }
      ..
      %s0 = kernel.reduce ..
      %s1 = kernel.reduce .. }

Each stage of a row waits for the fold of the lanes of the one before, a chain of a dozen dependent
steps; a short row has too little work to hide it. The rows are independent: stages of several of
them stand next to each other, so that the machine has one row's work to do while another's fold is
on its way. Every value is computed as before.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.rewriter import InsertPoint, Rewriter

from minductor.dialects import expr as ex
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.verify import symbol_ranges
from minductor.passes.base import MiniPass
from minductor.passes.kernel._copy import Copies, var_of
from minductor.passes.kernel._tree import LOOPS, Loop, is_leaf, ops_of, ranges_around
from minductor.passes.kernel._walks import accesses_of, item_of
from minductor.passes.remarks import sink_of

ROUNDS = 64
"""Iterations of the row loop, for each row side by side, below which it stays as it is."""


@dataclass(frozen=True)
class KernelAbreastPass(MiniPass):
    """Unroll loops over short rows of C++ kernels, stage by stage.

    abreast: rows side by side at most, below 2 leaves all as it is; short: bytes of all of them
    together, by their longest stage and its widest tensor. Longer ones wait for memory, which is
    walked best row by row.
    """

    name = "kernel-abreast"
    needs = frozenset({"lanes"})

    abreast: int = 4
    short: int = 4096

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Look at every parallel loop of every C++ kernel."""
        if self.abreast < 2:
            return
        symbols = symbol_ranges(op)
        for func, loop in ops_of(op, "cpp", k.ParallelOp):
            rows = self._rows(loop)
            if rows > 1:
                sink_of(ctx).accepted(self.name, func.sym_name.data, f"{rows} rows abreast")
                _unroll(loop, rows, ranges_around(loop, symbols))

    def _rows(self, loop: k.ParallelOp) -> int:
        """How many iterations stand side by side; 1 where the loop stays as it is."""
        stages = [op for op in loop.body.block.ops if isinstance(op, LOOPS)]
        if loop.words.data.lanes > 1 or len(stages) < 2 or not all(map(_is_stage, stages)):
            return 1
        if not any(isinstance(op, k.ReduceOp) for op in stages) or not _plain(loop):
            return 1
        extents = [op.extent.data.as_int for op in stages]
        count = loop.extent.data.as_int
        longest = max((e for e in extents if e is not None), default=0)
        if count is None or None in extents:
            return 1
        rows, size = self.abreast, longest * _item(loop)
        while rows > 1 and (count % rows or rows * size > self.short or count < rows * ROUNDS):
            rows //= 2
        return max(1, rows)


def _is_stage(loop: Loop) -> bool:
    """A vector loop over a row."""
    return isinstance(loop, k.ReduceOp | k.ParallelOp) and is_leaf(loop) and _lanes(loop) > 1


def _lanes(loop: Loop) -> int:
    return loop.words.data.lanes


def _item(loop: k.ParallelOp) -> int:
    """Bytes of the widest element of a tensor that a loop reads or writes."""
    tensors = (op for op in accesses_of(loop) if isinstance(op.buffer.owner, Block))
    return max((item_of(op) for op in tensors), default=1)


def _plain(loop: k.ParallelOp) -> bool:
    """No store of the loop asks who owns a row or is atomic, and nothing is transposed."""
    return not any(
        isinstance(op, k.TransposeOp) or (isinstance(op, k.StoreOp) and op.by is not None)
        for op in loop.walk()
    )


def _unroll(loop: k.ParallelOp, rows: int, ranges: Ranges) -> None:
    """Put a loop of a `rows`-th of the iterations, each of `rows` rows, in a loop's place."""
    var, count, body = loop.var.data, ex.floordiv(loop.extent.data, rows), Block()
    base = Copies(body, ranges.with_extents([(var, count)]), {}, {}, ())
    each = [base.within(body, (), {var_of(loop): ex.dim(var) * rows + i}) for i in range(rows)]
    for op in loop.body.block.ops:
        for one in each:
            one.copy_loop(op)
    new = k.ParallelOp.make(var, count, body)
    new.words = loop.words
    Rewriter.insert_op(new, InsertPoint.before(loop))
    loop.detach()
    loop.erase(safe_erase=False)
