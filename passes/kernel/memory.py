"""kernel-memory: lifetimes of the host program's buffers, reuse of dead ones.

Before:
    %a = kernel.alloc : !aten.t<f32[1024]>
    kernel.launch @k0(%x, %a)[]
    %b = kernel.alloc : !aten.t<f32[1024]>
    kernel.launch @k1(%a, %b)[]
    %c = kernel.alloc : !aten.t<f32[32, 32]>
    kernel.launch @k2(%b, %c)[]
    func.return %c

After:
    %a = kernel.alloc : !aten.t<f32[1024]>
    kernel.launch @k0(%x, %a)[]
    kernel.free %x
    %b = kernel.alloc : !aten.t<f32[1024]>
    kernel.launch @k1(%a, %b)[]
    %c = kernel.reuse %a : !aten.t<f32[1024]> to !aten.t<f32[32, 32]>
    kernel.launch @k2(%b, %c)[]
    kernel.free %b
    func.return %c

A buffer lives from its definition to the last use of itself or of any alias (reinterpret, extern
results that alias an operand). Returned buffers are never freed or reused, arguments are dropped
after their last use but never overwritten.

A buffer that waits for its next use takes room meanwhile. Where that would raise the peak, it is
freed at its last use and the later one allocated:

    %a = kernel.alloc : 4 KiB .. kernel.free %a   ..(the peak)..   %c = kernel.alloc : 4 KiB

The peak of the plan stands on the program as `planned_peak`. A plan above the bound is refused, and
the pass manager then lowers the graph again with less fusion (`passes/leaner.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from minductor.dialects.expr import Expr
from minductor.dialects.kernel import host as h
from minductor.dialects.types import TensorType
from minductor.passes.base import MiniPass, PlanRefused
from minductor.passes.kernel.lifetimes import Lifetimes, host_storage
from minductor.passes.peak import EAGER, PLANNED, attribute, bytes_of, lives_of
from minductor.passes.remarks import sink_of


@dataclass(frozen=True)
class KernelMemoryPass(MiniPass):
    """Insert `free` after last uses; allocations become reuse where bytes agree below the peak.

    reuse: false leaves every allocation fresh. max-peak: `eager` refuses a plan that needs more
    bytes at its peak than running the `aten` module op by op (`aten-peak`), `none` takes any;
    slack: bytes more than that which are let pass, partial sums of threads and the like.
    """

    name = "kernel-memory"
    needs = frozenset({"kernel"})
    provides = frozenset({"memory"})

    reuse: bool = True
    max_peak: str = "eager"
    slack: int = 65536

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Plan the memory of every host program in the module."""
        if self.max_peak not in ("eager", "none"):
            raise PassFailedException(f"max-peak is eager or none, not '{self.max_peak}'")
        for fn in op.body.block.ops:
            if isinstance(fn, func.FuncOp) and any(
                isinstance(inner, h.LaunchOp | h.AllocOp | h.ExternOp)
                for inner in fn.body.block.ops
            ):
                _Planner(fn, self.reuse).run(ctx, self.name)
                if fn.sym_visibility is None:
                    self._bound(ctx, fn)

    def _bound(self, ctx: Context, fn: func.FuncOp) -> None:
        """Note the peak of the plan; refuse one above the bound."""
        lives = lives_of(fn, host_storage(fn))
        planned, where = lives.peak()
        fn.attributes[PLANNED] = IntegerAttr(planned, i64)
        eager = attribute(fn, EAGER)
        if self.max_peak == "none" or eager is None or planned <= eager + self.slack:
            return
        name = list(fn.body.block.ops)[where].name
        raise PlanRefused(
            f"the plan of @{fn.sym_name.data} needs {planned} bytes at its peak (at op {where}, "
            f"`{name}`); running op by op needs {eager}: fuse less, or give max-peak=none"
        )


class _Planner:
    """Reuse and frees in one host program; `alive`: bytes while each op runs."""

    def __init__(self, fn: func.FuncOp, reuse: bool):
        self.block = fn.body.block
        self.reuse = reuse
        self.lives = Lifetimes(self.block)
        storage = host_storage(fn)
        self.hints = storage.hints
        self.alive = lives_of(fn, storage).alive()
        self.most = max(self.alive, default=0)

    def run(self, ctx: Context, name: str) -> None:
        """Reuse in program order, then free what is left."""
        free = _Free()
        for place, op in enumerate(list(self.block.ops)):
            if isinstance(op, h.AllocOp) and self.reuse:
                self._reuse(op, place, free, ctx, name)
            for value in self._ending(op):
                free.add(value, place)
        for op in list(self.block.ops):
            if isinstance(op, h.ReuseOp):
                # the memory goes on, but names of its old views would hold it
                views = self.lives.views.get(self.lives.storage(op.source))
                if views:
                    Rewriter.insert_op(h.FreeOp.of(*views), InsertPoint.after(op))
            values = [v for v in self._ending(op) if v in free.values]
            if values:
                views = [v for root in values for v in self.lives.views.get(root, ())]
                Rewriter.insert_op(h.FreeOp.of(*values, *views), InsertPoint.after(op))

    def _ending(self, op: Operation) -> list[SSAValue]:
        """Buffers whose last use is this op, in order of their operands."""
        if isinstance(op, func.ReturnOp | h.CheckOp):
            return []
        found = [self.lives.storage(v) for v in op.operands if isinstance(v.type, TensorType)]
        return [v for v in dict.fromkeys(found) if self.lives.ends_at(v, op)]

    def _reuse(self, op: h.AllocOp, place: int, free: _Free, ctx: Context, name: str) -> None:
        value = free.newest(op.result.type)
        if value is None:
            return
        size, gap = bytes_of(value, self.hints), slice(free.since[value] + 1, place)
        peak = max(self.alive[gap], default=0) + size
        if peak > self.most:
            pair = f"{op.result.name_hint}, {value.name_hint}"
            reason = f"waiting for it would raise the peak from {self.most} to {peak} bytes"
            sink_of(ctx).refused(name, pair, reason)
            return
        self.alive[gap] = [b + size for b in self.alive[gap]]
        free.take(value)
        new = h.ReuseOp.of(value, op.result.type)
        new.location = op.location
        new.result.name_hint = op.result.name_hint
        self.lives.replaced(op.result, new.result)
        Rewriter.replace_op(op, new)
        sink_of(ctx).accepted(
            name, f"{new.result.name_hint}, {value.name_hint}", "storage of equal bytes is dead"
        )


class _Free:
    """Dead buffers; those of the program's own memory by device and bytes, newest last."""

    def __init__(self) -> None:
        self.values: set[SSAValue] = set()
        self.since: dict[SSAValue, int] = {}
        self._fitting: dict[tuple[str, Expr], list[SSAValue]] = {}

    def add(self, value: SSAValue, place: int) -> None:
        """A buffer whose last use is the op at a place."""
        if value in self.values:
            return
        self.values.add(value)
        self.since[value] = place
        if isinstance(value.owner, h.AllocOp | h.ReuseOp):
            self._fitting.setdefault(_place(value.type), []).append(value)

    def newest(self, type_: Attribute) -> SSAValue | None:
        """The newest buffer whose storage has provably the size that `type_` needs.

        Older ones would have waited longer, over the same ops and more.
        """
        fitting = self._fitting.get(_place(type_))
        return fitting[-1] if fitting else None

    def take(self, value: SSAValue) -> None:
        """The newest buffer of its size has a use again."""
        self._fitting[_place(value.type)].pop()
        self.values.discard(value)


def _place(type_: Attribute) -> tuple[str, Expr]:
    assert isinstance(type_, TensorType)
    return type_.device, type_.storage_elements * type_.info.size
