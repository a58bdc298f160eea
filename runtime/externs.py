"""Ops that stay torch's: found by schema name, called with their arguments in schema order.

`aten.mm.default`, `prims.convert_element_type.default`, `_c10d_functional.all_reduce.default` or a
custom op's name are resolved once, when a product is loaded. The `out=` form of an op is found
among its overloads by its schema, not by a list of names; where libtorch exports a C function for
it whose arguments are tensors and numbers only, that one is called (it skips the dispatcher).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch._ops import OpOverload

from minductor.runtime.launch import bind_out

_SCALARS = ("Scalar", "number", "float")


class ExternError(ImportError):
    """A schema name that this process does not know."""


@cache
def resolve(name: str) -> OpOverload:
    """The op `namespace.name.overload` (`namespace::name.overload` is read too).

    Raises ExternError when no library that defines it is loaded.
    """
    parts = name.replace("::", ".").split(".")
    if len(parts) == 2:
        parts.append("default")
    found: Any = torch.ops
    try:
        for part in parts:
            found = getattr(found, part)
    except (AttributeError, RuntimeError) as error:
        raise ExternError(
            f"the op {name} is not known in this process: import the library that defines it"
        ) from error
    if not isinstance(found, OpOverload):
        raise ExternError(f"{name} is not the full name of an op: namespace.name.overload")
    return found


def _arguments(op: OpOverload, kwarg_only: bool | None = None) -> list[Any]:
    """Arguments of the schema that are not written results of an out= form."""
    return [
        a
        for a in op._schema.arguments
        if not a.is_out and (kwarg_only is None or a.kwarg_only == kwarg_only)
    ]


def _out_names(op: OpOverload) -> list[str]:
    return [a.name for a in op._schema.arguments if a.is_out]


@cache
def out_form(op: OpOverload) -> OpOverload | None:
    """The overload that computes the same into given tensors, or None."""
    wanted = [(a.name, str(a.type)) for a in _arguments(op)]
    packet = op.overloadpacket
    for overload in packet.overloads():
        other = getattr(packet, overload)
        if len(_out_names(other)) != len(op._schema.returns):
            continue
        if [(a.name, str(a.type)) for a in _arguments(other)] == wanted:
            return other
    return None


def _call(op: OpOverload, positional: int, keywords: Sequence[str]) -> Callable[..., Any]:
    """`op` as a callable of arguments in schema order, `positional` of them and then keywords."""
    function: Callable[..., Any] = op._op
    if not keywords:
        return function
    names = tuple(keywords)

    def call(*args: Any) -> Any:
        return function(*args[:positional], **dict(zip(names, args[positional:], strict=True)))

    return call


def bind(name: str, count: int) -> Callable[..., Any]:
    """The op as a callable of its first `count` arguments in schema order.

    The rest take the schema's defaults. Returns what the op returns: a tensor, a tuple, a list.
    """
    op = resolve(name)
    arguments = _arguments(op)
    if count > len(arguments):
        raise ExternError(f"{name} takes at most {len(arguments)} arguments, not {count}")
    first = [a for a in arguments[:count] if not a.kwarg_only]
    return _call(op, len(first), [a.name for a in arguments[len(first) : count]])


def bind_into(
    name: str, count: int, outs: int, constants: Sequence[Any] = (), device: str = "cpu"
) -> Callable[..., Any]:
    """The op's out= form as a callable of `outs` tensors to write, then arguments.

    `count` arguments in schema order are given in all; the last `len(constants)` of them are
    `constants` and are bound here; all tensors are on `device`. Raises ExternError when the op has
    no out= form.
    """
    op = resolve(name)
    form = out_form(op)
    if form is None or len(_out_names(form)) != outs:
        raise ExternError(f"{name} has no out= form with {outs} results")
    arguments = _arguments(form)
    first = sum(not a.kwarg_only for a in arguments[:count])
    names = (*(a.name for a in arguments[first:count]), *_out_names(form))
    function: Callable[..., Any] = form._op
    fixed = tuple(constants)

    def call(*args: Any) -> None:
        given = (*args[outs:], *fixed)
        values = (*given[first:], *args[:outs])
        function(*given[:first], **dict(zip(names, values, strict=True)))

    if device != "cpu" or form.namespace != "aten" or form._overloadname != "out" or outs != 1:
        return call
    return _through_shim(form, arguments, count, fixed, call)


def _through_shim(
    form: OpOverload,
    arguments: Sequence[Any],
    count: int,
    constants: Sequence[Any],
    call: Callable[..., None],
) -> Callable[..., Any]:
    """libtorch's C function for `form`, where there is one of the kind that Out can call.

    Its argument order is out, tensors, numbers; numbers not given take the schema's defaults.
    """
    tensors = [a for a in arguments if str(a.type) == "Tensor"]
    numbers = [a for a in arguments if str(a.type) in _SCALARS]
    if arguments != [*tensors, *numbers] or len(constants) != count - len(tensors):
        return call
    values = [*constants, *(a.default_value for a in numbers[len(constants) :])]
    if not all(type(v) in (int, float) for v in values):
        return call
    symbol = f"aoti_torch_cpu_{form._schema.name.removeprefix('aten::')}_out"
    return bind_out(symbol, 1 + len(tensors), values, call)
