"""kernel-wait: the wait for a collective stands right before the first use of what it waits for.

Before:
    %r = kernel.extern "_c10d_functional.all_reduce.default"(%x) ..
    %w = kernel.extern "_c10d_functional.wait_tensor.default"(%r, %x) args [#loop.arg<0>] ..
    kernel.launch @other(%y, %o)[]
    kernel.launch @user(%w, %p)[]

After: `@other` runs while the processes exchange their data.
    %r = kernel.extern "_c10d_functional.all_reduce.default"(%x) ..
    kernel.launch @other(%y, %o)[]
    %w = kernel.extern "_c10d_functional.wait_tensor.default"(%r, %x) args [#loop.arg<0>] ..
    kernel.launch @user(%w, %p)[]

Collectives keep their order, which all processes share; a wait is a matter of one process. It does
not pass what writes memory that its collective reads (its operands), nor the end of that memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from minductor.dialects.aten.traits import WAIT
from minductor.dialects.kernel import host as h
from minductor.dialects.kernel import ops as k
from minductor.dialects.kernel.host_facts import views_of, writes_of
from minductor.passes.base import MiniPass
from minductor.passes.kernel.lifetimes import host_storage
from minductor.passes.peak import Storage
from minductor.passes.remarks import sink_of


@dataclass(frozen=True)
class KernelWaitPass(MiniPass):
    """Move each wait down to the first use of its result; `late=false` leaves them."""

    name = "kernel-wait"
    needs = frozenset({"ordered"})
    provides = frozenset({"waits"})

    late: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Move the waits of every host program of the module."""
        kernels = {f.sym_name.data: f for f in op.ops if isinstance(f, k.FuncOp)}
        for fn in op.ops:
            if not self.late or not isinstance(fn, func.FuncOp) or not fn.body.blocks:
                continue
            waits = [one for one in fn.body.block.ops if is_wait(one)]
            storage = host_storage(fn) if waits else None
            for wait in reversed(waits):
                assert storage is not None
                passed, reason = _sink(wait, storage, kernels)
                if passed:
                    text = f"passes {passed} {'step' if passed == 1 else 'steps'} up to {reason}"
                    sink_of(ctx).accepted(self.name, fn.sym_name.data, text)
                else:
                    sink_of(ctx).refused(self.name, fn.sym_name.data, f"stays before {reason}")


def is_wait(op: Operation) -> bool:
    """The op waits for a collective."""
    return isinstance(op, h.ExternOp) and op.callee.data == WAIT


def _sink(wait: Operation, storage: Storage, kernels: dict[str, k.FuncOp]) -> tuple[int, str]:
    """Move a wait down; how many steps it has passed, and what it stands before."""
    shown: set[SSAValue] = set(wait.results)
    held = {storage.root(v) for v in wait.operands}
    carried: list[Operation] = [wait]
    passed = 0
    here = wait.next_op
    while here is not None:
        if isinstance(here, h.ReinterpretOp) and here.source in shown:
            shown.update(value for value, _ in views_of(here))
            carried.append(here)
        elif (reason := _stops(here, shown, held, storage, kernels)) is not None:
            _move(carried, here)
            return passed, reason
        elif isinstance(here, h.LaunchOp | h.ExternOp):
            passed += 1
        here = here.next_op
    return 0, "the end"


def _stops(
    op: Operation,
    shown: set[SSAValue],
    held: set[SSAValue],
    storage: Storage,
    kernels: dict[str, k.FuncOp],
) -> str | None:
    """Why a wait may not pass an op, or None."""
    used = {v for inner in op.walk() for v in inner.operands}
    if used & shown:
        return "the first use"
    if isinstance(op, h.FreeOp | h.ReuseOp) and any(storage.root(v) in held for v in used):
        return "the end of memory that is in use"
    if any(storage.root(v) in held for v in writes_of(op, kernels)):
        return "a write to memory that is in use"
    return None


def _move(ops: list[Operation], to: Operation) -> None:
    block = to.parent
    assert block is not None
    for op in ops:
        op.detach()
        block.insert_op_before(op, to)
