"""kernel-tile: two-dimensional tiles where accesses disagree on which loop walks memory in order.

Before:
    kernel.parallel d0 : 1024 {
      kernel.parallel d1 : 2048 {
        %v = kernel.load %x[d0 + 1024 * d1]                     // in order along d0
        .. kernel.store %w, %o[2048 * d0 + d1] } }              // in order along d1

After, sixteen by sixteen elements at a time (d2 and d3 run over the tiles):
    kernel.parallel d2 : 64 {
      kernel.parallel d3 : 128 {
        %t = kernel.local reg : !kernel.buf<f32[256]>
        kernel.for d1 : 16 {
          kernel.parallel d0 : 16 { .. %x[d0 + 1024 * d1 + 16 * d2 + ..] to %t[16 * d1 + d0] } }
        kernel.transpose %t[16, 16]
        kernel.for d0 : 16 {
          kernel.parallel d1 : 16 {
            %v = kernel.load %t[16 * d0 + d1]
            .. kernel.store %w, %o[32768 * d2 + 2048 * d0 + 16 * d3 + d1] } } } }

Both sides move whole cache lines, and the transposition happens in registers. Vectors run along the
loop that more bytes walk in order; the other accesses, loads and stores, go through a tile each.
Long loops are cut in blocks of tiles first: a row of a large matrix is a page of its own, and few
pages are known to the processor at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from minductor.dialects import expr as ex
from minductor.dialects.attrs import IndexAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.verify import symbol_ranges
from minductor.dialects.scalar.ops import IfOp
from minductor.dialects.types import BufType
from minductor.passes.base import MiniPass
from minductor.passes.kernel._copy import Copies, var_of
from minductor.passes.kernel._tree import (
    LOOPS,
    estimate,
    kernels_of,
    module_hints,
    nest_of,
)
from minductor.passes.kernel.vectorize import VECTOR_BYTES, widest
from minductor.passes.remarks import sink_of

Access = k.LoadOp | k.StoreOp
MOST = 32
"""Elements of the side of the largest tile: its rows are transposed in registers."""


@dataclass(frozen=True)
class KernelTilePass(MiniPass):
    """Tile the pointwise loops of C++ kernels.

    tile: false leaves all as it is; isa: the vector width, which is the edge of a tile; edge: an
    extent below which a loop is too short; block: elements of the side of a block of tiles, whose
    pages and lines stay at hand while the tiles in it are done.
    """

    name = "kernel-tile"
    needs = frozenset({"kernel"})

    tile: bool = True
    isa: str = "avx512"
    edge: int = 8
    block: int = 64

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the perfect nests of every C++ kernel."""
        if not self.tile:
            return
        ranges, hints = symbol_ranges(op), module_hints(op)
        for kernel in kernels_of(op, "cpp"):
            for tree in list(kernel.body.block.ops):
                if isinstance(tree, k.ParallelOp):
                    chain = nest_of(tree)
                    found = _Finder(self, chain, hints).plan()
                    if isinstance(found, Plan):
                        _Tiler(kernel, chain, found, ranges).run()
                    elif found:
                        sink_of(ctx).refused(self.name, kernel.sym_name.data, found)


@dataclass(frozen=True)
class Plan:
    """Loops of the tile: `along` is walked by vectors, `over` by the staged accesses.

    edge: elements of a tile's side; blocked: loops that are cut in blocks of `block` tiles first.
    """

    along: k.ParallelOp
    over: k.ParallelOp
    staged: tuple[Access, ...]
    edge: int
    blocked: tuple[k.ParallelOp, ...] = ()
    block: int = 1


@dataclass
class _Finder:
    """Whether a nest has accesses in order along different loops."""

    options: KernelTilePass
    chain: list[k.ParallelOp]
    hints: Mapping[Atom, int]

    def plan(self) -> Plan | str:
        """What to tile, or why not (empty: nothing disagrees)."""
        body = self.chain[-1].body.block
        if len(self.chain) < 2 or any(isinstance(op, LOOPS) for op in body.ops):
            return ""
        accesses = [op for op in body.ops if isinstance(op, Access)]
        score = {loop: 0.0 for loop in self.chain if self._long(loop)}
        for op in accesses:
            for loop in score:
                if in_order(op, loop) and all(_moves(op, other) for other in score):
                    score[loop] += _bytes(op) * (1.5 if isinstance(op, k.StoreOp) else 1.0)
        wanted = sorted((loop for loop in score if score[loop]), key=lambda w: -score[w])
        if len(wanted) < 2:
            return ""
        along, over = wanted[:2]
        staged = tuple(op for op in accesses if self._staged(op, along, over))
        if not staged:
            return ""
        why = self._refusal(body, staged)
        if why:
            return why
        edge = self._edge(along, over)
        if edge < 4:
            return "its vectors are too short"
        block = max(1, self.options.block // edge)
        blocked = tuple(
            loop
            for loop in (over, along)
            if estimate(loop.extent.data, self.hints) > 3 * self.options.block // 2
        )
        return Plan(along, over, staged, edge, blocked, block)

    def _edge(self, along: k.ParallelOp, over: k.ParallelOp) -> int:
        """Elements of a tile's side: a register of what is computed with, and where all accesses
        are narrower, as many as fill a register (and a line of the stored matrix), up to 32."""
        size = VECTOR_BYTES[self.options.isa]
        edge, narrow = size // widest(self.chain[0]), min(MOST, size // self._widest_access())
        fits = min(estimate(w.extent.data, self.hints) for w in (along, over)) >= narrow
        return narrow if narrow > edge and fits else edge

    def _widest_access(self) -> int:
        accesses = [op for op in self.chain[0].walk() if isinstance(op, Access)]
        return max(_bytes(op) for op in accesses)

    def _long(self, loop: k.ParallelOp) -> bool:
        return estimate(loop.extent.data, self.hints) >= self.options.edge

    @staticmethod
    def _staged(op: Access, along: k.ParallelOp, over: k.ParallelOp) -> bool:
        """Strided along the vectors, in order over the other loop."""
        e, atom = op.index.data[0], var_of(along)
        if not in_order(op, over) or not e.is_linear_in(atom):
            return False
        return e.coeff(atom) not in (ex.ZERO, ex.ONE)

    @staticmethod
    def _refusal(body: Block, staged: tuple[Access, ...]) -> str:
        if any(isinstance(op, IfOp) for op in body.ops):
            return "a condition in its body"
        for op in staged:
            if op.index_operands or op.mask is not None:
                return "an access that disagrees is masked or gathers"
            if isinstance(op, k.StoreOp) and (op.combine is not None or op.by is not None):
                return "a store that disagrees combines"
        read = {op.buffer for op in body.ops if isinstance(op, k.LoadOp)}
        if any(isinstance(op, k.StoreOp) and op.buffer in read for op in staged):
            return "a buffer that it reads is stored across"
        return ""


def in_order(op: Access, loop: k.ParallelOp) -> bool:
    """The address moves by one element with the loop."""
    e, atom = op.index.data[0], var_of(loop)
    return e.is_linear_in(atom) and e.coeff(atom) is ex.ONE


def _moves(op: Access, loop: k.ParallelOp) -> bool:
    """The address changes with the loop; one that stays costs nothing, however it is walked."""
    e = op.index.data[0]
    return var_of(loop) in e.vars("d") or bool(e.vars("t"))


def _bytes(op: Access) -> int:
    type_ = op.buffer.type
    assert isinstance(type_, BufType)
    return type_.scalar_bytes


class _Tiler:
    """The new loops of one nest."""

    def __init__(self, kernel: k.FuncOp, chain: list[k.ParallelOp], plan: Plan, ranges: Ranges):
        self.kernel, self.chain, self.plan, self.ranges = kernel, chain, plan, ranges
        self.fresh = 1 + max(op.var.data for op in kernel.walk() if isinstance(op, LOOPS))
        self.tiles: dict[Access, SSAValue] = {}

    def run(self) -> None:
        """Replace the nest."""
        top, plan = Block(), self.plan
        at = Copies(top, self.ranges, {}, {}, ())
        for loop in self.chain:
            if loop not in (plan.along, plan.over):
                at = self._loop(at, k.ParallelOp, loop.var.data, loop.extent.data)
        starts = dict.fromkeys((plan.over, plan.along), ex.ZERO)
        counts = {w: ex.floordiv(w.extent.data + (plan.edge - 1), plan.edge) for w in starts}
        for loop in plan.blocked:
            at, var = self._next(at, ex.floordiv(counts[loop] + (plan.block - 1), plan.block))
            done = plan.block * var
            starts[loop] = plan.edge * done
            counts[loop] = at.ranges.simplify(ex.emin(plan.block, counts[loop] - done))
        left: dict[k.ParallelOp, Expr] = {}
        env: dict[Atom, Expr] = {}
        for loop in starts:
            at, var = self._next(at, counts[loop])
            first = starts[loop] + plan.edge * var
            env[var_of(loop)] = first + ex.dim(loop.var.data)
            left[loop] = at.ranges.simplify(ex.emin(plan.edge, loop.extent.data - first))
        at = at.within(at.block, (), env)
        self._fill(at, left)
        for op in list(top.ops):
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(self.chain[0]))
        self.chain[0].detach()
        self.chain[0].erase(safe_erase=False)

    def _next(self, at: Copies, extent: Expr) -> tuple[Copies, Expr]:
        """A loop inside, with a new variable."""
        self.fresh += 1
        return self._loop(at, k.ParallelOp, self.fresh - 1, extent), ex.dim(self.fresh - 1)

    @staticmethod
    def _loop(at: Copies, cls: type[k.ParallelOp | k.ForOp], var: int, extent: Expr) -> Copies:
        body = Block()
        at.add(cls.make(var, extent, body))
        return at.within(body, [(var, extent)])

    def _pair(
        self, at: Copies, outer: k.ParallelOp, inner: k.ParallelOp, left: dict[k.ParallelOp, Expr]
    ) -> tuple[Copies, Expr]:
        """Two loops over a tile, and the place of an element in it."""
        rows = self._loop(at, k.ForOp, outer.var.data, left[outer])
        both = self._loop(rows, k.ParallelOp, inner.var.data, left[inner])
        return both, self.plan.edge * ex.dim(outer.var.data) + ex.dim(inner.var.data)

    def _tile(self, at: Copies, op: Access) -> SSAValue:
        type_ = op.buffer.type
        assert isinstance(type_, BufType)
        room = k.LocalOp.of("reg", BufType.make(type_.dtype, self.plan.edge * self.plan.edge))
        room.result.name_hint = "t"
        at.add(room)
        self.tiles[op] = room.result
        return room.result

    def _transpose(self, at: Copies, tile: SSAValue) -> None:
        edge = IndexAttr((ex.const(self.plan.edge), ex.const(self.plan.edge)))
        at.add(k.TransposeOp.create(operands=[tile], properties={"shape": edge}))

    def _fill(self, at: Copies, left: dict[k.ParallelOp, Expr]) -> None:
        """Staged loads, the body, staged stores."""
        plan = self.plan
        for op in plan.staged:
            tile = self._tile(at, op)
            if isinstance(op, k.LoadOp):
                inner, place = self._pair(at, plan.along, plan.over, left)
                inner.store(inner.load(op.buffer, inner.expr(op.index.data[0])), tile, place)
                self._transpose(at, tile)
        inner, place = self._pair(at, plan.over, plan.along, left)
        for op in self.chain[-1].body.block.ops:
            self._body(inner, op, place)
        for op in plan.staged:
            if isinstance(op, k.StoreOp):
                tile = self.tiles[op]
                self._transpose(at, tile)
                inner, place = self._pair(at, plan.along, plan.over, left)
                inner.store(inner.load(tile, place), op.buffer, inner.expr(op.index.data[0]))

    def _body(self, inner: Copies, op: Operation, place: Expr) -> None:
        if not isinstance(op, Access) or op not in self.tiles:
            inner.copy(op)
        elif isinstance(op, k.LoadOp):
            value = inner.load(self.tiles[op], place)
            value.name_hint = op.result.name_hint
            inner.made[op.result] = value
        else:
            inner.store(inner.value(op.value), self.tiles[op], place)
