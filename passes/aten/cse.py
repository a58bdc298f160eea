"""Merges ops that compute the same thing.

    before:
      %a = aten.exp.default(%x) : !aten.t<f32[4]>
      %b = aten.exp.default(%x) : !aten.t<f32[4]>
      %c = aten.add.Tensor(%a, %b) : !aten.t<f32[4]>
    after:
      %a = aten.exp.default(%x) : !aten.t<f32[4]>
      %c = aten.add.Tensor(%a, %a) : !aten.t<f32[4]>

Two ops merge when name, operands, properties and result types agree. Operands of a commutative op
are compared as a set. Not merged are ops that draw random numbers or have effects, ops between
which the storage of an operand is overwritten, and fresh values that are both results of the
function: the caller may write into one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from minductor.dialects.aten import AtenOp, Commutative, View, is_mutating, is_pure
from minductor.passes.aten._aliases import root, written
from minductor.passes.aten._rewriter import Rewriter, functions, fuse_locations
from minductor.passes.base import MiniPass
from minductor.passes.remarks import sink_of


@dataclass(frozen=True)
class AtenCsePass(MiniPass):
    """Merges ops that compute the same thing."""

    name = "aten-cse"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            _merge_block(func.body.block, Rewriter(func.body.block, self.name, sink_of(ctx)))


def _merge_block(block: Block, rewriter: Rewriter) -> None:
    seen: dict[Any, Operation] = {}
    versions: dict[SSAValue, int] = {}
    for op in list(block.ops):
        if isinstance(op, AtenOp) and is_mutating(op):
            for value in written(op):
                base = root(value)
                versions[base] = versions.get(base, 0) + 1
            continue
        if not op.results or op.regions or not is_pure(op):
            continue
        key = _key(op, versions)
        first = seen.setdefault(key, op)
        if first is not op and not _both_escape(rewriter, first, op):
            first.location = fuse_locations(first.location, op.location)
            rewriter.replace(op, first.results)


def _key(op: Operation, versions: dict[SSAValue, int]) -> Any:
    operands = tuple(op.operands)
    if len(operands) == 2 and op.has_trait(Commutative) and "alpha" not in op.properties:
        operands = frozenset(operands)
    stamps = tuple(versions.get(root(v), 0) for v in op.operands) if versions else ()
    properties = op.properties
    return (
        op.name,
        operands,
        tuple((k, properties[k]) for k in sorted(properties)),
        tuple(r.type for r in op.results),
        stamps,
    )


def _both_escape(rewriter: Rewriter, first: Operation, op: Operation) -> bool:
    """Fresh values that both reach the caller keep their own storage."""
    if op.has_trait(View):
        return False
    escapes = rewriter.aliases.escapes
    for a, b in zip(first.results, op.results, strict=True):
        if a in escapes and b in escapes:
            rewriter.sink.refused(
                rewriter.pass_name,
                f"{op.name.removeprefix('aten.')} %{b.name_hint}",
                f"equals %{a.name_hint}, but both are results of the function",
            )
            return True
    return False
