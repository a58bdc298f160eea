"""Writes an op over lists of tensors as one op for each: then they fuse like any others.

    before:
      %a, %b = aten._foreach_add.Scalar([%x, %y], scalar = 1) : !aten.t<f32[3]>, !aten.t<f32[5]>
    after:
      %a = aten.add.Scalar(%x, other = 1) : !aten.t<f32[3]>
      %b = aten.add.Scalar(%y, other = 1) : !aten.t<f32[5]>

Optimisers are written in such ops. PyTorch says what they mean in the same way: the op on each
tensor, with the scalar, its own scalar, its own other tensor, or one tensor for all. A list of
scalars gives each op its number. What has no such form (`_foreach_max`, scalars that lie in a
tensor) stays a call. `loop-pack` puts the small kernels that come of it into few launches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from minductor.dialects.aten import AtenOp
from minductor.passes.aten._rewriter import Ops, Outcome, Rules, rewrite_module
from minductor.passes.base import MiniPass

UNARY = (
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 "
    "neg reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc"
).split()

# an op's argument -> the argument of `_foreach_` that it comes from; a list gives an item each
Form = tuple[str, Mapping[str, str]]


def _binary(name: str, scalar: str, tensor: str) -> dict[str, Form]:
    """The overloads with a scalar, a list of scalars, a list of tensors."""
    return {
        f"{name}.Scalar": (scalar, {"self": "self", "other": "scalar"}),
        f"{name}.ScalarList": (scalar, {"self": "self", "other": "scalars"}),
        f"{name}.List": (tensor, {"self": "self", "other": "other"}),
    }


def _bound(name: str, limit: str, tensor: str) -> dict[str, Form]:
    """A bound from above or below, by a number or a tensor."""
    one, other = f"{limit}.default", "max" if limit == "clamp_max" else "min"
    return {
        f"{name}.Scalar": (one, {"self": "self", other: "scalar"}),
        f"{name}.ScalarList": (one, {"self": "self", other: "scalars"}),
        f"{name}.List": (tensor, {"self": "self", "other": "other"}),
    }


THREE = {"self": "self", "tensor1": "tensor1", "tensor2": "tensor2"}
ALPHA = {"self": "self", "other": "other", "alpha": "alpha"}

FORMS: dict[str, Form] = {
    **{f"{name}.default": (f"{name}.default", {"self": "self"}) for name in UNARY},
    **_binary("add", "add.Scalar", "add.Tensor"),
    **_binary("sub", "sub.Scalar", "sub.Tensor"),
    **_binary("mul", "mul.Scalar", "mul.Tensor"),
    **_binary("div", "div.Scalar", "div.Tensor"),
    **_bound("maximum", "clamp_min", "maximum.default"),
    **_bound("minimum", "clamp_max", "minimum.default"),
    **_bound("clamp_min", "clamp_min", "maximum.default"),
    **_bound("clamp_max", "clamp_max", "minimum.default"),
    "add.List": ("add.Tensor", ALPHA),
    "sub.List": ("sub.Tensor", ALPHA),
    "add.Tensor": ("add.Tensor", ALPHA),
    "mul.Tensor": ("mul.Tensor", {"self": "self", "other": "other"}),
    "div.Tensor": ("div.Tensor", {"self": "self", "other": "other"}),
    "pow.List": ("pow.Tensor_Tensor", {"self": "self", "exponent": "exponent"}),
    "pow.Scalar": ("pow.Tensor_Scalar", {"self": "self", "exponent": "exponent"}),
    "pow.ScalarList": ("pow.Tensor_Scalar", {"self": "self", "exponent": "exponent"}),
    "pow.ScalarAndTensor": ("pow.Scalar", {"self": "self", "exponent": "exponent"}),
    "lerp.List": ("lerp.Tensor", {"self": "self", "end": "tensors1", "weight": "weights"}),
    "lerp.Scalar": ("lerp.Scalar", {"self": "self", "end": "tensors1", "weight": "weight"}),
    "lerp.ScalarList": ("lerp.Scalar", {"self": "self", "end": "tensors1", "weight": "weight"}),
    "addcmul.Scalar": ("addcmul.default", {**THREE, "value": "value"}),
    "addcmul.ScalarList": ("addcmul.default", {**THREE, "value": "scalars"}),
    "addcdiv.Scalar": ("addcdiv.default", {**THREE, "value": "value"}),
    "addcdiv.ScalarList": ("addcdiv.default", {**THREE, "value": "scalars"}),
    "copy.default": ("copy.default", {"self": "self", "src": "src"}),
    "norm.Scalar": ("linalg_vector_norm.default", {"self": "self", "ord": "ord", "dtype": "dtype"}),
}
"""Overload of `_foreach_` without the prefix -> the op on one tensor, and its arguments."""


@dataclass(frozen=True)
class AtenForeachPass(MiniPass):
    """Writes ops over lists of tensors as one op for each."""

    name = "aten-foreach"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite_module(ctx, op, self.name, RULES)


def one_by_one(op: AtenOp) -> Outcome:
    """An op for each tensor of the list."""
    overload, names = FORMS[op.overload.removeprefix("_foreach_")]
    given = op.bind()
    args = {ours: given[theirs] for ours, theirs in names.items()}
    made = [
        AtenOp.make(overload, {name: _item(value, i) for name, value in args.items()}, [r.type])
        for i, r in enumerate(op.results)
    ]
    return Ops(tuple(made), tuple(new.results[0] for new in made))


def _item(value: Any, number: int) -> Any:
    many = isinstance(value, Sequence) and not isinstance(value, str | SSAValue)
    return value[number] if many else value


RULES: Rules = {f"aten._foreach_{name}": [one_by_one] for name in FORMS}
