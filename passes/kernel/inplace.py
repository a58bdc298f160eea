"""kernel-inplace: a kernel writes its result over an input that dies with it.

Before:
    kernel.func @k(read %x : B, write %o : B) [] .. { parallel d0 : 64 {
      %v = load %x[d0]  %r = scalar.relu %v  store %r, %o[d0] } }
    ..
    %b = kernel.alloc : T
    kernel.launch @k(%a, %b)[]         // the last use of %a, memory of the program's own

After:
    kernel.func @k(update %x : B) [] .. { parallel d0 : 64 {
      %v = load %x[d0]  %r = scalar.relu %v  store %r, %x[d0] } }
    ..
    %b = kernel.reuse %a : T to T
    kernel.launch @k(%b)[]

The two have the same number of bytes, and for each pair of a load and a store it is proved anew, on
the scheduled loops, that no place is read after it is written (`_maps.py`). Arguments are never
written over, nor what is returned, aliased or passed twice. A copy that then would write every
element where it is already, as one of a library's result that lies so by itself, is not launched.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from minductor.dialects.kernel import host as h
from minductor.dialects.kernel import ops as k
from minductor.dialects.kernel.attrs import AccessAttr
from minductor.dialects.loop.verify import symbol_ranges
from minductor.dialects.types import TensorType
from minductor.passes.base import MiniPass
from minductor.passes.kernel._maps import why_apart
from minductor.passes.kernel._walks import loads_what_is_there
from minductor.passes.kernel.lifetimes import Lifetimes
from minductor.passes.remarks import RemarkSink, sink_of


@dataclass(frozen=True)
class KernelInplacePass(MiniPass):
    """Let results take the memory of inputs that die where every map equality is proved."""

    name = "kernel-inplace"
    needs = frozenset({"kernel"})
    provides = frozenset({"in-place"})

    inplace: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the launches of every host program in the module."""
        if not self.inplace:
            return
        kernels = {f.sym_name.data: f for f in op.ops if isinstance(f, k.FuncOp)}
        uses = Counter(
            name.string_value()
            for inner in op.walk()
            if isinstance(inner, h.LaunchOp)
            for name in (inner.callee, inner.orelse)
            if name is not None
        )
        named = _variants(op)
        alone = {n: f for n, f in kernels.items() if uses[n] == 1 and n not in named}
        for fn in op.ops:
            if isinstance(fn, func.FuncOp) and fn.body.blocks:
                _Program(fn, alone, sink_of(ctx), self.name).run()


def _variants(module: ModuleOp) -> set[str]:
    """Names of kernels of which one is chosen by measuring."""
    out: set[str] = set()
    for op in module.ops:
        if isinstance(op, h.VariantsOp):
            out |= {c.string_value() for c in op.candidates if isinstance(c, SymbolRefAttr)}
    return out


class _Program:
    """One host program."""

    def __init__(
        self, fn: func.FuncOp, kernels: dict[str, k.FuncOp], remarks: RemarkSink, name: str
    ):
        self.fn = fn
        self.kernels = kernels
        self.remarks = remarks
        self.name = name
        self.lives = Lifetimes(fn.body.block)

    def run(self) -> None:
        """Look at each launch in turn."""
        for op in list(self.fn.body.block.ops):
            if isinstance(op, h.LaunchOp) and op.when is None:
                kernel = self.kernels.get(op.callee.string_value())
                if kernel is not None:
                    self._launch(op, kernel)

    def _launch(self, launch: h.LaunchOp, kernel: k.FuncOp) -> None:
        taken: set[SSAValue] = set()
        operands = list(launch.args)
        pairs: list[tuple[int, int]] = []
        for made, kind in enumerate(kernel.access.data):
            if kind != "write" or not self._fresh(operands[made], launch):
                continue
            for old, other in enumerate(kernel.access.data):
                if other != "read" or operands[old] in taken:
                    continue
                if not self._dies(operands[old], operands[made], launch):
                    continue
                why = self._why_not(kernel, old, made)
                subject = f"{_hint(operands[made])}, {_hint(operands[old])}"
                if why:
                    self.remarks.refused(self.name, subject, why)
                    continue
                self.remarks.accepted(self.name, subject, "no place is read after it is written")
                taken.add(operands[old])
                pairs.append((old, made))
                break
        if pairs:
            self._merge(launch, kernel, pairs)

    def _fresh(self, value: SSAValue, launch: h.LaunchOp) -> bool:
        """Memory made for this launch's result, not touched before."""
        if not isinstance(value.owner, h.AllocOp) or sum(v is value for v in launch.args) != 1:
            return False
        block = self.fn.body.block
        return all(
            use.operation is launch
            or (use.operation.parent is block and launch.is_before_in_block(use.operation))
            for use in value.uses
        )

    def _dies(self, old: SSAValue, new: SSAValue, launch: h.LaunchOp) -> bool:
        """`old` is the program's own whole memory, of `new`'s bytes, last used by this launch."""
        root = self.lives.storage(old)
        if not isinstance(root.owner, Operation) or not self.lives.ends_at(root, launch):
            return False
        if not isinstance(root.owner, h.AllocOp | h.ReuseOp | h.ExternOp):
            return False
        if sum(self.lives.storage(v) is root for v in launch.args) != 1:
            return False
        whole, part, fresh = root.type, old.type, new.type
        if not all(isinstance(t, TensorType) for t in (whole, part, fresh)):
            return False
        assert isinstance(whole, TensorType)
        assert isinstance(fresh, TensorType)
        if isinstance(old.owner, h.ReinterpretOp) and old.owner.offset.data.as_int != 0:
            return False
        return _extent(whole) == _extent(fresh)

    def _why_not(self, kernel: k.FuncOp, old: int, made: int) -> str:
        args = kernel.body.block.args
        if args[old].type != args[made].type:
            return "the kernel sees them as different memory"
        return why_apart(kernel, args[old], args[made], symbol_ranges(self.fn))

    def _merge(self, launch: h.LaunchOp, kernel: k.FuncOp, pairs: list[tuple[int, int]]) -> None:
        """One buffer for each pair, in the kernel and at its launch."""
        block = kernel.body.block
        args, access = list(block.args), list(kernel.access.data)
        operands = list(launch.args)
        for old, made in pairs:
            args[made].replace_all_uses_with(args[old])
            access[old] = "update"
            source, target = self.lives.storage(operands[old]), operands[made]
            assert isinstance(target.type, TensorType)
            reuse = h.ReuseOp.of(source, target.type)
            assert isinstance(target.owner, h.AllocOp)
            reuse.location, reuse.result.name_hint = target.owner.location, target.name_hint
            reuse.attributes.update(target.owner.attributes)
            Rewriter.insert_op(reuse, InsertPoint.before(launch))
            operands[old] = reuse.result
            self.lives.replaced(target, reuse.result)
            alloc = target.owner
            target.replace_all_uses_with(reuse.result)
            alloc.detach()
            alloc.erase(safe_erase=False)
        gone = {made for _, made in pairs}
        for made in sorted(gone, reverse=True):
            block.erase_arg(block.args[made])
        kernel.properties["access"] = AccessAttr(
            tuple(a for i, a in enumerate(access) if i not in gone)
        )
        launch.operands = [v for i, v in enumerate(operands) if i not in gone]
        if _changes_nothing(kernel):
            subject = kernel.sym_name.data
            self.remarks.accepted(self.name, subject, "it would write what is there: no launch")
            for op in (launch, kernel):
                op.detach()
                op.erase()


def _changes_nothing(kernel: k.FuncOp) -> bool:
    """Every element is stored where it was loaded from, and nothing else is done."""
    ops = [op for op in kernel.walk() if op is not kernel]
    if not all(isinstance(op, k.ParallelOp | k.LoadOp | k.StoreOp) for op in ops):
        return False
    stores = (op for op in ops if isinstance(op, k.StoreOp))
    return all(loads_what_is_there(op.value.owner, op) for op in stores)


def _hint(value: SSAValue) -> str:
    return value.name_hint or "a buffer"


def _extent(type_: TensorType) -> tuple[str, str, object]:
    return type_.device, type_.dtype, type_.storage_elements
