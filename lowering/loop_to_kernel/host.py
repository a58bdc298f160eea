"""The host program: one buffer per tensor, launches and extern calls in order.

An updated result takes the storage of its operand when nothing reads the old value later and the
storage is the program's own, or is the argument that the result is committed to; else it starts as
a copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.attrs import IndexAttr
from minductor.dialects.kernel import host as h
from minductor.dialects.loop.ops import CommitOp, ExternOp, GroupOp, LoadOp, NestOp, StoreOp, ViewOp
from minductor.dialects.pyattrs import ArgAttr, DeviceAttr
from minductor.dialects.types import TensorType

SIZE = "minductor.size"
"""The call that makes a size a value; the host program has an op for it."""


@dataclass
class Uses:
    """Where the tensors of a function are used; positions count the ops of its body."""

    positions: Mapping[Operation, int]
    last: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    roots: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    commits: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    @staticmethod
    def of(block: Block) -> Uses:
        """Collect the last use of each tensor (through views too) and the commits."""
        uses = Uses({op: i for i, op in enumerate(block.ops)})
        for op, position in uses.positions.items():
            if isinstance(op, CommitOp):
                uses.commits[op.new] = op.arg
                uses.touch(op.new, position)
                continue
            for inner in op.walk():
                for value in inner.operands:
                    uses.touch(value, position)
            if isinstance(op, ViewOp):
                uses.roots[op.result] = uses.root(op.source)
        return uses

    def touch(self, value: SSAValue, position: int) -> None:
        """Note a use of a tensor and of the storage behind it."""
        self.last[value] = position
        self.last[self.root(value)] = position

    def root(self, value: SSAValue) -> SSAValue:
        """The tensor whose storage a value is a view of."""
        return self.roots.get(value, value)

    def committed_to(self, result: SSAValue) -> SSAValue | None:
        """The argument that a result ends in, through a chain of updates, and in nothing else that
        shares memory: a returned result or a view would be written over."""
        for _ in range(10_000):
            if any(isinstance(u.operation, func.ReturnOp | ViewOp) for u in result.uses):
                return None
            if result in self.commits:
                return self.commits[result]
            following = [r for u in result.uses for r in _update_of(u.operation, result)]
            if len(following) != 1:
                return None
            result = following[0]
        return None


def _update_of(op: Operation, value: SSAValue) -> list[SSAValue]:
    """The results (of a group, seen from outside) that update `value`."""
    if not isinstance(op, NestOp):
        return []
    found = [r for i, r in enumerate(op.results) if op.updated(i) is value]
    group = op.parent_op()
    if not isinstance(group, GroupOp):
        return list(found)
    last = group.body.block.last_op
    assert last is not None
    return [group.results[i] for i, v in enumerate(last.operands) if v in found]


class HostBuilder:
    """Builds the body of `@call`; `values` maps tensors of the loop level to host buffers."""

    def __init__(self, source: Block, target: Block):
        self.block = target
        self.uses = Uses.of(source)
        self.values: dict[SSAValue, SSAValue] = {}
        self.owned: set[SSAValue] = set()
        self.moved: dict[tuple[SSAValue, str], SSAValue] = {}
        for old, new in zip(source.args, target.args, strict=True):
            new.name_hint = old.name_hint
            self.values[old] = new
            if isinstance(new.type, TensorType):
                self.add(h.CheckOp.of(new))

    def add(self, op: Operation, like: Operation | None = None) -> Operation:
        """Append an op, with the location of the op it comes from."""
        if like is not None:
            op.location = like.location
        self.block.add_op(op)
        return op

    def bind(self, old: SSAValue, new: SSAValue, owned: bool = True) -> None:
        """`new` is the buffer of tensor `old`."""
        self.values[old] = new
        if new.name_hint is None:
            new.name_hint = old.name_hint
        if owned:
            self.owned.add(new)

    def allocate(self, old: SSAValue, like: Operation) -> SSAValue:
        """A fresh buffer for a tensor."""
        assert isinstance(old.type, TensorType)
        op = h.AllocOp.of(old.type)
        self.add(op, like)
        self.bind(old, op.result)
        return op.result

    def updated(self, result: SSAValue, acc: SSAValue, op: Operation, read_too: bool) -> SSAValue:
        """The buffer of an updating result, holding the old value."""
        buffer = self.values[acc]
        if not read_too and self._may_take(result, acc, buffer, op):
            self.bind(result, buffer, owned=buffer in self.owned)
            return buffer
        fresh = self.allocate(result, op)
        args: list[Attribute] = [ArgAttr(0), ArgAttr(1)]
        props: dict[str, Attribute] = {"mutates": IndexAttr((ex.ZERO,))}
        copy = h.ExternOp.of("aten.copy_.default", [fresh, buffer], args, {}, [], props)
        self.add(copy, op)
        return fresh

    def _may_take(self, result: SSAValue, acc: SSAValue, buffer: SSAValue, op: Operation) -> bool:
        if acc.type != result.type or self.uses.last.get(acc, -1) > self.uses.positions[op]:
            return False
        if buffer in self.owned:
            return True
        return isinstance(acc, BlockArgument) and self.uses.committed_to(result) is acc

    def on_device(self, value: SSAValue, device: str, like: Operation) -> SSAValue:
        """The buffer of a tensor on the device of a kernel: eager lets numbers on the CPU in."""
        buffer = self.values[value]
        type_ = buffer.type
        if not isinstance(type_, TensorType) or type_.device == device or type_.rank:
            return buffer
        key = (value, device)
        if key not in self.moved:
            props: dict[str, Attribute] = {"device": DeviceAttr(device)}
            to = type_.with_(device=device)
            args: list[Attribute] = [ArgAttr(0)]
            op = h.ExternOp.of("aten._to_copy.default", [buffer], args, props, [to])
            self.add(op, like)
            self.moved[key] = op.results[0]
        return self.moved[key]

    # -- ops -------------------------------------------------------------------------------------
    def view(self, op: ViewOp) -> None:
        """A view becomes a reinterpret."""
        new = h.ReinterpretOp.of(self.values[op.source], op.offset.data, op.result.type)
        self.add(new, op)
        self.bind(op.result, new.result, owned=False)

    def extern(self, op: ExternOp) -> None:
        """An extern call; its last results are tied to the operands that it mutates."""
        if op.callee.data == SIZE:
            size = h.SizeOp.create(result_types=[op.results[0].type])
            self.add(size, op)
            self.bind(op.results[0], size.result, owned=False)
            return
        mutated = [] if op.mutates is None else [int(e) for e in op.mutates.data]
        plain = list(op.results)[: len(op.results) - len(mutated)]
        operands = [self.values[v] for v in op.operands]
        for number, result in zip(mutated, op.results[len(plain) :], strict=True):
            operands[number] = self.updated(result, op.operands[number], op, read_too=False)
        new = h.ExternOp.create(
            operands=operands,
            result_types=[r.type for r in plain],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            regions=[r.clone() for r in op.regions],
        )
        self.add(new, op)
        aliased = {int(pair.data[0]) for pair in op.aliases or () if isinstance(pair, IndexAttr)}
        for i, (old, made) in enumerate(zip(plain, new.results, strict=True)):
            self.bind(old, made, owned=i not in aliased)

    def commit(self, op: CommitOp) -> None:
        """Write an argument back unless it already holds the value."""
        new, arg = self.values[op.new], self.values[op.arg]
        if new is arg:
            return
        args: list[Attribute] = [ArgAttr(0), ArgAttr(1)]
        props: dict[str, Attribute] = {"mutates": IndexAttr((ex.ZERO,))}
        self.add(h.ExternOp.of("aten.copy_.default", [arg, new], args, {}, [], props), op)


def reads_outside(group: GroupOp, value: SSAValue, uses: Uses) -> bool:
    """A nest of the group loads this outside tensor, or a view of its storage."""
    root = uses.root(value)
    return any(isinstance(op, LoadOp) and uses.root(op.source) is root for op in group.walk())


def _at_hand(load: LoadOp, group: GroupOp, nest: NestOp, store: StoreOp) -> bool:
    """A nest reads what another one of its group has just made: the value, never the memory.

    One stage only: a later one would make the value again, from what has been overwritten.
    """
    domain = nest.domain
    alike = all(one.domain == domain for one in group.nests)
    plain = not domain.data.reduce and not domain.data.scan
    return alike and plain and isinstance(load.parent_op(), NestOp) and load.index == store.index


def written_over(group: GroupOp, result: SSAValue, outer: SSAValue, uses: Uses) -> SSAValue | None:
    """The argument over whose storage a fresh result can be written at once, or None.

    The result is committed to the argument, in its layout, and otherwise only loaded, so that no
    result or view of it escapes; nothing reads the old value later; in the group only the nest that
    makes the result reads the argument, at the element it then writes, and others read the result
    only at the point at which they make their own.
    """
    arg = uses.commits.get(outer)
    nest = result.owner
    if arg is None or not isinstance(nest, NestOp) or arg.type != result.type:
        return None
    users = [use.operation for use in outer.uses]
    if sum(isinstance(u, CommitOp) for u in users) != 1:
        return None
    if not all(isinstance(u, CommitOp | LoadOp) for u in users):
        return None
    if nest.updated(nest.number_of(result)) is not None or nest.domain.data.reduce:
        return None
    if nest.domain.data.scan or uses.last.get(arg, -1) > uses.positions[group]:
        return None
    block = nest.body.block
    target = block.args[nest.number_of(result)]
    stores = [op for op in block.ops if isinstance(op, StoreOp) and op.dest is target]
    if len(stores) != 1 or any(use.operation.parent_op() is not nest for use in target.uses):
        return None
    for op in group.walk():
        if not isinstance(op, LoadOp):
            continue
        if op.source is result and not _at_hand(op, group, nest, stores[0]):
            return None
        if uses.root(op.source) is arg and (
            op.source is not arg or op.parent_op() is not nest or op.index != stores[0].index
        ):
            return None
    return arg
