"""kernel-privatise: reductions over the outer dimension walk memory in order.

Before:
    kernel.parallel d0 : 768 {
      %t = kernel.reduce d1 : 4096 [add] -> f32 { .. %x[768 * d1 + d0] .. }
      kernel.store %t, %o[d0] }

After, with two threads and a workspace of one row of partial sums for each:
    kernel.parallel d2 : 2 {
      %acc = kernel.local stack = 0.0 : f32 : !kernel.buf<f32[768]>
      kernel.for d3 : 4 {                                     // sums in three levels
        %acc_1 = kernel.local stack = 0.0 : f32 : !kernel.buf<f32[768]>
        kernel.for d4 : 64 {
          kernel.parallel d0 : 768 {
            %t = kernel.reduce d5 : 8 [add] -> f32 { .. eight rows side by side .. }
            kernel.store add %t, %acc_1[d0] } }
        kernel.parallel d0 : 768 { .. store add %acc_1[d0] to %acc[d0] .. } }
      kernel.parallel d0 : 768 { .. store %acc[d0] to %ws[768 * d2 + d0] .. } }
    kernel.barrier
    kernel.parallel d0 : 768 {
      %s = kernel.reduce d1 : 2 [add] -> f32 { .. %ws[768 * d1 + d0] .. }
      kernel.store %s, %o[d0] }

A thread that walks down a strip of columns reads memory a few lines at a time, far apart. Here rows
are read whole, eight at once, into accumulators that stay in the first cache; wide matrices are cut
in blocks of columns. Threads take blocks of columns where each gets enough of a row, else ranges of
rows, whose partial results are joined in order: the text says which, so the order of sums stands in
it. What follows per column runs after the rows, what follows per element walks rows again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from minductor.dialects import expr as ex
from minductor.dialects.dtypes import dtype_of_scalar
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import host as h
from minductor.dialects.kernel import ops as k
from minductor.dialects.kernel.attrs import AccessAttr
from minductor.dialects.kernel.identity import COMBINE
from minductor.dialects.loop.verify import symbol_ranges
from minductor.dialects.types import BufType, TensorType
from minductor.passes.base import MiniPass
from minductor.passes.kernel._columns import STREAMS, Columns, Plan
from minductor.passes.kernel._copy import var_of
from minductor.passes.kernel._rows import Rows, gathered
from minductor.passes.kernel._tree import (
    LOOPS,
    estimate,
    fresh_variable,
    is_leaf,
    kernels_of,
    module_hints,
    nest_of,
    total_cost,
)
from minductor.passes.remarks import sink_of

_UNIT = 64
"""Columns of a block are a multiple of this many: whole vectors, several in flight."""


@dataclass(frozen=True)
class KernelPrivatisePass(MiniPass):
    """Interchange column reductions of C++ kernels.

    privatise: false leaves all as it is; threads: how many share the rows of narrow matrices;
    min_work: cost units below which they do not; local: bytes of a block's accumulators;
    run: bytes of a row below which threads take rows rather than columns; min_bytes: what a
    reduction reads at least.
    """

    name = "kernel-privatise"
    needs = frozenset({"kernel"})

    privatise: bool = True
    threads: int = 2
    min_work: int = 65536
    local: int = 16384
    run: int = 4096
    min_bytes: int = 65536

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the column loops of every C++ kernel."""
        if not self.privatise:
            return
        ranges, hints = symbol_ranges(op), module_hints(op)
        for kernel in kernels_of(op, "cpp"):
            trees = list(kernel.body.block.ops)
            for tree in trees:
                if isinstance(tree, k.ParallelOp):
                    chain = nest_of(tree)
                    found = _Finder(self, kernel, chain, ranges, hints).plan()
                    if isinstance(found, Plan):
                        _rewrite(op, kernel, chain, found, ranges, hints)
                    elif found:
                        sink_of(ctx).refused(self.name, kernel.sym_name.data, found)
            for tree in trees:
                if isinstance(tree, k.ForOp):
                    self._rows(ctx, op, kernel, tree, ranges, hints)

    def _rows(
        self,
        ctx: Context,
        module: ModuleOp,
        kernel: k.FuncOp,
        loop: k.ForOp,
        ranges: Ranges,
        hints: Mapping[Atom, int],
    ) -> None:
        """Deal out a row loop that gathers column results."""
        found = gathered(loop, ranges)
        if isinstance(found, str):
            sink_of(ctx).refused(self.name, kernel.sym_name.data, found)
            return
        rows = estimate(loop.extent.data, hints)
        pays = rows * total_cost(loop.body.block, hints) >= self.min_work
        deal = deal_out(loop.extent.data, min(self.threads, rows // 8) if pays else 1, 1)
        if found:
            spaces = _Spaces(module, kernel)
            Rows(loop, found, deal, ranges, fresh_variable(kernel), spaces.make).run(hints)
            spaces.launch()


@dataclass
class _Finder:
    """Whether the innermost loop of a chain is one over columns, and what to do with it."""

    options: KernelPrivatisePass
    kernel: k.FuncOp
    chain: list[k.ParallelOp]
    symbols: Ranges
    hints: Mapping[Atom, int]

    def plan(self) -> Plan | str:
        """How to rewrite the loop, or why not (empty: it is no reduction)."""
        par = self.chain[-1]
        stages = [op for op in par.body.block.ops if isinstance(op, LOOPS)]
        reduces = [op for op in stages if isinstance(op, k.ReduceOp)]
        if not reduces:
            return ""
        if not all(is_leaf(s) and isinstance(s, k.ReduceOp | k.ParallelOp) for s in stages):
            return "a stage of its columns has loops inside"
        why = self._kinds(reduces) or self._memory(par)
        if why:
            return why
        if not self._walks_columns(reduces):
            return "its reductions read memory in order"
        return self._sizes(par, reduces)

    def _sizes(self, par: k.ParallelOp, reduces: list[k.ReduceOp]) -> Plan | str:
        rows = min(estimate(r.extent.data, self.hints) for r in reduces)
        columns = estimate(par.extent.data, self.hints)
        if rows < 2 * STREAMS or columns < 2:
            return f"{rows} rows of {columns} columns are too few"
        item = max(_item(op) for r in reduces for op in r.walk() if isinstance(op, k.LoadOp))
        read = rows * columns * item
        if read < self.options.min_bytes:
            return f"its {read} bytes stay in cache"
        if any(self.symbols.interval(r.extent.data)[0] in (None, 0) for r in reduces):
            if any("welford" in r.kind_names for r in reduces):
                return "there may be no first row"
        return self._plan(par, reduces, rows, columns * item)

    def _kinds(self, reduces: list[k.ReduceOp]) -> str:
        for op in reduces:
            for kind, result in zip(op.kind_names, _operands(op), strict=False):
                if kind == "welford" and dtype_of_scalar(result.type).size > 4:
                    return "moments of f64 are not summed with a shift"
                if kind != "welford" and kind not in COMBINE:
                    return f"[{kind}] has no accumulator in memory"
        return ""

    @staticmethod
    def _memory(par: k.ParallelOp) -> str:
        """A column's own store must not be what a load reads."""
        stored = {op.buffer for op in par.body.block.ops if isinstance(op, k.StoreOp)}
        loads = [op for op in par.walk() if isinstance(op, k.LoadOp)]
        if any(op.buffer in stored for op in loads):
            return "a column reads what a column stores"
        written = {op.buffer for op in par.walk() if isinstance(op, k.StoreOp)}
        own = [op for op in par.body.block.ops if not isinstance(op, LOOPS)]
        inside = [i for op in own for i in op.walk()]
        if any(isinstance(op, k.LoadOp) and op.buffer in written for op in inside):
            return "a column reads what its rows store"
        if any(isinstance(op, k.StoreOp) and op not in own for op in inside):
            return "a store under a condition"
        return ""

    def _walks_columns(self, reduces: list[k.ReduceOp]) -> bool:
        """More of what the reductions read lies in order along the columns than along the rows."""
        column = var_of(self.chain[-1])
        along = across = 0
        for reduce in reduces:
            row = var_of(reduce)
            for op in reduce.walk():
                if not isinstance(op, k.LoadOp):
                    continue
                e = op.index.data[0]
                if not (e.is_linear_in(row) and e.is_linear_in(column)):
                    continue
                by_row, by_column = e.coeff(row), e.coeff(column)
                if by_column is ex.ONE and by_row not in (ex.ZERO, ex.ONE):
                    along += _item(op)
                elif by_row is ex.ONE and by_column is not ex.ZERO:
                    across += _item(op)
        return along > across

    def _plan(
        self, par: k.ParallelOp, reduces: list[k.ReduceOp], rows: int, run: int
    ) -> Plan | str:
        """Blocks of columns, and parts of rows."""
        slots = max(sum(_slot_bytes(r)) for r in reduces)
        extent = par.extent.data
        whole = estimate(extent, self.hints)
        most = max(_UNIT, self.options.local // slots // _UNIT * _UNIT)
        threads = self.options.threads if self._pays() else 1
        outer = 1
        for loop in self.chain[:-1]:
            outer *= max(1, estimate(loop.extent.data, self.hints))
        parts, chunk = 1, ex.ZERO
        if outer < threads and run >= threads * self.options.run:
            most = min(most, _up(-(-whole // threads), _UNIT))
        elif len(self.chain) == 1 and threads > 1 and rows >= 8 * STREAMS:
            extents = {r.extent.data for r in reduces}
            if len(extents) == 1:
                most_parts = min(threads, rows // (4 * STREAMS))
                parts, chunk = deal_out(extents.pop(), most_parts, STREAMS)
        known = extent.as_int
        if known is not None and known <= most:
            stages = [op for op in par.body.block.ops if isinstance(op, LOOPS)]
            if parts == 1 and len(self.chain) == 1 < len(stages) and self.options.threads > 1:
                return "stages of one block would run in different threads"
            return Plan(extent, ex.ONE, parts, chunk)
        if known is not None:
            most = min(most, _up(-(-known // -(-known // most)), _UNIT))
        columns = ex.const(most)
        blocks = ex.floordiv(extent + (most - 1), columns)
        return Plan(columns, blocks, parts, chunk)

    def _pays(self) -> bool:
        top = self.chain[0]
        trips = estimate(top.extent.data, self.hints)
        return trips * total_cost(top.body.block, self.hints) >= self.options.min_work


def _operands(op: k.ReduceOp) -> list[SSAValue]:
    last = op.body.block.last_op
    assert last is not None
    return list(last.operands)


def _slot_bytes(op: k.ReduceOp) -> list[int]:
    kinds = zip(op.kind_names, _operands(op), strict=True)
    return [24 if kind == "welford" else dtype_of_scalar(v.type).size for kind, v in kinds]


def _item(op: k.LoadOp) -> int:
    type_ = op.buffer.type
    assert isinstance(type_, BufType)
    return type_.scalar_bytes


def _up(n: int, unit: int) -> int:
    return -(-n // unit) * unit


def deal_out(rows: Expr, threads: int, unit: int) -> tuple[int, Expr]:
    """Parts of the rows and the rows of each, whole units; one part for one thread."""
    if threads < 2:
        return 1, ex.ZERO
    chunk = ex.floordiv(rows + (unit * threads - 1), unit * threads) * unit
    known = rows.as_int
    return threads if known is None else -(-known // int(chunk)), chunk


def _rewrite(
    module: ModuleOp,
    kernel: k.FuncOp,
    chain: list[k.ParallelOp],
    plan: Plan,
    symbols: Ranges,
    hints: Mapping[Atom, int],
) -> None:
    """Put the new loops in the place of the innermost one of a chain."""
    par, spaces = chain[-1], _Spaces(module, kernel)
    outer = symbols.with_extents((c.var.data, c.extent.data) for c in chain[:-1])
    new = Columns(par, plan, outer, hints, fresh_variable(kernel), spaces.make).run()
    for op in new:
        Rewriter.insert_op(op, InsertPoint.before(par))
    par.detach()
    par.erase(safe_erase=False)
    spaces.launch()


class _Spaces:
    """Workspaces of a kernel: arguments, and allocations at its launches."""

    def __init__(self, module: ModuleOp, kernel: k.FuncOp):
        self.module, self.kernel = module, kernel
        self.types: list[BufType] = []

    def make(self, type_: Attribute, size: Expr) -> SSAValue:
        """One more workspace."""
        buffer = BufType.make(dtype_of_scalar(type_).name, size)
        block = self.kernel.body.block
        arg = block.insert_arg(buffer, len(block.args))
        arg.name_hint = "ws"
        self.kernel.access = AccessAttr((*self.kernel.access.data, "update"))
        self.types.append(buffer)
        return arg

    def launch(self) -> None:
        """Give every launch of the kernel its workspaces."""
        name = self.kernel.sym_name.data
        for fn in self.module.body.block.ops:
            if isinstance(fn, func.FuncOp) and self.types:
                for op in list(fn.body.block.ops):
                    if isinstance(op, h.LaunchOp) and op.callee.string_value() == name:
                        self._give(op)

    def _give(self, op: h.LaunchOp) -> None:
        made: list[SSAValue] = []
        for buffer in self.types:
            alloc = h.AllocOp.of(TensorType.make(buffer.dtype, [buffer.elements]))
            alloc.result.name_hint = "ws"
            Rewriter.insert_op(alloc, InsertPoint.before(op))
            made.append(alloc.result)
        new = h.LaunchOp.of(op.callee.string_value(), [*op.operands, *made], op.symbols.data)
        new.location = op.location
        Rewriter.replace_op(op, new)
