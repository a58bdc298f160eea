"""What varies between the lanes of a vector loop, and whether its body has a vector form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Block, Operation, SSAValue

from minductor.codegen.cpp.index import lane_step
from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import ops as k
from minductor.dialects.scalar import ops as sc

KIND_OPERANDS = {"argmin": 2, "argmax": 2, "cummax": 2, "cummin": 2}
KIND_RESULTS = {
    "argmin": 2,
    "argmax": 2,
    "cummax": 2,
    "cummin": 2,
    "welford": 3,
    "max_sumexp": 2,
}


def op_exprs(op: Operation) -> Iterator[Expr]:
    """The index expressions of an op."""
    for attribute in op.properties.values():
        if isinstance(attribute, IndexAttr):
            yield from attribute.data
        elif isinstance(attribute, ExprAttr):
            yield attribute.data


def yielded(block: Block) -> list[SSAValue]:
    """The operands of the block's yield."""
    last = block.last_op
    return list(last.operands) if isinstance(last, k.YieldOp | sc.YieldOp) else []


class Variance:
    """Marks in `varying` every value of a loop body that differs between lanes of `lane`."""

    def __init__(
        self,
        lane: tuple[Atom, int],
        ranges: Ranges,
        varying: set[SSAValue],
        locals_: set[SSAValue],
    ):
        self.lane, self.width = lane
        self.ranges = ranges
        self.varying = varying
        self.locals = locals_

    def block(self, block: Block) -> None:
        """Mark the values of a block."""
        for op in block.ops:
            self._op(op)

    def _op(self, op: Operation) -> None:
        match op:
            case k.LocalOp():
                self.locals.add(op.results[0])
            case k.ReduceOp():
                self.block(op.body.block)
                self._by_kind(op.kind_names, yielded(op.body.block), list(op.results))
            case k.ScanOp():
                self.block(op.body.block)
                args = list(op.then.block.args)
                self._by_kind(op.kind_names, yielded(op.body.block), args)
                self.block(op.then.block)
            case sc.IfOp():
                self._if(op)
            case k.LoopOp():
                self.block(op.body.block)
            case _:
                if self._own(op):
                    self.varying.update(op.results)

    def _own(self, op: Operation) -> bool:
        if any(v in self.varying or v in self.locals for v in op.operands):
            return True
        return any(self._moves(e) for e in op_exprs(op))

    def _moves(self, e: Expr) -> bool:
        if self.lane not in e.vars("d"):
            return False
        step = lane_step(e, self.lane, self.width, self.ranges)
        return step is None or step.as_int != 0

    def _by_kind(
        self, kinds: list[str], args: Sequence[SSAValue], results: Sequence[SSAValue]
    ) -> None:
        a = r = 0
        for kind in kinds:
            na, nr = KIND_OPERANDS.get(kind, 1), KIND_RESULTS.get(kind, 1)
            if any(v in self.varying for v in args[a : a + na]):
                self.varying.update(results[r : r + nr])
            a, r = a + na, r + nr

    def _if(self, op: sc.IfOp) -> None:
        sides = [op.then.block, op.orelse.block]
        for side in sides:
            self.block(side)
        for i, result in enumerate(op.results):
            inner = any(yielded(side)[i] in self.varying for side in sides)
            if inner or op.cond in self.varying:
                self.varying.add(result)


def no_vector_form(block: Block, lane: Atom, varying: set[SSAValue]) -> str | None:
    """Why a loop body cannot run as vectors; None when it can. Asked after marking."""
    for op in block.walk():
        if isinstance(op, k.TileOp | k.TransposeOp | k.BarrierOp | k.TileAxisOp):
            return f"`{op.name}` inside"
        if isinstance(op, k.LoadOp | k.StoreOp) and isinstance(op.buffer.owner, k.LocalOp):
            if not _inside(op.buffer.owner, block):
                continue
            if lane in op.index.data[0].vars("d") or any(v in varying for v in op.index_operands):
                return "a buffer of one iteration is indexed by the lane"
        if isinstance(op, k.ReduceOp | k.ScanOp | k.LoopOp) and lane in op.extent.data.vars("d"):
            return "an inner extent depends on the lane"
        if isinstance(op, sc.RandomOp) and op.seed in varying:
            return "the seed differs between lanes"
    return None


def _inside(op: Operation, block: Block) -> bool:
    parent: Operation | None = op
    while parent is not None:
        if parent.parent is block:
            return True
        parent = parent.parent_op()
    return False
