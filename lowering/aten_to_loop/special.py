"""The ops of `aten` without a schema: numbers, Python arithmetic at run time, constants.

%f = aten.py "truediv"(%n, %m)      a 0-d f64 nest, read where the number is used
%k = aten.constant [1, 2, 3] : T    index arithmetic when the elements are in progression,
                                    else one extern call "minductor.constant"
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.aten import AssertOp, ConstantOp, PyOp, ScalarOp
from minductor.dialects.attrs import Origin
from minductor.dialects.expr import Expr
from minductor.dialects.expr_simplify import contiguous_strides, flatten_index
from minductor.dialects.loop.ops import ExternOp
from minductor.dialects.pyattrs import DeviceAttr, DTypeAttr, from_python
from minductor.dialects.types import TensorType
from minductor.lowering.aten_to_loop.function import ASSERT, CONSTANT, FunctionLowering
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.promote import is_integral
from minductor.lowering.aten_to_loop.refs import Number, Ref
from minductor.lowering.aten_to_loop.support import as_dtype

_RENAMED = {
    "truediv": "div",
    "mod": "remainder",
    "min": "minimum",
    "max": "maximum",
}


def special_value(fn: FunctionLowering, op: ScalarOp | PyOp | ConstantOp) -> Ref | Expr | Number:
    """What the environment holds for the op's result."""
    if isinstance(op, ScalarOp):
        return op.number
    fn.origins = (Origin(op.name.removeprefix("aten.")),)
    return _python(fn, op) if isinstance(op, PyOp) else _constant(fn, op)


def assert_call(op: AssertOp) -> ExternOp:
    """The check of a size at run time: an ordered call."""
    return ExternOp.of(ASSERT, [], [op.expr, op.message], {}, [], {"ordered": UnitAttr()})


def _python(fn: FunctionLowering, op: PyOp) -> Ref:
    """Float arithmetic on numbers: one f64 element."""
    b = fn.nest_builder([TensorType.make("f64", [])], [])
    values = [as_dtype(b, fn.env[v], "f64") for v in op.operands]
    name = op.function.data
    if name == "float":
        b.store(values[0])
    else:
        b.store(b.op(_RENAMED[name] if name in _RENAMED else name, *values))
    return replace(Ref.of(fn.emit(b.finish()).results[0]), wrapped=True)


def _constant(fn: FunctionLowering, op: ConstantOp) -> Ref:
    type_ = op.result.type
    assert isinstance(type_, TensorType)
    numbers = op.numbers
    if type_.info.scalar is not None:
        b = fn.nest_builder([type_], type_.sizes)
        value = _progression(b, numbers, type_)
        if value is not None:
            b.store(value)
            return Ref.of(fn.emit(b.finish()).results[0])
    call = ExternOp.of(
        CONSTANT,
        [],
        [from_python(numbers), from_python([size.as_int for size in type_.sizes])],
        {"dtype": DTypeAttr(type_.dtype), **_device(type_)},
        [type_],
    )
    return Ref.of(fn.emit(call).results[0])


def _device(type_: TensorType) -> dict[str, Attribute]:
    return {} if type_.device == "cpu" else {"device": DeviceAttr(type_.device)}


def _progression(b: NestBuilder, numbers: Sequence[Number], type_: TensorType) -> SSAValue | None:
    """Equal elements, or integers a, a + k, a + 2k, ..: as a value; else None."""
    if not numbers:
        return b.const(0, type_.dtype)
    first = numbers[0]
    if all(repr(n) == repr(first) for n in numbers):
        return b.const(first, type_.dtype)
    if not is_integral(type_.dtype):
        return None
    whole = [int(n) for n in numbers]
    step = whole[1] - whole[0]
    if any(n != whole[0] + i * step for i, n in enumerate(whole)):
        return None
    flat = flatten_index(b.dims, contiguous_strides(type_.sizes))
    return b.index(ex.const(whole[0]) + step * flat, type_.dtype)
