"""Loops as C++: plain `for`, vector loops, scans, tiles, conditions; bodies op by op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from xdsl.ir import Block, Operation

from minductor.codegen.cpp import access, expr, reduce, tables
from minductor.codegen.cpp.ctext import dtype_of, literal, memory_type
from minductor.codegen.cpp.scope import Lane, Scope, unprintable
from minductor.codegen.cpp.shape import header, is_nested, lane_of, ranged, tail_of, words_of
from minductor.codegen.cpp.vary import Variance, yielded
from minductor.dialects import expr as ex
from minductor.dialects.kernel import ops as k
from minductor.dialects.scalar import ops as sc
from minductor.dialects.types import BufType


def print_block(scope: Scope, block: Block) -> None:
    """The ops of a block in order; yields are their parents' business."""
    for op in block.ops:
        print_op(scope, op)


def print_op(scope: Scope, op: Operation) -> None:
    """One op."""
    if isinstance(op, k.YieldOp | sc.YieldOp):
        return
    printer = _PRINTERS.get(type(op)) or expr.PRINTERS.get(type(op))
    if printer is not None:
        printer(scope, op)
    else:
        expr.table_op(scope, op)


# -- loops ----------------------------------------------------------------------------------------
def loop(scope: Scope, op: Any) -> None:
    """`parallel` and `for`."""
    print_loop(scope, op, "0", scope.index.text(op.extent.data))


def print_loop(scope: Scope, op: Any, lo: str, hi: str) -> None:
    """A `parallel` or `for` over lo .. hi."""
    block = cast(Block, op.body.block)
    lane = lane_of(scope, op, [block])
    var = op.var.data
    with scope.guarded(_owner_guard(scope, block)), ranged(scope, var, op.extent.data):
        if lane is None:
            if words_of(op).unroll > 1 and scope.lane is None:
                scope.out.line(f"#pragma GCC unroll {words_of(op).unroll}")
            with scope.out.block(header(var, lo, hi)), scope.level(var):
                print_block(scope, block)
            return
        unroll = 1 if is_nested([block]) else words_of(op).unroll
        tail = tail_of(op, lane.width, unroll)
        head = (
            f"lane_loop<{lane.width}, {unroll}, {tail}>({lo}, {hi}, [&](auto L, i64 d{var}) HOT {{"
        )
        scope.ahead = words_of(op).ahead * lane.width
        with scope.in_lane(lane), scope.out.block(head, "});"), scope.level(var):
            print_block(scope, block)
        scope.ahead = 0


def _owner_guard(scope: Scope, block: Block) -> str | None:
    """The ownership test of a whole loop, when all it does is one owned store of a row."""
    effects = [op for op in block.walk() if isinstance(op, k.StoreOp)]
    spans = {scope.owners.get(op, "") for op in effects}
    if len(effects) != 1 or spans == {""}:
        return None
    op = effects[0]
    known = all(v in scope.values for v in op.index_operands)
    if not known or not scope.uniform_operands(op.index_operands):
        return None
    guard = access.owner_test(scope, op, scope.owners[op])
    scope.owners[op] = ""
    return guard


# -- tiles ----------------------------------------------------------------------------------------
def tile(scope: Scope, op: k.TileOp) -> None:
    """`tile d1 : n <lanes N>`: one vector, masked unless it is full."""
    if scope.lane is not None:
        raise unprintable(op, "a tile inside a vector loop; give one of them `lanes 1`")
    words, block, var = words_of(op), op.body.block, op.var.data
    extent = op.extent.data
    lane = (ex.dim_atom(var), words.lanes)
    marks = Variance(lane, scope.index.ranges, scope.varying, scope.lane_locals)
    marks.block(block)
    full = extent.as_int == words.lanes
    with scope.out.block("{"), ranged(scope, var, extent):
        if full:
            scope.out.line(f"const Full<{words.lanes}> L;")
        else:
            scope.out.line(f"const Part<{words.lanes}> L{{(int)({scope.index.text(extent)})}};")
        scope.out.line(f"const i64 d{var} = 0;")
        with scope.in_lane(Lane(var, words.lanes)), scope.level(var):
            print_block(scope, block)


# -- scans ----------------------------------------------------------------------------------------
def scan(scope: Scope, op: k.ScanOp) -> None:
    """`scan d1 : n [add] { yield } do { ^(%p) .. }`."""
    print_scan(scope, op, "0", scope.index.text(op.extent.data))


def print_scan(scope: Scope, op: k.ScanOp, lo: str, hi: str) -> None:
    """A scan over lo .. hi."""
    first, then, var = op.body.block, op.then.block, op.var.data
    lane = lane_of(scope, op, [first, then], list(then.args))
    values = yielded(first)
    groups = reduce.group(op.kind_names, values, list(then.args))
    states = [scope.names.new("carry") for _ in groups]
    outer = scope.lane is not None
    for state, g in zip(states, groups, strict=True):
        vector = outer and any(scope.varies(v) for v in g.args)
        scope.out.line(f"{reduce.state_type(g, 'L.n' if vector else None)} {state};")
    with ranged(scope, var, op.extent.data):
        if lane is None:
            with scope.out.block(header(var, lo, hi)), scope.level(var):
                print_block(scope, first)
                for state, g in zip(states, groups, strict=True):
                    vector = outer and any(scope.varies(v) for v in g.args)
                    args = reduce.arguments(scope, g, vector)
                    scope.out.line(f"{state}.take({args});")
                    reduce.bind_results(scope, g, state)
                print_block(scope, then)
            return
        tail = tail_of(op, lane.width, 1)
        head = f"lane_loop<{lane.width}, 1, {tail}>({lo}, {hi}, [&](auto L, i64 d{var}) HOT {{"
        with scope.in_lane(lane), scope.out.block(head, "});"), scope.level(var):
            print_block(scope, first)
            for state, g in zip(states, groups, strict=True):
                name = scope.names.new("prefixes")
                args = reduce.arguments(scope, g, True)
                kind = reduce.state_type(g, "L.n")
                scope.out.line(f"const auto {name} = prefix<{kind}>(L, {state}, {args});")
                reduce.bind_results(scope, g, name)
            print_block(scope, then)


# -- memory of an iteration, conditions ----------------------------------------------------------
def local(scope: Scope, op: k.LocalOp) -> None:
    """`local SPACE [= init] : B`: an array on the stack, of vectors inside a vector loop."""
    result = op.results[0]
    type_ = cast(BufType, result.type)
    kind, size = memory_type(type_.dtype), scope.index.text(type_.elements)
    name = scope.names.new(result.name_hint)
    scope.values[result] = name
    lanes = result in scope.lane_locals
    fixed = type_.elements.as_int is not None
    align = "alignas(64) " if fixed else ""
    element = f"vec<{kind}, L.n>" if lanes else kind
    scope.out.line(f"{align}{element} {name}[{size}];")
    if op.init is not None:
        value = literal(op.init, type_.dtype)
        value = {"true": "1", "false": "0"}.get(value, value)
        value = f"L({kind}({value}))" if lanes else f"{kind}({value})"
        scope.out.line(f"fill({name}, {size}, {value});")


def transpose(scope: Scope, op: k.TransposeOp) -> None:
    """`transpose %t[R, C]`."""
    rows, cols = op.shape.data
    name = scope.text(op.buffer)
    if rows is cols and rows.as_int is not None:
        scope.out.line(f"transpose_square<{rows}>({name});")
    else:
        scope.out.line(f"transpose({name}, {scope.index.text(rows)}, {scope.index.text(cols)});")


def if_op(scope: Scope, op: sc.IfOp) -> None:
    """`if`: control flow where the condition is one for all lanes, else both sides and a choice."""
    if scope.varies(op.cond):
        _if_lanes(scope, op)
        return
    names = [scope.names.new(r.name_hint) for r in op.results]
    for name, result in zip(names, op.results, strict=True):
        scope.out.line(f"{scope.register_type(result)} {name};")
    sides = ((f"if ({scope.text(op.cond)}) {{", op.then.block), ("else {", op.orelse.block))
    for head, side in sides:
        with scope.out.block(head), scope.level():
            print_block(scope, side)
            for name, result, value in zip(names, op.results, yielded(side), strict=True):
                text = scope.spread(value) if scope.varies(result) else scope.text(value)
                if scope.varies(result) and dtype_of(result) == "bool":
                    text = f"as_mask(L, {text})"
                scope.out.line(f"{name} = {text};")
    scope.values.update(zip(op.results, names, strict=True))


def _if_lanes(scope: Scope, op: sc.IfOp) -> None:
    """Both sides run predicated: their loads touch memory only in lanes that take that side."""
    outer, own = scope.predicate, scope.text(op.cond)
    both = lambda test: test if outer is None else f"m_and({outer}, {test})"  # noqa: E731
    conditions = [scope.names.new("taken"), scope.names.new("skipped")]
    scope.out.line(f"const auto {conditions[0]} = {both(own)};")
    scope.out.line(f"const auto {conditions[1]} = {both(f'm_not({own})')};")
    for predicate, side in zip(conditions, (op.then.block, op.orelse.block), strict=True):
        scope.predicate = predicate
        print_block(scope, side)
    scope.predicate = outer
    pairs = zip(op.results, yielded(op.then.block), yielded(op.orelse.block), strict=True)
    for result, a, b in pairs:
        x, y = scope.spread(a), scope.spread(b)
        if dtype_of(result) == "bool":
            text = f"m_or(m_and({own}, {x}), m_and(m_not({own}), {y}))"
        else:
            text = f"m_where({own}, {x}, {y})"
        scope.define(result, text)


def barrier(scope: Scope, op: k.BarrierOp) -> None:
    """A barrier below the top level has no meaning here."""
    raise unprintable(op, "a barrier stands between top-level loops only")


def fold(scope: Scope, op: k.FoldOp) -> None:
    """`fold KIND %v over d1`: the lanes of the tile become one value."""
    state = reduce.fold_state(scope, op, op.kind.data)
    for g in reduce.group([op.kind.data], list(op.operands), list(op.results)):
        reduce.bind_results(scope, g, f"{state}")


def cumfold(scope: Scope, op: k.CumfoldOp) -> None:
    """`cumfold KIND %v over d1`: inclusive prefixes along the tile."""
    for g in reduce.group([op.kind.data], list(op.operands), list(op.results)):
        carry, name = scope.names.new("carry"), scope.names.new("prefixes")
        scope.out.line(f"{reduce.state_type(g, None)} {carry};")
        args = reduce.arguments(scope, g, True)
        kind = reduce.state_type(g, "L.n")
        scope.out.line(f"const auto {name} = prefix<{kind}>(L, {carry}, {args});")
        reduce.bind_results(scope, g, name)


def dot(scope: Scope, op: k.DotOp) -> None:
    """Matmul steps stay with the library on CPU."""
    raise unprintable(op, "`dot` has no C++ form; write it as a reduce loop of mul and add")


def reduce_loop(scope: Scope, op: k.ReduceOp) -> None:
    """`reduce`."""
    reduce.print_reduce(scope, op, ("0", scope.index.text(op.extent.data)), print_block)


def lookup(scope: Scope, op: sc.LookupOp) -> None:
    """`lookup`."""
    tables.lookup(scope, op, print_block)


_PRINTERS: dict[type[Operation], Callable[[Scope, Any], None]] = {
    k.ParallelOp: loop,
    k.ForOp: loop,
    k.TileOp: tile,
    k.ReduceOp: reduce_loop,
    k.ScanOp: scan,
    k.FoldOp: fold,
    k.CumfoldOp: cumfold,
    k.DotOp: dot,
    k.LocalOp: local,
    k.TransposeOp: transpose,
    k.BarrierOp: barrier,
    k.LoadOp: access.load,
    k.StoreOp: access.store,
    sc.IfOp: if_op,
    sc.LookupOp: lookup,
}
