"""Shared pieces of the families: operands as values of a dtype, and the pointwise skeleton."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from minductor.dialects.expr import Expr
from minductor.dialects.scalar.number import round_float
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder, dtype_of
from minductor.lowering.aten_to_loop.promote import HALVES, Operand, opmath, require_scalar
from minductor.lowering.aten_to_loop.refs import Ref, Result, broadcast_index

Body = Callable[..., SSAValue]


def loaded(b: NestBuilder, ref: Ref) -> SSAValue:
    """The element of a value broadcast to the nest's parallel shape, in its own dtype."""
    return b.load(ref, broadcast_index(ref.sizes, b.shape, b.dims))


def as_dtype(b: NestBuilder, x: Operand, dtype: str) -> SSAValue:
    """A tensor's element or a number, converted to a dtype."""
    if isinstance(x, Ref):
        return b.cast(loaded(b, x), dtype)
    if isinstance(x, Expr):
        return b.index(x, dtype)
    return b.const(x, dtype)


def as_common(b: NestBuilder, x: Operand, common: str) -> SSAValue:
    """An operand as eager's kernels see it when they compute in dtype `common`.

    It is converted to `common` (rounded, if that is a half type); half types go on to f32, which
    kernels compute in.
    """
    if isinstance(x, bool | int | float) and common in HALVES:
        return b.const(round_float(float(x), common), "f32")
    return b.opmath(as_dtype(b, x, common))


def as_exact(b: NestBuilder, x: Operand, common: str) -> SSAValue:
    """As `as_common`, but a number or 0-d tensor is not rounded to a half type first.

    Eager's kernels do so for the second operand of products and quotients.
    """
    if isinstance(x, Ref) and x.rank:
        return as_common(b, x, common)
    return as_dtype(b, x, opmath(common))


def pointwise(
    call: Call,
    body: Body,
    operands: Sequence[Operand],
    common: str | None = None,
    exact_second: bool = False,
) -> list[Result]:
    """One nest over the result: operands in the computation dtype of `common`, then `body`.

    `common` is the result's dtype unless given. `body(b, *values)` gives the value to store.
    `exact_second`: operand 1 is taken by `as_exact`.
    """
    b = call.nest()
    dtype = call.type.dtype if common is None else common
    require_scalar([dtype, *(x.dtype for x in operands if isinstance(x, Ref))])
    values = [
        (as_exact if exact_second and k == 1 else as_common)(b, x, dtype)
        for k, x in enumerate(operands)
    ]
    b.store(body(b, *values))
    return call.done(b)


def truth(b: NestBuilder, x: Operand) -> SSAValue:
    """The operand as a bool value: non-zero (NaN is true)."""
    if isinstance(x, Ref):
        return nonzero(b, loaded(b, x))
    if isinstance(x, Expr):
        return b.op("ne", b.index(x), b.const(0, "i64"))
    return b.const(bool(x), "bool")


def nonzero(b: NestBuilder, value: SSAValue) -> SSAValue:
    """value != 0 as a bool value."""
    if dtype_of(value) == "bool":
        return value
    value = b.opmath(value)
    return b.op("ne", value, b.like(0, value))


def logical_not(b: NestBuilder, value: SSAValue) -> SSAValue:
    """not of a bool value."""
    return b.op("not", value)
