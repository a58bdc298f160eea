"""kernel-spare: a result that is written over its input leaves alone what does not change.

Before, target triton, %c one value a row, %x updated in place:
    %c = scalar.lt %l, %inf
    %v = load %x[64 * d0 + d1]     %s = scalar.select %c, %v, %nan
    store %s, %x[64 * d0 + d1]

After:
    %n = scalar.not %c             store %nan, %x[64 * d0 + d1] if %n

Neither read nor written are then the elements that keep their value: all, perhaps, and the
kernel's ledger says so. The condition must be the same for neighbours in memory: a store that skips
some of a vector's elements is many. A program then has little to do, so it takes more rows at once
(`rows` times as many), if still enough programs are left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, bf16, f16, f32
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from minductor.dialects.attrs import Bytes, BytesAttr
from minductor.dialects.expr import ONE
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.verify import op_exprs
from minductor.dialects.scalar import ops as sc
from minductor.dialects.types import BufType
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import ops_of, set_words
from minductor.passes.kernel._walks import loads_what_is_there
from minductor.passes.remarks import sink_of


@dataclass(frozen=True)
class KernelSparePass(MiniPass):
    """Masks stores of what is there already; `spare=false` leaves all as it is.

    rows: how many times as many a program takes; programs: that are left at least.
    """

    name = "kernel-spare"
    needs = frozenset({"in-place"})

    spare: bool = True
    rows: int = 8
    programs: int = 256

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every Triton kernel."""
        if not self.spare:
            return
        for kernel, store in ops_of(op, "triton", k.StoreOp):
            found = _kept(store)
            if found is None:
                continue
            cond, stays, other, load = found
            subject = kernel.sym_name.data
            if _varies_between_neighbours(cond, store):
                why = "neighbours in memory may differ in whether they change"
                sink_of(ctx).refused(self.name, subject, why)
                continue
            rows = _rows_of(store)
            _reprice(kernel, store.buffer)
            _mask(store, cond, stays, other)
            _drop(load)
            if rows is not None and rows.parent_op() is kernel:
                self._widen(rows)
            sink_of(ctx).accepted(self.name, subject, "what stays is neither read nor written")

    def _widen(self, rows: k.ParallelOp) -> None:
        """More rows at once."""
        lanes, length = self.rows * rows.words.data.lanes, rows.extent.data.as_int
        if rows.words.data.lanes == 1 or length is None or length % lanes:
            return
        if length // lanes >= self.programs:
            set_words(rows, lanes=lanes)


def _rows_of(store: k.StoreOp) -> k.ParallelOp | None:
    """The loop around the loop of neighbours, when a block is all that a program does."""
    near = store.parent_op()
    rows = None if near is None else near.parent_op()
    return rows if isinstance(near, k.ParallelOp) and isinstance(rows, k.ParallelOp) else None


def _kept(store: k.StoreOp) -> tuple[SSAValue, bool, SSAValue, k.LoadOp] | None:
    """(condition, whether it keeps what is there, the other value, the load), or None."""
    select = _uncast(store.value, store.value.type).owner
    if not isinstance(select, Operation) or select.name != "scalar.select":
        return None
    cond, yes, no = select.operands
    for mine, other, stays in ((yes, no, True), (no, yes, False)):
        load = _uncast(mine, store.value.type).owner
        if isinstance(load, k.LoadOp) and _is_there(load, store):
            return cond, stays, other, load
    return None


def _uncast(value: SSAValue, kept: Attribute) -> SSAValue:
    """The value behind casts between `kept`, a half type, and f32, which do not change it."""
    types = {kept, f32}
    while kept in (bf16, f16) and isinstance(value.owner, sc.CastOp):
        if {value.type, value.owner.arg.type} != types:
            break
        value = value.owner.arg
    return value


def _is_there(load: k.LoadOp, store: k.StoreOp) -> bool:
    """It loads, in the same type, the very element that is stored; nobody else stores there."""
    if not loads_what_is_there(load, store) or load.result.type != store.value.type:
        return False
    users = [use.operation for use in store.buffer.uses]
    return sum(isinstance(op, k.StoreOp) for op in users) == 1


def _varies_between_neighbours(cond: SSAValue, store: k.StoreOp) -> bool:
    index = store.index.data[0]
    near = [atom for atom in index.vars("d") if index.coeff(atom) is ONE]
    mine = _variables(cond)
    return not near or any(atom in mine for atom in near)


def _variables(value: SSAValue) -> set[object]:
    """Loop variables that a value depends on."""
    found: set[object] = set()
    for op in _makers(value):
        for e in op_exprs(op):
            found.update(e.vars("d"))
    return found


def _makers(value: SSAValue) -> Iterator[Operation]:
    if not isinstance(value.owner, Block):
        yield value.owner
        for operand in value.owner.operands:
            yield from _makers(operand)


def _reprice(kernel: k.FuncOp, buffer: SSAValue) -> None:
    """Takes a buffer's read and its write out of the ledger."""
    type_ = buffer.type
    if kernel.bytes_ is None or not isinstance(type_, BufType):
        return
    ledger, spared = kernel.bytes_.data, type_.elements * (2 * type_.scalar_bytes)
    floor, planned = ledger.floor - spared, ledger.planned - spared
    if all(e.as_int is None or e.as_int >= 0 for e in (floor, planned)):
        kernel.bytes_ = BytesAttr(Bytes(floor, ledger.unfused, planned))


def _mask(store: k.StoreOp, cond: SSAValue, stays: bool, other: SSAValue) -> None:
    """The store of the other value alone, where it is the one."""
    ops: list[Operation] = []
    if stays:
        ops.append(sc.scalar("not", cond))
        cond = ops[-1].results[0]
    if other.type != store.value.type:
        ops.append(sc.CastOp.of(other, store.value.type, storage=True))
        other = ops[-1].results[0]
    new = k.StoreOp.of(other, store.buffer, store.index.data[0], mask=cond)
    new.location = store.location
    Rewriter.insert_op([*ops, new], InsertPoint.before(store))
    old = store.value
    Rewriter.erase_op(store)
    _drop(old.owner)


def _drop(op: Operation | Block) -> None:
    """Erases an op that nobody uses, and what was only there for it."""
    if isinstance(op, Block) or op.parent is None or any(r.first_use for r in op.results):
        return
    operands = list(op.operands)
    Rewriter.erase_op(op)
    for operand in operands:
        if not isinstance(operand.owner, k.ParallelOp):
            _drop(operand.owner)
