"""PyTorch's attention where tracing has written it out, in f32: its `math` form.

%q32 = aten.mul.Scalar(_to_copy(%q, f32), 0.35)          // keys too, and turned
%a = aten.bmm.default(%q32, %k32)
%p = softmax(%a)                                         // amax, sub, exp, sum, div
%s = aten.where.self(not any(%a != -inf), 0, %p)         // queries without a score get 0
%o = aten.bmm.default(%s, _to_copy(%v, f32))
%r = aten._to_copy.default(%o, bf16)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from xdsl.ir import SSAValue

from minductor.dialects.aten import AtenOp
from minductor.dialects.expr import ONE
from minductor.dialects.types import TensorType
from minductor.passes.aten._attend import (
    COPIES,
    HALVES,
    VIEWS,
    Found,
    Walk,
    softmax_of,
    used_elsewhere,
)
from minductor.passes.aten._match import number, tensor_type

_AROUND = (*VIEWS, *COPIES)


@dataclass(frozen=True)
class _Operand:
    """A half tensor [batch, heads, n, width] behind an operand of a product, and its factor."""

    value: SSAValue
    factor: float
    turned: bool


def found_math(op: AtenOp) -> Found | str | None:
    """The attention whose rounding to a half type is `op`, or why it is none."""
    result = tensor_type(op.results[0])
    if result is None or result.dtype not in HALVES:
        return None
    walk = Walk()
    product = walk.take(walk.through(op.operands[0], *VIEWS), "aten.bmm.default")
    safe = None if product is None else walk.through(product.operands[0], *_AROUND)
    where = None if safe is None else walk.take(safe, "aten.where.self")
    if product is None or where is None:
        return None
    scores = softmax_of(walk, where.operands[2])
    if scores is None or not _is_zero(walk, where.operands[1]):
        return None
    if not _without_score(walk, where.operands[0], scores):
        return None
    first = walk.take(walk.through(scores, *VIEWS), "aten.bmm.default")
    if first is None:
        return "its scores are masked"
    query, keys = (_operand(v) for v in first.operands)
    values = _operand(product.operands[1])
    if query is None or keys is None or values is None:
        return "an operand is no half tensor in f32"
    if query.turned or values.turned or not keys.turned or values.factor != 1:
        return "an operand is turned or scaled otherwise"
    other = used_elsewhere(walk.ops, op)
    if other is not None:
        return other
    found = Found(query.value, keys.value, values.value, query.factor * keys.factor)
    return _why_not(found, result) or found


def _is_zero(walk: Walk, value: SSAValue) -> bool:
    full = walk.take(value, "aten.full_like.default", "aten.full.default")
    return full is not None and full.arg("fill_value") == 0


def _without_score(walk: Walk, value: SSAValue, scores: SSAValue) -> bool:
    """not any(not (scores == -inf)) along a row."""
    outer = walk.take(value, "aten.logical_not.default")
    some = None if outer is None else walk.take(outer.operands[0], "aten.any.dim")
    inner = None if some is None else walk.take(some.operands[0], "aten.logical_not.default")
    equal = None if inner is None else walk.take(inner.operands[0], "aten.eq.Scalar")
    if some is None or equal is None or equal.operands[0] is not scores:
        return False
    type_ = tensor_type(scores)
    last = -1 if type_ is None else type_.rank - 1
    return equal.arg("other") == -inf and some.arg("dim") in (-1, last)


def _operand(value: SSAValue) -> _Operand | None:
    """The half tensor behind copies, a factor and a cast to f32."""
    factor, turned = 1.0, False
    while isinstance(value.owner, AtenOp):
        op = value.owner
        if op.name in ("aten.mul.Scalar", "aten.mul.Tensor"):
            by = number(op, 1, "other") if op.name == "aten.mul.Tensor" else op.arg("other")
            if not isinstance(by, int | float):
                return None
            factor *= by
        elif op.name == "aten.permute.default":
            dims = [d % len(op.arg("dims")) for d in op.arg("dims")]
            if dims != [0, 1, 3, 2]:
                return None
            turned = not turned
        elif op.name == "aten._to_copy.default":
            source, cast = tensor_type(op.operands[0]), tensor_type(op.results[0])
            if source is None or cast is None or cast.dtype != "f32" or source.dtype not in HALVES:
                return None
            return _Operand(op.operands[0], factor, turned)
        elif op.name not in _AROUND:
            return None
        value = op.operands[0]
    return None


def _why_not(found: Found, result: TensorType) -> str | None:
    types = [tensor_type(v) for v in (found.query, found.keys, found.values)]
    query, keys, values = types
    if query is None or keys is None or values is None:
        return None
    if not all(t.rank == 4 and t.dtype == result.dtype for t in (query, keys, values)):
        return "its operands are no heads of one type"
    if not all(t.strides[-1] is ONE for t in (query, keys, values)):
        return "its operands are not laid out row by row"
    same = query.sizes[:2] == keys.sizes[:2] == values.sizes[:2] and keys.sizes == values.sizes
    if not same or query.sizes[-1] is not keys.sizes[-1]:
        return "heads of queries, keys and values differ"
    if result.numel is not query.numel:
        return "the result has other sizes than the queries"
    return None
