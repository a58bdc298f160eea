"""Calls of the library's attention in place of one that is written out (`attention.py`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, nan
from typing import Any

from xdsl.ir import Operation, SSAValue

from minductor.dialects.aten import AtenOp
from minductor.dialects.expr import ONE, Expr
from minductor.dialects.pyattrs import DeviceAttr, DTypeAttr
from minductor.dialects.types import AbsentType, IntType, TensorType, contiguous_strides
from minductor.passes.aten._match import defined_by, tensor_type
from minductor.passes.aten._price import traffic
from minductor.passes.aten._rewriter import Ops, Outcome, Refusal

VIEWS = ("aten.view.default", "aten._unsafe_view.default")
COPIES = ("aten.clone.default", "aten.expand.default")
FLASH = "_scaled_dot_product_flash_attention_for_cpu.default"
FLASH_CUDA = "_scaled_dot_product_flash_attention.default"


@dataclass
class Parts:
    """What was found: rank-3 operands of the two products, the scores between, scale and mask."""

    query: SSAValue
    keys: SSAValue
    values: SSAValue
    scores: TensorType
    scale: float = 1.0
    mask: SSAValue | None = None
    hidden: SSAValue | None = None
    keep: bool = False
    ops: list[Operation] = field(default_factory=list[Operation])


class _Builder:
    def __init__(self) -> None:
        self.ops: list[Operation] = []

    def add(self, overload: str, type_: TensorType, /, **args: Any) -> SSAValue:
        """A new op; its result."""
        self.ops.append(AtenOp.make(overload, args, [type_]))
        return self.ops[-1].results[0]

    def heads(self, value: SSAValue, batch: Expr, heads: Expr) -> SSAValue:
        """[batch * heads, n, width] as [batch, heads, n, width]."""
        type_ = tensor_type(value)
        assert type_ is not None
        sizes = [batch, heads, *type_.sizes[1:]]
        strides = [heads * type_.strides[0], *type_.strides]
        apart = type_.with_(sizes=sizes, strides=strides)
        return self.add("view.default", apart, self=value, size=sizes)

    def rows(
        self, value: SSAValue, batch: Expr, heads: Expr, turned: bool = False
    ) -> SSAValue | None:
        """[batch, heads, n, width] with rows of neighbours, where the value or its source is so.

        turned: the value is [batch * heads, width, n].
        """
        type_ = tensor_type(value)
        assert type_ is not None
        near = -2 if turned else -1
        source = _as_it_lies(value, (batch, heads, *type_.sizes[1:]), near)
        if source is None:
            if type_.strides[near] is not ONE:
                return None
            return self.heads(_turned(self, value) if turned else value, batch, heads)
        return _turned(self, source) if turned else source


def on_cpu(op: AtenOp, parts: Parts) -> Outcome:
    b = _Builder()
    sizes = parts.scores.sizes
    batch, heads = (sizes[0], sizes[1]) if len(sizes) == 4 else (sizes[0], ONE)
    query = b.heads(parts.query, batch, heads)
    keys, values = _repeated(b, parts.keys, True), _repeated(b, parts.values, False)
    if keys is None or values is None or _heads_of(keys) is not _heads_of(values):
        keys = b.heads(_turned(b, parts.keys), batch, heads)
        values = b.heads(parts.values, batch, heads)
    out, result = tensor_type(query), tensor_type(op.results[0])
    assert out is not None
    assert result is not None
    args: dict[str, Any] = {"query": query, "key": keys, "value": values, "scale": parts.scale}
    if parts.mask is not None:
        args["attn_mask"] = _mask(b, parts, out)
    sums = "f64" if out.dtype == "f64" else "f32"
    rows, count = out.sizes[2], out.sizes[1]
    logs = TensorType.make(sums, out.sizes[:3], [rows * count, ONE, count])
    flash = AtenOp.make(FLASH, args, [out, logs])
    b.ops.append(flash)
    b.add("view.default", result, self=flash.results[0], size=list(result.sizes))
    last = b.ops[-1].results[0]
    note = "attention: the scores stay out of memory"
    return Ops(tuple(b.ops), (last,), note, 4 * traffic(parts.scores.with_(dtype=out.dtype)))


def on_cuda(op: AtenOp, parts: Parts, exact: bool) -> Outcome:
    """The kernel for half types, and NaN where it gives 0 for a query of no finite score."""
    b = _Builder()
    sizes = parts.scores.sizes
    batch, heads = (sizes[0], sizes[1]) if len(sizes) == 4 else (sizes[0], ONE)
    query = b.rows(parts.query, batch, heads)
    keys = b.rows(parts.keys, batch, heads, turned=True)
    values = b.rows(parts.values, batch, heads)
    if query is None or keys is None or values is None:
        return Refusal("its operands are not laid out row by row")
    type_, result = tensor_type(query), tensor_type(op.results[0])
    assert type_ is not None
    assert result is not None
    out = _dense_like(type_)
    logs = TensorType.make("f32", out.sizes[:3], device=out.device)
    none, counts = AbsentType(None), [IntType(n) for n in sizes[-2:]]
    args = {"query": query, "key": keys, "value": values, "scale": parts.scale}
    flash = AtenOp.make(FLASH_CUDA, args, [out, logs, none, none, *counts, none, none, none])
    b.ops.append(flash)
    value, whole = flash.results[0], TensorType.make(out.dtype, out.sizes, device=out.device)
    if exact:
        value = _with_nan(b, value, flash.results[1], whole)
    elif out is not whole:
        value = b.add("clone.default", whole, self=value)
    last = b.add("view.default", result, self=value, size=list(result.sizes))
    note = "attention: the scores stay out of memory"
    saved = 4 * traffic(parts.scores.with_(dtype=out.dtype)) - (2 * traffic(whole) if exact else 0)
    return Ops(tuple(b.ops), (last,), note, saved)


def _with_nan(b: _Builder, value: SSAValue, logs: SSAValue, type_: TensorType) -> SSAValue:
    """The value where the logarithm of a query's sum is finite, NaN elsewhere."""
    rows = tensor_type(logs)
    assert rows is not None
    size = b.add("abs.default", rows, self=logs)
    finite = b.add("lt.Scalar", rows.with_(dtype="bool"), self=size, other=inf)
    column = TensorType.make("bool", [*rows.sizes, ONE], device=rows.device)
    finite = b.add("unsqueeze.default", column, self=finite, dim=-1)
    return b.add("where.self", type_, condition=finite, self=value, other=_number(b, nan, type_))


def _as_it_lies(value: SSAValue, sizes: tuple[Expr, ...], near: int) -> SSAValue | None:
    """What a copy was made of, when it has these sizes and neighbours along dimension `near`."""
    found, dtype = None, tensor_type(value)
    while isinstance(value.owner, AtenOp) and value.owner.name in (*VIEWS, *COPIES):
        value = value.owner.operands[0]
        type_ = tensor_type(value)
        if type_ is None or dtype is None or type_.dtype != dtype.dtype:
            break
        if type_.sizes == sizes and type_.strides[near] is ONE and _apart(type_):
            found = value
    return found


def _apart(type_: TensorType) -> bool:
    """Rows do not overlap: no stride of 0, and all are known."""
    return all(s.as_int for s in type_.strides)


def _dense_like(type_: TensorType) -> TensorType:
    """The type with the same order of dimensions in memory and no gaps, as `empty_like`."""
    order = sorted(range(type_.rank), key=lambda k: (-(type_.strides[k].as_int or 0), k))
    strides = [ONE] * type_.rank
    dense = contiguous_strides([type_.sizes[k] for k in order])
    for k, stride in zip(order, dense, strict=True):
        strides[k] = stride
    return type_.with_(strides=strides)


def _turned(b: _Builder, keys: SSAValue) -> SSAValue:
    """[.., width, keys] as [.., keys, width]."""
    type_ = tensor_type(keys)
    assert type_ is not None
    order = [*range(type_.rank - 2), type_.rank - 1, type_.rank - 2]
    sizes, strides = [type_.sizes[k] for k in order], [type_.strides[k] for k in order]
    turned = type_.with_(sizes=sizes, strides=strides)
    return b.add("permute.default", turned, self=keys, dims=order)


def _repeated(b: _Builder, value: SSAValue, turned: bool) -> SSAValue | None:
    """The tensor [batch, fewer heads, n, width] whose heads were repeated to give the operand."""
    permutes = 0
    while isinstance(value.owner, AtenOp):
        inner = value.owner
        if inner.name == "aten.expand.default":
            break
        last = _last_two(inner.results[0])
        if inner.name == "aten.permute.default":
            dims = list(inner.arg("dims"))
            rank = len(dims)
            if [d % rank for d in dims] != [*range(rank - 2), rank - 1, rank - 2]:
                return None
            permutes += 1
        elif inner.name not in (*VIEWS, "aten.clone.default"):
            return None
        elif last != _last_two(inner.operands[0]):
            return None
        value = inner.operands[0]
    expand = defined_by(value, "aten.expand.default")
    if expand is None or permutes != int(turned):
        return None
    few, many = tensor_type(expand.operands[0]), tensor_type(value)
    if few is None or many is None or few.rank != 5 or few.sizes[2] is not ONE:
        return None
    if [*few.sizes[:2], *few.sizes[3:]] != [*many.sizes[:2], *many.sizes[3:]]:
        return None
    kept = (0, 1, 3, 4)
    sizes, strides = [few.sizes[i] for i in kept], [few.strides[i] for i in kept]
    if strides[-1] is not ONE:
        return None
    type_ = few.with_(sizes=sizes, strides=strides)
    return b.add("squeeze.dims", type_, self=expand.operands[0], dim=[2])


def _last_two(value: SSAValue) -> tuple[Expr, ...]:
    type_ = tensor_type(value)
    return () if type_ is None else type_.sizes[-2:]


def _heads_of(value: SSAValue) -> Expr | None:
    type_ = tensor_type(value)
    return None if type_ is None else type_.sizes[1]


def _mask(b: _Builder, parts: Parts, out: TensorType) -> SSAValue:
    """The mask as numbers that are added, of rank 4 or 2."""
    mask = parts.mask
    assert mask is not None
    type_ = tensor_type(mask)
    assert type_ is not None
    if parts.hidden is not None:
        zero, low = (_number(b, n, out) for n in (0.0, -inf))
        type_ = TensorType.make(out.dtype, type_.sizes)
        yes, no = (zero, low) if parts.keep else (low, zero)
        mask = b.add("where.self", type_, condition=mask, self=yes, other=no)
    rank = parts.scores.rank
    if type_.rank == 2 and rank == 4:
        return mask
    sizes = [*[ONE] * (rank - type_.rank), *type_.sizes]
    strides = [*[ONE] * (rank - type_.rank), *type_.strides]
    if rank == 3:
        sizes, strides = [sizes[0], ONE, *sizes[1:]], [strides[0], ONE, *strides[1:]]
    wide = type_.with_(sizes=sizes, strides=strides)
    return mask if wide is type_ else b.add("view.default", wide, self=mask, size=sizes)


def _number(b: _Builder, value: float, out: TensorType) -> SSAValue:
    type_ = TensorType.make(out.dtype, [], device=out.device)
    given: dict[str, Any] = {"s": value, "dtype": DTypeAttr(out.dtype)}
    if out.device != "cpu":
        given["device"] = DeviceAttr(out.device)
    return b.add("scalar_tensor.default", type_, **given)
