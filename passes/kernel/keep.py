"""kernel-keep: what a row's stage computed is kept in the output row for the next stage.

Before, the last two stages of a softmax:
    %s = kernel.reduce d1 : 1024 [add] -> f32 {
      .. %e = scalar.exp %c : f32   kernel.yield %e }
    kernel.parallel d1 : 1024 {
      .. %e = scalar.exp %c : f32   %q = scalar.div %e, %s : f32
      kernel.store %q, %o[1024 * d0 + d1] }

After:
    %s = kernel.reduce d1 : 1024 [add] -> f32 {
      .. %e = scalar.exp %c : f32   kernel.store %e, %o[1024 * d0 + d1]   kernel.yield %e }
    kernel.parallel d1 : 1024 {
      %e = kernel.load %o[1024 * d0 + d1] : f32   %q = scalar.div %e, %s : f32
      kernel.store %q, %o[1024 * d0 + d1] }

The element that a stage will overwrite anyway holds the value in between, in cache. The value must
cost more than a store and a load, and be of the output's type; else, as in a bf16 softmax, the row
waits in an array of the kernel's own (`kernel.local stack`) of at most `room` bytes. So it does
where the output is of `stream` MiB and more: such outputs are stored past the caches
(`kernel-stream`), which is only so while nothing reads them back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from minductor.dialects import expr as ex
from minductor.dialects.dtypes import dtype_of_scalar, is_scalar_type
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.kernel import ops as k
from minductor.dialects.types import BufType
from minductor.passes.base import MiniPass
from minductor.passes.kernel._stages import Stage, access_of, same_values
from minductor.passes.kernel._tree import estimate, kernels_of, module_hints, op_cost
from minductor.passes.remarks import sink_of


@dataclass(frozen=True)
class KernelKeepPass(MiniPass):
    """Keep values of C++ kernels between stages.

    keep: false leaves all as it is; least: what a value must cost to be kept, an add is 1; room:
    bytes of a row of the kernel's own; stream: MiB of an output whose rows hold nothing in between,
    0 uses all.
    """

    name = "kernel-keep"
    needs = frozenset({"kernel"})

    keep: bool = True
    least: int = 6
    room: int = 32768
    stream: int = 12

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Look at every pair of neighbouring stages."""
        if not self.keep:
            return
        hints = module_hints(op)
        for kernel in kernels_of(op, "cpp"):
            for first, last in list(_neighbours(kernel)):
                found = _Pair(kernel, first, last, self, hints)
                why = found.keep()
                if why:
                    sink_of(ctx).refused(self.name, kernel.sym_name.data, why)


def _neighbours(kernel: k.FuncOp) -> Iterator[tuple[Stage, Stage]]:
    """Stages of one block that run one after the other over equal extents."""
    blocks = [kernel.body.block, *(r.block for op in kernel.walk() for r in op.regions)]
    for block in dict.fromkeys(blocks):
        stages = [op for op in block.ops if isinstance(op, Stage)]
        for i, last in enumerate(stages):
            for first in reversed(stages[:i]):
                if first.extent.data is last.extent.data and isinstance(last, k.ParallelOp):
                    yield first, last
                    break


@dataclass
class _Pair:
    """Two stages: what the second computes again, and where it could stand."""

    kernel: k.FuncOp
    first: Stage
    last: Stage
    limits: KernelKeepPass
    hints: Mapping[Atom, int]

    def keep(self) -> str:
        """Keep the most expensive value; why not, or empty where it is done or nothing repeats."""
        same = same_values(self.kernel, self.first, self.last)
        costs: dict[Operation, float] = {}
        for op in same:
            costs[op] = self._cost(op, set())
        wanted = [op for op in same if costs[op] >= self.limits.least and self._needed(op, same)]
        if not wanted:
            return ""
        value = max(wanted, key=lambda op: costs[op])
        store = next((s for s in self._stores() if s.value.type == value.results[0].type), None)
        row = self._row(value) if store is None or self._is_large(store) else None
        if store is not None and row is None:
            self._move(value, same[value], (store.buffer, store.index.data[0]))
            return ""
        if row is None:
            return "no output of its type could hold a value that two stages compute"
        Rewriter.insert_op(row, InsertPoint.before(self.first))
        self._move(value, same[value], (row.result, ex.dim(self.last.var.data)))
        return ""

    def _is_large(self, store: k.StoreOp) -> bool:
        """The output may be stored past the caches."""
        least, type_ = self.limits.stream, store.buffer.type
        if not least or not isinstance(type_, BufType):
            return False
        return estimate(type_.elements, self.hints) * type_.scalar_bytes >= least << 20

    def _row(self, value: Operation) -> k.LocalOp | None:
        """An array for a row inside a loop, that each thread has to itself."""
        extent, type_ = self.last.extent.data.as_int, value.results[0].type
        parent = self.first.parent_op()
        if extent is None or not isinstance(parent, k.ParallelOp) or not is_scalar_type(type_):
            return None
        dtype = dtype_of_scalar(type_)
        if not dtype.is_float or extent * dtype.size > self.limits.room:
            return None
        row = k.LocalOp.of("stack", BufType.make(dtype.name, extent))
        row.result.name_hint = "row"
        return row

    def _cost(self, op: Operation, seen: set[Operation]) -> float:
        """Cost of an op and of all that it needs of its stage."""
        if op in seen or op.parent is not self.last.body.block:
            return 0.0
        seen.add(op)
        inner = sum(
            self._cost(v.owner, seen) for v in op.operands if isinstance(v.owner, Operation)
        )
        return op_cost(op) + inner

    @staticmethod
    def _needed(op: Operation, same: dict[Operation, Operation]) -> bool:
        """Something that only the second stage computes uses the value."""
        return any(use.operation not in same for r in op.results for use in r.uses)

    # -- the place --------------------------------------------------------------------------------
    def _stores(self) -> Iterator[k.StoreOp]:
        """Plain stores of the second stage to outputs that nothing else touches."""
        accesses = [op for op in self.kernel.walk() if isinstance(op, k.LoadOp | k.StoreOp)]
        var = ex.dim_atom(self.last.var.data)
        for op in self.last.body.block.ops:
            if not isinstance(op, k.StoreOp) or op.index_operands or op.mask is not None:
                continue
            e = op.index.data[0]
            alone = [a for a in accesses if a.buffer is op.buffer] == [op]
            if (
                alone
                and op.combine is None
                and access_of(self.kernel, op.buffer) == "write"
                and e.is_linear_in(var)
                and e.coeff(var) is ex.ONE
            ):
                yield op

    def _move(self, value: Operation, twin: Operation, place: tuple[SSAValue, Expr]) -> None:
        env = {ex.dim_atom(self.last.var.data): ex.dim(self.first.var.data)}
        buffer, index = place
        early = k.StoreOp.of(twin.results[0], buffer, index.subs(env))
        Rewriter.insert_op(early, InsertPoint.after(twin))
        load = k.LoadOp.of(buffer, index)
        load.result.name_hint = value.results[0].name_hint
        Rewriter.replace_op(value, load)
        for op in reversed(list(self.last.body.block.ops)):
            unused = op.results and not any(True for r in op.results for _ in r.uses)
            if unused and (is_side_effect_free(op) or isinstance(op, k.LoadOp)):
                Rewriter.erase_op(op)
