"""kernel-online: the maximum of a row and the sum of e^(x - maximum) in one pass over the row.

Before, the first two stages of a softmax over rows that do not stay in cache:
    %m = kernel.reduce d1 : 500000 [max] -> f32 {
      %a = kernel.load %x[500000 * d0 + d1] : f32   kernel.yield %a : f32 }
    %s = kernel.reduce d1 : 500000 [add] -> f32 {
      %a = kernel.load %x[500000 * d0 + d1] : f32
      %c = scalar.sub %a, %m : f32   %e = scalar.exp %c : f32   kernel.yield %e : f32 }

After:
    %m, %s = kernel.reduce d1 : 500000 [max_sumexp] -> f32, f32 {
      %a = kernel.load %x[500000 * d0 + d1] : f32   kernel.yield %a : f32 }

The accumulator holds a maximum and a sum that is scaled again when the maximum grows (Milakov and
Gimelshein, Online normalizer calculation for softmax, 2018). A row with NaN or +inf, or of -inf
alone, gives NaN as before. `logsumexp` subtracts 0 in place of an infinite maximum: then the sum is
inf or 0, as eager has it.

Done when what one iteration of the row loop touches does not stay near (`cache` of the machine), so
that the second pass would fetch the row again, and that costs more than the second exponential.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free
from xdsl.utils.exceptions import PassFailedException

from minductor.dialects import expr as ex
from minductor.dialects.attrs import Bytes, BytesAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.kernel import ops as k
from minductor.dialects.scalar import ops as sc
from minductor.dialects.types import BufType
from minductor.passes.base import MiniPass
from minductor.passes.kernel._stages import same_values
from minductor.passes.kernel._tree import LOOPS, estimate, is_leaf, kernels_of, module_hints
from minductor.passes.loop.fusion.machine import Machine, machine_of
from minductor.passes.remarks import sink_of

EXP = sc.TABLE_OPS["exp"].ROW.cost
"""What the second exponential of an element costs, in simple operations."""
MODES = ("auto", "always", "never")


@dataclass(frozen=True)
class KernelOnlinePass(MiniPass):
    """Join a row's maximum and its sum of exponentials where the row would be fetched twice.

    online: auto asks the price; always and never do not. `preset=seed` leaves all as it is.
    """

    name = "kernel-online"
    needs = frozenset({"kernel"})

    preset: str = "default"
    machine: str = "auto"
    online: str = "auto"

    def __post_init__(self) -> None:
        """A name that is not known is an error before anything runs."""
        if self.online not in MODES:
            raise PassFailedException(f"online is {', '.join(MODES)}, not '{self.online}'")
        machine_of(self.machine, "cpu")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Look at neighbouring reductions of every kernel."""
        if self.preset == "seed" or self.online == "never":
            return
        hints, sink = module_hints(op), sink_of(ctx)
        for target in ("cpp", "triton"):
            machine = machine_of(self.machine, "cpu" if target == "cpp" else "cuda")
            for kernel in kernels_of(op, target):
                for pair in list(_pairs(kernel)):
                    found = find(kernel, *pair)
                    if found is None:
                        continue
                    name = kernel.sym_name.data
                    saved = _saved(kernel, pair[0], machine, hints)
                    if self.online == "auto" and saved <= 0:
                        sink.refused(self.name, name, "the row stays near", bytes=0)
                        continue
                    _account(kernel, pair[0], hints)
                    _join(found)
                    sink.accepted(self.name, name, "one pass over the row", bytes=max(0, saved))


def _pairs(kernel: k.FuncOp) -> Iterator[tuple[k.ReduceOp, k.ReduceOp]]:
    """Reductions of one block over equal extents, a maximum before a sum."""
    blocks = [kernel.body.block, *(r.block for op in kernel.walk() for r in op.regions)]
    for block in dict.fromkeys(blocks):
        stages = [op for op in block.ops if isinstance(op, k.ReduceOp) and is_leaf(op)]
        for i, last in enumerate(stages):
            if last.kind_names == ["add"]:
                for first in reversed(stages[:i]):
                    if first.extent.data is last.extent.data and "max" in first.kind_names:
                        yield first, last
                        break


@dataclass(frozen=True)
class Online:
    """Two reductions that may be one: `number` is the maximum's place among the kinds.

    `safe`: the sum subtracts 0 where the maximum is infinite.
    """

    first: k.ReduceOp
    last: k.ReduceOp
    number: int
    safe: bool


def find(kernel: k.FuncOp, first: k.ReduceOp, last: k.ReduceOp) -> Online | None:
    """The form sum(exp(x - max(x))), where both read the same x."""
    term = _yielded(last)[0].owner
    if not isinstance(term, Operation) or term.name != "scalar.exp":
        return None
    difference = term.operands[0].owner
    if not isinstance(difference, Operation) or difference.name != "scalar.sub":
        return None
    value, base = difference.operands
    same = same_values(kernel, first, last)
    if not isinstance(value.owner, Operation) or value.owner not in same:
        return None
    twin = same[value.owner].results[value.owner.results.index(value)]
    for number, kind in enumerate(first.kind_names):
        if kind != "max" or any(name in _SEVERAL for name in first.kind_names[:number]):
            continue
        if _yielded(first)[number] is not twin:
            continue
        top = first.results[number]
        if base is top:
            return Online(first, last, number, safe=False)
        if _zero_if_infinite(base, top):
            return Online(first, last, number, safe=True)
    return None


_SEVERAL = frozenset(("argmin", "argmax", "welford", "max_sumexp"))
"""Kinds whose operands and results do not go one by one."""


def _yielded(loop: k.ReduceOp) -> Sequence[SSAValue]:
    last = loop.body.block.last_op
    assert last is not None
    return list(last.operands)


def _zero_if_infinite(value: SSAValue, top: SSAValue) -> bool:
    """select(abs(top) == inf, 0, top)."""
    choice = value.owner
    if not isinstance(choice, Operation) or choice.name != "scalar.select":
        return False
    test, yes, no = choice.operands
    if no is not top or _constant(yes) != 0.0:
        return False
    equal = test.owner
    if not isinstance(equal, Operation) or equal.name != "scalar.eq":
        return False
    size = equal.operands[0].owner
    infinite = _constant(equal.operands[1]) == math.inf
    return (
        infinite
        and isinstance(size, Operation)
        and size.name == "scalar.abs"
        and size.operands[0] is top
    )


def _constant(value: SSAValue) -> float | None:
    owner = value.owner
    return float(owner.number) if isinstance(owner, sc.ConstantOp) else None


# -- the price ------------------------------------------------------------------------------------
def _saved(kernel: k.FuncOp, first: k.ReduceOp, machine: Machine, hints: Mapping[Atom, int]) -> int:
    """Bytes that the second pass over a row fetches, less the exponentials that replace it."""
    block = first.parent
    assert block is not None
    stages = [op for op in block.ops if isinstance(op, LOOPS)]
    accesses = {a.buffer: a for s in stages for a in _along(s)}
    extent = estimate(first.extent.data, hints)
    # what a program of a grid does not hold is far: the cache that rows share takes its time too
    room = machine.cache if kernel.target == "cpp" else machine.local
    near = extent * sum(_item(a) for a in accesses.values()) <= room
    if near:
        return 0
    row = sum({a.buffer: _item(a) for a in _along(first)}.values())
    return int(extent * (row - EXP * machine.op_bytes))


def _along(loop: Operation) -> Iterator[k.LoadOp | k.StoreOp]:
    """Accesses that walk a loop's variable."""
    assert isinstance(loop, LOOPS)
    atom = ex.dim_atom(loop.var.data)
    for op in loop.walk():
        if isinstance(op, k.LoadOp | k.StoreOp) and atom in op.index.data[0].vars("d"):
            yield op


def _item(op: k.LoadOp | k.StoreOp) -> int:
    type_ = op.buffer.type
    assert isinstance(type_, BufType)
    return type_.scalar_bytes


def _account(kernel: k.FuncOp, first: k.ReduceOp, hints: Mapping[Atom, int]) -> None:
    """The ledger moves one pass over the row less, where it had priced several."""
    if kernel.bytes_ is None:
        return
    floor, unfused, planned = kernel.bytes_.data
    row: Expr = ex.ZERO
    for op in {a.buffer: a for a in _along(first)}.values():
        row = row + first.extent.data * _item(op)
    around: Operation | None = first.parent_op()
    while around is not None and not isinstance(around, k.FuncOp):
        row = row * around.extent.data if isinstance(around, LOOPS) else row
        around = around.parent_op()
    less = planned - row
    if not less.vars("d") and estimate(less, hints) >= estimate(floor, hints):
        kernel.bytes_ = BytesAttr(Bytes(floor, unfused, less))


# -- the rewrite ----------------------------------------------------------------------------------
def _join(found: Online) -> None:
    first, last, number = found.first, found.last, found.number
    kinds = [*first.kind_names]
    kinds[number] = "max_sumexp"
    types = [r.type for r in first.results]
    types.insert(number + 1, last.results[0].type)
    body = first.body.block
    first.body.detach_block(body)
    new = k.ReduceOp.of(first.var.data, first.extent.data, kinds, types, body, first.words.data)
    new.location = first.location
    Rewriter.insert_op(new, InsertPoint.before(first))
    results = list(new.results)
    total = results.pop(number + 1)
    total.name_hint = last.results[0].name_hint
    for old, made in zip(first.results, results, strict=True):
        made.name_hint = old.name_hint
        old.replace_all_uses_with(made)
    if found.safe:
        total = _of_infinite(results[number], total, last)
    last.results[0].replace_all_uses_with(total)
    Rewriter.erase_op(last)
    Rewriter.erase_op(first)
    _sweep(new.parent)


def _of_infinite(top: SSAValue, total: SSAValue, before: Operation) -> SSAValue:
    """The sum of e^x where the maximum is infinite: inf or 0; else the sum at hand."""
    type_ = total.type
    inf, zero = sc.ConstantOp.of(math.inf, type_), sc.ConstantOp.of(0.0, type_)
    size = sc.scalar("abs", top)
    test = sc.scalar("eq", size.result, inf.result)
    positive = sc.scalar("gt", top, zero.result)
    sign = sc.scalar("select", positive.result, inf.result, zero.result)
    out = sc.scalar("select", test.result, sign.result, total)
    for op in (inf, zero, size, test, positive, sign, out):
        Rewriter.insert_op(op, InsertPoint.before(before))
    return out.result


def _sweep(block: Block | None) -> None:
    """Erase what only the second reduction used."""
    assert block is not None
    for op in reversed(list(block.ops)):
        unused = op.results and not any(True for r in op.results for _ in r.uses)
        if unused and not op.regions and (is_side_effect_free(op) or isinstance(op, k.LoadOp)):
            Rewriter.erase_op(op)
