"""kernel-turn: a launch begins where the one before it ended, in what the cache still holds.

Before, target triton: both launches walk 128 MiB from the beginning, so that the end of %x, which
the second-level cache holds after the first, is gone when the second comes to it:
    kernel.launch @sums(%x, %t)[]
    kernel.launch @scale(%x, %t, %y)[]

After:
    kernel.func @scale(..) config {.., begin = "last"} {

`begin = "last"` runs the programs of the grid from the last to the first. A kernel may turn where
the loop of its grid that is slowest walks its large buffers from end to end; it does where more of
them lies in the cache at their end than at their beginning. A buffer counts by the share of it
that is left: what a launch touched last, up to the size of the cache, less what was touched since.
Calls of a library are taken to walk from the beginning. A kernel of several launches stays.

Where a kernel that turns reads one such tensor, this and what it stores give way in the cache
(`evict`), unless a later step needs them; of several each would push out the rest of the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom
from minductor.dialects.kernel import host as h
from minductor.dialects.kernel import ops as k
from minductor.dialects.types import TensorType
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import LOOPS, Loop, child_loops, estimate
from minductor.passes.kernel._walks import Access
from minductor.passes.kernel.lifetimes import host_storage
from minductor.passes.peak import Storage, bytes_of
from minductor.passes.remarks import sink_of


@dataclass(frozen=True)
class KernelTurnPass(MiniPass):
    """Choose the order of the programs of Triton kernels; `turn=false` leaves all as it is.

    held: bytes that the second-level cache keeps of what was touched; least: those of them that a
    turn must find; give_way: whether a kernel that turns says what it will not need again.
    """

    name = "kernel-turn"
    needs = frozenset({"lanes", "memory"})

    turn: bool = True
    held: int = 32 << 20
    least: int = 4 << 20
    give_way: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Walk every host program of the module in order."""
        kernels = _kernels(op)
        steps = [one for one in op.walk() if isinstance(one, h.LaunchOp)]
        launches = Counter(name for one in steps for name in _names(one))
        for fn in op.ops:
            if not self.turn or not isinstance(fn, func.FuncOp) or not fn.body.blocks:
                continue
            cache = _Cache(self.held, host_storage(fn))
            for step in fn.body.block.ops:
                if isinstance(step, h.LaunchOp):
                    found = [f for name in _names(step) for f in kernels.get(name, ())]
                    alone = all(launches[name] == 1 for name in _names(step))
                    turned = alone and self._launch(step, found, cache)
                    for kernel in found if turned else ():
                        kernel.config = kernel.config.with_(begin="last")
                        if self.give_way:
                            _give_way(step, kernel, cache.hints)
                        sink_of(ctx).accepted(self.name, kernel.sym_name.data, "begins at the end")
                    cache.touch(step.args, up=not turned)
                elif isinstance(step, h.ExternOp):
                    cache.touch((*step.operands, *step.results), up=True)

    def _launch(self, step: h.LaunchOp, kernels: list[k.FuncOp], cache: _Cache) -> bool:
        """Whether the launch should begin at the end."""
        if not kernels or any(kernel.target != "triton" for kernel in kernels):
            return False
        gain = 0
        for number, value in enumerate(step.args):
            if all(
                walks(kernel, kernel.body.block.args[number], cache.hints) for kernel in kernels
            ):
                gain += cache.ahead(value)
        return gain >= self.least


@dataclass
class _Visit:
    """The last launch that touched a storage: bytes that it touched in all, and until its end."""

    total: int
    until: int
    up: bool


@dataclass
class _Cache:
    """What of each storage the cache holds, by the order in which launches touched them."""

    room: int
    storage: Storage
    now: int = 0
    visits: dict[SSAValue, _Visit] = field(default_factory=dict[SSAValue, _Visit])

    @property
    def hints(self) -> Mapping[Atom, int]:
        """Values of the size symbols at capture."""
        return self.storage.hints

    def _size(self, value: SSAValue) -> int:
        return bytes_of(self.storage.root(value), self.hints)

    def touch(self, values: Iterable[SSAValue], up: bool) -> None:
        """A launch walks these tensors, upwards or downwards."""
        tensors = [v for v in values if isinstance(v.type, TensorType)]
        roots = list(dict.fromkeys(self.storage.root(v) for v in tensors))
        total = sum(self._size(root) for root in roots)
        self.now += total
        for root in roots:
            self.visits[root] = _Visit(total, self.now, up)

    def ahead(self, value: SSAValue) -> int:
        """Bytes of a tensor that only a walk from its end finds in the cache; of one that only a
        walk from its beginning finds there, less than 0. What lies there whole counts for none."""
        visit, size = self.visits.get(self.storage.root(value)), self._size(value)
        left = 0 if visit is None else self.room - (self.now - visit.until)
        if visit is None or left <= 0 or visit.total <= left:
            return 0
        held = size * left // visit.total
        return held if visit.up else -held


def _give_way(step: h.LaunchOp, kernel: k.FuncOp, hints: Mapping[Atom, int]) -> None:
    """What the launch walks and no step after it reads need not stay in the cache."""
    pairs = zip(step.args, kernel.body.block.args, strict=True)
    walked = [(value, buffer) for value, buffer in pairs if walks(kernel, buffer, hints)]
    read = [b for _, b in walked if any(isinstance(u.operation, k.LoadOp) for u in b.uses)]
    for value, buffer in walked if len(read) == 1 else ():
        if not _used_after(value, step):
            for use in buffer.uses:
                if isinstance(use.operation, k.LoadOp | k.StoreOp) and use.operation.evict is None:
                    use.operation.evict = StringAttr("first")


def _used_after(value: SSAValue, step: h.LaunchOp) -> bool:
    """A step behind this one computes with the value."""
    steps = (use.operation for use in value.uses)
    later = (one for one in steps if not isinstance(one, h.FreeOp | func.ReturnOp))
    return any(one is not step and step.is_before_in_block(one) for one in later)


def walks(kernel: k.FuncOp, buffer: SSAValue, hints: Mapping[Atom, int]) -> bool:
    """The grid's slowest loop walks a buffer from end to end: no other moves further."""
    accesses = [use.operation for use in buffer.uses]
    return bool(accesses) and all(_walks(op, kernel, hints) for op in accesses)


def _walks(op: Operation, kernel: k.FuncOp, hints: Mapping[Atom, int]) -> bool:
    if not isinstance(op, k.LoadOp | k.StoreOp) or op.index.data[0].vars("t"):
        return False
    slowest = next(iter(_slowest(op, kernel, hints)), None)
    if slowest is None:
        return False
    index, atom = op.index.data[0], ex.dim_atom(slowest.var.data)
    others = [v for v in index.vars("d") if v is not atom]
    return atom in index.vars("d") and all(
        _step(op, v, hints) <= _step(op, atom, hints) for v in others
    )


def _step(op: Access, atom: Atom, hints: Mapping[Atom, int]) -> int:
    """How far an access moves with a variable; what it divides by moves less than any other."""
    index = op.index.data[0]
    return abs(estimate(index.coeff(atom), hints)) if index.is_linear_in(atom) else 0


def _slowest(op: Operation, kernel: k.FuncOp, hints: Mapping[Atom, int]) -> Iterator[Loop]:
    """Loops of the grid around an op that have several programs, the outermost first."""
    around: list[Loop] = []
    parent = op.parent_op()
    while parent is not None and parent is not kernel:
        if isinstance(parent, LOOPS) and parent.words.data.run == "grid":
            around.append(parent)
        parent = parent.parent_op()
    for loop in reversed(around):
        if estimate(loop.extent.data, hints) > loop.words.data.lanes:
            yield loop


def _names(step: h.LaunchOp) -> list[str]:
    both = [step.callee] if step.orelse is None else [step.callee, step.orelse]
    return [name.string_value() for name in both]


def _kernels(module: ModuleOp) -> dict[str, list[k.FuncOp]]:
    """Kernels by the name of a launch: of one with candidates, all of them."""
    single = {f.sym_name.data: f for f in module.ops if isinstance(f, k.FuncOp)}
    found = {name: [f] for name, f in single.items() if list(child_loops(f.body.block))}
    for op in module.ops:
        if isinstance(op, h.VariantsOp):
            names = [c.string_value() for c in op.candidates if isinstance(c, SymbolRefAttr)]
            found[op.sym_name.data] = [single[name] for name in names if name in single]
    return found
