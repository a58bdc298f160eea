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
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from minductor.dialects.attrs import IndexAttr
from minductor.dialects.expr import Expr
from minductor.dialects.kernel import host as h
from minductor.dialects.types import TensorType
from minductor.passes.base import MiniPass
from minductor.passes.remarks import sink_of


@dataclass(frozen=True)
class KernelMemoryPass(MiniPass):
    """Insert `free` after last uses and turn allocations into reuse where bytes agree.

    reuse: false leaves every allocation fresh.
    """

    name = "kernel-memory"
    needs = frozenset({"kernel"})
    provides = frozenset({"memory"})

    reuse: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Plan the memory of every host program in the module."""
        for fn in op.body.block.ops:
            if isinstance(fn, func.FuncOp) and any(
                isinstance(inner, h.LaunchOp | h.AllocOp | h.ExternOp)
                for inner in fn.body.block.ops
            ):
                _Planner(fn.body.block, self.reuse).run(ctx, self.name)


class _Planner:
    """Lifetimes in one block."""

    def __init__(self, block: Block, reuse: bool):
        self.block = block
        self.reuse = reuse
        self.root: dict[SSAValue, SSAValue] = {}
        self.views: dict[SSAValue, list[SSAValue]] = {}
        self.last: dict[SSAValue, Operation] = {}
        self.returned: set[SSAValue] = set()
        self._lifetimes()

    def storage(self, value: SSAValue) -> SSAValue:
        """The buffer that owns the memory of a value."""
        return self.root.get(value, value)

    def _lifetimes(self) -> None:
        for op in self.block.ops:
            if isinstance(op, h.ReinterpretOp):
                self._view(op.result, self.storage(op.source))
            elif isinstance(op, h.ExternOp):
                self._extern_aliases(op)
            for value in op.operands:
                if isinstance(value.type, TensorType):
                    self.last[self.storage(value)] = op
            if isinstance(op, func.ReturnOp):
                self.returned.update(self.storage(v) for v in op.operands)

    def _extern_aliases(self, op: h.ExternOp) -> None:
        for pair in op.aliases or ():
            if isinstance(pair, IndexAttr):
                result, operand = (int(e) for e in pair.data)
                self._view(op.results[result], self.storage(op.operands[operand]))

    def _view(self, value: SSAValue, root: SSAValue) -> None:
        self.root[value] = root
        self.views.setdefault(root, []).append(value)

    def run(self, ctx: Context, name: str) -> None:
        """Reuse in program order, then free what is left."""
        free = _Free()
        for op in list(self.block.ops):
            if isinstance(op, h.AllocOp) and self.reuse:
                self._reuse(op, free, ctx, name)
            for value in self._ending(op):
                free.add(value)
        for op in list(self.block.ops):
            values = [v for v in self._ending(op) if v in free.values]
            if values:
                views = [v for root in values for v in self.views.get(root, ())]
                Rewriter.insert_op(h.FreeOp.of(*values, *views), InsertPoint.after(op))

    def _ending(self, op: Operation) -> list[SSAValue]:
        """Buffers whose last use is this op, in order of their operands."""
        if isinstance(op, func.ReturnOp | h.CheckOp):
            return []
        found = [self.storage(v) for v in op.operands if isinstance(v.type, TensorType)]
        return [
            v for v in dict.fromkeys(found) if self.last.get(v) is op and v not in self.returned
        ]

    def _reuse(self, op: h.AllocOp, free: _Free, ctx: Context, name: str) -> None:
        value = free.take(op.result.type)
        if value is None:
            return
        new = h.ReuseOp.of(value, op.result.type)
        new.location = op.location
        new.result.name_hint = op.result.name_hint
        self._move(op.result, new.result)
        Rewriter.replace_op(op, new)
        sink_of(ctx).accepted(
            name, f"{new.result.name_hint}, {value.name_hint}", "storage of equal bytes is dead"
        )

    def _move(self, old: SSAValue, new: SSAValue) -> None:
        """Carry the lifetime facts of a replaced value over."""
        if old in self.last:
            self.last[new] = self.last.pop(old)
        if old in self.returned:
            self.returned.add(new)
        for view in self.views.pop(old, ()):
            self._view(view, new)


class _Free:
    """Dead buffers; those of the program's own memory by device and bytes, newest last."""

    def __init__(self) -> None:
        self.values: set[SSAValue] = set()
        self._fitting: dict[tuple[str, Expr], list[SSAValue]] = {}

    def add(self, value: SSAValue) -> None:
        """A buffer whose last use is past."""
        if value in self.values:
            return
        self.values.add(value)
        if isinstance(value.owner, h.AllocOp | h.ReuseOp):
            self._fitting.setdefault(_place(value.type), []).append(value)

    def take(self, type_: Attribute) -> SSAValue | None:
        """The newest buffer whose storage has provably the size that `type_` needs."""
        fitting = self._fitting.get(_place(type_))
        if not fitting:
            return None
        value = fitting.pop()
        self.values.discard(value)
        return value


def _place(type_: Attribute) -> tuple[str, Expr]:
    assert isinstance(type_, TensorType)
    return type_.device, type_.storage_elements * type_.info.size
