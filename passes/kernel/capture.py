"""kernel-capture: can the host program be recorded once and replayed as a CUDA graph?

Before, with cudagraphs=true:
    func.func @call(%x: T, %table: T) -> T {
      kernel.launch @k(%x, %table)[]          writes %table
After:
    func.func @call(%x: T, %table: T) -> T attributes {capture = #loop.index<[1]>} {

`capture` lists the arguments that the program writes: a recording works on copies of inputs that
are not at a fixed address, so the one who records must know. Where the program does what no
recording can repeat, `capture_refused` says what.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, SSAValue

from minductor.dialects.aten.control import CONTROL
from minductor.dialects.aten.traits import COLLECTIVES
from minductor.dialects.attrs import IndexAttr
from minductor.dialects.expr import Expr
from minductor.dialects.kernel import host as h
from minductor.dialects.kernel import ops as k
from minductor.dialects.kernel.host_facts import writes_of
from minductor.dialects.types import FloatType, IntType, TensorType
from minductor.passes.base import MiniPass
from minductor.passes.kernel.lifetimes import host_storage
from minductor.passes.peak import dying_arguments
from minductor.passes.remarks import sink_of

CAPTURE = "capture"
REFUSED = "capture_refused"
HOST_RANDOM = frozenset({"minductor.state", "minductor.seeded"})
"""Calls that read or set a generator's state on the host: a replay would draw the same numbers."""


@dataclass(frozen=True)
class KernelCapturePass(MiniPass):
    """Mark the host program `@call` of a module; `cudagraphs=false` marks nothing."""

    name = "kernel-capture"
    needs = frozenset({"memory"})
    provides = frozenset({"capture"})

    cudagraphs: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Decide for the host program of the module."""
        kernels = {f.sym_name.data: f for f in op.ops if isinstance(f, k.FuncOp)}
        for fn in op.ops:
            if not self.cudagraphs or not isinstance(fn, func.FuncOp) or not fn.body.blocks:
                continue
            if fn.sym_name.data != "call":
                continue
            reason = refusal(fn)
            if reason is not None:
                fn.attributes[REFUSED] = StringAttr(reason)
                sink_of(ctx).refused(self.name, "call", reason)
                continue
            numbers = written(fn, kernels)
            fn.attributes[CAPTURE] = IndexAttr(tuple(Expr.of(n) for n in numbers))
            text = f"writes {len(numbers)} of its arguments" if numbers else "writes no argument"
            sink_of(ctx).accepted(self.name, "call", text)


def refusal(fn: func.FuncOp) -> str | None:
    """What stands against a recording of a host program, or None."""
    block = fn.body.block
    for value in (*block.args, *(r for op in block.ops for r in op.results)):
        reason = _value_refusal(value)
        if reason is not None:
            return reason
    for op in block.ops:
        if isinstance(op, h.ExternOp):
            reason = _call_refusal(op)
            if reason is not None:
                return reason
    return None


def _value_refusal(value: SSAValue) -> str | None:
    type_, name = value.type, value.name_hint or "a value"
    if isinstance(type_, TensorType):
        if not type_.device.startswith("cuda"):
            return f"the tensor {name} lies on the device {type_.device}"
        if any(e.vars("u") for e in (*type_.sizes, *type_.strides)):
            return f"a size of {name} is known only on the way"
    elif isinstance(value.owner, h.ExternOp) and isinstance(type_, IntType | FloatType):
        known = isinstance(type_, IntType) and not type_.data.vars("u")
        known = known and not _keeps_state(value.owner)
        if not known and any(isinstance(v.type, TensorType) for v in value.owner.operands):
            return f"{_short(value.owner)} reads a number from the device"
    return None


def _keeps_state(op: h.ExternOp) -> bool:
    """A call whose random state is read: recorded it would lie elsewhere than when it first ran."""
    states = [r for r in op.results if isinstance(r.type, TensorType) and r.type.dtype == "u64"]
    return any(not isinstance(use.operation, h.FreeOp) for r in states for use in r.uses)


def _call_refusal(op: h.ExternOp) -> str | None:
    callee = op.callee.data
    if op.regions or callee in CONTROL:
        return f"{_short(op)} decides on the way what to run"
    if callee in HOST_RANDOM:
        return "a random state is read or set on the host"
    if callee.startswith(COLLECTIVES):
        return f"{_short(op)} is a collective between processes"
    return None


def _short(op: h.ExternOp) -> str:
    return op.callee.data.removesuffix(".default")


def written(fn: func.FuncOp, kernels: dict[str, k.FuncOp]) -> list[int]:
    """Numbers of the arguments whose memory the program writes and somebody else looks at."""
    storage = host_storage(fn)
    own = set(dying_arguments(fn))
    found: dict[SSAValue, None] = {}
    for op in fn.body.block.ops:
        _note(op, found, [storage.root(v) for v in writes_of(op, kernels)])
    return [n for n, arg in enumerate(fn.body.block.args) if arg in found and arg not in own]


def _note(op: Operation, found: dict[SSAValue, None], roots: list[SSAValue]) -> None:
    if not isinstance(op, h.FreeOp):
        found.update({root: None for root in roots if isinstance(root.owner, Block)})
