"""Takes transposes into matrix products: a product reads and writes both orders alike.

    before:
      %a = aten.permute.default(%x, dims = [1, 0]) : !aten.t<f32[8, 4]:[1, 8]>
      %b = aten.clone.default(%a, memory_format = contiguous_format) : !aten.t<f32[8, 4]>
      %c = aten.mm.default(%b, %w) : !aten.t<f32[8, 3]>
      %d = aten.permute.default(%c, dims = [1, 0]) : !aten.t<f32[3, 8]:[1, 3]>
      %e = aten.clone.default(%d, memory_format = contiguous_format) : !aten.t<f32[3, 8]>
    after (with aten-dce):
      %a = aten.permute.default(%x, dims = [1, 0]) : !aten.t<f32[8, 4]:[1, 8]>
      %f = aten.permute.default(%w, dims = [1, 0]) : !aten.t<f32[3, 4]:[1, 3]>
      %e = aten.mm.default(%f, %x) : !aten.t<f32[3, 8]>

A copy that only makes an operand contiguous goes when libraries read the operand as it lies: its
columns one after another. A copy of a transposed product is the product of the transposed
operands in the other order. Each saves reading and writing the matrix. A copy that others read
stays, and so does one that changes values (a cast) or another order of memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from minductor.dialects.aten import AtenOp, Library
from minductor.dialects.expr import ONE
from minductor.dialects.types import TensorType
from minductor.passes.aten._match import defined_by, result_type, tensor_type
from minductor.passes.aten._price import traffic
from minductor.passes.aten._rewriter import Ops, Outcome, Refusal, Rules, rewrite_module
from minductor.passes.base import MiniPass

FACTORS = {
    "aten.mm.default": ("self", "mat2"),
    "aten.bmm.default": ("self", "mat2"),
    "aten.addmm.default": ("mat1", "mat2"),
    "aten.baddbmm.default": ("batch1", "batch2"),
}
"""Products, and the names of their two matrices."""

CLONE = "aten.clone.default"
PERMUTE = "aten.permute.default"


@dataclass(frozen=True)
class AtenProductsPass(MiniPass):
    """Takes transposes into matrix products."""

    name = "aten-products"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite_module(ctx, op, self.name, RULES)


def operands_as_they_lie(op: AtenOp) -> Outcome:
    """mm(clone(x), w) -> mm(x, w), when x is transposed."""
    args = op.bind()
    for name in FACTORS[op.name]:
        copy = defined_by(args[name], CLONE)
        source = None if copy is None else tensor_type(copy.operands[0])
        if copy is None or source is None or source is copy.results[0].type:
            continue
        if not _by_columns(source):
            return Refusal("the operand lies in an order that libraries do not read")
        if not all(use.operation.has_trait(Library) for use in copy.results[0].uses):
            return Refusal(f"the copy %{copy.results[0].name_hint} is read elsewhere too")
        new = op.with_args(**{name: copy.operands[0]})
        note = "the product reads the transposed operand as it lies"
        return Ops((new,), tuple(new.results), note, 2 * traffic(source))
    return None


def _by_columns(type_: TensorType) -> bool:
    """A matrix, or a batch of them, with its columns one after another."""
    if type_.rank not in (2, 3) or type_.strides[-2] is not ONE:
        return False
    if type_.strides[-1] is not type_.sizes[-2]:
        return False
    return type_.rank == 2 or type_.strides[0] is type_.sizes[1] * type_.sizes[2]


def transposed_product(op: AtenOp) -> Outcome:
    """clone(permute(mm(a, b))) -> mm(permute(b), permute(a))."""
    result = result_type(op)
    permute = defined_by(op.operands[0], PERMUTE)
    product = None if permute is None else defined_by(permute.operands[0], *list(FACTORS)[:2])
    if permute is None or product is None or result is None or not result.is_contiguous:
        return None
    if [d % result.rank for d in permute.arg("dims")] != _last_two_turned(result.rank):
        return None
    if not (permute.results[0].has_one_use() and product.results[0].has_one_use()):
        return Refusal("the product is read in its own order too")
    first, second = product.operands
    turned = [_turned(second), _turned(first)]
    args = dict(zip(FACTORS[product.name], (t.results[0] for t in turned), strict=True))
    new = AtenOp.make(product.overload, args, [result])
    note = "the product writes its result transposed"
    return Ops((*turned, new), (new.results[0],), note, 2 * traffic(result))


def _last_two_turned(rank: int) -> list[int]:
    return [*range(rank - 2), rank - 1, rank - 2]


def _turned(value: SSAValue) -> AtenOp:
    """A matrix, or a batch of them, transposed."""
    type_ = tensor_type(value)
    assert type_ is not None
    order = _last_two_turned(type_.rank)
    sizes, strides = [type_.sizes[d] for d in order], [type_.strides[d] for d in order]
    args = {"self": value, "dims": order}
    return AtenOp.make("permute.default", args, [type_.with_(sizes=sizes, strides=strides)])


RULES: Rules = {
    **dict.fromkeys(FACTORS, (operands_as_they_lie,)),
    CLONE: (transposed_product,),
}
"""Op name -> its rules, tried in order."""
