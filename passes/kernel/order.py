"""kernel-order: launches and calls in that legal order which needs the least memory.

Before, with %a and %b alive at once:
    %a = kernel.alloc : T
    kernel.launch @big0(%x, %a)[]
    %b = kernel.alloc : T
    kernel.launch @big1(%y, %b)[]
    %c = kernel.alloc : S
    kernel.launch @sum0(%a, %c)[]
    %d = kernel.alloc : S
    kernel.launch @sum1(%b, %d)[]

After: `@sum0` runs before `@big1`, and `%a` is dead by then.

What reads a storage stays after what wrote it, what writes it after what read or wrote it; calls
with effects, random ones and those that write arguments keep their order. Ready steps are taken by
how much memory they free, among the first few in program order, so that time stays linear. The new
order stands only where it lowers the peak; allocations go to right before their first use.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from minductor.dialects.kernel import host as h
from minductor.dialects.kernel import ops as k
from minductor.dialects.kernel.host_facts import writes_of
from minductor.dialects.loop.verify import op_exprs
from minductor.dialects.types import TensorType
from minductor.passes.base import MiniPass
from minductor.passes.kernel.lifetimes import host_storage
from minductor.passes.peak import Storage, bytes_of, dying_arguments, lives_of
from minductor.passes.remarks import sink_of

WINDOW = 24
"""Ready steps, first ones in program order, among which one is chosen."""


@dataclass(frozen=True)
class KernelOrderPass(MiniPass):
    """Order the steps of host programs for a lower peak; `order=false` keeps them."""

    name = "kernel-order"
    needs = frozenset({"kernel"})
    provides = frozenset({"ordered"})

    order: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Reorder every host program of the module that gains."""
        kernels = {f.sym_name.data: f for f in op.ops if isinstance(f, k.FuncOp)}
        for fn in op.ops:
            if not self.order or not isinstance(fn, func.FuncOp) or not fn.body.blocks:
                continue
            if any(_unbacked(inner) for inner in fn.body.block.ops):
                sink_of(ctx).refused(self.name, fn.sym_name.data, "a size is bound on the way")
                continue
            before, after = _reorder(fn, kernels)
            if after < before:
                reason = f"the peak falls from {before} to {after}"
                sink_of(ctx).accepted(self.name, fn.sym_name.data, reason, bytes=before - after)


@dataclass(eq=False)
class Step:
    """A launch or call with the allocations and views that only it needs next."""

    place: int
    ops: list[Operation]
    after: dict[Step, None] = field(default_factory=dict["Step", None])
    waits: int = 0
    touched: dict[SSAValue, None] = field(default_factory=dict[SSAValue, None])


def _reorder(fn: func.FuncOp, kernels: dict[str, k.FuncOp]) -> tuple[int, int]:
    """Put the steps in a better order if there is one; the peaks before and after."""
    block = fn.body.block
    storage = host_storage(fn)
    before = lives_of(fn, storage).peak()[0]
    old = list(block.ops)
    last = old[-1] if old else None
    steps, rest = _steps(old, storage, kernels)
    if last is None or len(steps) < 3 or before == 0:
        return before, before
    order = _schedule(fn, steps, storage)
    if [s.place for s in order] == sorted(s.place for s in order):
        return before, before
    _place(block, [*(op for step in order for op in step.ops), *rest], last)
    after = lives_of(fn, storage).peak()[0]
    if after >= before:
        _place(block, old[:-1], last)
        return before, before
    return before, after


def _place(block: Block, ops: list[Operation], last: Operation) -> None:
    for op in ops:
        if op is not last:
            op.detach()
            block.insert_op_before(op, last)


def _steps(
    ops: list[Operation], storage: Storage, kernels: dict[str, k.FuncOp]
) -> tuple[list[Step], list[Operation]]:
    """The steps in program order, with what has to come before what; what only results need."""
    steps: list[Step] = []
    pending: list[Operation] = []
    owner: dict[Operation, Step] = {}
    writer: dict[SSAValue, Step] = {}
    readers: dict[SSAValue, list[Step]] = {}
    effect: Step | None = None
    for op in ops:
        if isinstance(op, func.ReturnOp):
            break
        if isinstance(op, h.AllocOp | h.ReinterpretOp):
            pending.append(op)
            continue
        needed = _needed(op, pending)
        pending = [one for one in pending if one not in needed]
        step = Step(len(steps), [*needed, op])
        steps.append(step)
        for one in step.ops:
            owner[one] = step
            for value in (v for inner in one.walk() for v in inner.operands):
                if isinstance(value.owner, Operation) and value.owner in owner:
                    _before(owner[value.owner], step)
        written = {storage.root(v) for v in writes_of(op, kernels)}
        used = [v for one in step.ops for inner in one.walk() for v in inner.operands]
        for value in dict.fromkeys(storage.root(v) for v in used):
            if not isinstance(value.type, TensorType):
                continue
            step.touched[value] = None
            if value in writer:
                _before(writer[value], step)
            if value in written:
                for reader in readers.pop(value, ()):
                    _before(reader, step)
                writer[value] = step
            else:
                readers.setdefault(value, []).append(step)
        if isinstance(op, h.CheckOp) or _has_effect(op, written):
            if effect is not None:
                _before(effect, step)
            effect = step
    return steps, pending


def _needed(op: Operation, pending: list[Operation]) -> list[Operation]:
    """The pending allocations and views that an op uses, in their order."""
    wanted: set[Operation] = set()
    todo = [op]
    waiting = set(pending)
    while todo:
        for inner in todo.pop().walk():
            for value in inner.operands:
                owner = value.owner
                if isinstance(owner, Operation) and owner in waiting and owner not in wanted:
                    wanted.add(owner)
                    todo.append(owner)
    return [one for one in pending if one in wanted]


def _has_effect(op: Operation, written: set[SSAValue]) -> bool:
    if any(isinstance(value.owner, Block) for value in written):
        return True
    if not isinstance(op, h.ExternOp):
        return False
    return op.ordered is not None or op.random is not None or bool(op.regions)


def _before(first: Step, last: Step) -> None:
    if first is not last and last not in first.after:
        first.after[last] = None
        last.waits += 1


def _schedule(fn: func.FuncOp, steps: list[Step], storage: Storage) -> list[Step]:
    """Steps by what they free less what they make, as soon as they may run."""
    left: dict[SSAValue, int] = {}
    for step in steps:
        for value in step.touched:
            left[value] = left.get(value, 0) + 1
    returned = fn.body.block.last_op
    for value in returned.operands if returned is not None else ():
        root = storage.root(value)
        left[root] = left.get(root, 0) + 1
    own = set(dying_arguments(fn))

    def gain(step: Step) -> int:
        freed = sum(
            bytes_of(value, storage.hints)
            for value in step.touched
            if left[value] == 1 and (value in own or not isinstance(value.owner, Block))
        )
        results = [r for op in step.ops for r in op.results if r not in storage.roots]
        return freed - sum(bytes_of(r, storage.hints) for r in results)

    ready: list[int] = []
    for step in steps:
        if step.waits == 0:
            heappush(ready, step.place)
    order: list[Step] = []
    while ready:
        window = [steps[heappop(ready)] for _ in range(min(WINDOW, len(ready)))]
        best = max(window, key=lambda step: (gain(step), -step.place))
        for step in window:
            if step is not best:
                heappush(ready, step.place)
        order.append(best)
        for value in best.touched:
            left[value] -= 1
        for later in best.after:
            later.waits -= 1
            if later.waits == 0:
                heappush(ready, later.place)
    return order


def _unbacked(op: Operation) -> bool:
    types = [v.type for v in (*op.operands, *op.results) if isinstance(v.type, TensorType)]
    exprs = [e for t in types for e in (*t.sizes, *t.strides)]
    return any(e.vars("u") for e in (*exprs, *op_exprs(op)))
