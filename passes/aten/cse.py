"""Merges ops that compute the same thing.

    before:
      %a = aten.exp.default(%x) : !aten.t<f32[4]>
      %b = aten.exp.default(%x) : !aten.t<f32[4]>
      %c = aten.add.Tensor(%a, %b) : !aten.t<f32[4]>
    after:
      %a = aten.exp.default(%x) : !aten.t<f32[4]>
      %c = aten.add.Tensor(%a, %a) : !aten.t<f32[4]>

Two ops merge when name, operands, properties and result types agree. Operands of a commutative op
are compared as a set; `x - y` and `x + y` with alpha = -1 are one, and so are `x > y` and `y < x`,
and a number that is an operand here and a property there. Not merged are ops that draw random
numbers or have effects, ops between which the storage of an operand is overwritten, and fresh
values that are both results of the function: the caller may write into one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from minductor.dialects.aten import AtenOp, Commutative, ScalarOp, View, is_mutating, is_pure
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


OPPOSITE = {"aten.add.Tensor": "aten.sub.Tensor", "aten.sub.Tensor": "aten.add.Tensor"}
"""What an op is when its alpha is -1."""

TURNED = {"aten.gt.Tensor": "aten.lt.Tensor", "aten.ge.Tensor": "aten.le.Tensor"}
"""What an op is with its operands in the other order."""

OF_NUMBER = (
    "aten.mul",
    "aten.div",
    "aten.eq",
    "aten.ne",
    "aten.lt",
    "aten.le",
    "aten.gt",
    "aten.ge",
)
"""Ops whose overload for a number, `.Scalar`, is the one for tensors with the number there."""


TURN_ABOUT = ("aten.add.Tensor", "aten.mul.Tensor", "aten.eq.Tensor", "aten.ne.Tensor")
"""Commutative ops among those that another op may be spelled as."""


def _key(op: Operation, versions: dict[SSAValue, int]) -> Any:
    name, operands, properties = op.name, list[Any](op.operands), dict(op.properties)
    if name in OPPOSITE and isinstance(op, AtenOp) and op.arg("alpha") == -1:
        name = OPPOSITE[name]
        del properties["alpha"]
    elif name in TURNED:
        name = TURNED[name]
        operands.reverse()
    base, _, overload = name.rpartition(".")
    if base in OF_NUMBER and overload == "Scalar" and "other" in properties:
        name = f"{base}.Tensor"
        operands.append(properties.pop("other"))
    operands = [_number(v) for v in operands]
    turns = name in TURN_ABOUT if name != op.name else op.has_trait(Commutative)
    stamps = tuple(versions.get(root(v), 0) for v in op.operands) if versions else ()
    return (
        name,
        frozenset(operands) if turns and not properties and len(operands) == 2 else tuple(operands),
        tuple((k, properties[k]) for k in sorted(properties)),
        tuple(r.type for r in op.results),
        stamps,
    )


def _number(value: Any) -> Any:
    """The attribute of a number, the value of anything else."""
    owner = value.owner if isinstance(value, SSAValue) else None
    return owner.value if isinstance(owner, ScalarOp) else value


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
