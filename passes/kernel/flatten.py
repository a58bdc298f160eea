"""kernel-flatten: nested reductions become one, and digits of one number that number.

Before, target triton:
    %s = kernel.reduce d1 : 128 [add] -> f32 {
      %t = kernel.reduce d2 : 3136 [add] -> f32 {
        %v = kernel.load %x[200704 * d1 + 56 * (d2 floordiv 56) + (d2 mod 56)] : f32   .. yield %v }
      kernel.yield %t : f32 }

After:
    %s = kernel.reduce d1 : 401408 [add] -> f32 {
      %v = kernel.load %x[200704 * (d1 floordiv 3136) + (d1 mod 3136)] : f32   .. yield %v }

Parallel loops beside a reduction of as many elements are flattened too, so that they are stages of
one row. One loop is cut in parts, blocks and lanes as its length asks; of two, the inner one's
lanes would be folded in every turn of the outer one. A division by a constant costs one a vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from minductor.dialects import expr as ex
from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.verify import symbol_ranges
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import LOOPS, kernels_of
from minductor.passes.remarks import sink_of

_FLAT = frozenset(("add", "mul", "min", "max", "any", "all", "xor"))


@dataclass(frozen=True)
class KernelFlattenPass(MiniPass):
    """Flatten the nested reductions of Triton kernels, and join digits in their indices."""

    name = "kernel-flatten"
    needs = frozenset({"kernel"})

    flatten: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every Triton kernel."""
        if not self.flatten:
            return
        symbols = symbol_ranges(op)
        for func in kernels_of(op, "triton"):
            for one in [o for o in func.walk() if isinstance(o, k.ReduceOp)]:
                if one.parent is None:  # it was an inner one
                    continue
                inner = one.body.block.first_op
                while isinstance(inner, k.ReduceOp):
                    reason = refusal(one, inner)
                    if reason is not None:
                        sink_of(ctx).refused(self.name, func.sym_name.data, reason)
                        break
                    _flatten(one, inner, symbols)
                    inner = one.body.block.first_op
            for wide in [o for o in func.walk() if isinstance(o, k.ParallelOp)]:
                if wide.parent is not None and _matches(wide):
                    _flatten(wide, cast(k.ParallelOp, wide.body.block.first_op), symbols)
            for loop in [o for o in func.walk() if isinstance(o, LOOPS)]:
                _rewrite(loop, {}, symbols.with_extents([(loop.var.data, loop.extent.data)]))


def refusal(outer: k.ReduceOp, inner: k.ReduceOp) -> str | None:
    """Why two loops stay two, or None."""
    last = outer.body.block.last_op
    if last is None or inner.next_op is not last or list(last.operands) != list(inner.results):
        return "something besides the inner reduction happens in the outer one"
    if outer.kind_names != inner.kind_names or not _FLAT.issuperset(outer.kind_names):
        return "the two reductions combine in different ways"
    if outer.extent.data.as_int is None or inner.extent.data.as_int is None:
        return "a length is known only at run time"
    return None


def _matches(outer: k.ParallelOp) -> bool:
    """Two parallel loops beside a reduction over as many elements as they have together."""
    inner, block = outer.body.block.first_op, outer.parent
    if not isinstance(inner, k.ParallelOp) or inner.next_op is not None or block is None:
        return False
    first, second = outer.extent.data.as_int, inner.extent.data.as_int
    if first is None or second is None:
        return False
    stages = [op for op in block.ops if isinstance(op, k.ReduceOp)]
    return any(op.extent.data.as_int == first * second for op in stages)


Nested = TypeVar("Nested", k.ReduceOp, k.ParallelOp)


def take_body(outer: Nested, inner: Nested, extent: Expr) -> None:
    """The outer loop takes the body of one inside of it for its own, and a new length."""
    body = inner.body.block
    inner.body.detach_block(body)
    for op in list(outer.body.block.ops):
        op.detach()
        op.erase(safe_erase=False)
    outer.body.detach_block(outer.body.block)
    outer.body.add_block(body)
    outer.extent = ExprAttr(extent)


def _flatten(outer: Nested, inner: Nested, symbols: Ranges) -> None:
    length, var = inner.extent.data, ex.dim(outer.var.data)
    env = {
        ex.dim_atom(outer.var.data): ex.floordiv(var, length),
        ex.dim_atom(inner.var.data): ex.mod(var, length),
    }
    take_body(outer, inner, outer.extent.data * length)
    _rewrite(outer, env, symbols.with_extents([(outer.var.data, outer.extent.data)]))


def _rewrite(loop: Operation, env: Mapping[Atom, Expr], ranges: Ranges) -> None:
    def moved(e: Expr) -> Expr:
        return joined(ranges.simplify(e.subs(env)) if env else e)

    for op in loop.walk():
        if op is loop:
            continue
        for name, attr in list(op.properties.items()):
            if isinstance(attr, ExprAttr):
                op.properties[name] = ExprAttr(moved(attr.data))
            elif isinstance(attr, IndexAttr):
                op.properties[name] = IndexAttr(tuple(moved(e) for e in attr.data))


def joined(e: Expr) -> Expr:
    """c * (x mod a) + c * a * ((x floordiv a) mod b) is c * (x mod (a * b)), and so on."""
    for mono, c in e.terms:
        for atom in mono:
            swapped = _swapped(atom)
            if swapped is not None and len(mono) == 1:
                e = e + c * (swapped - Expr.of_atom(atom))
    while True:
        found = _digits(e)
        if found is None:
            return e
        e = found


def _swapped(atom: Atom) -> Expr | None:
    """(x mod (a * b)) floordiv a is (x floordiv a) mod b."""
    inner = atom.args[0].as_atom if atom.kind == "floordiv" else None
    if inner is None or inner.kind != "mod":
        return None
    a, n = atom.args[1].as_int, inner.args[1].as_int
    if a is None or n is None or a <= 0 or n % a:
        return None
    return ex.mod(ex.floordiv(inner.args[0], a), n // a)


def _digits(e: Expr) -> Expr | None:
    lone = [(mono[0], c) for mono, c in e.terms if len(mono) == 1 and mono[0].args]
    for low, c in lone:
        a = low.args[1].as_int
        if low.kind != "mod" or a is None:
            continue
        for high, d in lone:
            if d != c * a:
                continue
            rest = e - c * Expr.of_atom(low) - d * Expr.of_atom(high)
            above = ex.floordiv(low.args[0], a)
            if Expr.of_atom(high) is above:
                return rest + c * low.args[0]
            b = high.args[1].as_int
            if high.kind == "mod" and b is not None and high.args[0] is above:
                return rest + c * ex.mod(low.args[0], a * b)
    return None
