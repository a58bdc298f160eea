"""Control flow: calls that are given functions of the same module.

    %r = aten.control "minductor.cond"(%p, %x) args [#loop.arg<0>, @true_graph_0, @false_graph_0,
                                                      [#loop.arg<1>]] : (..) -> !aten.t<f32[4]>
    func.func private @true_graph_0(%x: !aten.t<f32[4]>) -> !aten.t<f32[4]> { .. }

| callee | arguments | meaning |
| --- | --- | --- |
| minductor.cond | pred, f, g, operands | f(operands) where pred holds, else g(operands) |
| minductor.while_loop | c, f, carried, more | carried = f(carried, more) while c(carried, more) |
| minductor.while_loop_stack_output | c, f, carried, more | carried of each step, stacked |
| minductor.scan | f, carried, xs, more | f(carried, slice of xs, more) -> carried, ys; ys stacked |
| minductor.map_impl | f, xs, more | f(slice of xs, more), stacked |
| minductor.invoke | f, operands | f(operands) |
| minductor.apply | object, operands | object(operands), a Python callable from outside |

`pred` is a 0-d bool tensor, or a list of index expressions that are all >= 0 where it holds. The
functions are private, take tensors in the layout of their types (a caller that has another copies),
and give fresh results that share no memory with their arguments or each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation
from xdsl.irdl import irdl_op_definition, traits_def
from xdsl.utils.exceptions import VerifyException

from minductor.dialects.aten.traits import Ordered
from minductor.dialects.loop.ops import ExternCall
from minductor.dialects.loop.verify import ExternVerify

CONTROL: dict[str, int] = {
    "minductor.cond": 2,
    "minductor.while_loop": 2,
    "minductor.while_loop_stack_output": 2,
    "minductor.scan": 1,
    "minductor.map_impl": 1,
    "minductor.invoke": 1,
    "minductor.apply": 0,
}
"""Callee -> how many functions it is given."""


def function_refs(args: ArrayAttr[Attribute]) -> Iterator[SymbolRefAttr]:
    """The functions that a call is given, in order."""
    for attr in args:
        if isinstance(attr, SymbolRefAttr):
            yield attr
        elif isinstance(attr, ArrayAttr):
            yield from function_refs(cast(ArrayAttr[Attribute], attr))


class ControlVerify(ExternVerify):
    """A known callee, with as many functions as it takes, all of them in the module."""

    def verify_(self) -> None:
        super().verify_()
        callee = cast(StringAttr, self.properties["callee"]).data
        if callee not in CONTROL:
            raise VerifyException(f"unknown control flow `{callee}`; one of {', '.join(CONTROL)}")
        refs = list(function_refs(cast(ArrayAttr[Attribute], self.properties["args_"])))
        if len(refs) != CONTROL[callee]:
            raise VerifyException(f"{len(refs)} functions; `{callee}` takes {CONTROL[callee]}")
        known = _functions(self)
        for ref in refs:
            if known is not None and ref.string_value() not in known:
                raise VerifyException(f"no function @{ref.string_value()} in this module")


@irdl_op_definition
class ControlOp(ControlVerify, ExternCall):
    """`aten.control "minductor.cond"(..) args [..]`: kept, and in order with other effects."""

    name = "aten.control"
    traits = traits_def(Ordered())


def _functions(op: Operation) -> set[str] | None:
    """Names of the functions of the module around an op; None outside a module."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, ModuleOp):
        parent = parent.parent_op()
    if parent is None:
        return None
    names = (one.properties.get("sym_name") for one in parent.body.block.ops)
    return {name.data for name in names if isinstance(name, StringAttr)}
