"""Drops ops whose results nobody uses.

    before:
      %a = aten.exp.default(%x) : !aten.t<f32[4]>
      %b = aten.relu.default(%x) : !aten.t<f32[4]>
      %c = aten.copy_.default(%x, %b) : !aten.t<f32[4]>
      func.return
    after:
      %b = aten.relu.default(%x) : !aten.t<f32[4]>
      %c = aten.copy_.default(%x, %b) : !aten.t<f32[4]>
      func.return

What writes into an operand (`copy_` to an argument) and what is checked or communicated stays, and
so does an op that gives a size symbol its value (`item`, `nonzero`) while an expression uses it. An
unused draw of random numbers goes: no other draw depends on it, each has a stream of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.ir import Attribute, Block, Operation
from xdsl.traits import IsTerminator

from minductor.dialects.aten import is_removable
from minductor.dialects.aten.verify import op_binds, type_symbols
from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.expr import Atom
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
            dropped = drop_dead(func.body.block)
            if dropped:
                sink_of(ctx).note(self.name, func.sym_name.data, f"{dropped} dead ops dropped")


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
