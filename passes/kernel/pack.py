"""kernel-pack: small kernels that do not depend on each other share a launch.

Before, the updates of two parameters of an optimiser:
    kernel.func @k0(read %g : B, update %p : B) {.. parallel d0 : 300 {..} }
    kernel.func @k1(read %h : C, update %q : C) {.. parallel d0 : 51 {..} }
    func.func @call(..) { kernel.launch @k0(%g, %p)[]   kernel.launch @k1(%h, %q)[] }

After:
    kernel.func @k0(read %g : B, update %p : B, read %h : C, update %q : C) {
      parallel d0 : 300 {..}
      parallel d0 : 51 {..} }
    func.func @call(..) { kernel.launch @k0(%g, %p, %h, %q)[] }

They share no buffer that one of them writes, so that fusion, which looks for shared data, never
sees them as a pair. Loops side by side without a barrier are independent: C++ runs them in one
parallel region, Triton gives each a range of the program index.

A launch waits for others until some op needs what it wrote, or writes what it read; ops between
that do neither go first. Its price is a launch against its own work: one whose bytes take longer
than `small` launches has nothing to gain, and keeps its place, so that large buffers live no
longer than before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from minductor.dialects import expr as ex
from minductor.dialects.attrs import Bytes, BytesAttr, Origin, Words
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.kernel import host as h
from minductor.dialects.kernel import ops as k
from minductor.dialects.kernel.host_facts import views_of
from minductor.dialects.types import TensorType
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import DEFAULT_HINT, LOOPS, module_hints
from minductor.passes.loop.fusion.machine import Machine, machine_of
from minductor.passes.remarks import RemarkSink, sink_of

NAME_LENGTH = 120


@dataclass(frozen=True)
class KernelPackPass(MiniPass):
    """Pack small independent kernels into one launch.

    small: launches that a kernel may last, at most, to be packed; max_args: buffers of a pack;
    pack: false, or preset=seed, leaves every kernel its launch.
    """

    name = "kernel-pack"
    needs = frozenset({"kernel"})

    preset: str = "default"
    machine: str = "auto"
    pack: bool = True
    small: int = 8
    max_args: int = 128

    def __post_init__(self) -> None:
        """A machine that is not known is an error before anything runs."""
        machine_of(self.machine, "cpu")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Pack the launches of every host program in the module."""
        if not self.pack or self.preset == "seed":
            return
        kernels = {f.sym_name.data: f for f in op.body.block.ops if isinstance(f, k.FuncOp)}
        hints = module_hints(op)
        for fn in op.body.block.ops:
            if isinstance(fn, func.FuncOp) and fn.body.blocks:
                _Packer(self, fn.body.block, kernels, hints, sink_of(ctx)).run()


@dataclass
class _Pending:
    """Launches that wait, with the storage that they read and write."""

    launches: list[h.LaunchOp] = field(default_factory=list[h.LaunchOp])
    read: set[SSAValue] = field(default_factory=set[SSAValue])
    written: set[SSAValue] = field(default_factory=set[SSAValue])
    buffers: set[SSAValue] = field(default_factory=set[SSAValue])


class _Packer:
    """One walk over one host program."""

    def __init__(
        self,
        options: KernelPackPass,
        block: Block,
        kernels: Mapping[str, k.FuncOp],
        hints: Mapping[Atom, int],
        sink: RemarkSink,
    ):
        self.options = options
        self.block = block
        self.kernels = kernels
        self.hints = hints
        self.sink = sink
        self.root: dict[SSAValue, SSAValue] = {}
        self.pending = _Pending()
        self.launched: dict[str, int] = {}
        for op in block.ops:
            if isinstance(op, h.LaunchOp):
                name = op.callee.root_reference.data
                self.launched[name] = self.launched.get(name, 0) + 1

    def run(self) -> None:
        """Hold back small launches; let go of them before an op that depends on them."""
        for op in list(self.block.ops):
            for value, source in views_of(op):
                self.root[value] = self._storage(source)
            read, written = self._touched(op)
            one = self.pending
            waits = not one.written.isdisjoint(read | written) or not one.read.isdisjoint(written)
            if waits or op is self.block.last_op:
                self._release(op)
            if isinstance(op, h.LaunchOp) and (kernel := self._packable(op)) is not None:
                self._hold(op, kernel, read, written)
        assert not self.pending.launches

    def _storage(self, value: SSAValue) -> SSAValue:
        return self.root.get(value, value)

    def _touched(self, op: Operation) -> tuple[set[SSAValue], set[SSAValue]]:
        """Storage that an op reads and writes; of a call that may write, all of it is written."""
        values = [self._storage(v) for v in op.operands if isinstance(v.type, TensorType)]
        if isinstance(op, h.LaunchOp):
            kernel = self.kernels.get(op.callee.root_reference.data)
            if kernel is not None and op.when is None:
                pairs = list(zip(kernel.access.data, values, strict=True))
                written = {v for access, v in pairs if access != "read"}
                return {v for access, v in pairs if access != "write"}, written
            return set(values), set(values)
        if isinstance(op, h.ExternOp):
            mutates = op.mutates is not None or op.out is not None or bool(op.regions)
            return set(values), set(values) if mutates else set[SSAValue]()
        if isinstance(op, h.ReinterpretOp | h.SizeOp | h.AllocOp | h.CheckOp):
            return set(), set()
        return set(values), set(values)

    # -- what may be packed -----------------------------------------------------------------------
    def _packable(self, op: h.LaunchOp) -> k.FuncOp | None:
        """The kernel of a launch that may share one; None with a remark, or without."""
        kernel = self.kernels.get(op.callee.root_reference.data)
        if kernel is None or op.when is not None or self.launched[kernel.sym_name.data] > 1:
            return None
        if op.symbols.data != kernel.symbols.data:
            return None
        machine = self._machine(op)
        bytes_ = None if kernel.bytes_ is None else self._value(kernel.bytes_.data.planned)
        if bytes_ is None or bytes_ > self.options.small * machine.launch_bytes:
            return None
        if (why := _unfit(kernel)) is not None:
            self.sink.refused(self.options.name, kernel.sym_name.data, why)
            return None
        return kernel

    def _machine(self, op: h.LaunchOp) -> Machine:
        device = next((v.type.device for v in op.operands if isinstance(v.type, TensorType)), "cpu")
        return machine_of(self.options.machine, device.partition(":")[0])

    def _value(self, e: Expr) -> int:
        return e.eval({a: self.hints.get(a, DEFAULT_HINT) for a in e.vars()})

    def _hold(
        self, op: h.LaunchOp, kernel: k.FuncOp, read: set[SSAValue], written: set[SSAValue]
    ) -> None:
        one = self.pending
        if one.launches:
            first = self.kernels[one.launches[0].callee.root_reference.data]
            many = len(one.buffers | set(op.operands)) > self.options.max_args
            if many or not alike(first, kernel) or _device(one.launches[0]) != _device(op):
                self._release(op)
                one = self.pending
        one.launches.append(op)
        one.read |= read
        one.written |= written
        one.buffers |= set(op.operands)

    # -- packing ----------------------------------------------------------------------------------
    def _release(self, before: Operation) -> None:
        """Put the waiting launches before an op, as one; one alone stays where it is."""
        launches, self.pending = self.pending.launches, _Pending()
        if len(launches) < 2:
            return
        kernels = [self.kernels[op.callee.root_reference.data] for op in launches]
        buffers: dict[SSAValue, str] = {}
        for op, kernel in zip(launches, kernels, strict=True):
            for value, access in zip(op.operands, kernel.access.data, strict=True):
                buffers[value] = access
        packed = pack(kernels, [list(op.operands) for op in launches], buffers)
        Rewriter.insert_op(packed, InsertPoint.before(kernels[0]))
        new = h.LaunchOp.of(packed.sym_name.data, list(buffers), packed.symbols.data)
        new.location = launches[0].location
        Rewriter.insert_op(new, InsertPoint.before(before))
        names = ", ".join(one.sym_name.data for one in kernels)
        self.sink.accepted(self.options.name, names, f"one launch of {len(kernels)}")
        for op, kernel in zip(launches, kernels, strict=True):
            Rewriter.erase_op(op)
            kernel.detach()
            kernel.erase()


def _device(op: h.LaunchOp) -> str:
    return next((v.type.device for v in op.operands if isinstance(v.type, TensorType)), "cpu")


def alike(one: k.FuncOp, other: k.FuncOp) -> bool:
    """Two kernels of one configuration, but for the threads of a C++ region."""
    return one.config.with_(threads=0) == other.config.with_(threads=0)


def _unfit(kernel: k.FuncOp) -> str | None:
    """Why a kernel's loops may not stand beside others; None if they may."""
    ops = list(kernel.body.block.ops)
    if any(isinstance(op, k.BarrierOp) for op in ops):
        return "it has a barrier"
    if any(isinstance(op, k.LocalOp) for op in ops):
        return "it has an array of the whole kernel"
    loops = [op for op in ops if isinstance(op, LOOPS)]
    if any(op.results and any(isinstance(o, k.StoreOp) for o in op.walk()) for op in loops):
        # beside loops in threads one thread alone would store, and no other have the value
        return "a reduction over the whole kernel stores on its way"
    if kernel.target == "triton" and loops and loops[0].words.data.run == "grid":
        others = [op for op in ops if op is not loops[0]]
        if not all(is_side_effect_free(op) or isinstance(op, k.LoadOp) for op in others):
            return "something beside its grid loop has effects"
    return None


def pack(
    kernels: Sequence[k.FuncOp],
    operands: Sequence[Sequence[SSAValue]],
    buffers: Mapping[SSAValue, str],
) -> k.FuncOp:
    """One kernel with the loops of several; `buffers` are its arguments, each with its access."""
    block = Block(arg_types=[_argument_type(v, kernels, operands) for v in buffers])
    inside = dict(zip(buffers, block.args, strict=True))
    floor, unfused, planned = ex.ZERO, ex.ZERO, ex.ZERO
    origins: dict[Origin, None] = {}
    symbols: dict[Expr, None] = {}
    for kernel, values in zip(kernels, operands, strict=True):
        body = kernel.body.block
        for arg, value in zip(body.args, values, strict=True):
            inside[value].name_hint = inside[value].name_hint or arg.name_hint
            arg.replace_all_uses_with(inside[value])
        if kernel.target == "triton":
            _one_grid(body)
        for op in list(body.ops):
            op.detach()
            block.add_op(op)
        if kernel.bytes_ is not None:
            own = kernel.bytes_.data
            floor, unfused = floor + own.floor, unfused + own.unfused
            planned = planned + own.planned
        origins.update(dict.fromkeys(kernel.origins.data))
        symbols.update(dict.fromkeys(kernel.symbols.data))
    ordered = sorted(symbols, key=lambda e: e.key)
    threads = [n for one in kernels if isinstance(n := one.config.lookup("threads"), int)]
    config = kernels[0].config if not threads else kernels[0].config.with_(threads=max(threads))
    return k.FuncOp.of(
        _name(kernels, origins), list(buffers.values()), ordered, config, block, list(origins),
        BytesAttr(Bytes(floor, unfused, planned)),
    )  # fmt: skip


def _argument_type(
    value: SSAValue, kernels: Sequence[k.FuncOp], operands: Sequence[Sequence[SSAValue]]
) -> Attribute:
    for kernel, values in zip(kernels, operands, strict=True):
        if value in values:
            return kernel.body.block.args[list(values).index(value)].type
    raise KeyError(value)


def _one_grid(body: Block) -> None:
    """Everything a program does stands in one grid loop; of one program, where there is none."""
    ops = list(body.ops)
    loop = next((op for op in ops if isinstance(op, LOOPS) and op.words.data.run == "grid"), None)
    if loop is None:
        used = {op.var.data for top in ops for op in top.walk() if isinstance(op, LOOPS)}
        var = next(n for n in range(len(used) + 1) if n not in used)
        loop = k.ParallelOp.make(var, ex.ONE, Block(), Words(run="grid"))
        body.add_op(loop)
    inner = loop.regions[0].block
    first = inner.first_op
    for op in ops:
        if op is loop:
            continue
        op.detach()
        if first is None:
            inner.add_op(op)
        else:
            inner.insert_op_before(op, first)


def _name(kernels: Sequence[k.FuncOp], origins: Mapping[Origin, None]) -> str:
    """`cpp_fused_add_mul_pack12_3`: the ops, how many, the number of the first."""
    first = kernels[0].sym_name.data
    prefix, _, rest = first.partition("_fused_")
    number = rest.rpartition("_")[2]
    ops = "_".join(sorted({o.op for o in origins})) or "kernels"
    text = "".join(c if c.isalnum() or c == "_" else "_" for c in ops)
    if len(text) > NAME_LENGTH:
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        text = f"{text[: NAME_LENGTH - 9].rstrip('_')}_{digest}"
    return f"{prefix}_fused_{text}_pack{len(kernels)}_{number}"
