"""The driver of `aten` rewrites: rules found by op name, locations and origins kept, refusals told.

A rule takes an op and gives
  - None: it does not match;
  - Same(x): the result is `x` itself; applied only where sharing storage cannot be seen;
  - an SSAValue: the same, for results that share storage with it already (views);
  - an Operation: a new op that takes the place of the old one (with as many results);
  - Ops: new ops, and a value for each result of the old one;
  - a Refusal: it nearly matched; the reason becomes a remark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    FileLineColLoc,
    FusedLoc,
    LocationAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from minductor.dialects.aten import AtenOp
from minductor.dialects.aten.ops import ORIGIN
from minductor.dialects.expr import Expr
from minductor.dialects.types import TensorType
from minductor.passes.aten._aliases import Aliases, root
from minductor.passes.remarks import RemarkSink, sink_of

STEPS = 8
"""How often one op may be rewritten in a row: a bound, not a tuning knob."""


@dataclass(frozen=True)
class Same:
    """The result equals `value` in every element, sizes, strides and dtype."""

    value: SSAValue


@dataclass(frozen=True)
class Ops:
    """New ops, in order; `values` stand for the results of the old op, with types of their own.

    A None stands for a result that nobody uses.
    note: what a remark says of it, with the bytes `saved`; without one there is no remark.
    """

    ops: tuple[Operation, ...]
    values: tuple[SSAValue | None, ...]
    note: str = ""
    saved: Expr | None = None

    @staticmethod
    def chain(*ops: Operation) -> Ops:
        """Ops of which the last one gives the result."""
        return Ops(ops, (ops[-1].results[0],))


@dataclass(frozen=True)
class Refusal:
    """Why a rewrite that nearly matched does not hold."""

    reason: str


Outcome: TypeAlias = "SSAValue | Operation | Ops | Same | Refusal | None"
Rule: TypeAlias = "Callable[[AtenOp], Outcome]"
Rules: TypeAlias = "Mapping[str, Sequence[Rule]]"


def functions(module: ModuleOp) -> Iterator[FuncOp]:
    """The functions of a module that have a body."""
    for op in module.body.block.ops:
        if isinstance(op, FuncOp) and op.body.blocks:
            yield op


class Rewriter:
    """Rewrites the ops of one block."""

    def __init__(self, block: Block, pass_name: str, sink: RemarkSink) -> None:
        self.block = block
        self.pass_name = pass_name
        self.sink = sink

    @cached_property
    def aliases(self) -> Aliases:
        """Escapes and writes of the block, found when a rule asks first."""
        return Aliases(self.block)

    def run(self, rules: Rules) -> None:
        """Try the rules on each op, in order; a new op is tried again."""
        for op in list(self.block.ops):
            current: Operation | None = op
            for _ in range(STEPS):
                if not isinstance(current, AtenOp):
                    break
                tried = rules.get(current.name)
                current = self._try(current, tried) if tried else None

    def _try(self, op: AtenOp, rules: Sequence[Rule]) -> Operation | None:
        """The op to look at next, or None when nothing was done."""
        for rule in rules:
            outcome = rule(op)
            if outcome is None:
                continue
            if isinstance(outcome, Refusal):
                self._refuse(op, outcome.reason)
            elif isinstance(outcome, Same):
                if self._same(op, outcome.value):
                    return None
            elif isinstance(outcome, Operation):
                if self._insert(op, outcome):
                    return outcome
            elif isinstance(outcome, Ops):
                if self._several(op, outcome):
                    return outcome.ops[-1] if outcome.ops else None
            elif self._view(op, outcome):
                return None
        return None

    def _same(self, op: AtenOp, value: SSAValue) -> bool:
        result = op.results[0]
        if result.type is not value.type:
            return False
        reason = self.aliases.why_not(result, value)
        if reason is not None:
            self._refuse(op, reason)
            return False
        self.replace(op, [value])
        return True

    def _view(self, op: AtenOp, value: SSAValue) -> bool:
        """Replace a view by what it shows, unless the caller gets both as two tensors."""
        result = op.results[0]
        if is_result(result) and (isinstance(value, BlockArgument) or is_result(value)):
            self._refuse(op, "the function returns it beside the tensor that it shows")
            return False
        self.replace(op, [value])
        return True

    def _refuse(self, op: AtenOp, reason: str) -> None:
        if self.sink.enabled:
            self.sink.refused(self.pass_name, subject_of(op), reason)

    def _insert(self, old: AtenOp, new: Operation) -> bool:
        """`new` in the place of `old`, with its location and its origin."""
        return self._several(old, Ops((new,), tuple(new.results)))

    def _several(self, old: AtenOp, new: Ops) -> bool:
        reason = self.why_not(old.results, new)
        if any(self.aliases.read_later(old, op) for op in new.ops):
            reason = "it would read an operand after that is overwritten"
        if reason is not None:
            self._refuse(old, reason)
            for op in reversed(new.ops):
                op.erase()
            return False
        if new.note and self.sink.enabled:
            saved = None if new.saved is None else new.saved.as_int or str(new.saved)
            self.sink.accepted(self.pass_name, subject_of(old), new.note, bytes=saved)
        for op in new.ops:
            self.place(old, op)
        self.replace(old, new.values)
        return True

    def why_not(self, results: Sequence[SSAValue], new: Ops) -> str | None:
        """Why the new values may not stand for `results`: somebody could tell the storages."""
        for result, value in zip(results, new.values, strict=True):
            if value is None:
                continue
            before, after = root(result), root(value)
            reason = None
            if before is not result and after is not before:
                reason = self.aliases.why_not_apart(result, value)
            elif before is result and not (after.owner in new.ops and _all_of(value, after)):
                reason = self.aliases.why_not(result, value)
            if reason is not None:
                return reason
        return None

    def place(self, old: AtenOp, new: Operation) -> None:
        """Insert a new op before `old`, as one that comes from it."""
        new.location = old.location
        if ORIGIN in old.attributes:
            new.attributes.setdefault(ORIGIN, old.attributes[ORIGIN])
        elif isinstance(new, AtenOp) and new.schema.packet != old.schema.packet:
            new.attributes.setdefault(ORIGIN, origin_attr(old))
        self.block.insert_op_before(new, old)

    def replace(self, old: Operation, values: Sequence[SSAValue | None]) -> None:
        """Use `values` for the results of `old`, and erase it."""
        for result, value in zip(old.results, values, strict=True):
            if value is None:
                continue
            self.aliases.replaced(result, value)
            # carries the name hint over to a value that has none
            result.replace_all_uses_with(value)
        old.detach()
        old.erase()


def rewrite_module(ctx: Context, module: ModuleOp, pass_name: str, rules: Rules) -> None:
    """Run the rules on every function."""
    for func in functions(module):
        Rewriter(func.body.block, pass_name, sink_of(ctx)).run(rules)


def _all_of(view: SSAValue, base: SSAValue) -> bool:
    """The view shows every element of its base: as good as a storage of its own."""
    if view is base:
        return True
    a, b = view.type, base.type
    return isinstance(a, TensorType) and isinstance(b, TensorType) and a.numel is b.numel


def subject_of(op: AtenOp) -> str:
    """An op as the subject of a remark."""
    name = op.results[0].name_hint if op.results else None
    return f"{op.overload} %{name}" if name else op.overload


def origin_attr(op: AtenOp) -> StringAttr:
    """The op's origin as an attribute, written out."""
    name, where = op.origin
    return StringAttr(f"{name} {where}" if where else name)


def is_result(value: SSAValue) -> bool:
    """The function returns this very value."""
    return any(use.operation.name == "func.return" for use in value.uses)


# -- locations ------------------------------------------------------------------------------------
def fuse_locations(a: LocationAttr, b: LocationAttr) -> LocationAttr:
    """The location of an op that stands for two: `loc(fused[a, b])`, each part once."""
    parts: dict[LocationAttr, None] = {}
    for part in (*_parts(a), *_parts(b)):
        parts[part] = None
    known = list(parts)
    if len(known) < 2:
        return known[0] if known else a
    return FusedLoc(tuple(known), NoneAttr())


def _parts(loc: LocationAttr) -> Iterator[LocationAttr]:
    if isinstance(loc, UnknownLoc):
        return
    if isinstance(loc, FusedLoc) and isinstance(loc.locations, ArrayAttr):
        for part in loc.locations:
            if isinstance(part, NameLoc | FileLineColLoc | FusedLoc):
                yield part
        return
    yield loc
