"""Accumulators of a column reduction: what a row gives, how it joins, the finished value.

One object per kind of a `reduce`. Its slots are arrays with an element per column:

    add, mul, min, max, any, all    the running value
    welford                         sums of d and d * d in f64, d the difference to the first row
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from xdsl.dialects.builtin import f64, i64
from xdsl.ir import Attribute, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.kernel import ops as k
from minductor.dialects.scalar.ops import CastOp, ConstantOp, IndexOp, scalar
from minductor.passes.kernel._copy import Copies, var_of


class Accumulator(Protocol):
    """One kind of a reduction, column by column."""

    @property
    def types(self) -> list[Attribute]:
        """The scalar type of each slot."""
        ...

    @property
    def kinds(self) -> list[str]:
        """The reduction kind that joins values of each slot."""
        ...

    def give(self, at: Copies, value: SSAValue) -> list[SSAValue]:
        """What the yielded value of a row adds to the slots."""
        ...

    def needs(self, result: int) -> list[int]:
        """The slots that a result is made of."""
        ...

    def finish(self, at: Copies, slots: Sequence[SSAValue], result: int) -> SSAValue:
        """A result, from finished slots."""
        ...


@dataclass(frozen=True)
class Plain:
    """A kind whose results are its own operands."""

    kind: str
    type: Attribute

    @property
    def types(self) -> list[Attribute]:
        """The scalar type of each slot."""
        return [self.type]

    @property
    def kinds(self) -> list[str]:
        """The reduction kind that joins values of each slot."""
        return [self.kind]

    def give(self, at: Copies, value: SSAValue) -> list[SSAValue]:
        """The value itself."""
        return [value]

    def needs(self, result: int) -> list[int]:
        """The one slot."""
        return [0]

    def finish(self, at: Copies, slots: Sequence[SSAValue], result: int) -> SSAValue:
        """The slot itself."""
        return slots[0]


@dataclass(frozen=True)
class Moments:
    """Mean, squares and count of values of at most four bytes, by shifted sums in f64.

    stage: the reduction, whose first row is the shift; arg: its yielded operand.
    """

    stage: k.ReduceOp
    arg: SSAValue

    @property
    def types(self) -> list[Attribute]:
        """The scalar type of each slot."""
        return [f64, f64]

    @property
    def kinds(self) -> list[str]:
        """The reduction kind that joins values of each slot."""
        return ["add", "add"]

    def needs(self, result: int) -> list[int]:
        """The mean needs the sum, the squares both, the count none."""
        return [[0], [0, 1], []][result]

    def give(self, at: Copies, value: SSAValue) -> list[SSAValue]:
        """The difference to the first row, and its square."""
        wide, first = self._wide(at, value), at.value(self.key)
        d = at.make(scalar("sub", wide, first))
        return [d, at.make(scalar("mul", d, d))]

    @property
    def key(self) -> SSAValue:
        """The key under which the f64 value of the first row has its home."""
        return self.stage.results[-1]

    def shift(self, at: Copies) -> SSAValue:
        """The value of the first row, in f64."""
        var = var_of(self.stage)
        body = self.stage.body.block
        first = at.within(at.block, (), {var: ex.ZERO}, (body,))
        return self._wide(at, first.value(self.arg))

    def finish(self, at: Copies, slots: Sequence[SSAValue], result: int) -> SSAValue:
        """Mean, sum of squared deviations, or count."""
        type_ = self.arg.type
        count = at.make(IndexOp.of(self.stage.extent.data, i64))
        n = at.make(CastOp.of(count, f64))
        if result == 2:
            return self._narrow(at, n, type_)
        total = slots[0]
        per = at.make(scalar("div", total, n))
        if result == 0:
            mean = at.make(scalar("add", self.shift(at), per))
            return self._narrow(at, mean, type_)
        less = at.make(scalar("mul", total, per))
        left = at.make(scalar("sub", slots[1], less))
        zero = at.make(ConstantOp.of(0.0, f64))
        return self._narrow(at, at.make(scalar("maximum", left, zero)), type_)

    @staticmethod
    def _wide(at: Copies, value: SSAValue) -> SSAValue:
        return value if value.type == f64 else at.make(CastOp.of(value, f64))

    @staticmethod
    def _narrow(at: Copies, value: SSAValue, type_: Attribute) -> SSAValue:
        return value if type_ == f64 else at.make(CastOp.of(value, type_))
