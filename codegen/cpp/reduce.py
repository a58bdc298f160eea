"""Reductions as C++: states of the prelude (`r_add`, `r_argmax`, ...), several in flight."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Block, SSAValue

from minductor.codegen.cpp.ctext import HALF, dtype_of, math_type
from minductor.codegen.cpp.index import lane_step
from minductor.codegen.cpp.scope import Lane, Scope, downcast, upcast
from minductor.codegen.cpp.shape import header, lane_of, ranged, tail_of, words_of
from minductor.codegen.cpp.vary import KIND_OPERANDS, KIND_RESULTS, yielded
from minductor.dialects import expr as ex
from minductor.dialects.kernel import ops as k
from minductor.dialects.scalar import ops as sc

_CASCADE = 64  # steps that one running sum takes before sums are cascaded
_INDEXED = frozenset({"argmin", "argmax", "cummax", "cummin"})
_PARTS = {
    "argmin": ("v", "i"),
    "argmax": ("v", "i"),
    "cummax": ("v", "i"),
    "cummin": ("v", "i"),
    "welford": ("mean()", "m2()", "count()"),
    "max_sumexp": ("m", "sum()"),
}


@dataclass(frozen=True)
class Group:
    """One kind of a reduction: its operands, its results and the type of its indices."""

    kind: str
    args: tuple[SSAValue, ...]
    results: tuple[SSAValue, ...]
    index_type: str = "i64"


def group(kinds: list[str], args: list[SSAValue], results: list[SSAValue]) -> list[Group]:
    """Operands and results dealt out to the kinds."""
    out: list[Group] = []
    a = r = 0
    for kind in kinds:
        na, nr = KIND_OPERANDS.get(kind, 1), KIND_RESULTS.get(kind, 1)
        out.append(Group(kind, tuple(args[a : a + na]), tuple(results[r : r + nr])))
        a, r = a + na, r + nr
    return out


def state_type(g: Group, lanes: str | None) -> str:
    """The state of a kind over `lanes` lanes, or over scalars."""

    def of(kind: str) -> str:
        return kind if lanes is None else f"vec<{kind}, {lanes}>"

    value = of(math_type(dtype_of(g.args[0])))
    if g.kind in _INDEXED:
        return f"r_{g.kind}<{value}, {of(g.index_type)}>"
    return f"r_{g.kind}<{value}>"


def _as_math(scope: Scope, value: SSAValue, vector: bool) -> str:
    text = scope.spread(value) if vector else scope.text(value)
    dtype = dtype_of(value)
    if dtype == "bool":
        return f"mask_to<i32>({text})"
    return upcast(text, dtype)


def arguments(scope: Scope, g: Group, vector: bool) -> str:
    """What a state takes in one iteration."""
    first = _as_math(scope, g.args[0], vector)
    if len(g.args) == 1:
        return first
    index = scope.spread(g.args[1]) if vector else scope.text(g.args[1])
    if g.index_type != "i64" and vector:
        narrow = _narrow_ramp(scope, g.args[1])
        index = narrow if narrow is not None else f"m_cvt<{g.index_type}>({index})"
    return f"{first}, {index}"


def _narrow_ramp(scope: Scope, value: SSAValue) -> str | None:
    """A 32-bit form of an index that was printed as 64-bit data."""
    op = value.owner
    if not isinstance(op, sc.IndexOp) or op.operands or scope.lane is None:
        return None
    step = lane_step(op.expr.data, scope.lane.atom, scope.lane.width, scope.index.ranges)
    if step is None:
        return None
    return f"ramp<i32>(L, {scope.index.text(op.expr.data)}, {scope.index.text(step)})"


def bind_results(scope: Scope, g: Group, state: str, first: str | None = None) -> None:
    """The finished values of a state."""
    for part, result in zip(_PARTS.get(g.kind, ("s",)), g.results, strict=True):
        text = f"{state}.{part}"
        if part == "i" and first is not None:
            text = f"{state}.index({first})"
        if part == "i" and g.index_type != "i64":
            text = f"m_cvt<i64>({text})"
        dtype = dtype_of(result)
        if dtype == "bool":
            text = f"m_mask({text})"
        elif dtype in HALF:
            text = downcast(text, dtype)
        elif part == "n":
            text = f"m_cvt<{dtype}>({text})"
        scope.define(result, text)


@dataclass(frozen=True)
class Plan:
    """How one kind of a loop is carried: group, index of the first iteration, `take` or `next`."""

    group: Group
    first: str | None
    verb: str


def _specialise(scope: Scope, g: Group, op: k.ReduceOp) -> Plan:
    """How a loop carries one kind.

    When the index is an expression that grows with the loop variable, ties need no comparison; when
    it also fits 32 bits, it is carried in 32 bits.
    """
    if g.kind not in ("argmin", "argmax") or not isinstance(g.args[1].owner, sc.IndexOp):
        return Plan(g, None, "take")
    source = g.args[1].owner
    e, atom = source.expr.data, ex.dim_atom(op.var.data)
    factor = e.coeff(atom).as_int if e.is_linear_in(atom) else None
    if source.operands or factor is None or factor <= 0:
        return Plan(g, None, "take")
    first = e.subs({atom: 0})
    if scope.lane is not None and scope.lane.atom in first.vars("d"):
        return Plan(g, None, "take")  # every lane would start at an index of its own
    ranges = scope.index.ranges.with_extents([(op.var.data, op.extent.data)])
    top = ranges.interval(e)[1]
    kind = "i32" if top is not None and top < 2**31 - 1 else "i64"
    return Plan(Group(g.kind, g.args, g.results, kind), scope.index.text(first), "next")


PrintBlock = Callable[[Scope, Block], None]
Span = tuple[str, str]


def print_reduce(
    scope: Scope, op: k.ReduceOp, span: Span, print_block: PrintBlock, bind: bool = True
) -> list[tuple[Plan, str]]:
    """A reduction over span[0] .. span[1]; returns each kind's plan and finished state.

    Without `bind` the states are not turned into values: threads merge them first.
    """
    block, outer = op.body.block, scope.lane is not None
    lane = lane_of(scope, op, [block])
    groups = group(op.kind_names, yielded(block), list(op.results))
    plans = [_specialise(scope, g, op) for g in groups]
    if lane is not None:
        states = _vector_reduce(scope, op, plans, span, print_block)
    else:
        states = _plain_reduce(scope, op, plans, span, print_block, outer)
    done = list(zip(plans, states, strict=True))
    if bind:
        for plan, state in done:
            bind_results(scope, plan.group, state, plan.first)
    return done


def _params(names: list[str]) -> str:
    return "".join(f", auto &{n}" for n in names)


def _vector_reduce(
    scope: Scope, op: k.ReduceOp, plans: list[Plan], span: Span, print_block: PrintBlock
) -> list[str]:
    block, var, words = op.body.block, op.var.data, words_of(op)
    names = [scope.names.new("acc") for _ in plans]
    for name, plan in zip(names, plans, strict=True):
        vector, one = state_type(plan.group, str(words.lanes)), state_type(plan.group, None)
        scope.out.line(f"red<{vector}, {one}, {words.unroll}> {name};")
    tail = tail_of(op, words.lanes, words.unroll)
    driver = "cascade_loop" if _is_long(op, plans, words.lanes * words.unroll) else "lane_loop"
    head = (
        f"{driver}<{words.lanes}, {words.unroll}, {tail}>({span[0]}, {span[1]}, "
        f"[&](auto L, i64 d{var}{_params(names)}) HOT {{"
    )
    scope.ahead = words.ahead * words.lanes
    with ranged(scope, var, op.extent.data), scope.in_lane(Lane(var, words.lanes)):
        with scope.out.block(head, f"}}, {', '.join(names)});"), scope.level(var):
            print_block(scope, block)
            for name, plan in zip(names, plans, strict=True):
                args = arguments(scope, plan.group, True)
                scope.out.line(f"{plan.verb}(L, {name}, {args});")
    scope.ahead = 0
    for plan in plans:
        scope.varying.difference_update(plan.group.results)
    return _finish(scope, names, "total")


def _is_long(op: k.ReduceOp, plans: list[Plan], in_flight: int) -> bool:
    """A float sum of so many steps that adding them one after the other would lose digits."""
    extent = op.extent.data.as_int
    if extent is not None and extent <= _CASCADE * in_flight:
        return False
    return any(
        p.group.kind == "add" and math_type(dtype_of(p.group.args[0])) in ("f32", "f64")
        for p in plans
    )


def _finish(scope: Scope, names: list[str], how: str) -> list[str]:
    totals = [scope.names.new("total") for _ in names]
    for name, total in zip(names, totals, strict=True):
        scope.out.line(f"const auto {total} = {name}.{how}();")
    return totals


def _plain_reduce(
    scope: Scope,
    op: k.ReduceOp,
    plans: list[Plan],
    span: Span,
    print_block: PrintBlock,
    outer: bool,
) -> list[str]:
    """Element by element; inside a vector loop each lane has its own state."""
    block, var, unroll = op.body.block, op.var.data, words_of(op).unroll
    vector = [outer and any(scope.varies(v) for v in p.group.args) for p in plans]
    names = [scope.names.new("acc") for _ in plans]
    kinds = [state_type(p.group, "L.n" if v else None) for p, v in zip(plans, vector, strict=True)]
    long = _is_long(op, plans, unroll)
    inside = [scope.names.new("part") for _ in plans] if long and unroll == 1 else names
    if unroll > 1:
        driver = "cascade_loop" if long else "lane_loop"
        head = f"{driver}<1, {unroll}, 0>({span[0]}, {span[1]}, "
        head += f"[&](auto, i64 d{var}{_params(names)}) HOT {{"
        tail = f"}}, {', '.join(names)});"
    else:
        head, tail = header(var, *span), "}"
    for name, kind in zip(names, kinds, strict=True):
        kind = f"red<{kind}, {kind}, {unroll}>" if unroll > 1 else kind
        scope.out.line(f"{kind} {name};")
    pieces = _pieces(scope, span, list(zip(names, inside, kinds, strict=True)))
    with pieces if inside is not names else nullcontext(None) as piece:
        head = head if piece is None else header(var, *piece)
        with ranged(scope, var, op.extent.data), scope.out.block(head, tail), scope.level(var):
            print_block(scope, block)
            for name, plan, v in zip(inside, plans, vector, strict=True):
                scope.out.line(f"{name}.{plan.verb}({arguments(scope, plan.group, v)});")
    return _finish(scope, names, "merged") if unroll > 1 else names


@contextmanager
def _pieces(
    scope: Scope, span: Span, states: list[tuple[str, str, str]]
) -> Generator[Span, None, None]:
    """A loop over pieces of the span; each piece fills states of its own, merged at its end."""
    step, start = scope.names.new("step"), scope.names.new("start")
    lo, hi = span
    count = hi if lo == "0" else f"{hi} - {lo}"
    scope.out.line(f"const i64 {step} = cascade_step({count});")
    with scope.out.block(f"for (i64 {start} = {lo}; {start} < {hi}; {start} += {step}) {{"):
        for _, part, kind in states:
            scope.out.line(f"{kind} {part};")
        yield start, f"least({start} + {step}, {hi})"
        for whole, part, _ in states:
            scope.out.line(f"{whole}.merge({part});")


def fold_state(scope: Scope, op: Any, kind: str) -> str:
    """A scalar state that holds the fold of a tile's lanes."""
    g = group([kind], list(op.operands), list(op.results))[0]
    name, total = scope.names.new("acc"), scope.names.new("total")
    scope.out.line(f"{state_type(g, 'L.n')} {name};")
    scope.out.line(f"take(L, {name}, {arguments(scope, g, True)});")
    scope.out.line(f"const auto {total} = fold_lanes({name});")
    scope.varying.difference_update(op.results)
    return total
