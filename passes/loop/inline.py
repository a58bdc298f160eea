"""Computes pointwise values in their readers.

    mini-opt m.mlir -p loop-inline

before, `sin` read by a sum and by an addition:

    %a = loop.nest (d0: 1024) -> (%o : f32[1024]) origins ["sin"] { .. store sin(x[d0]), %o[d0] }
    %b = loop.nest () reduce (d0: 1024) -> .. origins ["sum"] { %v = load %a[d0] .. }
    %c = loop.nest (d0: 1024) -> .. origins ["add"] { %v = load %a[d0] .. load %b[] .. }

after; the second copy is marked as recomputed:

    %buf0 = loop.nest () reduce (d0: 1024) -> .. origins ["sin", "sum"] { %v = load %x[d0] .. }
    %buf1 = loop.nest (d0: 1024) -> .. origins ["~sin", "add"] { .. load %x[d0] .. load %buf0[] .. }

One rule: a value with a single use is always computed in its reader; a value with several is
computed in all of them when that costs less than store and load (`inlining/decide.py` prices it).
Reductions are never computed twice, nor is a value of a half type that a comparison could tell from
what was made of it (`inlining/twice.py`). Values whose last use is gone disappear, results of nests
that nobody reads are dropped, equal loads and ops of a body are made once, and a rounding that was
only for storage goes where nothing is stored (`emulate=true` keeps it).
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.attrs import ExprAttr, Known, OriginsAttr, SymbolsAttr
from minductor.dialects.expr import Expr
from minductor.dialects.loop.ops import ExternOp, LoadOp, NestOp, ViewOp
from minductor.dialects.types import TensorType
from minductor.passes.base import MiniPass
from minductor.passes.loop.fusion.machine import machine_of
from minductor.passes.loop.inlining.decide import Decider, Limits, Verdict
from minductor.passes.loop.inlining.emit import BodyBuilder, drop_dead
from minductor.passes.loop.inlining.origins import fused_location, merged_origins
from minductor.passes.loop.inlining.twice import told_apart
from minductor.passes.loop.ledger import UNFUSED, nest_bytes
from minductor.passes.remarks import RemarkSink, sink_of


@dataclass(frozen=True)
class LoopInlinePass(MiniPass):
    """Computes pointwise values in their readers; removes what nobody reads."""

    name = "loop-inline"
    needs: ClassVar[frozenset[str]] = frozenset({"loop"})
    provides: ClassVar[frozenset[str]] = frozenset({"loop-inlined"})
    emulate: bool = False
    machine: str = "auto"
    max_ops: int = 256
    max_reads: int = 64

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp) and func.body.blocks:
                self._function(func, sink_of(ctx))

    def _function(self, func: FuncOp, sink: RemarkSink) -> None:
        block = func.body.block
        erase_unread(block)
        nests = [op for op in block.ops if isinstance(op, NestOp)]
        symbols = func.attributes.get("symbols")
        known = symbols if isinstance(symbols, SymbolsAttr) else SymbolsAttr(Known())
        ranges = known.ranges()
        machine = machine_of(self.machine, device_of(nests))
        limits = Limits(ops=self.max_ops, reads=self.max_reads)
        told = frozenset[SSAValue]() if self.emulate else told_apart(nests)
        decider = Decider(nests, ranges, known.hints(), machine, limits, told)
        decider.run()
        rebuild_bodies(decider, self.emulate)
        erase_unread(block)
        name_buffers(block)
        report(decider.verdicts, sink, self.name)


def device_of(nests: Sequence[NestOp]) -> str:
    """The device of the first nest; `cpu` when there is none."""
    for nest in nests:
        for result in nest.results:
            assert isinstance(result.type, TensorType)
            return result.type.device.partition(":")[0]
    return "cpu"


def report(verdicts: Sequence[Verdict], sink: RemarkSink, name: str) -> None:
    """A remark for each pointwise nest that was or was not computed in its readers."""
    if not sink.enabled:
        return
    for verdict in verdicts:
        subject = ", ".join(o.op for o in verdict.nest.origins.data) or "a nest"
        tell = sink.accepted if verdict.inlined else sink.refused
        tell(name, subject, verdict.reason, bytes=verdict.bytes or None)


# -- rewriting -----------------------------------------------------------------------------------
def rebuild_bodies(decider: Decider, emulate: bool) -> None:
    """Give every stored nest its new body. All are built before any old one goes."""
    bodies = decider.bodies
    origins = {nest: nest.origins.data for nest in decider.infos}
    first_home: dict[NestOp, NestOp] = {nest: nest for nest in bodies}
    made: list[tuple[NestOp, Block, list[NestOp]]] = []
    for nest in sorted(bodies, key=decider.order.__getitem__):
        if len(bodies[nest].members) == 1 and not reads_any(nest, decider.producers):
            continue
        builder = BodyBuilder(bodies[nest].ranges, decider.producers, emulate)
        builder.build(nest)
        made.append((nest, builder.block, list(builder.inlined)))
    for nest, block, inlined in made:
        for producer in inlined:
            first_home.setdefault(producer, nest)
        members = sorted([*inlined, nest], key=decider.order.__getitem__)
        if inlined:
            nest.attributes[UNFUSED] = ExprAttr(unfused_total(nest, members, first_home, decider))
        parts = [(origins[m], first_home[m] is not nest) for m in members]
        nest.properties["origins"] = OriginsAttr(merged_origins(parts))
        nest.location = fused_location([m.location for m in members])
        old = nest.body.block
        nest.body.detach_block(old)
        nest.body.add_block(block)
        old.erase(safe_erase=False)


def reads_any(nest: NestOp, values: Container[SSAValue]) -> bool:
    """Whether a nest loads one of the values."""
    return any(op.operands[0] in values for op in nest.body.walk() if type(op) is LoadOp)


def unfused_total(
    nest: NestOp, members: Sequence[NestOp], home: Mapping[NestOp, NestOp], decider: Decider
) -> Expr:
    """What the ops of a body move one by one; a recomputed one counts where it is first."""
    total = ex.ZERO
    for member in members:
        if home[member] is nest:
            total = total + nest_bytes(decider.infos[member])
    return total


def erase_unread(block: Block) -> None:
    """Erase nests and views that nobody reads, last first, and results of nests likewise."""
    for op in reversed(list(block.ops)):
        if not isinstance(op, NestOp | ViewOp):
            continue
        used = [r.first_use is not None for r in op.results]
        if not any(used):
            op.detach()
            op.erase()
        elif isinstance(op, NestOp) and not all(used):
            drop_results(op, used)


def drop_results(nest: NestOp, used: Sequence[bool]) -> None:
    """Replace a nest by one that makes only the results that are used."""
    block = nest.body.block
    nest.body.detach_block(block)
    for arg, keep in reversed(list(zip(block.args, used, strict=True))):
        if keep:
            continue
        for use in list(arg.uses):
            use.operation.detach()
            use.operation.erase()
        block.erase_arg(arg)
    drop_dead(block)
    kept = [i for i, keep in enumerate(used) if keep]
    updates = {k: v for k, i in enumerate(kept) if (v := nest.updated(i)) is not None}
    types = [arg.type for arg in block.args]
    new = NestOp.of(
        nest.domain.data, cast(list[TensorType], types), block, nest.origins.data, updates
    )
    new.location = nest.location
    parent = nest.parent
    assert parent is not None
    parent.insert_op_before(new, nest)
    for k, i in enumerate(kept):
        new.results[k].name_hint = nest.results[i].name_hint
        nest.results[i].replace_all_uses_with(new.results[k])
    nest.detach()
    nest.erase()


def name_buffers(block: Block) -> None:
    """Number the tensors that nests and calls make: buf0, buf1, ..."""
    count = 0
    for op in block.ops:
        if isinstance(op, NestOp | ExternOp):
            for result in op.results:
                if isinstance(result.type, TensorType):
                    result.name_hint = f"buf{count}"
                    count += 1
