"""kernel-moments: mean and variance by sums that are shifted by the first element.

Before, the statistics of a channel over (images, places):
    %m, %v, %n = kernel.reduce d1 : 25088 [welford] -> f32, f32, f32 {
      %a = kernel.load %x[3136 * d0 + 200704 * (d1 floordiv 3136) + (d1 mod 3136)] : f32
      kernel.yield %a : f32 }

After:
    %f = kernel.load %x[3136 * d0] : f32   %w = scalar.cast %f : f32 to f64
    %s, %q = kernel.reduce d1 : 8 [add, add] -> f64, f64 {
      %s1, %q1 = kernel.reduce d2 : 3136 [add, add] -> f64, f64 {
        %a = kernel.load %x[3136 * d0 + 200704 * d1 + d2] : f32
        %d = scalar.sub %a, %w : f64   %e = scalar.mul %d, %d : f64   kernel.yield %d, %e }
      kernel.yield %s1, %q1 }
    %m = %w + %s / n   %v = max(0, %q - %s * (%s / n))

Values of at most four bytes are exact in f64, and so are their differences to the last place of
the result. Sums need no count in the loop, and unlike moments they join level by level, so that a
walk over several dimensions becomes loops whose innermost reads memory in order.

Rows of bf16 and f16 that a cache holds are walked twice instead, in f32 and so in half the vectors;
short rows of f32 too, where what follows is costly and the variance is wanted under a root alone,
which halves its error:
    %t = kernel.reduce d1 : 768 [add] -> f32 { .. kernel.yield %a }   %m = scalar.div %t, %n : f32
    %v = kernel.reduce d1 : 768 [add] -> f32 { .. %d = scalar.sub %a, %m   kernel.yield %d * %d }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from minductor.dialects import expr as ex
from minductor.dialects.dtypes import dtype_of_scalar
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.verify import REDUCE_KINDS, op_exprs, symbol_ranges
from minductor.dialects.scalar.ops import ConstantOp, TableOp, scalar
from minductor.passes.base import MiniPass
from minductor.passes.kernel._accumulate import Moments, Plain
from minductor.passes.kernel._copy import Copies, map_exprs, var_of
from minductor.passes.kernel._tree import (
    LOOPS,
    body_cost,
    fresh_variable,
    ops_of,
    ranges_around,
)
from minductor.passes.remarks import sink_of

CHEAP = 12.0
"""Cost of a value that may be computed twice, an add is 1."""
COSTLY = 16.0
"""Cost of an element's work from which on instructions and not memory are what a row takes."""
SHORT = 16 << 10
"""Bytes of a row of f32 that a second walk finds in the first cache."""
SCALED = frozenset({"add", "div", "divide_by", "mul", "maximum"})
"""Steps from a sum of squares to a variance."""


@dataclass(frozen=True)
class KernelMomentsPass(MiniPass):
    """Take the moments of C++ kernels by shifted sums.

    moments: false leaves all as it is; twice: elements up to which a row may be walked twice, 0
    for never.
    """

    name = "kernel-moments"
    needs = frozenset({"kernel"})

    moments: bool = True
    twice: int = 131072

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every reduction of C++ kernels that has moments."""
        if not self.moments:
            return
        symbols = symbol_ranges(op)
        for kernel, stage in ops_of(op, "cpp", k.ReduceOp):
            if "welford" not in stage.kind_names:
                continue
            ranges = ranges_around(stage, symbols)
            why = _refusal(stage, ranges)
            if why:
                sink_of(ctx).refused(self.name, kernel.sym_name.data, why)
                continue
            if _is_walked_twice(stage, ranges, self.twice):
                _walk_twice(stage, ranges, fresh_variable(kernel))
                continue
            _rewrite(stage, ranges, fresh_variable(kernel))


def _refusal(stage: k.ReduceOp, ranges: Ranges) -> str:
    """Why a reduction stays as it is; empty: it need not."""
    low = ranges.interval(stage.extent.data)[0]
    if low is None or low < 1:
        return "there may be no first element"
    if any(isinstance(op, LOOPS) for op in stage.body.block.ops):
        return "a reduction has loops inside"
    for kind in stage.kind_names:
        if kind != "welford" and REDUCE_KINDS[kind] != (1, 1):
            return f"[{kind}] stands beside them"
    for kind, value in zip(stage.kind_names, _yielded(stage), strict=True):
        if kind == "welford" and dtype_of_scalar(value.type).size > 4:
            return "moments of f64 are not summed with a shift"
    stored = {op.buffer for op in stage.walk() if isinstance(op, k.StoreOp)}
    if any(isinstance(op, k.LoadOp) and op.buffer in stored for op in stage.walk()):
        return "an iteration reads what it stores"
    return ""


def _yielded(stage: k.ReduceOp) -> list[SSAValue]:
    last = stage.body.block.last_op
    assert last is not None
    return list(last.operands)


def _rewrite(stage: k.ReduceOp, ranges: Ranges, fresh: int) -> None:
    """Put shifted sums in the place of one reduction."""
    pairs = zip(stage.kind_names, _yielded(stage), strict=True)
    accs = [Moments(stage, v) if kind == "welford" else Plain(kind, v.type) for kind, v in pairs]
    top = Copies(Block(), ranges, {}, {}, ())
    firsts = [a.shift(top) if isinstance(a, Moments) else None for a in accs]
    body = Block()
    inside = top.within(body, [(stage.var.data, stage.extent.data)])
    given: list[SSAValue] = []
    for acc, first, value in zip(accs, firsts, inside.copy_all(stage.body.block), strict=True):
        if first is not None and isinstance(acc, Moments):
            inside.made[acc.key] = first
        given += acc.give(inside, value)
    inside.add(k.YieldOp.of(*given))
    kinds = [kind for acc in accs for kind in acc.kinds]
    types = [t for acc in accs for t in acc.types]
    loop = k.ReduceOp.of(stage.var.data, stage.extent.data, kinds, types, body)
    sums = iter(top.add(unfold(loop, ranges, fresh)).results)
    olds = iter(stage.results)
    for acc, first in zip(accs, firsts, strict=True):
        slots = [next(sums) for _ in acc.types]
        for i in range(1 if first is None else 3):
            old = next(olds)
            if old.uses:
                new = acc.finish(top, slots, i)
                new.name_hint = old.name_hint or new.name_hint
                old.replace_all_uses_with(new)
    _in_place_of(stage, top)


# -- rows of half precision -----------------------------------------------------------------------
def _is_walked_twice(stage: k.ReduceOp, ranges: Ranges, most: int) -> bool:
    """Values made of floats in order, that stay in a cache, each row some thread's own: of two
    bytes each, or short rows whose variance is only wanted under a root, before costly work."""
    extent, (value, *others) = stage.extent.data.as_int, _yielded(stage)
    if others or extent is None or extent > most or not isinstance(stage.parent_op(), k.ParallelOp):
        return False
    atom, ops = ex.dim_atom(stage.var.data), list(stage.body.block.ops)
    loads = [op for op in ops if isinstance(op, k.LoadOp)]
    if value.type != f32 or not loads or body_cost(stage) > CHEAP:
        return False
    if any(isinstance(op, k.StoreOp) for op in ops):
        return False
    types = [dtype_of_scalar(op.result.type) for op in loads]
    steps = [_first_step(op.index.data[0], atom, ranges) for op in loads]
    if not all(t.is_float for t in types) or not all(s in (ex.ZERO, ex.ONE) for s in steps):
        return False
    if all(t.size == 2 for t in types):
        return True
    short = all(t.size <= 4 for t in types) and extent * 4 <= SHORT
    return short and _later_cost(stage) >= COSTLY and _is_under_root(stage.results[1])


def _later_cost(stage: k.ReduceOp) -> float:
    """The greatest cost of an element of the same row in the stages that follow."""
    costs, later = [0.0], stage.next_op
    while later is not None:
        if isinstance(later, k.ReduceOp | k.ParallelOp) and later.extent.data is stage.extent.data:
            costs.append(body_cost(later))
        later = later.next_op
    return max(costs)


def _is_under_root(value: SSAValue) -> bool:
    """All that is made of a value goes into reciprocal roots, which halve its relative error."""
    users = [use.operation for use in value.uses]
    return bool(users) and all(
        isinstance(op, TableOp)
        and (op.ROW.name == "rsqrt" or (op.ROW.name in SCALED and _is_under_root(op.results[0])))
        for op in users
    )


def _in_place_of(stage: k.ReduceOp, top: Copies) -> None:
    """What was made takes the place of a stage whose results nobody reads any more."""
    for op in list(top.block.ops):
        op.detach()
        Rewriter.insert_op(op, InsertPoint.before(stage))
    stage.detach()
    stage.erase()


def _first_step(e: Expr, atom: Atom, ranges: Ranges) -> Expr:
    """How far an index moves from the first iteration to the second."""
    return ranges.simplify(e.subs({atom: ex.ONE}) - e.subs({atom: ex.ZERO}))


def _walk_twice(stage: k.ReduceOp, ranges: Ranges, fresh: int) -> None:
    """The mean, then the squares of what is left of it."""
    extent = stage.extent.data.as_int
    assert extent is not None
    top = Copies(Block(), ranges, {}, {}, ())
    n = top.make(ConstantOp.of(float(extent), f32))
    mean = top.make(scalar("div", _sum(stage, top, None, fresh), n))
    new = [mean, _sum(stage, top, mean, fresh), n]
    for old, value in zip(stage.results, new, strict=True):
        value.name_hint = old.name_hint or value.name_hint
        old.replace_all_uses_with(value)
    _in_place_of(stage, top)


def _sum(stage: k.ReduceOp, top: Copies, mean: SSAValue | None, fresh: int) -> SSAValue:
    """The sum of a row, or of the squares of its differences to the mean."""
    body, var, extent = Block(), stage.var.data, stage.extent.data
    inside = top.within(body, [(var, extent)])
    (value,) = inside.copy_all(stage.body.block)
    if mean is not None:
        d = inside.make(scalar("sub", value, mean))
        value = inside.make(scalar("mul", d, d))
    inside.add(k.YieldOp.of(value))
    loop = k.ReduceOp.of(var, extent, ["add"], [f32], body)
    return top.make(unfold(loop, top.ranges, fresh))


# -- a loop over several dimensions ---------------------------------------------------------------
def unfold(loop: k.ReduceOp, ranges: Ranges, fresh: int) -> k.ReduceOp:
    """Loops in which no index divides the variable, where there are such."""
    var, extent = var_of(loop), loop.extent.data.as_int
    inner = None if extent is None else _inner(loop, var, extent)
    if extent is None or inner is None:
        return loop
    number, size = loop.var.data, ex.const(inner)
    outside = ranges.with_extents([(number, ex.const(extent // inner))])
    env = {var: size * ex.dim(number) + ex.dim(fresh)}
    ops = list(loop.body.block.ops)
    for op in ops:
        op.detach()
    block = Block(ops)
    within = outside.with_extents([(fresh, size)])
    for op in block.walk():
        map_exprs(op, lambda e: within.simplify(e.subs(env)))
    types = [r.type for r in loop.results]
    new = unfold(k.ReduceOp.of(fresh, size, loop.kind_names, types, block), outside, fresh + 1)
    body = Block([new, k.YieldOp.of(*new.results)])
    return k.ReduceOp.of(number, extent // inner, loop.kind_names, types, body)


def _inner(loop: k.ReduceOp, var: Atom, extent: int) -> int | None:
    """The longest inner loop that ends a division of the variable, if there is one."""
    sizes: set[int] = set()
    exprs = [e for op in loop.body.block.walk() for e in op_exprs(op)]
    for e in exprs:
        for mono, _ in e.terms:
            for a in mono:
                n = a.args[1].as_int if a.kind in ("floordiv", "mod") else None
                if n is not None and a.args[0].as_atom is var and extent % n == 0:
                    sizes.add(n)
    return max((n for n in sizes if 1 < n < extent), default=None)
