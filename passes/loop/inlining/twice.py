"""Which values of half types a comparison can tell from what was made of them.

A value that is computed in several bodies is a number of its own in each: in one it is rounded as
it is stored, in another it stays in f32. Most ops do not mind. A comparison, a difference or a
quotient that is made whole does:

    %a = .. storage : f32 to f16                            a value
    %s = select(%c, %a, 0)       stored: %a, rounded        chosen of it, or an extreme of it
    %m = lt(%s, %a)              %a again, not rounded      true, although %s is %a

Here %a is told apart: `lt` reaches it on two ways, one of which passes another stored value. Such a
value is computed once. Ways go through ops of the table's fact `exact`, casts, conditions, extremes
and memory; a difference with an extreme, as in a softmax, is an estimate like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.ir import Block, Operation, SSAValue

from minductor.dialects.dtypes import dtype_of_scalar
from minductor.dialects.loop.ops import CollapseOp, LoadOp, NestOp, StoreOp, ViewOp
from minductor.dialects.scalar.ops import CastOp, IfOp, TableOp, YieldOp
from minductor.dialects.types import TensorType

EXTREMES = frozenset({"min", "max", "argmin", "argmax", "cummin", "cummax", "last"})
"""Kinds of reductions, scans and stores whose first result is one of the values."""

LONGEST = 8
"""Stored values on one way; longer ones are not followed."""

Origin = tuple[SSAValue, bool]
"""A stored value of a half type, and whether an extreme lies on the way from it."""

Passed = tuple[frozenset[SSAValue], frozenset[SSAValue]]
"""Stored values of half types on some way, and those on all ways."""

Ways = Mapping[Origin, Passed]


def told_apart(nests: Sequence[NestOp]) -> frozenset[SSAValue]:
    """Results of nests, in program order, that have to be one number for all that read them."""
    if not any(is_half(r) for nest in nests for r in nest.results):
        return frozenset()
    walk = _Walk()
    for nest in nests:
        walk.nest(nest)
    return frozenset(walk.told)


def is_half(value: SSAValue) -> bool:
    """Whether a tensor's floats lose bits that they have in a register."""
    assert isinstance(value.type, TensorType)
    return value.type.info.is_float and value.type.info.size < 4


def merged(parts: Iterable[Ways]) -> Ways:
    """All ways of several values."""
    out: dict[Origin, Passed] = {}
    for ways in parts:
        for origin, (some, every) in ways.items():
            old = out.get(origin)
            out[origin] = (some, every) if old is None else (old[0] | some, old[1] & every)
    return out


class _Walk:
    """Follows values through nests; `stored` has the ways of results, `told` the answer."""

    def __init__(self) -> None:
        self.told: dict[SSAValue, None] = {}
        self.stored: dict[SSAValue, Ways] = {}
        self.ways: dict[SSAValue, Ways] = {}

    def nest(self, nest: NestOp) -> None:
        """Walk a nest's body, then say what its results hold."""
        self.ways = {}
        self.block(nest.body.block)
        for i, (arg, result) in enumerate(zip(nest.body.block.args, nest.results, strict=True)):
            parts = [self.ways.get(use.operation.operands[0], {}) for use in arg.uses]
            base = nest.updated(i)
            held = merged(parts if base is None else [*parts, self.memory(base)])
            if is_half(result):
                mark = frozenset((result,))
                held = {o: (a | mark, b | mark) for o, (a, b) in held.items() if len(a) < LONGEST}
                held[result, False] = (frozenset(), frozenset())
            if held:
                self.stored[result] = held

    def memory(self, value: SSAValue) -> Ways:
        """The ways of what lies in a tensor."""
        while isinstance(value.owner, ViewOp):
            value = value.owner.source
        return self.stored.get(value, {})

    def block(self, block: Block) -> None:
        """Follow values through the ops of a block, in order."""
        for op in block.ops:
            if isinstance(op, LoadOp):
                self.keep(op.result, self.memory(op.source))
            elif isinstance(op, IfOp):
                self.block(op.then.block)
                self.block(op.orelse.block)
                last = [r.block.last_op for r in (op.then, op.orelse)]
                yields = [one.operands for one in last if isinstance(one, YieldOp)]
                for i, result in enumerate(op.results):
                    self.keep(result, merged(self.ways.get(args[i], {}) for args in yields))
            elif any(v in self.ways for v in op.operands):
                self.plain(op)

    def plain(self, op: Operation) -> None:
        """An op of one value and more."""
        found = [self.ways.get(v, {}) for v in op.operands]
        if isinstance(op, CastOp):
            if dtype_of_scalar(op.result.type).is_float:
                self.keep(op.result, found[0])
        elif isinstance(op, CollapseOp):
            if op.kind.data in EXTREMES:
                beyond = [{(value, True): p} for (value, _), p in found[0].items()]
                self.keep(op.results[0], merged(beyond))
        elif isinstance(op, StoreOp):
            if op.combine is not None and op.combine.data not in EXTREMES:
                self.ways.pop(op.value, None)
        elif isinstance(op, TableOp):
            if "exact" in op.ROW.algebra:
                self.keep(op.results[0], merged(found))
            elif len(found) == 2 and (jumps := op.ROW.result == "i1" or "jumps" in op.ROW.algebra):
                self.compare(found[0], found[1], jumps)
            elif len(found) == 2 and op.ROW.name == "sub":
                self.compare(found[0], found[1], False)

    def keep(self, value: SSAValue, ways: Ways) -> None:
        """Remember the ways of a value that has some."""
        if ways:
            self.ways[value] = ways

    def compare(self, left: Ways, right: Ways, extremes: bool) -> None:
        """Tell apart what both sides come from on different ways."""
        for (value, beyond), passed in left.items():
            for other in (False, True):
                match = right.get((value, other))
                if match is None or match == passed or (not extremes and (beyond or other)):
                    continue
                self.told[value] = None
