"""kernel-predicate: control flow of one point becomes masks, so that a loop can be vector code.

Before:
    %c = scalar.within d1 in 0 to 512
    %v = scalar.if %c -> f32 { %a = kernel.load %x[d1] : f32  scalar.yield %a : f32 }
         else { scalar.yield %z : f32 }

After:
    %c = scalar.within d1 in 0 to 512
    %0 = scalar.constant 0.0 : f32
    %a = kernel.load %x[d1] if %c else %0 : f32
    %v = scalar.select %c, %a, %z : f32

A masked load touches no memory where its condition is false. An op that may fault gets a harmless
operand there, so that it may run on dead lanes: a checked index 0 (where its size may be 0, it is
checked under the mask instead), an integer division the divisor 1. An `if` stays when a region
holds a store or a loop.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ModuleOp, i1
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from minductor.dialects.kernel import ops as k
from minductor.dialects.scalar.ops import BoundOp, ConstantOp, IfOp, TableOp, scalar
from minductor.passes.base import MiniPass
from minductor.passes.remarks import sink_of


@dataclass(frozen=True)
class KernelPredicatePass(MiniPass):
    """Turn `scalar.if` into masked loads and selects where that is safe."""

    name = "kernel-predicate"
    needs = frozenset({"kernel"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite innermost conditions first."""
        sink = sink_of(ctx)
        for func in op.body.block.ops:
            if not isinstance(func, k.FuncOp):
                continue
            ifs = [inner for inner in func.walk() if isinstance(inner, IfOp)]
            for cond in reversed(ifs):
                reason = unsafe_reason(cond)
                if reason is None:
                    predicate(cond)
                else:
                    sink.refused(self.name, func.sym_name.data, reason)


def unsafe_reason(op: IfOp) -> str | None:
    """Why the regions may not run on dead lanes, or None."""
    for region in op.regions:
        for inner in region.block.ops:
            if isinstance(inner, k.LoadOp | BoundOp) or harmless(inner) or _of_floats(inner):
                continue
            if inner.regions or not is_side_effect_free(inner):
                return f"`{inner.name}` under a condition must keep its control flow"
    return None


def harmless(op: Operation) -> tuple[int, int] | None:
    """Of an op that may fault: an operand and the value of it with which the op cannot."""
    if isinstance(op, BoundOp):
        size = op.size.data.as_int
        return (0, 0) if size is not None and size >= 1 else None
    if isinstance(op, TableOp) and not op.ROW.safe and not _of_floats(op):
        return (1, 1)
    return None


def _of_floats(op: Operation) -> bool:
    """An op of the table on floats: its row may fault on integers, it cannot."""
    return isinstance(op, TableOp) and isinstance(op.results[0].type, AnyFloat)


def predicate(op: IfOp) -> None:
    """Replace one `if` by masked loads and selects."""
    point = InsertPoint.before(op)
    not_cond: SSAValue | None = None
    yielded: list[list[SSAValue]] = []
    for region in op.regions:
        cond = op.cond
        if region is op.orelse and any(_needs_condition(i) for i in region.block.ops):
            negated = scalar("not", op.cond)
            Rewriter.insert_op(negated, point)
            not_cond = negated.results[0]
        if region is op.orelse and not_cond is not None:
            cond = not_cond
        yielded.append(_inline(region.block, cond, point))
    results: list[SSAValue] = []
    for a, b in zip(*yielded, strict=True):
        choice = scalar("select", op.cond, a, b)
        Rewriter.insert_op(choice, point)
        results.append(choice.results[0])
    for old, new in zip(op.results, results, strict=True):
        new.name_hint = old.name_hint
    Rewriter.replace_op(op, [], results)


def _needs_condition(op: Operation) -> bool:
    return isinstance(op, k.LoadOp | BoundOp) or harmless(op) is not None


def _inline(block: Block, cond: SSAValue, point: InsertPoint) -> list[SSAValue]:
    last = block.last_op
    assert last is not None
    for op in list(block.ops):
        if op is last:
            break
        op.detach()
        if isinstance(op, k.LoadOp):
            op = _masked(op, cond, point)
        elif isinstance(op, BoundOp) and harmless(op) is None:
            op = _checked_where(op, cond, point)
        elif (guard := harmless(op)) is not None:
            _guard(op, *guard, cond, point)
        Rewriter.insert_op(op, point)
    return list(last.operands)


def _guard(op: Operation, operand: int, value: int, cond: SSAValue, point: InsertPoint) -> None:
    """Give the operand a value that cannot fault where `cond` is false."""
    old = op.operands[operand]
    safe = ConstantOp.of(value, old.type)
    choice = scalar("select", cond, old, safe.result)
    Rewriter.insert_op([safe, choice], point)
    op.operands[operand] = choice.results[0]


def _checked_where(bound: BoundOp, cond: SSAValue, point: InsertPoint) -> Operation:
    """The checked index, checked only where `cond` (and its own mask) holds."""
    if bound.mask is not None:
        cond = _both(cond, bound.mask, point)
    bound.operands = [bound.arg, cond]
    return bound


def _both(cond: SSAValue, mask: SSAValue, point: InsertPoint) -> SSAValue:
    both = scalar("and", cond, mask)
    assert both.results[0].type == i1
    Rewriter.insert_op(both, point)
    return both.results[0]


def _masked(load: k.LoadOp, cond: SSAValue, point: InsertPoint) -> Operation:
    """The load, touching memory only where `cond` (and its own mask) holds."""
    mask = load.mask
    if mask is None:
        zero = ConstantOp.of(0, load.result.type)
        Rewriter.insert_op(zero, point)
        mask = (cond, zero.result)
    else:
        mask = (_both(cond, mask[0], point), mask[1])
    new = k.LoadOp.of(load.buffer, load.index.data[0], load.index_operands, mask)
    new.location = load.location
    new.result.name_hint = load.result.name_hint
    load.result.replace_all_uses_with(new.result)
    load.erase()
    return new
