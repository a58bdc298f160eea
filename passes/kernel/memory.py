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
from xdsl.ir import Block, Operation, SSAValue
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
        self.last: dict[SSAValue, Operation] = {}
        self.returned: set[SSAValue] = set()
        self._lifetimes()

    def storage(self, value: SSAValue) -> SSAValue:
        """The buffer that owns the memory of a value."""
        return self.root.get(value, value)

    def _lifetimes(self) -> None:
        for op in self.block.ops:
            if isinstance(op, h.ReinterpretOp):
                self.root[op.result] = self.storage(op.source)
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
                self.root[op.results[result]] = self.storage(op.operands[operand])

    def run(self, ctx: Context, name: str) -> None:
        """Reuse in program order, then free what is left."""
        free: list[SSAValue] = []
        for op in list(self.block.ops):
            if isinstance(op, h.AllocOp) and self.reuse:
                self._reuse(op, free, ctx, name)
            free.extend(v for v in self._ending(op) if v not in free)
        for op in list(self.block.ops):
            values = [v for v in self._ending(op) if v in free]
            if values:
                views = [v for v, root in self.root.items() if root in values]
                Rewriter.insert_op(h.FreeOp.of(*values, *views), InsertPoint.after(op))

    def _ending(self, op: Operation) -> list[SSAValue]:
        """Buffers whose last use is this op, in order of their operands."""
        if isinstance(op, func.ReturnOp | h.CheckOp):
            return []
        found = [self.storage(v) for v in op.operands if isinstance(v.type, TensorType)]
        return [
            v for v in dict.fromkeys(found) if self.last.get(v) is op and v not in self.returned
        ]

    def _reuse(self, op: h.AllocOp, free: list[SSAValue], ctx: Context, name: str) -> None:
        for value in reversed(free):
            if not isinstance(value.owner, h.AllocOp | h.ReuseOp) or not fits(
                value.type, op.result.type
            ):
                continue
            free.remove(value)
            new = h.ReuseOp.of(value, op.result.type)
            new.location = op.location
            new.result.name_hint = op.result.name_hint
            self._move(op.result, new.result)
            Rewriter.replace_op(op, new)
            sink_of(ctx).accepted(
                name, f"{new.result.name_hint}, {value.name_hint}", "storage of equal bytes is dead"
            )
            return

    def _move(self, old: SSAValue, new: SSAValue) -> None:
        """Carry the lifetime facts of a replaced value over."""
        if old in self.last:
            self.last[new] = self.last.pop(old)
        if old in self.returned:
            self.returned.add(new)
        self.root = {k: new if root is old else root for k, root in self.root.items()}


def fits(have: object, want: object) -> bool:
    """Two tensors whose storage has provably the same size on the same device."""
    assert isinstance(have, TensorType)
    assert isinstance(want, TensorType)
    if have.device != want.device:
        return False
    return _bytes(have) is _bytes(want)


def _bytes(type_: TensorType) -> Expr:
    return type_.storage_elements * type_.info.size
