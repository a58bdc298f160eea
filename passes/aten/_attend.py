"""Calls of the library's attention in place of one that is written out (`attention.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf, nan
from typing import Any

from xdsl.ir import Operation, SSAValue

from minductor.dialects.aten import AtenOp
from minductor.dialects.expr import ONE, Expr
from minductor.dialects.pyattrs import DeviceAttr, DTypeAttr
from minductor.dialects.types import AbsentType, IntType, TensorType
from minductor.passes.aten._match import defined_by, tensor_type
from minductor.passes.aten._price import traffic
from minductor.passes.aten._rewriter import Ops, Outcome, Refusal

VIEWS = ("aten.view.default", "aten._unsafe_view.default")
COPIES = ("aten.clone.default", "aten.expand.default")
FLASH = "_scaled_dot_product_flash_attention_for_cpu.default"
FLASH_CUDA = "_scaled_dot_product_flash_attention.default"
CUDNN = "_scaled_dot_product_cudnn_attention.default"
HALVES = ("bf16", "f16")
WIDEST = 256
"""Columns of a head that the kernel on CUDA takes; they come in eights."""
WIDEST_CUDNN = 128
"""Columns of a head that cuDNN's kernel takes on all devices that have it."""
EVEN = 64
"""What numbers of queries and keys are multiples of where it is surely the faster."""


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

    @property
    def batch_and_heads(self) -> tuple[Expr, Expr]:
        """Outer sizes of the scores; of rank 3 they have one head."""
        sizes = self.scores.sizes
        return (sizes[0], sizes[1]) if len(sizes) == 4 else (sizes[0], ONE)


@dataclass(frozen=True)
class Found:
    """Operands of an attention as the library takes them: [batch, heads, n, width]."""

    query: SSAValue
    keys: SSAValue
    values: SSAValue
    scale: float


class Walk:
    """Goes from a value to what it was made of, and notes the ops on the way."""

    def __init__(self) -> None:
        self.ops: list[Operation] = []

    def take(self, value: Any, *names: str) -> AtenOp | None:
        """The op of one of these names that gives the value."""
        op = defined_by(value, *names)
        if op is not None:
            self.ops.append(op)
        return op

    def through(self, value: SSAValue, *names: str) -> SSAValue:
        """The value behind ops of these names."""
        while (op := self.take(value, *names)) is not None:
            value = op.operands[0]
        return value


def softmax_of(walk: Walk, value: SSAValue) -> SSAValue | None:
    """x, when the value is softmax(x, -1): exp(x - amax) / sum."""
    div = walk.take(value, "aten.div.Tensor")
    if div is None:
        return None
    exp = walk.take(div.operands[0], "aten.exp.default")
    total = walk.take(div.operands[1], "aten.sum.dim_IntList")
    if exp is None or total is None or total.operands[0] is not exp.results[0]:
        return None
    sub = walk.take(exp.operands[0], "aten.sub.Tensor")
    top = None if sub is None else walk.take(sub.operands[1], "aten.amax.default")
    if sub is None or top is None or top.operands[0] is not sub.operands[0]:
        return None
    if not (_last_kept(total) and _last_kept(top)) or sub.arg("alpha") != 1:
        return None
    return sub.operands[0]


def _last_kept(op: AtenOp) -> bool:
    type_ = tensor_type(op.operands[0])
    last = -1 if type_ is None else type_.rank - 1
    return op.arg("dim") in ([-1], [last]) and op.arg("keepdim") is True


def used_elsewhere(inside: Sequence[Operation], last: Operation) -> str | None:
    """Which value of these ops others than them and `last` use."""
    known = {*inside, last}
    for one in inside:
        for result in one.results:
            for use in result.uses:
                if use.operation not in known:
                    other = use.operation.name
                    return f"%{result.name_hint} inside is used elsewhere too, by {other}"
    return None


def not_taken(sizes: Sequence[Expr], width: Expr) -> str | None:
    """Why the kernel for half types on CUDA does not take heads of these sizes."""
    if not all(n.as_int for n in sizes):
        return "its kernel on CUDA wants sizes that are known, and not 0"
    columns = width.as_int
    if columns is None or columns % 8 or columns > WIDEST:
        return f"heads of {width} columns: its kernel on CUDA takes eights up to {WIDEST}"
    return None


def _suits_cudnn(query: TensorType, keys: TensorType) -> bool:
    counts = [t.sizes[2].as_int for t in (query, keys)]
    width = query.sizes[-1].as_int
    even = all(n is not None and n % EVEN == 0 for n in counts)
    return even and width is not None and width <= WIDEST_CUDNN


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

    def flash(self, found: Found, cudnn: bool) -> tuple[SSAValue, SSAValue]:
        """The call on CUDA: its result, and the logarithms of the sums of each query, [.., n, 1].

        cudnn: cuDNN's kernel, for sizes that suit it; else the one that torch brings.
        """
        query, keys = tensor_type(found.query), tensor_type(found.keys)
        assert query is not None
        assert keys is not None
        out = _dense_like(query)
        rows = TensorType.make("f32", out.sizes[:3], device=out.device)
        column = TensorType.make("f32", [*out.sizes[:3], ONE], device=out.device)
        none, counts = AbsentType(None), [IntType(t.sizes[2]) for t in (query, keys)]
        args = {"query": found.query, "key": found.keys, "value": found.values}
        cudnn = cudnn and _suits_cudnn(query, keys)
        types = [out, column if cudnn else rows, none, none, *counts, none, none, none]
        more = {"compute_log_sumexp": True} if cudnn else {}
        name = CUDNN if cudnn else FLASH_CUDA
        call = AtenOp.make(name, {**args, **more, "scale": found.scale}, types)
        self.ops.append(call)
        if cudnn:
            return call.results[0], call.results[1]
        logs = self.add("unsqueeze.default", column, self=call.results[1], dim=-1)
        return call.results[0], logs

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
    batch, heads = parts.batch_and_heads
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


def on_cuda(op: AtenOp, parts: Parts, exact: bool, cudnn: bool) -> Outcome:
    """The kernel for half types, and NaN where it gives 0 for a query of no finite score."""
    b = _Builder()
    batch, heads = parts.batch_and_heads
    query = b.rows(parts.query, batch, heads)
    keys = b.rows(parts.keys, batch, heads, turned=True)
    values = b.rows(parts.values, batch, heads)
    if query is None or keys is None or values is None:
        return Refusal("its operands are not laid out row by row")
    result = tensor_type(op.results[0])
    assert result is not None
    value, logs = b.flash(Found(query, keys, values, parts.scale), cudnn)
    out = tensor_type(value)
    assert out is not None
    whole = TensorType.make(out.dtype, out.sizes, device=out.device)
    if exact:
        value = _with_nan(b, value, logs, whole)
    elif out is not whole:
        value = b.add("clone.default", whole, self=value)
    last = b.add("view.default", result, self=value, size=list(result.sizes))
    note = "attention: the scores stay out of memory"
    saved = 4 * traffic(parts.scores.with_(dtype=out.dtype)) - (2 * traffic(whole) if exact else 0)
    return Ops(tuple(b.ops), (last,), note, saved)


def on_traced(op: AtenOp, found: Found, cudnn: bool) -> Outcome:
    """The kernel for half types in place of the f32 form."""
    query, keys = tensor_type(found.query), tensor_type(found.keys)
    result = tensor_type(op.results[0])
    assert query is not None
    assert keys is not None
    assert result is not None
    why = not_taken((*query.sizes, keys.sizes[2]), query.sizes[-1])
    if why is not None or query.device.partition(":")[0] != "cuda":
        return Refusal(why or f"{query.device} has its own")
    b = _Builder()
    value, _ = b.flash(found, cudnn)
    whole = result.with_(sizes=query.sizes)
    value = b.add("clone.default", whole, self=value)
    if result is not whole:
        value = b.add("view.default", result, self=value, size=list(result.sizes))
    scores = query.with_(sizes=[*query.sizes[:3], keys.sizes[2]], dtype="f32")
    return Ops(tuple(b.ops), (value,), "attention as it is in eager", 4 * traffic(scores))


def _with_nan(b: _Builder, value: SSAValue, logs: SSAValue, type_: TensorType) -> SSAValue:
    """The value where the logarithm of a query's sum is finite, NaN elsewhere."""
    rows = tensor_type(logs)
    assert rows is not None
    size = b.add("abs.default", rows, self=logs)
    finite = b.add("lt.Scalar", rows.with_(dtype="bool"), self=size, other=inf)
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
    return type_.dense(order)


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
