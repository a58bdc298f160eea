"""kernel-peel: a loop is cut where a condition on its variable changes, and the condition goes.

Before:
    kernel.parallel d1 : 768 {
      %c = scalar.within d1 in 0 to 512
      %v = scalar.if %c -> f32 { kernel.load %x[d1] .. } else { kernel.load %y[d1 - 512] .. }
      kernel.store %v, %o[d1] }

After:
    kernel.parallel d1 : 512 { %a = kernel.load %x[d1]   kernel.store %a, %o[d1] }
    kernel.parallel d1 : 256 { %b = kernel.load %y[d1]   kernel.store %b, %o[d1 + 512] }

So the parts of a cat are plain copies, and the inside of a padded tensor or of a pooling has no
test. An innermost loop is cut too where a clamped index (`min(d1 + 1, 27)` of an interpolation)
reaches its bound: between the borders it moves in even steps. Inner loops are cut first. A cut is
refused where the pieces would take many more vectors than the whole, or where the kernel would grow
too much.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from minductor.dialects import expr as ex
from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.verify import op_exprs, symbol_ranges
from minductor.dialects.scalar.ops import IfOp, WithinOp
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import (
    estimate,
    is_leaf,
    kernels_of,
    module_hints,
    ranges_around,
    with_variable,
)
from minductor.passes.kernel._walks import functions
from minductor.passes.remarks import RemarkSink, sink_of

VECTOR = 16
"""Elements of a vector, for the comparison of trips."""


@dataclass(frozen=True)
class KernelPeelPass(MiniPass):
    """Cut the loops of C++ kernels at their conditions.

    pieces: at most so many loops from one; ops: at most so many ops in a kernel afterwards; clamps:
    cut innermost loops also where a min or max in an index changes sides.
    """

    name = "kernel-peel"
    needs = frozenset({"kernel"})

    pieces: int = 16
    ops: int = 600
    clamps: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Cut inner loops first."""
        ranges, hints = symbol_ranges(op), module_hints(op)
        for kernel in kernels_of(op, "cpp"):
            loops = [o for o in kernel.walk() if isinstance(o, k.ParallelOp | k.ForOp)]
            for loop in reversed(loops):
                _Cutter(self, kernel, loop, ranges, hints, sink_of(ctx)).run()


@dataclass
class _Cutter:
    """One loop: where to cut it, and the cut."""

    options: KernelPeelPass
    kernel: k.FuncOp
    loop: k.ParallelOp | k.ForOp
    symbols: Ranges
    hints: Mapping[Atom, int]
    sink: RemarkSink

    def run(self) -> None:
        """Cut the loop if that pays."""
        bounds = [ex.ZERO, *self._cuts(), self.loop.extent.data]
        if len(bounds) == 2:
            return
        reason = self._refusal(bounds)
        if reason:
            self.sink.refused(self.options.name, self.kernel.sym_name.data, reason)
            return
        outer = ranges_around(self.loop, self.symbols)
        pieces = [self._piece(low, high, outer) for low, high in pairwise(bounds)]
        grown = self._ops(self.kernel) + sum(map(self._ops, pieces)) - self._ops(self.loop)
        if grown > self.options.ops:
            var, name = self.loop.var.data, self.kernel.sym_name.data
            reason = f"with d{var} cut in {len(pieces)} the kernel has {grown} ops"
            self.sink.refused(self.options.name, name, reason)
            return
        for piece in pieces:
            Rewriter.insert_op(piece, InsertPoint.before(self.loop))
        Rewriter.erase_op(self.loop)

    def _piece(self, low: Expr, high: Expr, outer: Ranges) -> k.ParallelOp | k.ForOp:
        piece = self.loop.clone()
        piece.extent = ExprAttr(high - low)
        moved = {ex.dim_atom(self.loop.var.data): ex.dim(self.loop.var.data) + low}
        for op in piece.body.block.walk():
            _map_exprs(op, moved)
        _tidy(piece.body.block, with_variable(piece, outer))
        return piece

    @staticmethod
    def _ops(op: Operation) -> int:
        return sum(1 for _ in op.walk())

    def _refusal(self, bounds: list[Expr]) -> str:
        """Why not, or an empty string."""
        var = self.loop.var.data
        pieces = len(bounds) - 1
        if pieces > self.options.pieces:
            return f"d{var} would fall in {pieces} pieces"
        if is_leaf(self.loop):
            sizes = [estimate(b - a, self.hints) for a, b in pairwise(bounds)]
            trips = sum(-(-n // VECTOR) for n in sizes)
            if 2 * trips > 3 * -(-sum(sizes) // VECTOR):
                return f"d{var} is too short to be cut in {pieces}"
        return ""

    def _cuts(self) -> list[Expr]:
        """Inner bounds of the pieces, ascending; only what is proved inside and in order."""
        extent = self.loop.extent.data
        ordered: list[Expr] = []
        for cut in self._candidates():
            if cut in ordered or not self._between(ex.ZERO, cut, extent):
                continue
            at = next((i for i, c in enumerate(ordered) if self.symbols.le(cut, c)), len(ordered))
            if all(self.symbols.le(c, cut) for c in ordered[:at]):
                ordered.insert(at, cut)
        return ordered

    def _between(self, low: Expr, cut: Expr, high: Expr) -> bool:
        known = cut.as_int
        if known is not None and known <= 0:
            return False
        if cut is high or self.symbols.le(high, cut):
            return False
        return self.symbols.le(low, cut) and self.symbols.le(cut, high)

    def _candidates(self) -> Iterator[Expr]:
        atom = ex.dim_atom(self.loop.var.data)
        if self.options.clamps and is_leaf(self.loop):
            yield from _clamps(self.loop, atom)
        for op in self.loop.body.block.walk():
            if isinstance(op, WithinOp) and any(
                isinstance(use.operation, IfOp) for use in op.result.uses
            ):
                yield from _changes(op, atom)


def _clamps(loop: k.ParallelOp | k.ForOp, atom: Atom) -> Iterator[Expr]:
    """Where a min or max of the variable alone takes its other side, in loops of known length.

    Of a stretch on which both sides are equal, the end that leaves the longer piece.
    """
    extent = loop.extent.data.as_int
    exprs = [e for op in loop.body.block.walk() for e in op_exprs(op)]
    for clamp in dict.fromkeys(a for e in exprs for a in functions(e)):
        if extent and clamp.kind in ("min", "max") and Expr.of_atom(clamp).vars() == [atom]:
            difference = clamp.args[0] - clamp.args[1]
            found = [_turn(difference - strict, atom, extent) for strict in (0, 1)]
            cuts = [cut for cut in found if cut is not None]
            if cuts:
                yield ex.const(min(cuts, key=lambda cut: min(cut, extent - cut)))


def _turn(e: Expr, atom: Atom, extent: int) -> int | None:
    """Where e >= 0 begins or ends in 0 .. extent - 1, by bisection; None where it does not."""

    def holds(at: int) -> bool:
        return e.eval({atom: at}) >= 0

    low, high = 0, extent - 1
    if holds(low) == holds(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) == holds(low) else (low, middle)
    return high


def _changes(op: WithinOp, atom: Atom) -> list[Expr]:
    """The values of the variable from which on the test has another answer."""
    e, low, high = op.test
    if not e.is_linear_in(atom) or op.operands_:
        return []
    slope = e.coeff(atom).as_int
    rest = e.subs({atom: 0})
    if not slope or any(x.vars("dt") for x in (rest, low, high)):
        return []
    if slope > 0:
        return [-ex.floordiv(rest - low, slope), -ex.floordiv(rest - high, slope)]
    return [ex.floordiv(rest - low, -slope) + 1, ex.floordiv(rest - high, -slope) + 1]


def _map_exprs(op: Operation, env: Mapping[Atom, Expr]) -> None:
    for name, attr in list(op.properties.items()):
        if isinstance(attr, ExprAttr):
            op.properties[name] = ExprAttr(attr.data.subs(env))
        elif isinstance(attr, IndexAttr):
            op.properties[name] = IndexAttr(tuple(e.subs(env) for e in attr.data))


def _simplify(op: Operation, ranges: Ranges) -> None:
    for name, attr in list(op.properties.items()):
        if isinstance(attr, ExprAttr):
            op.properties[name] = ExprAttr(ranges.simplify(attr.data))
        elif isinstance(attr, IndexAttr):
            op.properties[name] = IndexAttr(tuple(ranges.simplify(e) for e in attr.data))


def _tidy(block: Block, ranges: Ranges) -> None:
    """Simplify indices, take the branches that are known, drop what nobody uses."""
    for op in list(block.ops):
        _simplify(op, ranges)
        for region in op.regions:
            _tidy(region.block, with_variable(op, ranges))
        if isinstance(op, IfOp):
            known = _known(op, ranges)
            if known is not None:
                _take(op, known)
    for op in reversed(list(block.ops)):
        unused = op.results and not any(r.uses for r in op.results)
        if unused and (is_side_effect_free(op) or isinstance(op, k.LoadOp)):
            Rewriter.erase_op(op)


def _known(op: IfOp, ranges: Ranges) -> bool | None:
    test = op.cond.owner
    if not isinstance(test, WithinOp) or test.operands_:
        return None
    e, low, high = (ranges.simplify(x) for x in test.test)
    if ranges.le(low, e) and ranges.lt(e, high):
        return True
    return False if ranges.lt(e, low) or ranges.le(high, e) else None


def _take(op: IfOp, branch: bool) -> None:
    """Replace an `if` by one of its regions."""
    body = (op.then if branch else op.orelse).block
    last = body.last_op
    assert last is not None
    values = list(last.operands)
    Rewriter.erase_op(last)
    Rewriter.inline_block(body, InsertPoint.before(op))
    Rewriter.replace_op(op, [], values)
