"""Lifetimes of the buffers of a host program.

A buffer lives from its definition to the last use of itself or of any alias (reinterpret, extern
results that alias an operand). Returned buffers live on; `reuse` hands memory to another value.
"""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.ir import Block, Operation, SSAValue

from minductor.dialects.kernel import host as h
from minductor.dialects.kernel.host_facts import views_of
from minductor.dialects.types import TensorType
from minductor.passes.peak import Storage


def host_storage(fn: func.FuncOp) -> Storage:
    """Who shares storage in a host program."""
    storage = Storage.of(fn)
    for op in fn.body.block.ops:
        if isinstance(op, h.ReuseOp):
            storage.share(op.result, op.source)
        for value, source in views_of(op):
            storage.share(value, source)
    return storage


class Lifetimes:
    """Who owns storage in one block, and its last use."""

    def __init__(self, block: Block):
        self.root: dict[SSAValue, SSAValue] = {}
        self.views: dict[SSAValue, list[SSAValue]] = {}
        self.last: dict[SSAValue, Operation] = {}
        self.returned: set[SSAValue] = set()
        self.ended: set[SSAValue] = set()
        for op in block.ops:
            if isinstance(op, h.ReuseOp):
                self.ended.add(self.storage(op.source))
            for value, source in views_of(op):
                self.view(value, self.storage(source))
            for value in (v for inner in op.walk() for v in inner.operands):
                if isinstance(value.type, TensorType):
                    self.last[self.storage(value)] = op
            if isinstance(op, func.ReturnOp):
                self.returned.update(self.storage(v) for v in op.operands)

    def storage(self, value: SSAValue) -> SSAValue:
        """The buffer that owns the memory of a value."""
        return self.root.get(value, value)

    def view(self, value: SSAValue, root: SSAValue) -> None:
        """`value` shows the memory of `root`."""
        self.root[value] = root
        self.views.setdefault(root, []).append(value)

    def ends_at(self, root: SSAValue, op: Operation) -> bool:
        """`op` is the last that uses the buffer, which nobody gets."""
        return self.last.get(root) is op and root not in self.returned and root not in self.ended

    def replaced(self, old: SSAValue, new: SSAValue) -> None:
        """Carry the facts of a replaced value over."""
        if old in self.last:
            self.last[new] = self.last.pop(old)
        for group in (self.returned, self.ended):
            if old in group:
                group.add(new)
        for view in self.views.pop(old, ()):
            self.view(view, new)
