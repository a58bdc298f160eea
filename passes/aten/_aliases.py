"""Who shares storage with whom in a function of `aten` ops, and what that forbids.

A fresh result `y` may be replaced by an older value `x` of the same type only when nobody can tell
the two storages apart: not the caller, through two results or a result and an argument, not a later
read, through an argument that is overwritten in between, and not an `as_strided`, which counts from
where the storage begins.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from minductor.dialects.aten import AtenOp, ConstantOp, is_mutating, is_view, storages_read

AS_STORAGE = "its storage is read as such"


def root(value: SSAValue) -> SSAValue:
    """The value whose storage `value` shows: through views and through what a write returns."""
    while True:
        owner = value.owner
        if not isinstance(owner, AtenOp) or not owner.operands:
            return value
        if not (is_view(owner) or is_mutating(owner)):
            return value
        value = owner.operands[0]


class Aliases:
    """Escapes and writes of one block."""

    def __init__(self, block: Block) -> None:
        self.escapes: set[SSAValue] = set()
        self.writes: dict[SSAValue, Operation] = {}
        self.storages_read = set(storages_read(block.ops))
        for op in block.ops:
            if isinstance(op, AtenOp) and is_mutating(op):
                for value in written(op):
                    self.writes.setdefault(root(value), op)
            elif op.name == "func.return":
                self.escapes.update(root(v) for v in op.operands)

    def why_not(self, y: SSAValue, x: SSAValue) -> str | None:
        """Why the fresh value `y` must keep a storage apart from `x`; None when it need not."""
        base = root(x)
        if y in self.storages_read:
            return AS_STORAGE
        if y in self.writes:
            return "the copy is written in place"
        if y in self.escapes:
            if isinstance(base, BlockArgument):
                return "a result of the function would share the storage of an argument"
            if base in self.escapes:
                return "two results of the function would share storage"
            if base is not x:
                return "a result of the function would be a view of other storage"
            if isinstance(base.owner, ConstantOp):
                return "a result of the function would share the storage of a constant"
        return self._read_late(y, base)

    def why_not_apart(self, y: SSAValue, x: SSAValue) -> str | None:
        """Why the view `y` must keep to its storage; None when `x`, apart from it, would do."""
        if y in self.storages_read:
            return AS_STORAGE
        if root(y) in self.writes:
            return "the storage that it shows is overwritten"
        if any(use.name == "func.return" for use in readers(y)):
            return "a result of the function shows this storage"
        return self._read_late(y, root(x))

    def _read_late(self, y: SSAValue, base: SSAValue) -> str | None:
        first = self.writes.get(base)
        if first is not None and any(not use.is_before_in_block(first) for use in readers(y)):
            return "it is read after the original is overwritten"
        return None

    def read_later(self, old: Operation, new: Operation) -> bool:
        """`new`, in the place of `old`, would read a storage that is written before that place."""
        if not self.writes:
            return False
        known = {root(v) for v in old.operands}
        for base in {root(v) for v in new.operands} - known:
            first = self.writes.get(base)
            if first is not None and not old.is_before_in_block(first):
                return True
        return False

    def replaced(self, old: SSAValue, new: SSAValue) -> None:
        """Keep the escapes right when `new` takes the place of `old`."""
        if old in self.escapes:
            self.escapes.discard(old)
            self.escapes.add(root(new))
        if old in self.storages_read:
            self.storages_read.add(new)


def written(op: AtenOp) -> Iterator[SSAValue]:
    """The operands that an op writes."""
    args = op.bind()
    for arg in op.schema.args:
        if arg.written:
            value = args[arg.name]
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, SSAValue):
                    yield item


def readers(value: SSAValue) -> Iterator[Operation]:
    """The ops that read the storage of a fresh value, through its views too."""
    stack = [value]
    while stack:
        for use in stack.pop().uses:
            op = use.operation
            yield op
            if isinstance(op, AtenOp) and is_view(op) and use.index == 0:
                stack.extend(op.results)
