"""kernel-digits: what a row's stage reads once for many neighbours is read for blocks of them.

Before, target triton, the second stage of a group norm, whose weight is one number a channel:
    kernel.parallel d2 : 25088 {
      %a = kernel.load %x[25088 * d1 + d2]
      %w = kernel.load %weight[8 * d1 + (d2 floordiv 3136)]
      ..  kernel.store %b, %o[25088 * d1 + d2] }

After:
    kernel.parallel d2 : 392 {
      kernel.parallel d3 : 64 {
        %a = kernel.load %x[25088 * d1 + 64 * d2 + d3]
        %w = kernel.load %weight[8 * d1 + (d2 floordiv 49)]  ..  kernel.store %b, %o[..] } }

The two loops are the two axes of a block. What varies along the first alone is computed and loaded
once for `width` elements.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from minductor.dialects import expr as ex
from minductor.dialects.attrs import ExprAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.verify import op_exprs, symbol_ranges
from minductor.passes.base import MiniPass
from minductor.passes.kernel._copy import map_exprs
from minductor.passes.kernel._tree import (
    child_loops,
    fresh_variable,
    is_leaf,
    kernels_of,
    ranges_around,
)
from minductor.passes.kernel._walks import functions, repeated
from minductor.passes.kernel.persist import row_block
from minductor.passes.remarks import sink_of


@dataclass(frozen=True)
class KernelDigitsPass(MiniPass):
    """Cut the pointwise stages of looped rows in Triton kernels where loads are shared.

    width: elements of the inner loop, a power of two; 0 leaves all as it is.
    """

    name = "kernel-digits"
    needs = frozenset({"kernel"})

    width: int = 64

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Look at the stages of every Triton kernel that reduces rows."""
        if not self.width:
            return
        symbols = symbol_ranges(op)
        for func in kernels_of(op, "triton"):
            stages = list(child_loops(row_block(func.body.block)))
            if not any(isinstance(s, k.ReduceOp) for s in stages):
                continue
            for stage in stages:
                if isinstance(stage, k.ParallelOp) and is_leaf(stage) and repeated(stage):
                    why = self._cut(stage, fresh_variable(func), symbols)
                    if why:
                        sink_of(ctx).refused(self.name, func.sym_name.data, why)

    def _cut(self, stage: k.ParallelOp, fresh: int, symbols: Ranges) -> str:
        """Make two loops of one; or why not."""
        extent, atom = stage.extent.data.as_int, ex.dim_atom(stage.var.data)
        if extent is None or extent % self.width or extent < 2 * self.width:
            return f"a stage of {stage.extent.data} elements is not cut in {self.width}"
        env: dict[Atom, Expr] = {atom: self.width * ex.dim(stage.var.data) + ex.dim(fresh)}
        around = ranges_around(stage, symbols)
        inside = around.with_extents([(stage.var.data, extent // self.width), (fresh, self.width)])

        def moved(e: Expr) -> Expr:
            return inside.simplify(e.subs(env))

        exprs = [e for op in stage.body.block.walk() for e in op_exprs(op)]
        if any(_divided(moved(e), ex.dim_atom(fresh)) for e in exprs):
            return f"a division of the stage's variable is not by a multiple of {self.width}"
        body = stage.body.block
        for op in body.walk():
            map_exprs(op, moved)
        ops = list(body.ops)
        for op in ops:
            op.detach()
        stage.extent = ExprAttr(ex.const(extent // self.width))
        body.add_op(k.ParallelOp.make(fresh, self.width, Block(ops)))
        return ""


def _divided(e: Expr, atom: Atom) -> bool:
    """A variable stands in a division."""
    return any(atom in argument.vars("d") for f in functions(e) for argument in f.args)
