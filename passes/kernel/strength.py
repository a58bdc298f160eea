"""kernel-strength: costly arithmetic becomes cheaper arithmetic of the same value.

Before, the last stage of a softmax:
    kernel.parallel d1 : 1024 <lanes 16, unroll 4, tail none> {
      %e = kernel.load %o[1024 * d0 + d1] : f32   %q = scalar.div %e, %s : f32 .. }

After:
      %q = scalar.divide_by %e, %s : f32

In a vector loop a division takes ten cycles and more, of which nothing overlaps with the next one.
Where the divisor does not change in the loop its reciprocal is taken once before, and a quotient is
a product and a correction of it, with the same rounding. A division by a power of two is a product.

`1 + erf(x)` (of a gelu) becomes `scalar.erf_plus_one`: one exponential without a branch of its own
for small x, whose relative accuracy the sum would have lost anyway. `1 + tanh(x)` becomes
`2 * sigmoid(2 * x)`, which is cheaper and keeps its digits where the sum is next to 0.

`select((a > b) | isnan(a), a, b)`, the step of a pooling window, becomes `scalar.maximum a, b`, and
with `a < b` the minimum: the same in every case, for b NaN and for zeros too. Of single elements it
would be a branch that nobody can foretell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import is_side_effect_free

from minductor.dialects import expr as ex
from minductor.dialects.dtypes import dtype_of_scalar
from minductor.dialects.kernel import ops as k
from minductor.dialects.scalar.ops import ConstantOp, TableOp, scalar
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import LOOPS, Loop, kernels_of

LEAST = 2.0**-126
"""The smallest normal f32."""


@dataclass(frozen=True)
class KernelStrengthPass(MiniPass):
    """Rewrite the arithmetic of C++ kernels, that of divisions and errors in vector loops.

    strength: false leaves all as it is.
    """

    name = "kernel-strength"
    needs = frozenset({"lanes"})

    strength: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Look at every op of the table."""
        if not self.strength:
            return
        for kernel in kernels_of(op, "cpp"):
            written = {s.buffer for s in kernel.walk() if isinstance(s, k.StoreOp)}
            for one in [o for o in kernel.walk() if isinstance(o, TableOp)]:
                loop = vector_loop(one)
                if one.parent is None:
                    continue
                if one.ROW.name == "select":
                    _join_extreme(one)
                elif loop is not None and one.ROW.name == "div":
                    _divide(one, loop, written)
                elif loop is not None and one.ROW.name == "add":
                    _join_one(one)


def vector_loop(op: Operation) -> Loop | None:
    """The loop with lanes around an op."""
    outer = op.parent_op()
    while outer is not None:
        if isinstance(outer, LOOPS) and outer.words.data.lanes > 1:
            return outer
        outer = outer.parent_op()
    return None


# -- divisions ------------------------------------------------------------------------------------
def _divide(op: TableOp, loop: Loop, written: set[SSAValue]) -> None:
    x, by = op.operands
    if not isinstance(op.results[0].type, AnyFloat) or not _is_held(by, loop, written):
        return
    inverse = _exact_inverse(by)
    if inverse is None:
        new = [scalar("divide_by", x, by)]
    else:
        constant = ConstantOp.of(inverse, by.type)
        constant.result.name_hint = "inverse"
        new = [constant, scalar("mul", x, constant.result)]
    new[-1].results[0].name_hint = op.results[0].name_hint
    Rewriter.replace_op(op, new)


def _exact_inverse(by: SSAValue) -> float | None:
    """The reciprocal of a constant power of two; None for anything else."""
    if not isinstance(by.owner, ConstantOp):
        return None
    value = float(by.owner.number)
    if not math.isfinite(value) or abs(math.frexp(value)[0]) != 0.5:
        return None
    inverse = 1 / value
    return inverse if LEAST <= abs(inverse) <= 1 / LEAST else None


def _is_held(value: SSAValue, loop: Loop, written: set[SSAValue]) -> bool:
    """The value is the same in all iterations of a loop."""
    owner = value.owner
    if isinstance(owner, Block):
        return owner.parent_op() is not loop
    if not loop.is_ancestor(owner):
        return True
    if isinstance(owner, k.LoadOp):
        index, atom = owner.index.data[0], ex.dim_atom(loop.var.data)
        if owner.buffer in written or atom in index.vars("d"):
            return False
    elif owner.regions or not is_side_effect_free(owner):
        return False
    elif not isinstance(owner, TableOp | ConstantOp) and owner.name != "scalar.cast":
        return False
    return all(_is_held(v, loop, written) for v in owner.operands if not _is_buffer(v, owner))


def _is_buffer(value: SSAValue, owner: Operation) -> bool:
    return isinstance(owner, k.LoadOp) and value is owner.buffer


# -- one and a function ---------------------------------------------------------------------------
def _join_one(op: TableOp) -> None:
    """`1 + erf(x)` and `1 + tanh(x)`, in either order, when nothing else needs the function."""
    for a, b in (op.operands, reversed(op.operands)):
        function, one = a.owner, b.owner
        if not isinstance(function, TableOp) or function.ROW.name not in ("erf", "tanh"):
            continue
        if not isinstance(one, ConstantOp) or float(one.number) != 1.0:
            continue
        if len(list(a.uses)) != 1:
            continue
        x = function.operands[0]
        if function.ROW.name == "erf":
            new: list[Operation] = [scalar("erf_plus_one", x)]
        elif dtype_of_scalar(x.type).size >= 4:
            two = ConstantOp.of(2.0, x.type)
            twice = scalar("mul", x, two.result)
            share = scalar("sigmoid", twice.results[0])
            new = [two, twice, share, scalar("mul", share.results[0], two.result)]
        else:
            continue
        new[-1].results[0].name_hint = op.results[0].name_hint
        Rewriter.replace_op(op, new)
        Rewriter.erase_op(function)
        return


# -- extremes -------------------------------------------------------------------------------------
_EXTREMES = {"gt": "maximum", "lt": "minimum"}


def _join_extreme(op: TableOp) -> None:
    """An extreme by a comparison, a test for NaN and a choice."""
    test, a, b = op.operands
    either = test.owner
    if not isinstance(either, TableOp) or either.ROW.name != "or":
        return
    if not isinstance(a.type, AnyFloat):
        return
    for one, other in (either.operands, reversed(either.operands)):
        order, nan = one.owner, other.owner
        if not isinstance(order, TableOp) or order.ROW.name not in _EXTREMES:
            continue
        if not isinstance(nan, TableOp) or nan.ROW.name != "isnan" or nan.operands[0] is not a:
            continue
        if list(order.operands) != [a, b]:
            continue
        new = scalar(_EXTREMES[order.ROW.name], a, b)
        new.results[0].name_hint = op.results[0].name_hint
        Rewriter.replace_op(op, new)
        for unused in (either, order, nan):
            if not any(True for _ in unused.results[0].uses):
                Rewriter.erase_op(unused)
        return
