"""Scalar ops as C++ statements: the table's `cpp` column, casts, conditions, indices, random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from xdsl.ir import Operation, SSAValue

from minductor.codegen.cpp.ctext import HALF, dtype_of, literal, value_type
from minductor.codegen.cpp.index import lane_step
from minductor.codegen.cpp.scope import Scope, downcast, unprintable, upcast
from minductor.dialects.dtypes import DTYPES
from minductor.dialects.expr import Expr
from minductor.dialects.expr_lanes import first_lane, lane_offsets, period_of
from minductor.dialects.scalar import ops as sc
from minductor.dialects.scalar.table import BY_NAME, ScalarRow

# Conditions are masks whose lanes may differ in width, so that ops on them need their own text.
_ON_CONDITIONS = {
    "and": "m_and({0}, {1})",
    "or": "m_or({0}, {1})",
    "xor": "m_xor({0}, {1})",
    "not": "m_not({0})",
    "eq": "m_not(m_xor({0}, {1}))",
    "ne": "m_xor({0}, {1})",
    "lt": "m_and(m_not({0}), {1})",
    "le": "m_or(m_not({0}), {1})",
    "gt": "m_and({0}, m_not({1}))",
    "ge": "m_or({0}, m_not({1}))",
    "select": "m_or(m_and({0}, {1}), m_and(m_not({0}), {2}))",
}
_KEEPS_BITS = frozenset({"select"})
FAST = ("exp", "sigmoid", "tanh", "log", "sin", "cos", "erf_plus_one", "divide_by")
"""Functions that have a short form, in f32 and below, for kernels of half precision."""
SHORT = {"": "m_", "fast": "m_fast_", "bf16": "m_bf16_"}
"""`math` of a kernel's configuration -> the prefix of its short forms."""


def row_of(op: Operation) -> ScalarRow | None:
    """The table row of an op, None for ops outside the table."""
    return BY_NAME.get(op.name.removeprefix("scalar.")) if op.name.startswith("scalar.") else None


def _apply(row: ScalarRow, args: list[str], dtype: str, scope: Scope, lanes: bool) -> str:
    """The text of a row over operands of `dtype`, in lanes or as one value."""
    if dtype == "bool":
        return _ON_CONDITIONS.get(row.name, row.cpp).format(*args)
    if row.name in _KEEPS_BITS:
        return row.cpp.format(*args)
    same = row.result == "same"
    if scope.math and row.name in FAST and (dtype == "f32" or dtype in HALF):
        row = replace(row, cpp=row.cpp.replace("m_", SHORT[scope.math], 1))
    if scope.call is not None and BY_NAME[row.name].is_function and DTYPES[dtype].is_float:
        if row.cost >= scope.call:
            row = replace(row, cpp=f"call_{row.cpp}")
    if dtype in HALF:
        text = row.cpp.format(*(upcast(a, dtype) for a in args))
        return downcast(text, dtype) if same else text
    info = DTYPES[dtype]
    if info.kind in ("int", "uint") and not row.safe:
        scope.faults = True
        if scope.predicate is not None and lanes:
            args = [args[0], f"m_where({scope.predicate}, {args[1]}, L({dtype}(1)))"]
        where = "L" if lanes else "Full<1>()"
        return f"{row.cpp.format(*args)[:-1]}, {where}, fault)"
    text = row.cpp.format(*args)
    return f"m_cvt<{dtype}>{_parens(text)}" if same and info.size < 4 else text


def _parens(text: str) -> str:
    return text if text.startswith("(") and _closes(text) else f"({text})"


def _closes(text: str) -> bool:
    """The first bracket closes at the very end."""
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return i == len(text) - 1
    return False


def table_op(scope: Scope, op: Operation) -> None:
    """An op of the table."""
    row = row_of(op)
    if row is None:
        raise unprintable(op, "it is not in the table of scalar ops")
    result = op.results[0]
    at = _place(scope, op) if row.name in ("eq", "ne") and scope.varies(result) else None
    if at is not None:
        scope.define(result, at if row.name == "eq" else f"m_not({at})")
        return
    use = scope.spread if scope.varies(result) else scope.text
    args = [use(v) for v in op.operands]
    text = _apply(row, args, dtype_of(op.operands[-1]), scope, scope.varies(result))
    scope.define(result, text[1:-1] if _closes(text) and text.startswith("(") else text)


def _place(scope: Scope, op: Operation) -> str | None:
    """A comparison of the lanes' own numbers with one number for all of them."""
    for a, b in (op.operands, reversed(op.operands)):
        index = a.owner
        if not isinstance(index, sc.IndexOp) or index.operands or scope.lane is None:
            continue
        if scope.varies(b) or dtype_of(b) != "i64":
            continue
        step = lane_step(index.expr.data, scope.lane.atom, scope.lane.width, scope.index.ranges)
        if step is not None and step.as_int == 1:
            return f"is_at(L, {scope.index.text(index.expr.data)}, {scope.text(b)})"
    return None


def constant(scope: Scope, op: sc.ConstantOp) -> None:
    """A literal, written where it is used."""
    result = op.results[0]
    scope.values[result] = literal(cast(Any, op).value, dtype_of(result))


def cast_text(text: str, source: str, target: str) -> str:
    """Conversion as PyTorch's `.to`; halves convert by way of f32."""
    if source == target:
        return text
    if source == "bool":
        via = "f32" if target in HALF else target
        return downcast(f"mask_to<{via}>({text})", target)
    text, source = upcast(text, source), "f32" if source in HALF else source
    if target == "bool":
        return f"m_mask({text})"
    via = "f32" if target in HALF else target
    return downcast(text if source == via else f"m_cast<{via}>({text})", target)


def cast_op(scope: Scope, op: sc.CastOp) -> None:
    """`cast`. A bf16 that is only cast again is not made: the value stays in f32 registers."""
    source, result = op.operands[0], op.results[0]
    have, to = dtype_of(source), dtype_of(result)
    if have == "f32" and to == "bf16" and _only_cast(result):
        scope.values[result] = f"to_bf16({scope.text(source)})"
        return
    before = source.owner
    if have == "bf16" and to == "f32" and isinstance(before, sc.CastOp) and _only_cast(source):
        if dtype_of(before.arg) == "f32":
            scope.define(result, f"as_bf16({scope.text(before.arg)})")
            return
    scope.define(result, cast_text(scope.text(source), have, to))


def _only_cast(value: SSAValue) -> bool:
    return all(isinstance(use.operation, sc.CastOp) for use in value.uses)


def bitcast(scope: Scope, op: sc.BitcastOp) -> None:
    """`bitcast`: the same bits."""
    source, result = op.operands[0], op.results[0]
    to = value_type(dtype_of(result))
    if "bool" in (dtype_of(source), dtype_of(result)):
        raise unprintable(op, "a condition has no bits; use scalar.cast")
    kind = f"vec<{to}, L.n>" if scope.varies(result) else to
    scope.define(result, f"m_as<{kind}>({scope.text(source)})")


def index_data(scope: Scope, e: Expr, operands: list[SSAValue], dtype: str, vary: bool) -> str:
    """An index expression as data of an integer type."""
    if not vary or scope.lane is None:
        text = scope.index_text(e, operands)
        return text if dtype == "i64" else f"({dtype})({text})"
    if scope.uniform_operands(operands):
        step = lane_step(e, scope.lane.atom, scope.lane.width, scope.index.ranges)
        if step is not None:
            base = scope.index_text(e, operands)
            return f"ramp<{dtype}>(L, {base}, {scope.index.text(step)})"
        known = _cycle(scope, e)
        if known is not None:
            values = ", ".join(map(str, known))
            return f"cycle<{dtype}, {values}>(L, {scope.index_text(e, operands)})"
    body = scope.lane_index_text(e, operands)
    return f"by_index<{dtype}>(L, [&](int i) HOT {{ return {body}; }})"


def _cycle(scope: Scope, e: Expr) -> tuple[int, ...] | None:
    """The values of an index in the lanes, when they are the same in all vectors."""
    assert scope.lane is not None
    place = (scope.lane.atom, scope.lane.width, scope.index.ranges)
    offsets, first = lane_offsets(e, *place), first_lane(e, *place)
    if offsets is None or first is None:
        return None
    return period_of(tuple(first + x for x in offsets))


def index_op(scope: Scope, op: sc.IndexOp) -> None:
    """`index e : i64`."""
    result = op.results[0]
    e, operands = op.expr.data, list(op.operands)
    dtype = dtype_of(result)
    scope.define(result, index_data(scope, e, operands, dtype, scope.varies(result)))


def within(scope: Scope, op: sc.WithinOp) -> None:
    """`within e in lo to hi`."""
    e, lo, hi = op.test
    operands, result = list(op.operands), op.results[0]
    if not scope.varies(result) or scope.lane is None:
        x, a, b = (scope.index_text(v, operands) for v in (e, lo, hi))
        scope.define(result, f"{x} >= {a} && {x} < {b}")
        return
    if scope.uniform_operands(operands) and scope.lane.atom not in [*lo.vars("d"), *hi.vars("d")]:
        step = lane_step(e, scope.lane.atom, scope.lane.width, scope.index.ranges)
        known = None if step is None else step.as_int
        if known is not None and 0 <= known <= 4096:
            x, a, b = (scope.index_text(v, operands) for v in (e, lo, hi))
            scope.define(result, f"within(L, {x}, {known}, {a}, {b})")
            return
    x, a, b = (index_data(scope, v, operands, "i64", True) for v in (e, lo, hi))
    scope.define(result, f"m_and({x} >= {a}, {x} < {b})")


def bound(scope: Scope, op: sc.BoundOp) -> None:
    """`bound %k to e [wrap] [if %c]`: reports a fault through `fault`."""
    scope.faults = True
    result, source = op.results[0], op.arg
    size = scope.index_text(op.size.data, [])
    wrap = "true" if op.wrap is not None else "false"
    value = cast_text(scope.text(source), dtype_of(source), dtype_of(result))
    where = "L" if scope.varies(result) else "Full<1>()"
    holds = None if op.mask is None else scope.text(op.mask)
    if scope.predicate is not None:
        around = scope.predicate if scope.varies(result) else f"any({scope.predicate})"
        holds = around if holds is None else f"m_and({around}, {holds})"
    if holds is None:
        scope.define(result, f"bound({where}, {value}, {size}, {wrap}, fault)")
    else:
        scope.define(result, f"bound_if({where}, {holds}, {value}, {size}, {wrap}, fault)")


def random(scope: Scope, op: sc.RandomOp) -> None:
    """`random philox %seed, e stream n`."""
    result, seed = op.results[0], op.operands[0]
    if scope.varies(seed):
        raise unprintable(op, "the seed differs between lanes; load it outside the vector loop")
    dtype = dtype_of(result)
    kind = op.kind.data
    stream = op.stream.value.data & 0xFFFFFFFF
    operands = list(op.operands[1:])
    at = index_data(scope, op.expr.data, operands, "i64", scope.varies(result))
    args = f"{scope.text(seed)}, {stream}u, {at}"
    if kind == "philox_bits":
        scope.define(result, f"random_bits<{dtype}>({args})")
    elif kind == "philox_normal":
        text = f"normal<{'f64' if dtype == 'f64' else 'f32'}>({args})"
        scope.define(result, downcast(text, dtype))
    elif dtype in HALF:
        bits = 8 if dtype == "bf16" else 11
        scope.define(result, downcast(f"uniform_bits({args}, {bits})", dtype))
    else:
        scope.define(result, f"uniform<{dtype}>({args})")


PRINTERS: dict[type[Operation], Callable[[Scope, Any], None]] = {
    sc.ConstantOp: constant,
    sc.CastOp: cast_op,
    sc.BitcastOp: bitcast,
    sc.IndexOp: index_op,
    sc.WithinOp: within,
    sc.BoundOp: bound,
    sc.RandomOp: random,
}
