"""Rewrites arithmetic that IEEE 754 allows, for the dtype at hand.

    before:
      %c = aten.scalar 1.0
      %a = aten.mul.Tensor(%x, %c) : !aten.t<f32[4]>
      %b = aten.neg.default(%a) : !aten.t<f32[4]>
      %d = aten.neg.default(%b) : !aten.t<f32[4]>
      %e = aten.pow.Tensor_Scalar(%d, exponent = 2) : !aten.t<f32[4]>
    after (with aten-dce):
      %e = aten.mul.Tensor(%x, %x) : !aten.t<f32[4]>

| rewrite | valid |
| --- | --- |
| x * 1, x / 1, pow(x, 1) -> x | any dtype, when the result keeps dtype and strides |
| x + 0, x - 0 -> x | integers; floats only where -0.0 stays: x + -0.0, x - 0.0 |
| neg(neg x) -> x; logical_not(logical_not b) -> b for bool | always |
| abs(abs x), relu(relu x) -> inner | always |
| pow(x, 2) -> x * x | floats and integers; eager computes it so |
| x + neg(y) -> x - y, x - neg(y) -> x + y | floats and integers, without alpha |
| where(c, x, x) -> x | when sizes and strides agree |
| x to wider to x's dtype -> x | every value of the narrow dtype is exact in the wide one |

Not done: x * 0, x - x and x / x, which are not 0, 0 and 1 for infinities and NaN; log(softmax(x))
to log_softmax(x), which is finite where a probability underflows. A softmax that is written out
and `softmax` itself are the same ops already.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from minductor.dialects.aten import AtenOp
from minductor.dialects.dtypes import DTYPES
from minductor.passes.aten._match import defined_by, number, remake, result_type, tensor_type
from minductor.passes.aten._rewriter import Outcome, Refusal, Rules, Same, rewrite_module
from minductor.passes.base import MiniPass


@dataclass(frozen=True)
class AtenAlgebraPass(MiniPass):
    """Rewrites arithmetic that IEEE 754 allows."""

    name = "aten-algebra"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite_module(ctx, op, self.name, RULES)


def times_one(op: AtenOp) -> Outcome:
    """x * 1 -> x, 1 * x -> x."""
    if number(op, 1, "other") == 1:
        return Same(op.operands[0])
    if len(op.operands) == 2 and number(op, 0, "self") == 1:
        return Same(op.operands[1])
    return None


def over_one(op: AtenOp) -> Outcome:
    """x / 1 -> x (integers change dtype, so their types differ)."""
    return Same(op.operands[0]) if number(op, 1, "other") == 1 else None


def plus_zero(op: AtenOp) -> Outcome:
    """x + 0 -> x where the sign of zero stays."""
    return _add_zero(op, subtract=False)


def minus_zero(op: AtenOp) -> Outcome:
    """x - 0 -> x where the sign of zero stays."""
    return _add_zero(op, subtract=True)


def _add_zero(op: AtenOp, subtract: bool) -> Outcome:
    value = number(op, 1, "other")
    type_ = result_type(op)
    if value != 0 or type_ is None:
        return None
    if type_.info.kind in ("int", "uint"):
        return Same(op.operands[0])
    if type_.info.kind != "float":
        return None
    alpha = op.arg("alpha")
    if not isinstance(alpha, int | float) or not math.isfinite(alpha):
        return Refusal("alpha is not a known finite number")
    sign = math.copysign(1, value) * math.copysign(1, alpha) * (-1 if subtract else 1)
    if sign > 0:
        return Refusal("-0.0 + 0.0 is 0.0, so adding 0.0 changes the sign of a zero")
    return Same(op.operands[0])


def times_zero(op: AtenOp) -> Outcome:
    """x * 0 stays for floats: it is NaN for infinities and NaN, and keeps signs of zero."""
    type_ = result_type(op)
    if number(op, 1, "other") == 0 and type_ is not None and type_.info.kind == "float":
        return Refusal("x * 0 is NaN for infinite x, and -0.0 for negative x")
    return None


def involution(op: AtenOp) -> Outcome:
    """f(f(x)) -> x."""
    inner = defined_by(op.operands[0], op.name)
    if inner is None:
        return None
    return Same(inner.operands[0])


def idempotent(op: AtenOp) -> Outcome:
    """f(f(x)) -> f(x)."""
    inner = defined_by(op.operands[0], op.name)
    return None if inner is None else Same(inner.results[0])


def power(op: AtenOp) -> Outcome:
    """pow(x, 2) -> x * x; pow(x, 1) -> x."""
    exponent = number(op, 1, "exponent")
    x, type_ = op.operands[0], result_type(op)
    source = tensor_type(x)
    if exponent not in (1, 2) or type_ is None or source is None:
        return None
    if source.dtype != type_.dtype:
        return Refusal("the result has another dtype than the base")
    if exponent == 1:
        return Same(x)
    if type_.info.kind not in ("float", "int", "uint") or type_.info.scalar is None:
        return None
    return remake(op, "mul.Tensor", self=x, other=x)


def add_negated(op: AtenOp) -> Outcome:
    """x + neg(y) -> x - y."""
    return _with_negated(op, "sub.Tensor")


def sub_negated(op: AtenOp) -> Outcome:
    """x - neg(y) -> x + y."""
    return _with_negated(op, "add.Tensor")


def _with_negated(op: AtenOp, other: str) -> Outcome:
    inner = defined_by(op.operands[1], "aten.neg.default")
    if inner is None:
        return None
    if "alpha" in op.properties:
        return Refusal("alpha scales the negated operand")
    types = [tensor_type(v) for v in (*op.operands, op.results[0])]
    dtypes = [t.dtype for t in types if t is not None]
    kinds = {DTYPES[dtype].kind for dtype in dtypes}
    if len(dtypes) != 3 or not kinds <= {"float", "int", "uint"}:
        return None
    if kinds != {"float"} and len(set(dtypes)) > 1:
        return Refusal("the negation wraps around in another dtype than the sum's")
    return remake(op, other, self=op.operands[0], other=inner.operands[0])


def where_same(op: AtenOp) -> Outcome:
    """where(c, x, x) -> x."""
    return Same(op.operands[1]) if op.operands[1] is op.operands[2] else None


CASTS = ("aten._to_copy.default", "aten.prims.convert_element_type.default")


def cast_back(op: AtenOp) -> Outcome:
    """x to a wider dtype and back -> x."""
    inner = defined_by(op.operands[0], *CASTS)
    if inner is None:
        return None
    x = inner.operands[0]
    narrow, wide, back = tensor_type(x), result_type(inner), result_type(op)
    if narrow is None or wide is None or back is None or back.dtype != narrow.dtype:
        return None
    if narrow.device != wide.device or back.device != narrow.device:
        return None
    if not holds(wide.dtype, narrow.dtype):
        return Refusal(f"{wide.dtype} does not hold every {narrow.dtype}")
    return Same(x)


def holds(wide: str, narrow: str) -> bool:
    """Every value of `narrow` is exact in `wide`."""
    if wide == narrow:
        return True
    a, b = DTYPES[wide], DTYPES[narrow]
    bits = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}
    if a.kind == "float" and b.kind == "float":
        if wide not in bits or narrow not in bits:
            return False
        # f16 and bf16 do not hold each other: one has the range, the other the digits
        return bits[wide] > bits[narrow] and (wide, narrow) != ("f16", "bf16")
    if a.kind == "float" and b.kind in ("int", "uint", "bool"):
        digits = 1 if b.kind == "bool" else 8 * b.size - (b.kind == "int")
        return wide in bits and bits[wide] >= digits
    if a.kind == "int" and b.kind in ("int", "uint"):
        return a.size > b.size
    if a.kind == "uint" and b.kind == "uint":
        return a.size > b.size
    return b.kind == "bool" and a.kind in ("int", "uint")


def log_of_softmax(op: AtenOp) -> Outcome:
    """log(softmax(x)) is not log_softmax(x): refused, with the reason."""
    inner = defined_by(op.operands[0], "aten.div.Tensor")
    exp = None if inner is None else defined_by(inner.operands[0], "aten.exp.default")
    total = None if inner is None else defined_by(inner.operands[-1], "aten.sum.dim_IntList")
    if exp is None or total is None or total.operands[0] is not exp.results[0]:
        return None
    return Refusal("where a probability underflows, log gives -inf and log_softmax does not")


RULES: Rules = {
    "aten.mul.Tensor": (times_one, times_zero),
    "aten.mul.Scalar": (times_one, times_zero),
    "aten.div.Tensor": (over_one,),
    "aten.div.Scalar": (over_one,),
    "aten.add.Tensor": (plus_zero, add_negated),
    "aten.add.Scalar": (plus_zero,),
    "aten.sub.Tensor": (minus_zero, sub_negated),
    "aten.sub.Scalar": (minus_zero,),
    "aten.neg.default": (involution,),
    "aten.bitwise_not.default": (involution,),
    "aten.logical_not.default": (involution,),
    "aten.abs.default": (idempotent,),
    "aten.relu.default": (idempotent,),
    "aten.pow.Tensor_Scalar": (power,),
    "aten.where.self": (where_same,),
    "aten.log.default": (log_of_softmax,),
    "aten._to_copy.default": (cast_back,),
    "aten.prims.convert_element_type.default": (cast_back,),
}
"""Op name -> its rules, tried in order."""
