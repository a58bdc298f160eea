"""Drops ops whose results nobody uses, and writes that nobody sees.

    before:
      %a = aten.exp.default(%x) : !aten.t<f32[4]>
      %b = aten.relu.default(%x) : !aten.t<f32[4]>
      %c = aten.copy_.default(%x, %b) : !aten.t<f32[4]>
      %d = aten.copy_.default(%x, %y) : !aten.t<f32[4]>
      func.return
    after:
      %d = aten.copy_.default(%x, %y) : !aten.t<f32[4]>
      func.return

A `copy_` is dead when the next op that touches its storage overwrites all of it, when nobody
touches a fresh storage any more, and when it copies a tensor into itself. All else that writes into
an operand, and what is checked or communicated, stays, and so does an op that gives a size symbol
its value (`item`, `nonzero`) while an expression uses it. An unused draw of random numbers goes: no
other draw depends on it, each has a stream of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation
from xdsl.traits import IsTerminator

from minductor.dialects.aten import is_removable
from minductor.dialects.aten.verify import op_binds, type_symbols
from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.expr import Atom
from minductor.passes.aten._aliases import root
from minductor.passes.aten._rewriter import functions
from minductor.passes.base import MiniPass
from minductor.passes.remarks import sink_of


@dataclass(frozen=True)
class AtenDcePass(MiniPass):
    """Drops ops whose results nobody uses."""

    name = "aten-dce"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            writes = drop_writes(func.body.block)
            if writes:
                sink_of(ctx).note(self.name, func.sym_name.data, f"{writes} dead writes dropped")
            dropped = drop_dead(func.body.block)
            if dropped:
                sink_of(ctx).note(self.name, func.sym_name.data, f"{dropped} dead ops dropped")


COPY = "aten.copy_.default"


def drop_writes(block: Block) -> int:
    """Erase copies that nobody sees, the last one first; how many there were."""
    dropped = 0
    for op in reversed(list(block.ops)):
        if op.name == COPY and (op.operands[0] is op.operands[1] or _unseen(op)):
            op.results[0].replace_all_uses_with(op.operands[0])
            op.detach()
            op.erase()
            dropped += 1
    return dropped


def _unseen(write: Operation) -> bool:
    """Nobody reads what it wrote: it is overwritten first, or its storage is nobody's."""
    base = root(write.operands[0])
    op = write.next_op
    while op is not None:
        touched = [i for i, v in enumerate(op.operands) if root(v) is base]
        if touched:
            whole = op.operands[0].type is base.type
            return op.name == COPY and touched == [0] and whole and write.parent is op.parent
        op = op.next_op
    return not isinstance(base, BlockArgument)


def drop_dead(block: Block) -> int:
    """Erase dead ops from the end to the start; how many there were.

    An op that gives an unbacked symbol its value is used by all ops with that symbol.
    """
    dropped = 0
    needed: set[Atom] = set()
    for op in reversed(list(block.ops)):
        keep = op.has_trait(IsTerminator) or not is_removable(op)
        if keep or _is_used(op) or not needed.isdisjoint(op_binds(op)):
            needed.update(_mentioned(op))
            continue
        op.detach()
        op.erase()
        dropped += 1
    return dropped


def _is_used(op: Operation) -> bool:
    return any(result.first_use is not None for result in op.results)


def _mentioned(op: Operation) -> Iterator[Atom]:
    """Size symbols of an op's result types and attributes."""
    for result in op.results:
        yield from type_symbols(result.type)
    waiting: list[Attribute] = [*op.properties.values(), *op.attributes.values()]
    while waiting:
        match waiting.pop():
            case ArrayAttr(data=items):
                waiting.extend(items)
            case IndexAttr(data=exprs):
                for e in exprs:
                    yield from e.vars("u")
            case ExprAttr(data=e):
                yield from e.vars("u")
            case _:
                pass
