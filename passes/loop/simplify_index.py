"""Normal form of domains and indices.

    mini-opt m.mlir -p loop-simplify-index

before:

    %v = loop.view %x offset 4 : f32[8, 4] to f32[7, 4]
    %a = loop.nest (d0: 1, d1: 28) -> (%o : f32[1, 28]) {
      %e = load %v[d1 floordiv 4, d1 mod 4] : f32
      %c = scalar.within d1 in 0 to 28 ..

after:

    %a = loop.nest (d0: 28) -> (%o : f32[1, 28]) {
      %e = load %x[(d0 floordiv 4) + 1, (d0 mod 4)] : f32
      %c = scalar.constant 1 : i1

Variables of extent one go, expressions are simplified with the ranges of the domain and of checked
indices, tests that ranges decide become constants, and loads through a view go to its base, where
the element type is the same and the index stays provably inside. What is not proved stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, i1
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation
from xdsl.rewriter import Rewriter

from minductor.dialects import expr as ex
from minductor.dialects.attrs import Domain, DomainAttr, ExprAttr, IndexAttr, SymbolsAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges, flatten_index
from minductor.dialects.loop.assumed import mark_load
from minductor.dialects.loop.ops import LoadOp, NestOp, StoreOp, ViewOp
from minductor.dialects.scalar.ops import BoundOp, ConstantOp, IfOp, WithinOp
from minductor.dialects.types import TensorType
from minductor.passes.base import MiniPass
from minductor.passes.loop.inlining.emit import refined
from minductor.passes.remarks import RemarkSink, sink_of


@dataclass(frozen=True)
class LoopSimplifyIndexPass(MiniPass):
    """Brings domains and index expressions to normal form, with ranges."""

    name = "loop-simplify-index"
    needs: ClassVar[frozenset[str]] = frozenset({"loop"})
    provides: ClassVar[frozenset[str]] = frozenset({"loop-normal"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if not isinstance(func, FuncOp):
                continue
            symbols = func.attributes.get("symbols")
            base = symbols.ranges() if isinstance(symbols, SymbolsAttr) else Ranges()
            ranges: dict[Domain, Ranges] = {}
            for inner in func.walk():
                if isinstance(inner, NestOp):
                    simplify_nest(inner, base, ranges, sink_of(ctx))


def simplify_nest(
    nest: NestOp, base: Ranges, cache: dict[Domain, Ranges], sink: RemarkSink
) -> None:
    """Normal form of one nest. `cache` shares ranges between nests of one domain."""
    domain = nest.domain.data
    if any(e is ex.ONE for e in domain.extents):
        domain = drop_unit_variables(nest)
    ranges = cache.get(domain)
    if ranges is None:
        ranges = cache[domain] = domain.ranges(base)
    simplify_block(nest.body.block, ranges, False, sink)


def drop_unit_variables(nest: NestOp) -> Domain:
    """Remove variables of extent one from a nest; they are 0 wherever they stand."""
    old = nest.domain.data
    subst: dict[Atom, Expr] = {}
    count = 0
    for i, extent in enumerate(old.extents):
        subst[ex.dim_atom(i)] = ex.ZERO if extent is ex.ONE else ex.dim(count)
        count += extent is not ex.ONE
    domain = Domain(*(tuple(e for e in part if e is not ex.ONE) for part in old))
    # a reduction over one element is still a reduction: keep one variable for it
    for part, (had, left) in enumerate(zip(old, domain, strict=True)):
        if part and had and not left:
            return old
    nest.properties["domain"] = DomainAttr(domain)
    for op in nest.body.block.walk():
        for name, attr in op.properties.items():
            new = map_exprs(attr, lambda e: e.subs(subst))
            if new is not attr:
                op.properties[name] = new
    return domain


def map_exprs(attr: Attribute, fn: Callable[[Expr], Expr]) -> Attribute:
    """An attribute with its index expressions replaced; the same one when nothing changes."""
    if isinstance(attr, IndexAttr):
        new = tuple(fn(e) for e in attr.data)
        return attr if new == attr.data else IndexAttr(new)
    if isinstance(attr, ExprAttr):
        return ExprAttr(fn(attr.data))
    return attr


def simplify_block(block: Block, ranges: Ranges, guarded: bool, sink: RemarkSink) -> None:
    """Simplify the ops of a body block in place."""
    for op in list(block.ops):
        if op.parent is None:
            continue
        if isinstance(op, LoadOp):
            while isinstance(op.source.owner, ViewOp):
                if not load_from_base(op, op.source.owner, ranges, guarded, sink):
                    break
        for name, attr in op.properties.items():
            if isinstance(attr, IndexAttr | ExprAttr) and not isinstance(op, BoundOp):
                known = with_operands(op, attr, ranges)
                new = map_exprs(attr, known.simplify)
                if new is not attr:
                    op.properties[name] = new
        if isinstance(op, WithinOp):
            fold_test(op, ranges)
        elif isinstance(op, IfOp):
            simplify_if(op, ranges, guarded, sink)


def with_operands(op: Operation, attr: IndexAttr | ExprAttr, ranges: Ranges) -> Ranges:
    """Ranges that also know what checked indices promise, where an expression can use it."""
    exprs = attr.data if isinstance(attr, IndexAttr) else (attr.data,)
    if not any(a.args and e.vars("t") for e in exprs for mono, _ in e.terms for a in mono):
        return ranges
    lead = 1 if isinstance(op, LoadOp) else 2 if isinstance(op, StoreOp) else 0
    for k, value in enumerate(op.operands[lead:]):
        if isinstance(value.owner, BoundOp):
            ranges = ranges.with_operand(k, 0, value.owner.size.data - 1)
    return ranges


def fold_test(op: WithinOp, ranges: Ranges) -> None:
    """Replace a test that the ranges decide by a constant."""
    e, lo, hi = op.test
    if op.operands:
        return
    if ranges.le(lo, e) and ranges.lt(e, hi):
        holds = True
    elif ranges.lt(e, lo) or ranges.le(hi, e):
        holds = False
    else:
        return
    Rewriter.replace_op(op, ConstantOp.of(holds, i1))


def simplify_if(op: IfOp, ranges: Ranges, guarded: bool, sink: RemarkSink) -> None:
    """Simplify both regions, or put the one that holds in the place of the `if`."""
    cond = op.cond.owner
    if not isinstance(cond, ConstantOp):
        for side, region in ((True, op.then), (False, op.orelse)):
            simplify_block(region.block, refined(ranges, op.cond, side), True, sink)
        return
    block = (op.then if cond.number else op.orelse).block
    last = block.last_op
    assert last is not None
    results = list(last.operands)
    last.detach()
    last.erase()
    simplify_block(block, ranges, True, sink)
    parent = op.parent
    assert parent is not None
    for inner in list(block.ops):
        inner.detach()
        parent.insert_op_before(inner, op)
        if isinstance(inner, LoadOp) and not guarded:
            mark_load(inner, ranges)
    for old, new in zip(op.results, results, strict=True):
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()


# -- views ----------------------------------------------------------------------------------------
def load_from_base(
    op: LoadOp, view: ViewOp, ranges: Ranges, guarded: bool, sink: RemarkSink
) -> bool:
    """Let a load through a view read the view's base. False, with a remark, where it can not."""
    source, seen = view.source.type, view.result.type
    assert isinstance(source, TensorType)
    assert isinstance(seen, TensorType)
    name = op.source.name_hint or "a view"
    if source.dtype != seen.dtype:
        sink.refused("loop-simplify-index", name, "the view has another element type")
        return False
    for k, value in enumerate(op.operands[1:]):
        if isinstance(value.owner, BoundOp):
            ranges = ranges.with_operand(k, 0, value.owner.size.data - 1)
    flat = flatten_index(op.index.data, seen.strides) + view.offset.data
    index = base_index(flat, source, ranges, guarded)
    if index is None:
        sink.refused("loop-simplify-index", name, "no index of the base is proved to be inside")
        return False
    op.operands[0] = view.source
    op.properties["index"] = IndexAttr(index)
    return True


def base_index(
    flat: Expr, type_: TensorType, ranges: Ranges, guarded: bool
) -> tuple[Expr, ...] | None:
    """The index, one expression a dimension, of an offset in a dense tensor; None if unproved."""
    order = dense_order(type_)
    if order is None:
        return None
    flat = ranges.simplify(flat)
    index: list[Expr] = [ex.ZERO] * type_.rank
    rest = flat
    for place, k in enumerate(order):
        stride, size = type_.strides[k], type_.sizes[k]
        part = ranges.simplify(ex.floordiv(rest, stride))
        index[k] = part if place == 0 else ranges.simplify(ex.mod(part, size))
    if ranges.simplify(flatten_index(index, type_.strides)) is not flat:
        return None
    sizes = zip(index, type_.sizes, strict=True)
    inside = all(ranges.nonneg(e) and ranges.lt(e, size) for e, size in sizes)
    return tuple(index) if inside or guarded else None


def dense_order(type_: TensorType) -> list[int] | None:
    """Dimensions larger than one, outermost in memory first; None unless they tile the storage."""
    dims = [k for k, size in enumerate(type_.sizes) if size is not ex.ONE]
    order: list[int] = []
    step = ex.ONE
    while dims:
        inner = next((k for k in dims if type_.strides[k] is step), None)
        if inner is None:
            return None
        order.append(inner)
        dims.remove(inner)
        step = step * type_.sizes[inner]
    return order[::-1]
