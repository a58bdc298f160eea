"""loop-to-kernel: fused groups become kernels, the rest becomes the host program.

Before:
    func.func @forward(%x: !aten.t<f32[64, 8]>) -> !aten.t<f32[64]> {
      %r = loop.group "sum" -> !aten.t<f32[64]> {
        %buf0 = loop.nest (d0: 64) reduce (d1: 8) -> (%o : !aten.t<f32[64]>) origins ["sum"] {
          %v = loop.load %x[d0, d1] : f32
          %t = loop.reduce add %v : f32 -> f32
          loop.store %t, %o[d0] }
        loop.yield %buf0 }
      func.return %r : !aten.t<f32[64]> }

After:
    kernel.func @cpp_fused_sum_0(read %x : !kernel.buf<f32[512]>,
                                 write %buf0 : !kernel.buf<f32[64]>)
        [] config {target = "cpp"} origins ["sum"] {
      kernel.parallel d0 : 64 {
        %t = kernel.reduce d1 : 8 [add] -> f32 {
          %v = kernel.load %x[8 * d0 + d1] : f32
          kernel.yield %v : f32 }
        kernel.store %t, %buf0[d0] } }
    func.func @call(%x: !aten.t<f32[64, 8]>) -> !aten.t<f32[64]> {
      kernel.check %x : !aten.t<f32[64, 8]>
      %buf0 = kernel.alloc : !aten.t<f32[64]>
      kernel.launch @cpp_fused_sum_0(%x, %buf0)[]
      func.return %buf0 : !aten.t<f32[64]> }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import builtin, func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import DiagnosticException

from minductor.dialects.attrs import ConfigAttr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import host as h
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.ops import CommitOp, ExternOp, GroupOp, NestOp, ViewOp
from minductor.dialects.loop.verify import symbol_ranges
from minductor.dialects.types import TensorType
from minductor.lowering.loop_to_kernel.group import GroupLowering
from minductor.lowering.loop_to_kernel.host import HostBuilder, reads_outside, written_over
from minductor.lowering.loop_to_kernel.rows import RowLimits
from minductor.lowering.loop_to_kernel.space import SpaceError
from minductor.passes.base import MiniPass

HOST = "call"


@dataclass(frozen=True)
class LoopToKernelPass(MiniPass):
    """Lower groups to kernel.func and everything else to the host program @call.

    target: "cpp" or "triton"; kernel names begin with it. least: what a value must cost to be kept
    in a row of a C++ kernel's own rather than computed again, an add is 1; room: bytes of a
    kernel's rows, 0 for none.
    """

    name = "loop-to-kernel"
    needs = frozenset({"loop", "fused"})
    provides = frozenset({"kernel"})
    ends = frozenset({"loop"})

    target: str = "cpp"
    least: int = 16
    room: int = 65536

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lower each function of the module that still holds `loop` ops."""
        limits = RowLimits(self.least, self.room if self.target == "cpp" else 0)
        for fn in list(op.body.block.ops):
            if isinstance(fn, func.FuncOp) and not fn.is_declaration:
                _FunctionLowering(op, fn, self.target, limits).run()


class _FunctionLowering:
    """State of one function's lowering."""

    def __init__(self, module: ModuleOp, fn: func.FuncOp, target: str, limits: RowLimits):
        self.module = module
        self.fn = fn
        self.target = target
        self.limits = limits
        self.ranges: Ranges = symbol_ranges(fn)
        self.kernels: list[k.FuncOp] = []
        self.before = sum(isinstance(op, k.FuncOp) for op in module.body.block.ops)
        body = fn.body.block
        self.block = Block(arg_types=[a.type for a in body.args])
        self.host = HostBuilder(body, self.block)

    def run(self) -> None:
        for op in self.fn.body.block.ops:
            self._lower(op)
        name, seen = self.fn.sym_name.data, self.fn.sym_visibility
        # a private function is a sub-graph that the host program calls by its name
        new = func.FuncOp(name if seen else HOST, self.fn.function_type, Region(self.block), seen)
        new.attributes.update(self.fn.attributes)
        new.location = self.fn.location
        at = self.module.body.block
        for kernel in self.kernels:
            at.insert_op_before(kernel, self.fn)
        at.insert_op_before(new, self.fn)
        self.fn.detach()
        self.fn.erase(safe_erase=False)

    def _lower(self, op: Operation) -> None:
        match op:
            case GroupOp():
                self._group(op)
            case ViewOp():
                self.host.view(op)
            case ExternOp():
                self.host.extern(op)
            case CommitOp():
                self.host.commit(op)
            case func.ReturnOp():
                values = [self.host.values[v] for v in op.operands]
                self.host.add(func.ReturnOp(*values), op)
            case h.SizeOp():
                new = h.SizeOp.of(op.result.type.data)
                self.host.add(new, op)
                self.host.bind(op.result, new.result, owned=False)
            case _:
                raise DiagnosticException(
                    f"`{op.name}` cannot be lowered to the host program; run loop-fuse first, "
                    "which puts every nest into a group"
                )

    def _group(self, op: GroupOp) -> None:
        last = op.body.block.last_op
        assert last is not None
        kept: list[SSAValue] = list(dict.fromkeys(last.operands))
        name = self._name(op)
        bytes_ = None if op.bytes_ is None else op.bytes_.data
        config = ConfigAttr.make(target=self.target)
        outside = {v: r for v, r in zip(last.operands, op.results, strict=True)}
        over = {v: arg for v in kept if (arg := written_over(op, v, outside[v], self.host.uses))}
        try:
            lowering = GroupLowering(
                op.nests, kept, self.ranges, over, op.across_nests, self.limits
            )
            result = lowering.lower(name, config, bytes_)
        except SpaceError as e:
            raise DiagnosticException(f'group "{op.sym.data}" cannot become one kernel: {e}') from e
        result.func.location = op.location
        self.kernels.append(result.func)
        device = result.results[0].type
        assert isinstance(device, TensorType)
        operands = [self.host.on_device(v, device.device, op) for v in result.inputs]
        for value in result.results:
            if value in over:
                outside[value].name_hint = value.name_hint
                self.host.bind(outside[value], self.host.values[over[value]], owned=False)
                operands.append(self.host.values[over[value]])
            else:
                operands.append(self._result_buffer(op, value, outside[value]))
        self.host.add(h.LaunchOp.of(name, operands, result.symbols), op)
        for value, made in zip(last.operands, op.results, strict=True):
            self.host.values[made] = self.host.values[outside[value]]

    def _result_buffer(self, group: GroupOp, inner: SSAValue, outer: SSAValue) -> SSAValue:
        outer.name_hint = inner.name_hint
        owner = inner.owner
        assert isinstance(owner, NestOp)
        acc = owner.updated(owner.number_of(inner))
        if acc is None:
            return self.host.allocate(outer, group)
        return self.host.updated(outer, acc, group, reads_outside(group, acc, self.host.uses))

    def _name(self, op: GroupOp) -> str:
        prefix = self.target
        if self.target == "triton":
            collapses = any(n.domain.data.reduce or n.domain.data.scan for n in op.nests)
            prefix = "triton_red" if collapses else "triton_poi"
        return f"{prefix}_fused_{op.sym.data}_{self.before + len(self.kernels)}"


def is_host(op: Operation) -> bool:
    """The host program of a module."""
    return isinstance(op, func.FuncOp) and op.sym_name.data == HOST


def host_of(module: builtin.ModuleOp) -> func.FuncOp:
    """The host program; DiagnosticException if the module has none."""
    for op in module.body.block.ops:
        if isinstance(op, func.FuncOp) and is_host(op):
            return op
    raise DiagnosticException("the module has no host program @call; run loop-to-kernel first")
