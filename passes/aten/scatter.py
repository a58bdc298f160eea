"""A scatter of one element a row into a constant becomes a comparison with the position.

    before:
      %z = aten.full.default(size = [4, 9], fill_value = 0.0) : !aten.t<f32[4, 9]>
      %s = aten.scatter.value(%z, dim = 1, index = %i, value = -1.0) : !aten.t<f32[4, 9]>
    after (with aten-dce):
      %p = aten.arange.start_step(start = 0, end = 9) : !aten.t<i64[9]>
      %r = aten.view.default(%p, size = [1, 9]) : !aten.t<i64[1, 9]>
      %e = aten.expand.default(%r, size = [4, 9]) : !aten.t<i64[4, 9]:[0, 1]>
      %k = aten.gather.default(%e, dim = 1, index = %i) : !aten.t<i64[4, 1]>
      %c = aten.eq.Tensor(%k, %r) : !aten.t<bool[4, 9]>
      %s = aten.where.self(%c, -1.0, 0.0) : !aten.t<f32[4, 9]>           // 0-d tensors

So the gradients of `nll_loss` and `gather` are pointwise, and never stand in memory if a kernel
reads them. The gather from the positions keeps the check of the index: one outside is an error, as
it is for the scatter. Not done where several elements of a row could be hit, and into a tensor that
is no constant: there a scatter in place writes less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from minductor.dialects.aten import AtenOp
from minductor.dialects.expr import ONE
from minductor.dialects.pyattrs import DeviceAttr, DTypeAttr
from minductor.dialects.types import TensorType
from minductor.passes.aten._match import defined_by, remake, result_type, tensor_type
from minductor.passes.aten._price import traffic
from minductor.passes.aten._rewriter import Ops, Outcome, Refusal, Rules, rewrite_module
from minductor.passes.base import MiniPass

CONSTANTS = ("aten.full.default", "aten.full_like.default")


@dataclass(frozen=True)
class AtenScatterPass(MiniPass):
    """A scatter of one element a row into a constant becomes pointwise."""

    name = "aten-scatter"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite_module(ctx, op, self.name, RULES)


def scatter(op: AtenOp) -> Outcome:
    """scatter(full, dim, index, value) -> where(position == index, value, fill)."""
    args = op.bind()
    result, index = result_type(op), tensor_type(args["index"])
    if result is None or index is None or result.rank == 0 or index.rank != result.rank:
        return None
    full = defined_by(args["self"], *CONSTANTS)
    if full is None:
        return Refusal("the tensor is no constant: a scatter in place writes less")
    fill = full.arg("fill_value")
    dim = args["dim"] % result.rank
    why = _not_one_a_row(result, index, dim) or _no_number(fill, result)
    if why is not None:
        return Refusal(why)
    value = args.get("src", args.get("value"))
    source = tensor_type(value)
    if isinstance(value, SSAValue) and (source is None or source.sizes != index.sizes):
        return Refusal("the source is larger than the index")
    if source is not None and source.dtype != result.dtype:
        return None
    made = _position(result, args["index"], dim)
    hit = made[-1].results[0]
    base = _number(fill, result)
    made.append(base)
    if source is None:
        made.append(_number(value, result))
        put: Any = made[-1].results[0]
    elif op.name == "aten.scatter_add.default":
        sum_ = {"self": value, "other": base.results[0]}
        made.append(AtenOp.make("add.Tensor", sum_, [source]))
        put = made[-1].results[0]
    else:
        put = value
    where = {"condition": hit, "self": put, "other": base.results[0]}
    made.append(remake(op, "where.self", **where))
    note = "one element a row: compared with the position"
    return Ops(tuple(made), (made[-1].results[0],), note, traffic(result))


def _not_one_a_row(result: TensorType, index: TensorType, dim: int) -> str | None:
    if index.sizes[dim] is not ONE:
        return "several elements of a row may be hit"
    pairs = enumerate(zip(index.sizes, result.sizes, strict=True))
    if any(a is not b for i, (a, b) in pairs if i != dim):
        return "the index covers a part of the rows"
    if index.dtype != "i64" or not result.is_contiguous:
        return "the index is not of i64, or the result not contiguous"
    return None


def _no_number(fill: Any, result: TensorType) -> str | None:
    if isinstance(fill, bool) or not isinstance(fill, int | float):
        return "the constant is known at run time only"
    return None if result.info.scalar is not None else "no kernel computes on this dtype"


def _position(result: TensorType, index: SSAValue, dim: int) -> list[AtenOp]:
    """The ops of `index == position along dim`; the last one gives it."""
    size = result.sizes[dim]
    place = {"dtype": DTypeAttr("i64"), "device": DeviceAttr(result.device)}
    line = TensorType.make("i64", [size], device=result.device)
    count = {"start": 0, "end": size, **place}
    positions = AtenOp.make("arange.start_step", count, [line])
    sizes = [ONE] * dim + [size] + [ONE] * (result.rank - dim - 1)
    row = TensorType.make("i64", sizes, device=result.device)
    seen = AtenOp.make("view.default", {"self": positions.results[0], "size": sizes}, [row])
    strides = [stride if i == dim else 0 for i, stride in enumerate(row.strides)]
    all_rows = TensorType.make("i64", result.sizes, strides, result.device)
    wide = {"self": seen.results[0], "size": list(result.sizes)}
    expanded = AtenOp.make("expand.default", wide, [all_rows])
    type_ = tensor_type(index)
    assert type_ is not None
    checked = TensorType.make("i64", type_.sizes, device=result.device)
    found = {"self": expanded.results[0], "dim": dim, "index": index}
    gather = AtenOp.make("gather.default", found, [checked])
    both = {"self": gather.results[0], "other": seen.results[0]}
    hit = AtenOp.make("eq.Tensor", both, [result.with_(dtype="bool")])
    return [positions, seen, expanded, gather, hit]


def _number(value: Any, result: TensorType) -> AtenOp:
    type_ = TensorType.make(result.dtype, [], device=result.device)
    args = {"s": value, "dtype": DTypeAttr(result.dtype), "device": DeviceAttr(result.device)}
    return AtenOp.make("scalar_tensor.default", args, [type_])


RULES: Rules = dict.fromkeys(
    ("aten.scatter.value", "aten.scatter.src", "aten.scatter_add.default"), (scatter,)
)
"""Op name -> its rules, tried in order."""
