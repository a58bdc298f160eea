"""kernel-onehot: a sum over a row that is zero but in one place is the value in that place.

Before, the row sum in the backward of a cross entropy:
    %s = kernel.reduce d1 : 20000 [add] -> f32 {
      %j = scalar.index d1 : i64   %c = scalar.eq %t, %j : i64
      %h = scalar.select %c, %a, %zero : f32   %g = scalar.mul %h, %u : f32
      kernel.yield %g : f32 }

After:
    %c = %t is in 0 to 20000
    %h = scalar.select %c, %a, %zero : f32   %s = scalar.mul %h, %u : f32

The row may depend on its variable in that one comparison alone. As in eager, which never writes the
zeros, a factor that is not finite makes none of them NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.verify import op_exprs
from minductor.dialects.scalar.ops import CastOp, ConstantOp, IndexOp, TableOp, scalar
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import ops_of


@dataclass(frozen=True)
class KernelOnehotPass(MiniPass):
    """Replace sums over rows with one place that is not zero.

    target: of the kernels; onehot: false leaves all as it is.
    """

    name = "kernel-onehot"
    needs = frozenset({"kernel"})

    target: str = "cpp"
    onehot: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Look at every sum of every kernel of the target."""
        if not self.onehot:
            return
        for _, stage in ops_of(op, self.target, k.ReduceOp):
            test = _test(stage)
            if test is not None:
                _replace(stage, *test)


def _test(stage: k.ReduceOp) -> tuple[TableOp, SSAValue] | None:
    """The comparison without which a row is zero, and the place it compares with."""
    if stage.kind_names != ["add"] or stage.parent_op() is None:
        return None
    body, atom = stage.body.block, ex.dim_atom(stage.var.data)
    *ops, last = body.ops
    if any(op.regions or not (_reads(op) or is_side_effect_free(op)) for op in ops):
        return None
    moving = [op for op in ops if any(atom in e.vars("d") for e in op_exprs(op))]
    if not moving or any(_variable(op) is not atom for op in moving):
        return None
    uses = {use.operation for op in moving for use in op.results[0].uses}
    if len(uses) != 1:
        return None
    (test,) = uses
    if not isinstance(test, TableOp) or test.ROW.name != "eq" or test.operands[0].type != i64:
        return None
    places = [v for v in test.operands if v.owner not in moving]
    if len(places) != 1 or not _vanishes(last.operands[0], test):
        return None
    return test, places[0]


def _variable(op: Operation) -> Atom | None:
    """The variable that an op gives as a number."""
    return op.expr.data.as_atom if isinstance(op, IndexOp) else None


def _reads(op: Operation) -> bool:
    return isinstance(op, k.LoadOp)


def _vanishes(value: SSAValue, test: TableOp) -> bool:
    """The value is zero where the test fails."""
    op = value.owner
    if isinstance(op, CastOp):
        return _vanishes(op.arg, test)
    if not isinstance(op, TableOp):
        return False
    if op.ROW.name == "select" and op.operands[0] is test.results[0]:
        other = op.operands[2].owner
        return isinstance(other, ConstantOp) and other.number == 0
    if op.ROW.name == "mul":
        return any(_vanishes(v, test) for v in op.operands)
    return op.ROW.name == "neg" and _vanishes(op.operands[0], test)


def _replace(stage: k.ReduceOp, test: TableOp, place: SSAValue) -> None:
    """Move the body out of the loop, with a test that the place lies in the row."""
    body, point = stage.body.block, InsertPoint.before(stage)
    *ops, last = body.ops
    result = last.operands[0]
    for op in ops:
        op.detach()
        if op is not test:
            if _variable(op) is not ex.dim_atom(stage.var.data):
                Rewriter.insert_op(op, point)
            continue
        start = ConstantOp.of(0, i64)
        stop = IndexOp.of(stage.extent.data, i64)
        above, below = scalar("ge", place, start.result), scalar("lt", place, stop.result)
        both = scalar("and", above.results[0], below.results[0])
        Rewriter.insert_op([start, stop, above, below, both], point)
        both.results[0].name_hint = test.results[0].name_hint
        test.results[0].replace_all_uses_with(both.results[0])
    result.name_hint = stage.results[0].name_hint or result.name_hint
    stage.results[0].replace_all_uses_with(result)
    stage.detach()
    stage.erase()
