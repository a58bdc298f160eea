"""Peak memory of a function: which storage lives when, and the most bytes alive at once.

    storage of %a  made by op 1, last used by op 4      4096 bytes
    storage of %x  an argument; dies at op 2 if `dying` names it

Bytes count beyond what lives at entry; sizes known only at run time count at their hints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from minductor.dialects.attrs import SymbolsAttr
from minductor.dialects.expr import Atom
from minductor.dialects.loop.ops import GroupOp, NestOp, ViewOp
from minductor.dialects.types import TensorType

EAGER = "eager_peak"
"""Attribute of a function: bytes at the peak of running its `aten` ops one after another."""
PLANNED = "planned_peak"
"""Attribute of a host program: bytes at the peak of its plan."""
DYING = "dying"
"""Attribute of a function: numbers of the arguments that nobody holds outside."""
SHARING = "sharing"
"""Attribute of a function: for each of those the first argument that shows the same storage."""
LOOSE = "loose_results"
"""Attribute of a function: numbers of the results that may come in any layout."""
DEFAULT_HINT = 64


def hints_of(fn: FuncOp) -> dict[Atom, int]:
    """Values of a function's size symbols at capture."""
    symbols = fn.attributes.get("symbols")
    return symbols.hints(DEFAULT_HINT) if isinstance(symbols, SymbolsAttr) else {}


def bytes_of(value: SSAValue, hints: Mapping[Atom, int]) -> int:
    """Bytes that a tensor's own storage takes at the hints."""
    type_ = value.type
    if not isinstance(type_, TensorType):
        return 0
    elements = type_.storage_elements
    known = {atom: hints.get(atom, DEFAULT_HINT) for atom in elements.vars("su")}
    return max(0, elements.eval(known)) * type_.info.size


def dying_arguments(fn: FuncOp) -> list[SSAValue]:
    """The arguments that nobody holds outside: freed inside, they are free."""
    attr = fn.attributes.get(DYING)
    args = fn.body.block.args
    if isinstance(attr, DenseArrayBase):
        return [args[int(k)] for k in attr.get_values()]
    return []


def attribute(fn: FuncOp, name: str) -> int | None:
    """A whole number that a pass left on a function."""
    attr = fn.attributes.get(name)
    return attr.value.data if isinstance(attr, IntegerAttr) else None


@dataclass
class Storage:
    """Which values share storage. `outside` storage is nobody's business here.

    `of` knows what the arguments of a function share.
    """

    hints: Mapping[Atom, int]
    roots: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    outside: set[SSAValue] = field(default_factory=set[SSAValue])

    @staticmethod
    def of(fn: FuncOp) -> Storage:
        """Of a function whose ops have not been looked at."""
        storage, first = Storage(hints_of(fn)), fn.attributes.get(SHARING)
        if isinstance(first, DenseArrayBase):
            for value, number in zip(dying_arguments(fn), first.get_values(), strict=True):
                storage.share(value, fn.body.block.args[int(number)])
        return storage

    def root(self, value: SSAValue) -> SSAValue:
        """The value that owns the storage of a value."""
        while value in self.roots:
            value = self.roots[value]
        return value

    def share(self, value: SSAValue, other: SSAValue) -> None:
        """`value` shows the storage of `other`."""
        if self.root(other) is not self.root(value):
            self.roots[self.root(value)] = self.root(other)


def loop_storage(fn: FuncOp) -> Storage:
    """The storage of a function of groups, nests, calls and views."""
    storage = Storage.of(fn)
    for op in fn.body.walk():
        if isinstance(op, ViewOp):
            storage.share(op.results[0], op.operands[0])
        elif isinstance(op, NestOp):
            for number, result in enumerate(op.results):
                old = op.updated(number)
                if old is not None:
                    storage.share(result, old)
    for op in fn.body.block.ops:
        last = op.body.block.last_op if isinstance(op, GroupOp) else None
        for result, inner in zip(op.results, last.operands if last else (), strict=False):
            if storage.root(inner) is not inner:
                storage.share(result, inner)
    return storage


@dataclass(frozen=True)
class Lives:
    """For each op the bytes that it allocates, and those that are free after it."""

    made: list[int]
    freed: list[int]

    def peak(self) -> tuple[int, int]:
        """The most bytes alive at once, and the number of the op that runs then."""
        most = where = 0
        for k, alive in enumerate(self.alive()):
            if alive > most:
                most, where = alive, k
        return most, where

    def alive(self) -> list[int]:
        """Bytes alive while each op runs."""
        out: list[int] = []
        alive = 0
        for new, dead in zip(self.made, self.freed, strict=True):
            out.append(alive + new)
            alive += new - dead
        return out


def lives_of(fn: FuncOp, storage: Storage) -> Lives:
    """When storage is made and freed, with every tensor freed right after its last use."""
    block = fn.body.block
    ops = list(block.ops)
    made, freed = [0] * len(ops), [0] * len(ops)
    last: dict[SSAValue, int] = {}
    bytes_: dict[SSAValue, int] = {}
    for value in map(storage.root, dying_arguments(fn)):
        last[value], bytes_[value] = -1, bytes_of(value, storage.hints)
    kept: set[SSAValue] = set()
    for k, op in enumerate(ops):
        for value in _used(op):
            if (root := storage.root(value)) in last:
                last[root] = k
            if isinstance(op, ReturnOp):
                kept.add(root)
        for result in op.results:
            if result in storage.roots or result in storage.outside:
                continue
            bytes_[result] = bytes_of(result, storage.hints)
            made[k] += bytes_[result]
            last[result] = k
    for value, k in last.items():
        if value not in kept and ops:
            freed[max(k, 0)] += bytes_[value]
    return Lives(made, freed)


def _used(op: Operation) -> list[SSAValue]:
    """Operands of an op and of the ops inside it."""
    return [v for inner in op.walk() for v in inner.operands if isinstance(v.type, TensorType)]


def peak_of(fn: FuncOp, storage: Storage) -> int:
    """The most bytes alive at once."""
    return lives_of(fn, storage).peak()[0]
