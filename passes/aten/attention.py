"""Attention that is written out becomes the library's, when scores are promised to be finite.

    before, %q: [2, 4, 16, 8], %k and %v: [2, 4, 32, 8]
      %a = aten.bmm.default(%q3, %kt3) : !aten.t<f32[8, 16, 32]>
      %b = aten.view.default(%a, size = [2, 4, 16, 32])
      %c = aten.mul.Tensor(%b, 0.5)
      %d = aten.add.Tensor(%c, %mask)                        // or where(%mask, %c, -inf)
      %p = softmax(%d)                                       // amax, sub, exp, sum, div
      %o = aten.bmm.default(%p3, %v3) : !aten.t<f32[8, 16, 8]>
    after, with scores=finite (views left out)
      %o, %l = aten._scaled_dot_product_flash_attention_for_cpu.default(
          %q, %k, %v, attn_mask = %mask, scale = 0.5)

The matrix of scores is then never in memory: its four passes are saved. Heads of keys and values
that are repeated (grouped queries, by `repeat_interleave` or `expand`) are read where they lie.

PyTorch's attention gives 0 for a query whose scores are all -inf or NaN (and of few keys some NaN
are lost), where a softmax gives NaN. No shape tells whether that occurs, so the default,
`scores=exact`, refuses; `scores=finite` is the user's word that every query has a finite score, and
none that is NaN or +inf.

Scores of half types are rounded by eager's products and not by the library, whose result is the
closer one.

On CUDA its kernel for half types says, by an infinite logarithm of the sum, which queries those
are. There the default is to take it and put the NaN back, in the kernel that reads the result:

      %o, %l, .. = aten._scaled_dot_product_flash_attention.default(%q, %k, %v, scale = 0.5)
      %r = aten.where.self(abs(%l) < inf, %o, NaN)

With `cudnn=true` it is cuDNN's kernel, for numbers of queries and keys that suit it: that is faster
on devices of compute capability 9.0 and more, and PyTorch's own choice there.

PyTorch's own attention that tracing has written out in f32 (its `math` form, `_math_attention.py`)
becomes the same call in inference: what it is in eager, where 0 is right for such queries.

Refused always: dropout, which would draw other numbers; a graph that keeps a value inside for its
backward (in training the backward is made before this level sees the graph); masked scores that
are a finite number, for which a row of masked keys is uniform; a mask that is scaled; on CUDA all
that the kernel does not take: masks, other types, widths, or devices (`flash=false`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from minductor.dialects.aten import AtenOp, Random, ScalarOp
from minductor.dialects.expr import ONE
from minductor.dialects.types import TensorType
from minductor.passes.aten._attend import (
    HALVES,
    VIEWS,
    Found,
    Parts,
    Walk,
    not_taken,
    on_cpu,
    on_cuda,
    on_traced,
    softmax_of,
    used_elsewhere,
)
from minductor.passes.aten._match import defined_by, number, tensor_type
from minductor.passes.aten._math_attention import found_math
from minductor.passes.aten._rewriter import Outcome, Refusal, Rules, rewrite_module
from minductor.passes.base import MiniPass

CASTS = ("aten._to_copy.default", "aten.prims.convert_element_type.default")


@dataclass(frozen=True)
class AtenAttentionPass(MiniPass):
    """Attention that is written out becomes the library's.

    scores: "exact" refuses, since rows without a finite score would differ, but on CUDA, where
    their NaN are put back; "finite" promises that there are none. emulate: half types are refused,
    whose scores the library keeps in f32. flash: the CUDA device has the kernel; cudnn:
    cuDNN's is to be preferred.
    """

    name = "aten-attention"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})

    scores: str = "exact"
    emulate: bool | None = None
    flash: bool = True
    cudnn: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.scores not in ("exact", "finite"):
            raise ValueError(f'scores = "{self.scores}": it is "exact" or "finite"')

        def attention(op: AtenOp) -> Outcome:
            found = _found(op)
            if not isinstance(found, Parts):
                return None if found is None else Refusal(found)
            device = found.scores.device.partition(":")[0]
            if device != "cpu" and not self.flash:
                return Refusal(f"{device} has no kernel for it here")
            if self.scores == "exact" and device == "cpu":
                return Refusal(
                    "the library's attention gives 0, not NaN, where all scores of a query are "
                    "-inf or NaN; scores=finite promises that there is no such query"
                )
            if self.emulate and found.scores.info.size < 4:
                return Refusal("the library does not round scores to a half type, as eager does")
            if device == "cpu":
                return on_cpu(op, found)
            return on_cuda(op, found, self.scores == "exact", self.cudnn)

        def traced(op: AtenOp) -> Outcome:
            found = found_math(op)
            if not isinstance(found, Found):
                return None if found is None else Refusal(found)
            return on_traced(op, found, self.cudnn) if self.flash else None

        rules: Rules = {"aten.bmm.default": (attention,), "aten._to_copy.default": (traced,)}
        rewrite_module(ctx, op, self.name, rules)


def _found(op: AtenOp) -> Parts | str | None:
    """The parts of an attention whose last product is `op`, or why it is none."""
    walk = Walk()
    probabilities = walk.through(op.operands[0], *VIEWS, *CASTS, "aten.clone.default")
    if _dropped(probabilities):
        return "dropout would draw other random numbers"
    scores = softmax_of(walk, probabilities)
    if scores is None:
        return None
    scores = walk.through(scores, *CASTS)
    type_ = tensor_type(scores)
    if type_ is None or type_.rank not in (3, 4):
        return None
    parts = Parts(op.operands[0], op.operands[0], op.operands[1], type_)
    scores = _unmasked(walk, parts, scores)
    scores = _unscaled(walk, parts, walk.through(scores, *VIEWS))
    product = walk.take(walk.through(scores, *VIEWS), "aten.bmm.default")
    if product is None:
        other = defined_by(scores, "aten.add.Tensor", "aten.where.self")
        return None if other is None else "the mask is scaled, or there are two"
    parts.query, parts.keys = product.operands
    parts.ops = walk.ops
    return _why_not(op, parts) or parts


def _dropped(value: SSAValue) -> bool:
    """probabilities * (random > p): a dropout."""
    for _ in range(3):
        op = defined_by(value, "aten.mul.Tensor")
        if op is None:
            return False
        for operand in op.operands:
            gt = defined_by(operand, "aten.gt.Scalar", *CASTS)
            source = gt.operands[0] if gt is not None else operand
            if isinstance(source.owner, Operation) and source.owner.has_trait(Random):
                return True
        value = op.operands[0]
    return False


def _unmasked(walk: Walk, parts: Parts, value: SSAValue) -> SSAValue:
    """Takes a mask off the scores."""
    add = defined_by(value, "aten.add.Tensor")
    if add is not None and add.arg("alpha") == 1 and len(add.operands) == 2:
        for scores, mask in (tuple(add.operands), tuple(reversed(add.operands))):
            if _is_product(scores):
                walk.ops.append(add)
                parts.mask = mask
                return scores
    where = defined_by(value, "aten.where.self")
    if where is not None:
        condition, yes, no = where.operands
        for scores, fill, keep in ((yes, no, True), (no, yes, False)):
            if _is_product(scores) and not _is_product(fill):
                walk.ops.append(where)
                parts.mask, parts.hidden, parts.keep = condition, fill, keep
                return scores
    return value


def _is_product(value: SSAValue) -> bool:
    """Scores: a product of matrices, scaled and arranged."""
    names = ("aten.mul.Tensor", "aten.div.Tensor", *CASTS, *VIEWS)
    for _ in range(6):
        op = defined_by(value, *names)
        if op is None:
            return defined_by(value, "aten.bmm.default") is not None
        value = op.operands[0]
    return False


def _unscaled(walk: Walk, parts: Parts, value: SSAValue) -> SSAValue:
    for name in ("aten.mul.Tensor", "aten.div.Tensor"):
        op = defined_by(value, name)
        by = None if op is None else number(op, 1, "other")
        if op is not None and by:
            walk.ops.append(op)
            parts.scale = by if name == "aten.mul.Tensor" else 1 / by
            return op.operands[0]
    return value


def _why_not(op: AtenOp, parts: Parts) -> str | None:
    types = [tensor_type(v) for v in (parts.query, parts.keys, parts.values)]
    if any(t is None for t in types):
        return None
    query, keys, values = (t for t in types if t is not None)
    own = tensor_type(op.operands[0])
    pair = (query.sizes[1], keys.sizes[2])
    if own is None or own.sizes[1:] != pair or parts.scores.sizes[-2:] != pair:
        return None
    if query.device != "cpu":
        why = _why_not_on_cuda(parts, query, keys)
        if why is not None:
            return why
    if query.dtype not in ("f32", "f64", "bf16", "f16"):
        return f"it has no kernel for {query.dtype}"
    if query.sizes[-1] is not values.sizes[-1]:
        return "the values have another width than the queries"
    by_rows = query.is_contiguous and keys.strides[1] is values.strides[-1] is ONE
    if query.device == "cpu" and not by_rows:
        return "its operands are not laid out row by row"
    if parts.scale <= 0:
        return "the scale is not positive"
    return used_elsewhere(parts.ops, op) or _bad_mask(parts, query)


def _why_not_on_cuda(parts: Parts, query: TensorType, keys: TensorType) -> str | None:
    if query.device.partition(":")[0] != "cuda" or query.dtype not in HALVES:
        return f"it has no kernel for {query.dtype} on {query.device}"
    if parts.mask is not None:
        return "its kernel on CUDA takes no mask"
    return not_taken((*query.sizes, keys.sizes[2]), query.sizes[-1])


def _bad_mask(parts: Parts, query: TensorType) -> str | None:
    if parts.mask is None:
        return None
    mask = tensor_type(parts.mask)
    if mask is None or mask.rank > parts.scores.rank:
        return "the mask is a number, or larger than the scores"
    if parts.hidden is not None:
        fill = _fill(parts.hidden)
        if fill is None or fill != -inf:
            return f"masked scores are {fill}, so that a row of masked keys is uniform"
    elif mask.dtype != query.dtype:
        return f"the mask that is added is {mask.dtype}, not {query.dtype}"
    return None


def _fill(value: SSAValue) -> float | None:
    owner = value.owner
    if isinstance(owner, ScalarOp):
        found = owner.number
    else:
        full = defined_by(value, "aten.full.default", "aten.scalar_tensor.default")
        if full is None:
            return None
        found = full.arg("s" if full.name == "aten.scalar_tensor.default" else "fill_value")
    return found if isinstance(found, int | float) else None
