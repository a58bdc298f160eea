"""Loads and stores: contiguous, strided or gathered vectors, predicates, combining stores.

An address that does not vary with the lane is one element; one that moves by one is a vector of
consecutive elements; everything else goes lane by lane, in order.
"""

from __future__ import annotations

import re
from typing import cast

from xdsl.ir import SSAValue

from minductor.codegen.cpp.ctext import HALF, dtype_of, memory_type
from minductor.codegen.cpp.index import lane_step
from minductor.codegen.cpp.scope import Scope, downcast, upcast
from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.dialects.expr_lanes import Pick, lane_offsets, pick_of
from minductor.dialects.kernel import ops as k
from minductor.dialects.scalar import ops as sc
from minductor.dialects.types import BufType


def _buffer_dtype(buffer: SSAValue) -> str:
    return cast(BufType, buffer.type).dtype


def from_memory(text: str, dtype: str) -> str:
    """A value as registers hold it, from what memory holds."""
    return f"m_mask({text})" if dtype == "bool" else text


def to_memory(text: str, dtype: str) -> str:
    """A value as memory holds it."""
    return f"mask_to<u8>({text})" if dtype == "bool" else text


def _step(scope: Scope, e: Expr, operands: list[SSAValue]) -> Expr | None:
    """The uniform step of an address between lanes; None when it has to go lane by lane."""
    if scope.lane is None or not scope.uniform_operands(operands):
        return None
    return lane_step(e, scope.lane.atom, scope.lane.width, scope.index.ranges)


def _pointer(scope: Scope, buffer: SSAValue, e: Expr, operands: list[SSAValue]) -> str:
    return _plus(scope.text(buffer), scope.index_text(e, operands))


def _plus(base: str, offset: str) -> str:
    if offset == "0":
        return base
    return f"{base} + {offset}" if _is_atomic(offset) else f"{base} + ({offset})"


def _is_atomic(text: str) -> bool:
    return re.fullmatch(r"\w+(\([^()]*\))?", text) is not None


def _lane_address(scope: Scope, e: Expr, operands: list[SSAValue]) -> str:
    return f"[&](int i) HOT {{ return {scope.lane_index_text(e, operands)}; }}"


def _condition(scope: Scope, mask: SSAValue | None) -> tuple[str | None, bool]:
    """The condition of an access (its own and that of an `if` around), and whether it varies."""
    own = None if mask is None else scope.text(mask)
    varies = mask is not None and scope.varies(mask)
    if scope.predicate is None:
        return own, varies
    if own is None:
        return scope.predicate, True
    own = scope.spread(mask) if mask is not None and not varies else own
    return f"m_and({scope.predicate}, {own})", True


# -- loads ----------------------------------------------------------------------------------------
def load(scope: Scope, op: k.LoadOp) -> None:
    """`load %x[e] [if %c else %z]`."""
    buffer, result = op.buffer, op.results[0]
    e, operands, dtype = op.index.data[0], op.index_operands, dtype_of(op.results[0])
    if buffer in scope.lane_locals:
        at = scope.index_text(e, operands)
        scope.define(result, from_memory(f"{scope.text(buffer)}[{at}]", dtype))
        return
    if not scope.varies(result) or scope.lane is None:
        _scalar_load(scope, op, dtype)
        return
    condition, _ = _condition(scope, None if op.mask is None else op.mask[0])
    _fetch(scope, op, e, operands)
    if condition is None:
        pick = _pick(scope, e, operands) if op.pick is not None else None
        text = _vector_load(scope, buffer, e, operands)
        if pick is not None:
            pointer = _pointer(scope, buffer, e, operands)
            name = "ld_words" if dtype == "bf16" and only_widened(result) else "ld_pick"
            text = f"{name}<{pick.step}, {pick.over}, {pick.add}>(L, {pointer})"
        scope.define(result, from_memory(text, dtype))
        return
    other = f"L({memory_type(dtype)}(0))"
    if op.mask is not None:
        other = to_memory(scope.spread(op.mask[1]), dtype)
    text = _masked_load(scope, (buffer, e, operands), condition, other)
    scope.define(result, from_memory(text, dtype))


def _fetch(scope: Scope, op: k.LoadOp | k.StoreOp, e: Expr, operands: list[SSAValue]) -> None:
    """Ask for the lines that an access with `ahead` takes later."""
    if op.ahead is not None and scope.lane is not None:
        pointer = _pointer(scope, op.buffer, e, operands)
        ahead, write = scope.index.text(op.ahead.data), int(isinstance(op, k.StoreOp))
        scope.out.line(f"fetch<{write}>(L, {pointer} + {ahead});")


def _scalar_load(scope: Scope, op: k.LoadOp, dtype: str) -> None:
    at = scope.index_text(op.index.data[0], op.index_operands)
    text = f"{scope.text(op.buffer)}[{at}]"
    if dtype == "bool":
        text = f"{text} != 0"
    if op.mask is not None:
        text = f"{scope.text(op.mask[0])} ? {text} : {scope.text(op.mask[1])}"
    if scope.predicate is not None:
        zero = "false" if dtype == "bool" else f"{memory_type(dtype)}(0)"
        text = f"any({scope.predicate}) ? {text} : {zero}"
    scope.define(op.results[0], text)


def only_widened(value: SSAValue) -> bool:
    """All that is done with a value is to make an f32 of it."""
    users = [use.operation for use in value.uses]
    return all(isinstance(op, sc.CastOp) and dtype_of(op.results[0]) == "f32" for op in users)


def _vector_load(scope: Scope, buffer: SSAValue, e: Expr, operands: list[SSAValue]) -> str:
    step = _step(scope, e, operands)
    known = None if step is None else step.as_int
    if known == 1:
        pointer = _pointer(scope, buffer, e, operands)
        if scope.ahead:
            scope.out.line(f"__builtin_prefetch({pointer} + {scope.ahead});")
        return f"ld(L, {pointer})"
    if step is not None and step.terms:
        return f"ld_step(L, {_pointer(scope, buffer, e, operands)}, {scope.index.text(step)})"
    vector = vector_index(scope, e, operands)
    if vector is not None:
        return f"ld_at(L, {_plus(scope.text(buffer), vector[0])}, {vector[1]})"
    return f"ld_by(L, {scope.text(buffer)}, {_lane_address(scope, e, operands)})"


def _pick(scope: Scope, e: Expr, operands: list[SSAValue]) -> Pick | None:
    """How the lanes of a load that says `pick` lie about the first."""
    if scope.lane is None or not scope.uniform_operands(operands):
        return None
    offsets = lane_offsets(e, scope.lane.atom, scope.lane.width, scope.index.ranges)
    return None if offsets is None else pick_of(offsets)


def vector_index(scope: Scope, e: Expr, operands: list[SSAValue]) -> tuple[str, str] | None:
    """(uniform part, vector of 64-bit indices) of an address linear in its data operands."""
    if scope.lane is None:
        return None
    data = [t for t in e.vars("t") if scope.varies(operands[t.index])]
    if not data or any(not e.is_linear_in(t) for t in data):
        return None
    rest, parts = e, list[str]()
    for t in data:
        factor = e.coeff(t)
        if factor.vars("dt") or dtype_of(operands[t.index]) != "i64":
            return None
        rest = rest - factor * Expr.of_atom(t)
        name = scope.text(operands[t.index])
        scale = scope.index.text(factor)
        parts.append(name if factor.as_int == 1 else f"{name} * L(i64({scale}))")
    step = lane_step(rest, scope.lane.atom, scope.lane.width, scope.index.ranges)
    if step is None:
        return None
    if step.terms:
        parts.append(f"ramp<i64>(L, 0, {scope.index.text(step)})")
    return scope.index_text(rest, operands), " + ".join(parts)


def _masked_load(
    scope: Scope, place: tuple[SSAValue, Expr, list[SSAValue]], condition: str, other: str
) -> str:
    buffer, e, operands = place
    step = _step(scope, e, operands)
    known = None if step is None else step.as_int
    if known == 1:
        return f"ld_if(L, {_pointer(scope, buffer, e, operands)}, {condition}, {other})"
    if known == 0:
        pointer = _pointer(scope, buffer, e, operands)
        return f"ld_uniform_if(L, {pointer}, {condition}, {other})"
    address = _lane_address(scope, e, operands)
    return f"ld_by_if(L, {scope.text(buffer)}, {address}, {condition}, {other})"


# -- stores ---------------------------------------------------------------------------------------
def combine_text(kind: str, dtype: str, a: str, b: str) -> str:
    """`a` combined with `b`, both as memory holds them."""
    if dtype == "bool":
        return f"{a} | {b}" if kind in ("add", "max") else f"{a} & {b}"
    x, y = upcast(a, dtype), upcast(b, dtype)
    if kind in ("add", "mul"):
        text = f"{x} {'+' if kind == 'add' else '*'} {y}"
        narrow = dtype not in HALF and memory_type(dtype)[1:] in ("8", "16")
        text = f"m_cvt<{dtype}>({text})" if narrow else text
    else:
        text = f"{'m_minimum' if kind == 'min' else 'm_maximum'}({x}, {y})"
    return downcast(text, dtype)


def store(scope: Scope, op: k.StoreOp) -> None:
    """`store [combine] %v, %o[e] [if %c] {by, nt}`."""
    combine = None if op.combine is None else op.combine.data
    if combine == "last":
        combine = None
    owner = scope.owners.get(op, "")
    if owner and not scope.uniform_operands(op.index_operands):
        _owned_lanes(scope, op, combine or "last", owner)
        return
    with scope.guarded(owner_test(scope, op, owner) if owner else None):
        if scope.lane is not None and _is_vector_store(scope, op):
            _vector_store(scope, op, combine)
        else:
            _scalar_store(scope, op, combine)


def owner_test(scope: Scope, op: k.StoreOp, span: str) -> str:
    """This thread owns the row that the store's data index names."""
    row = ex.ZERO
    for mono, c in op.index.data[0].terms:
        if any(v.kind == "t" for a in mono for v in Expr.of_atom(a).vars()):
            term = Expr.of(c)
            for a in mono:
                term = term * Expr.of_atom(a)
            row = row + term
    at = scope.index_text(row, op.index_operands)
    return f"{at} >= {span}.lo && {at} < {span}.hi"


def _owned_lanes(scope: Scope, op: k.StoreOp, combine: str, span: str) -> None:
    """Rows differ between lanes: each lane asks for itself."""
    at = scope.lane_index_text(op.index.data[0], op.index_operands)
    test = f"const i64 place = {at}; return place >= {span}.lo && place < {span}.hi;"
    mine = f"m_mask(by_index<i32>(L, [&](int i) HOT {{ {test} }}))"
    condition, _ = _condition(scope, op.mask)
    mask = mine if condition is None else f"m_and({mine}, as_mask(L, {condition}))"
    value = to_memory(scope.spread(op.value), _buffer_dtype(op.buffer))
    _update_lanes(scope, op, combine, value, mask)


def _is_vector_store(scope: Scope, op: k.StoreOp) -> bool:
    if op.buffer in scope.lane_locals or scope.lane is None:
        return False
    varies = scope.lane.atom in op.index.data[0].vars("d")
    return varies or any(scope.varies(v) for v in (op.value, *op.operands[2:]))


def _scalar_store(scope: Scope, op: k.StoreOp, combine: str | None) -> None:
    """One element (or one vector of a buffer that belongs to the lanes)."""
    dtype = _buffer_dtype(op.buffer)
    lane_local = op.buffer in scope.lane_locals
    at = scope.index_text(op.index.data[0], op.index_operands)
    place = f"{scope.text(op.buffer)}[{at}]"
    value = scope.spread(op.value) if lane_local else scope.text(op.value)
    value = to_memory(value, dtype)
    condition, _ = _condition(scope, op.mask)
    if lane_local and condition is not None:
        new = value if combine is None else combine_text(combine, dtype, place, value)
        scope.out.line(f"{place} = m_where({condition}, {new}, {place});")
        return
    line = f"{place} = {value};"
    if combine is not None:
        line = f"{place} = {combine_text(combine, dtype, place, value)};"
        if _by(op) == "atomic":
            kind = memory_type(dtype)
            body = combine_text(combine, dtype, "old", value)
            line = f"atomic_update(&{place}, [&]({kind} old) {{ return {kind}({body}); }});"
    scope.out.line(line if condition is None else f"if ({condition}) {line}")


def _by(op: k.StoreOp) -> str | None:
    return op.by.data if op.by is not None else None


def _vector_store(scope: Scope, op: k.StoreOp, combine: str | None) -> None:
    dtype, e, operands = _buffer_dtype(op.buffer), op.index.data[0], op.index_operands
    value = to_memory(scope.spread(op.value), dtype)
    condition, _ = _condition(scope, op.mask)
    _fetch(scope, op, e, operands)
    step = _step(scope, e, operands)
    known = None if step is None else step.as_int
    base = scope.text(op.buffer)
    if combine is not None and (known != 1 or condition is not None or _by(op) == "atomic"):
        _update_lanes(scope, op, combine, value, condition)
        return
    if condition is not None:
        condition = condition if op.mask is None or scope.varies(op.mask) else scope.spread(op.mask)
        if known == 1:
            pointer = _pointer(scope, op.buffer, e, operands)
            scope.out.line(f"st_if_all(L, {pointer}, {condition}, {value});")
            return
        address = _lane_address(scope, e, operands)
        scope.out.line(f"st_if(L, {base}, {address}, {condition}, {value});")
        return
    if known == 1:
        pointer = _pointer(scope, op.buffer, e, operands)
        if combine is not None:
            value = combine_text(combine, dtype, f"ld(L, {pointer})", value)
        name = "st_nt" if op.nt is not None and combine is None else "st"
        scope.out.line(f"{name}(L, {pointer}, {value});")
    elif known == 0:
        scope.out.line(f"st_last(L, {_pointer(scope, op.buffer, e, operands)}, {value});")
    else:
        scope.out.line(f"st_by(L, {base}, {_lane_address(scope, e, operands)}, {value});")


def _update_lanes(
    scope: Scope, op: k.StoreOp, combine: str, value: str, condition: str | None
) -> None:
    """A combining store lane by lane, in order."""
    dtype = _buffer_dtype(op.buffer)
    kind = memory_type(dtype)
    body = "b" if combine == "last" else combine_text(combine, dtype, "a", "b")
    address = _lane_address(scope, op.index.data[0], op.index_operands)
    by = "true" if _by(op) == "atomic" else "false"
    fold = f"[]({kind} a, {kind} b) HOT {{ return {kind}({body}); }}"
    mask = condition or "true"
    base = scope.text(op.buffer)
    scope.out.line(f"update_by<{by}>(L, {base}, {address}, {mask}, {value}, {fold});")
