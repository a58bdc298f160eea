"""Ops that stay torch's: found by schema name, called with their arguments as in the schema.

`aten.mm.default`, `prims.convert_element_type.default`, `_c10d_functional.all_reduce.default` or a
custom op's name are resolved once, when a product is loaded. The `out=` form of an op is found
among its overloads by its schema, not by a list of names; where libtorch exports a C function for
it whose arguments are tensors and numbers only, that one is called (it skips the dispatcher).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import _disable_current_modes

from minductor.runtime.launch import bind_out

_NUMBERS = ("Scalar", "number", "float")


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


def _arguments(op: OpOverload) -> list[Any]:
    """Arguments of the schema that are not written results of an out= form."""
    return [a for a in op._schema.arguments if not a.is_out]


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


def bind(name: str, results: int = 1) -> Callable[..., Any]:
    """The op as a callable of its positional arguments, and its keyword-only ones by keyword.

    It returns one value, or a tuple of `results` values: lists are spliced in, and results that
    the op left undefined (None) are left out where the count says so.
    """
    op = resolve(name)
    function: Callable[..., Any] = op._op
    returns = [str(r.type) for r in op._schema.returns]
    if len(returns) == results and not any(r.startswith("List") for r in returns):
        return function  # nothing to rearrange

    def call(*args: Any, **keywords: Any) -> Any:
        values = _flat(function(*args, **keywords))
        if len(values) != results:
            values = [v for v in values if v is not None]
        if len(values) != results:
            raise ExternError(f"{name} gave {len(values)} results, not {results}")
        return values[0] if results == 1 else tuple(values)

    return call if results else function


def outside_modes(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, run outside of dispatch modes.

    Under a mode torch dispatches the ops inside a composite op before it has resolved lazy
    conjugation, and the conjugation is lost (`linalg.pinv`). AOTAutograd has one in first calls.
    """

    def call(*args: Any, **keywords: Any) -> Any:
        with _disable_current_modes():
            return function(*args, **keywords)

    return call


def _flat(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        items: Sequence[Any] = value
        return [leaf for item in items for leaf in _flat(item)]
    return [value]


def bind_into(
    name: str, outs: int = 1, tensors: int | None = None, device: str = "cpu", **keywords: Any
) -> Callable[..., Any]:
    """The op's out= form as a callable of `outs` tensors to write, then the op's arguments.

    `tensors` says that exactly so many arguments follow and all are tensors; `keywords` are bound
    here; all tensors are on `device`. Raises ExternError when the op has no out= form.
    """
    op = resolve(name)
    form = out_form(op)
    if form is None or len(_out_names(form)) != outs:
        raise ExternError(f"{name} has no out= form with {outs} results")
    names = tuple(_out_names(form))
    function: Callable[..., Any] = form._op

    def call(*args: Any, **more: Any) -> None:
        written = dict(zip(names, args[:outs], strict=True))
        function(*args[outs:], **keywords, **more, **written)

    simple = device == "cpu" and form.namespace == "aten" and form._overloadname == "out"
    if simple and outs == 1 and tensors is not None:
        return _through_shim(form, tensors, keywords, call)
    return call


def _through_shim(
    form: OpOverload, count: int, keywords: Mapping[str, Any], call: Callable[..., None]
) -> Callable[..., Any]:
    """libtorch's C function for `form`, where there is one of the kind that Out can call.

    Its argument order is out, tensors, numbers; numbers not given take the schema's defaults.
    """
    arguments = _arguments(form)
    numbers = arguments[count:]
    if any(str(a.type) != "Tensor" for a in arguments[:count]):
        return call
    if any(str(a.type) not in _NUMBERS for a in numbers):
        return call
    values = [keywords.get(a.name, a.default_value) for a in numbers]
    if not all(type(v) in (int, float) for v in values):
        return call
    symbol = f"aoti_torch_cpu_{form._schema.name.removeprefix('aten::')}_out"
    return bind_out(symbol, 1 + count, values, call)
