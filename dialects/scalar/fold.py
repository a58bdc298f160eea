"""Constant folding and algebra of scalar ops, from the facts of the table.

A rewrite holds for every value of the type, NaN, infinities and -0.0 included:

    add x, -0.0 -> x      sub x, 0.0 -> x      mul x, 1.0 -> x      div x, 1.0 -> x
    add x, 0 -> x (ints)  mul x, 0 -> 0 (ints) minimum x, x -> x    select c, x, x -> x
    neg (neg x) -> x      not (not x) -> x     cast x : T to T -> x
    cast (cast i : i8 to bf16) : bf16 to f32 -> cast i : i8 to f32, where the first is exact

and not `add x, 0.0` (-0.0 would become 0.0), `mul x, 0.0` or `sub x, x` of floats.
"""

from __future__ import annotations

import math
from typing import cast

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait

from minductor.dialects.dtypes import dtype_of_scalar
from minductor.dialects.scalar.number import Number


class ScalarCanonicalization(HasCanonicalizationPatternsTrait):
    """Gives scalar ops the folder as canonicalization pattern."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return (FoldScalar(),)


class FoldScalar(RewritePattern):
    """Replace a scalar op by a constant or by one of its operands."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        from minductor.dialects.scalar.ops import CastOp, ConstantOp

        found = folded(op)
        if found is None:
            found = around(op, op.operands[0]) if op.operands else None
            if found is not None:
                rewriter.replace(op, CastOp.of(found, op.results[0].type))
            return
        if isinstance(found, SSAValue):
            rewriter.replace(op, [], [found])
        else:
            rewriter.replace(op, ConstantOp.of(found, op.results[0].type))


def constant_of(value: SSAValue) -> Number | None:
    """The number of a constant, or None."""
    from minductor.dialects.scalar.ops import ConstantOp

    owner = value.owner
    return owner.number if isinstance(owner, ConstantOp) else None


def folded(op: Operation) -> SSAValue | Number | None:
    """What a scalar op is worth: a value it can be replaced by, a number, or None."""
    from minductor.dialects.scalar.ops import CastOp, IndexOp, TableOp, WithinOp

    if isinstance(op, TableOp):
        return _table(op)
    if isinstance(op, CastOp):
        return _cast(op)
    if isinstance(op, IndexOp):
        return op.expr.data.as_int
    if isinstance(op, WithinOp):
        below, above = (op.test[0] - op.test[1]).as_int, (op.test[2] - op.test[0]).as_int
        if (below is not None and below < 0) or (above is not None and above <= 0):
            return False
        return True if below is not None and above is not None else None
    return None


def _cast(op: Operation) -> SSAValue | Number | None:
    source = op.operands[0]
    if source.type == op.results[0].type:
        return source
    number = constant_of(source)
    if number is None:
        return None
    if isinstance(number, float) and not dtype_of_scalar(op.results[0].type).is_float:
        # out-of-range conversions differ between machines: left to run time
        return int(number) if math.isfinite(number) and abs(number) < 2**31 else None
    return number


SIGNIFICAND = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}
"""Bits of the integers that a float holds exactly, of either sign."""


def around(op: Operation, source: SSAValue) -> SSAValue | None:
    """The integer that a cast of `source` to a float may start from: past an exact cast."""
    from minductor.dialects.scalar.ops import CastOp

    before = source.owner
    if not isinstance(op, CastOp) or not isinstance(before, CastOp):
        return None
    first, middle, last = (
        dtype_of_scalar(v.type) for v in (before.arg, before.result, op.results[0])
    )
    bits = 8 * first.size - (first.kind == "int")
    if first.is_float or not middle.is_float or not last.is_float or last.size <= middle.size:
        return None
    return before.arg if bits <= SIGNIFICAND[middle.name] else None


def _table(op: Operation) -> SSAValue | Number | None:
    from minductor.dialects.scalar.ops import TableOp

    assert isinstance(op, TableOp)
    numbers = [constant_of(v) for v in op.operands]
    fold = op.ROW.fold
    if fold is not None and all(n is not None for n in numbers):
        try:
            return fold(*numbers)
        except (OverflowError, ValueError):
            return None
    return _algebra(op, numbers)


def _algebra(op: Operation, numbers: list[Number | None]) -> SSAValue | Number | None:
    from minductor.dialects.scalar.ops import TableOp

    row = cast(TableOp, op).ROW
    first, last = op.operands[0], op.operands[-1]
    if row.name == "select":
        if numbers[0] is not None:
            return op.operands[1] if numbers[0] else last
        return last if op.operands[1] is last else None
    if len(op.operands) == 1:
        owner = first.owner
        twice = row.name in ("neg", "not") and isinstance(owner, TableOp) and owner.ROW is row
        return owner.operands[0] if twice and isinstance(owner, TableOp) else None
    if first is last and "idempotent" in row.algebra:
        return first
    whole = last.type == i1 or not dtype_of_scalar(last.type).is_float
    if numbers[1] is not None and is_right_unit(row.name, numbers[1], whole):
        return first
    if (
        numbers[0] is not None
        and "commutative" in row.algebra
        and is_right_unit(row.name, numbers[0], whole)
    ):
        return last
    if whole and row.name == "mul" and 0 in numbers:
        return 0
    return None


def is_right_unit(name: str, number: Number, whole: bool) -> bool:
    """`x name number` is x for every x of the type."""
    match name:
        case "add":
            return number == 0 and (whole or math.copysign(1, number) < 0)
        case "sub":
            return number == 0 and (whole or math.copysign(1, number) > 0)
        case "mul" | "div" | "truncdiv" | "floordiv":
            return number == 1 and (whole or name in ("mul", "div"))
        case "or" | "xor" | "shl" | "shr":
            return number == 0
        case _:
            return False
