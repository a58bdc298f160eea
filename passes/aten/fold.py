"""Removes ops that change nothing, and computes on numbers that are known.

    before:
      %a = aten._to_copy.default(%x, dtype = f32) : !aten.t<f32[4]>
      %b = aten.add.Tensor(%a, %y) : !aten.t<f32[4]>
      %c = aten.scalar 3
      %d = aten.scalar 4
      %e = aten.py "truediv"(%c, %d)
    after (with aten-dce):
      %b = aten.add.Tensor(%x, %y) : !aten.t<f32[4]>
      %e = aten.scalar 0.75

A cast to the dtype that the operand has is a copy in PyTorch: it goes only where its storage cannot
be told from the operand's. So it is for a `copy`, `slice_scatter`, `cat`, padding or `repeat` that
gives back an operand, and `where` on a condition that is the same everywhere. A view of `full` is a
`full` of other sizes, sums and products of small whole numbers in it are computed, and a cast of
such a number makes the `full` in the other dtype. Views that show the whole of their operand belong
to `aten-views`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from minductor.dialects.aten import AtenOp, PyOp, ScalarOp
from minductor.dialects.expr import Expr
from minductor.dialects.pyattrs import DTypeAttr
from minductor.passes.aten._match import defined_by, number, result_type, tensor_type
from minductor.passes.aten._rewriter import Outcome, Rules, Same, functions, rewrite_module
from minductor.passes.base import MiniPass

PYTHON: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "neg": operator.neg,
    "abs": abs,
    "sqrt": math.sqrt,
    "float": float,
    "min": min,
    "max": max,
}
"""Functions of `aten.py` that are folded."""


@dataclass(frozen=True)
class AtenFoldPass(MiniPass):
    """Removes casts that change nothing, computes on known numbers."""

    name = "aten-fold"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            fold_numbers(func.body.block)
        rewrite_module(ctx, op, self.name, RULES)


def fold_numbers(block: Block) -> None:
    """`aten.py` on known numbers becomes `aten.scalar`."""
    for op in list(block.ops):
        if not isinstance(op, PyOp):
            continue
        numbers = [_known(v.owner.number) for v in op.operands if isinstance(v.owner, ScalarOp)]
        function = PYTHON.get(op.function.data)
        if function is None or len(numbers) != len(op.operands) or None in numbers:
            continue
        try:
            value = float(function(*numbers))
        except (ArithmeticError, ValueError):
            continue
        new = ScalarOp.of(value)
        new.location = op.location
        block.insert_op_before(new, op)
        op.result.replace_all_uses_with(new.result)
        op.detach()
        op.erase()


def _known(number: Any) -> float | int | None:
    if isinstance(number, Expr):
        return number.as_int
    return number if isinstance(number, float | int) else None


def no_cast(op: AtenOp) -> Outcome:
    """A cast to the type that the operand has: a copy of it."""
    source, result = tensor_type(op.operands[0]), result_type(op)
    return Same(op.operands[0]) if source is not None and source is result else None


def whole_source(op: AtenOp) -> Outcome:
    """copy(x, y) and slice_scatter(x, y) of y's own size: y replaces all of x."""
    if "step" in op.schema.by_name and op.arg("step") != 1:
        return None
    source = op.bind()["src"]
    if tensor_type(source) is not result_type(op):
        return None
    return Same(source)


def one_of_one(op: AtenOp) -> Outcome:
    """cat([x]) -> x."""
    tensors = op.bind()["tensors"]
    return Same(tensors[0]) if len(tensors) == 1 else None


def no_padding(op: AtenOp) -> Outcome:
    """constant_pad_nd by zeros, repeat by ones."""
    name = "pad" if op.name == "aten.constant_pad_nd.default" else "repeats"
    nothing = 0 if name == "pad" else 1
    return Same(op.operands[0]) if all(n == nothing for n in op.arg(name)) else None


def cast_of_full(op: AtenOp) -> Outcome:
    """full(v, f32) to bf16 -> full(v, bf16): both round v once from Python's number."""
    result = result_type(op)
    full = defined_by(op.operands[0], "aten.full.default", "aten.scalar_tensor.default")
    if full is None or result is None:
        return None
    source = result_type(full)
    if source is None or source.device != result.device or source.strides != result.strides:
        return None
    value = full.arg("fill_value" if full.name == "aten.full.default" else "s")
    if not _exact(value, source.dtype):
        return None
    args = full.bind() | {"dtype": DTypeAttr(result.dtype)}
    return AtenOp.make(full.overload, args, [result])


def _exact(value: Any, dtype: str) -> bool:
    """The number is the same after a detour through the dtype: small whole numbers are."""
    whole = isinstance(value, int | float) and math.isfinite(value) and value == int(value)
    if not whole or (value == 0 and math.copysign(1, value) < 0):
        return False
    return 0 <= value <= (1 if dtype == "bool" else 127)


VIEWS = ("view", "expand", "permute", "unsqueeze", "squeeze", "slice", "select", "_unsafe_view")
"""Views of a constant that show it with other sizes."""


def view_of_full(op: AtenOp) -> Outcome:
    """A view of full(v) -> full(v) of the view's sizes."""
    result = result_type(op)
    full = defined_by(op.operands[0], "aten.full.default")
    if full is None or result is None or not result.is_contiguous:
        return None
    return AtenOp.make(full.overload, full.bind() | {"size": list(result.sizes)}, [result])


ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "aten.add.Tensor": operator.add,
    "aten.sub.Tensor": operator.sub,
    "aten.mul.Tensor": operator.mul,
}


def known_arithmetic(op: AtenOp) -> Outcome:
    """full(a) + b -> full(a + b), of small whole numbers, which every dtype holds."""
    result = result_type(op)
    full = defined_by(op.operands[0], "aten.full.default")
    other = number(op, 1, "other")
    if full is None or other is None or result is None or op.operands[0].type is not result:
        return None
    value = full.arg("fill_value")
    if "alpha" in op.properties:
        return None
    if result.dtype == "bool" or not (_exact(value, result.dtype) and _exact(other, result.dtype)):
        return None
    found = ARITHMETIC[op.name](value, other)
    if not _exact(found, result.dtype):
        return None
    return AtenOp.make(full.overload, full.bind() | {"fill_value": found}, [result])


def known_condition(op: AtenOp) -> Outcome:
    """where(full(true), x, y) -> x."""
    condition, yes, no = op.operands
    full = defined_by(condition, "aten.full.default", "aten.scalar_tensor.default")
    if full is None:
        return None
    value = full.arg("fill_value" if full.name == "aten.full.default" else "s")
    if not isinstance(value, bool | int):
        return None
    return Same(yes if value else no)


RULES: Rules = {
    "aten._to_copy.default": (no_cast, cast_of_full),
    "aten.prims.convert_element_type.default": (no_cast, cast_of_full),
    "aten.to.dtype": (no_cast,),
    "aten.copy.default": (whole_source,),
    "aten.slice_scatter.default": (whole_source,),
    "aten.cat.default": (one_of_one,),
    "aten.constant_pad_nd.default": (no_padding,),
    "aten.repeat.default": (no_padding,),
    "aten.where.self": (known_condition,),
    **dict.fromkeys(ARITHMETIC, (known_arithmetic,)),
    **{
        f"aten.{name}.{overload}": (view_of_full,)
        for name in VIEWS
        for overload in ("default", "int", "dim", "dims", "Tensor")
    },
}
"""Op name -> its rules, tried in order."""
