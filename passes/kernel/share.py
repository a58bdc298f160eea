"""kernel-share: a term's share of its row's sum is a product with the sum's reciprocal.

Before, the last two stages of a softmax:
    %s = kernel.reduce d1 : 64 [add] -> f32 {
      .. %c = scalar.sub %a, %m : f32   %e = scalar.exp %c : f32   kernel.yield %e }
    kernel.parallel d1 : 64 {
      .. %e = scalar.exp %c : f32   %q = scalar.div %e, %s : f32 .. }

After:
    %s = kernel.reduce d1 : 64 [add] -> f32 { .. }
    %r = scalar.div %one, %s : f32
    kernel.parallel d1 : 64 {
      .. %e = scalar.exp %c : f32   %q = scalar.mul %e, %r : f32 .. }

A quotient rounded as a division is costs five instructions of a vector, and the exponential before
it has an error of its own of that size. `%m` must be the maximum of the same row: then the sum is
at least 1 or NaN, and no reciprocal overflows.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from minductor.dialects.kernel import ops as k
from minductor.dialects.scalar.ops import ConstantOp, TableOp, scalar
from minductor.passes.base import MiniPass
from minductor.passes.kernel._stages import Stage, same_values
from minductor.passes.kernel._tree import ops_of
from minductor.passes.remarks import sink_of


@dataclass(frozen=True)
class KernelSharePass(MiniPass):
    """Replace the divisions of softmaxes in C++ kernels.

    share: false leaves all as it is.
    """

    name = "kernel-share"
    needs = frozenset({"kernel"})

    share: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Look at every division by the sum of a row."""
        if not self.share:
            return
        for kernel, div in ops_of(op, "cpp", TableOp):
            found = _sum_of(div)
            if found is None:
                continue
            row, stage = found
            if _is_share(kernel, div, row, stage):
                _replace(div, row)
            else:
                why = "a sum that may be far below 1 divides as it is"
                sink_of(ctx).refused(self.name, kernel.sym_name.data, why)


def _sum_of(div: TableOp) -> tuple[k.ReduceOp, Stage] | None:
    """The sum that divides an exponential in a later stage beside it, and that stage."""
    if div.ROW.name != "div" or div.results[0].type != f32 or _function(div.operands[0]) != "exp":
        return None
    row, stage = div.operands[1].owner, div.parent_op()
    if not isinstance(row, k.ReduceOp) or not isinstance(stage, Stage):
        return None
    return (row, stage) if row.parent is stage.parent else None


def _function(value: SSAValue) -> str:
    owner = value.owner
    return owner.ROW.name if isinstance(owner, TableOp) else ""


def _is_share(kernel: k.FuncOp, div: TableOp, row: k.ReduceOp, stage: Stage) -> bool:
    """The term is e to the difference of a value to its row's maximum, and one of the sum's."""
    term = div.operands[0].owner
    assert isinstance(term, TableOp)
    away = term.operands[0].owner
    if not isinstance(away, TableOp) or away.ROW.name != "sub":
        return False
    value, most = away.operands
    if row.extent.data is not stage.extent.data:
        return False
    if row.kind_names == ["max_sumexp"]:
        return (
            most is row.results[0]
            and div.operands[1] is row.results[1]
            and _same(kernel, row, stage, value)
        )
    top = most.owner
    if row.kind_names != ["add"] or not isinstance(top, k.ReduceOp) or top.kind_names != ["max"]:
        return False
    if top.parent is not row.parent or top.extent.data is not row.extent.data:
        return False
    return _same(kernel, row, stage, term.results[0]) and _same(kernel, top, stage, value)


def _same(kernel: k.FuncOp, first: k.ReduceOp, last: Stage, value: SSAValue) -> bool:
    """The first stage yields what the last one computes as `value`."""
    given, owner = _yielded(first), value.owner
    if not isinstance(owner, Operation) or len(given) != 1:
        return False
    twin = same_values(kernel, first, last).get(owner)
    return twin is not None and given[0] in twin.results


def _yielded(stage: k.ReduceOp) -> list[SSAValue]:
    last = stage.body.block.last_op
    assert last is not None
    return list(last.operands)


def _replace(div: TableOp, row: k.ReduceOp) -> None:
    sum_ = div.operands[1]
    one = ConstantOp.of(1.0, f32)
    inverse = scalar("div", one.result, sum_)
    inverse.results[0].name_hint = "inverse"
    product = scalar("mul", div.operands[0], inverse.results[0])
    product.results[0].name_hint = div.results[0].name_hint
    product.location = div.location
    Rewriter.insert_op([one, inverse], InsertPoint.after(row))
    Rewriter.replace_op(div, product)
