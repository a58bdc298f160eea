"""Checks of tensors that enter compiled code: sizes, strides, dtype and device, in one C call.

Strides are compared in dimensions longer than 1 of tensors that are not empty, since torch keeps
any stride elsewhere. Storage offset and alignment need no check on CPU, where kernels use unaligned
accesses; `aligned` serves kernels that were promised more.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, NoReturn

import torch
from torch import Tensor

from minductor.runtime.launch import has_handles, launcher, torch_library

Number = int | str
"""A size or stride: known, or the text of the expression whose value comes with each call."""


class Layout(NamedTuple):
    """What a tensor must be. `device` is "cpu", "cuda" (any) or "cuda:1"."""

    name: str
    dtype: torch.dtype
    device: str
    sizes: tuple[Number, ...]
    strides: tuple[Number, ...]


@cache
def _code(kind: str, name: str) -> int:
    """Torch's number of a dtype or a device type."""
    library = torch_library()
    function = getattr(library, f"aoti_torch_{kind}_{name}")
    function.restype = ctypes.c_int32
    return int(function())


def dynamic_numbers(layouts: Sequence[Layout]) -> tuple[str, ...]:
    """The expressions whose values follow the tensors in a call, in order of first appearance."""
    seen: dict[str, None] = {}
    for layout in layouts:
        for number in (*layout.sizes, *layout.strides):
            if isinstance(number, str):
                seen[number] = None
    return tuple(seen)


def _resolved(numbers: Sequence[Number], values: dict[str, int]) -> tuple[int, ...]:
    return tuple(values[n] if isinstance(n, str) else n for n in numbers)


def holds(layout: Layout, tensor: Any, values: dict[str, int]) -> bool:
    """The check itself, in Python."""
    if not isinstance(tensor, Tensor):
        return False
    sizes = _resolved(layout.sizes, values)
    if tensor.dtype != layout.dtype or tuple(tensor.shape) != sizes:
        return False
    device = torch.device(layout.device)
    if tensor.device.type != device.type or device.index not in (None, tensor.device.index):
        return False
    if 0 in sizes:
        return True
    wanted = _resolved(layout.strides, values)
    pairs = zip(sizes, tensor.stride(), wanted, strict=True)
    return all(n <= 1 or have == want for n, have, want in pairs)


def describe(tensor: Any) -> str:
    """A tensor's layout for messages."""
    if not isinstance(tensor, Tensor):
        return f"a {type(tensor).__name__}"
    sizes, strides = tuple(tensor.shape), tensor.stride()
    return f"{tensor.dtype} of size {sizes} and strides {strides} on {tensor.device}"


def is_host_state(layout: Layout, tensor: Any) -> bool:
    """A random state of a library attention call: one number that fake tensors promise on the GPU
    and the library keeps on the CPU, for the library's own backward to read."""
    return (
        isinstance(tensor, Tensor)
        and not layout.sizes
        and tensor.dim() == 0
        and tensor.dtype == layout.dtype
        and tensor.device.type == "cpu"
    )


class ArgumentError(ValueError):
    """An argument of a call is not what the graph was compiled for; nothing has run yet."""


class Unreadable(ArgumentError):
    """An argument has no memory to read: a fake tensor, a zero tensor, one of a batch."""


def _refuse_argument(layout: Layout, tensor: Any, values: dict[str, int]) -> NoReturn:
    if holds(layout, tensor, values):
        raise Unreadable(f"{layout.name} has no memory to read: it is {describe(tensor)}")
    raise ArgumentError(_mismatch(layout, tensor, values))


def _refuse(layout: Layout, tensor: Any, values: dict[str, int]) -> NoReturn:
    raise ValueError(_mismatch(layout, tensor, values))


def _mismatch(layout: Layout, tensor: Any, values: dict[str, int]) -> str:
    sizes, strides = _resolved(layout.sizes, values), _resolved(layout.strides, values)
    return (
        f"{layout.name} does not have the layout that this graph was compiled for: expected "
        f"{layout.dtype} of size {sizes} and strides {strides} on {layout.device}, got "
        f"{describe(tensor)}"
    )


def _restride(layout: Layout, tensor: Any, values: dict[str, int]) -> Tensor:
    """A copy of an extern call's result in the layout that was promised for it."""
    sizes, strides = _resolved(layout.sizes, values), _resolved(layout.strides, values)
    device = torch.device(layout.device)
    if (
        not isinstance(tensor, Tensor)
        or tensor.dtype != layout.dtype
        or tuple(tensor.shape) != sizes
        or tensor.device.type != device.type
    ):
        _refuse(layout, tensor, values)
    given = tensor
    # along a stride of 0 all elements are one by the promise
    once = tuple(min(n, 1) if stride == 0 else n for n, stride in zip(sizes, strides, strict=True))
    out = torch.empty_strided(once, strides, dtype=layout.dtype, device=tensor.device)
    for dim, n in enumerate(once):
        tensor = tensor.narrow(dim, 0, n)
    made = out.copy_(tensor).as_strided(sizes, strides)
    if not _same(made, given):
        _refuse(layout, given, values)
    return made


def _same(made: Tensor, given: Tensor) -> bool:
    """Whether the copy has all elements: it has fewer where the promised layout shows one twice."""
    if made.stride() == given.stride() or not torch._debug_has_internal_overlap(made):
        return True
    return bool(((made == given) | ((made != made) & (given != given))).all())


Report = Callable[[Layout, Any, dict[str, int]], Any]


def _checker(layouts: Sequence[Layout], report: Report) -> Callable[..., Any]:
    names = dynamic_numbers(layouts)

    def given(index: int, tensor: Any, values: Sequence[int]) -> Any:
        if is_host_state(layouts[index], tensor):
            return tensor
        return report(layouts[index], tensor, dict(zip(names, values, strict=True)))

    if has_handles() and len(names) <= 64:
        table: list[tuple[int, ...]] = []
        numbers: list[int] = []
        for layout in layouts:
            device, _, index = layout.device.partition(":")
            table.append(
                (
                    _code("dtype", str(layout.dtype).removeprefix("torch.")),
                    _code("device_type", device),
                    int(index or -1),
                    len(layout.sizes),
                    len(numbers),
                )
            )
            for number in (*layout.sizes, *layout.strides):
                numbers.append(-1 - names.index(number) if isinstance(number, str) else number)
        return launcher().Checker(tuple(table), tuple(numbers), len(names), given)

    def check(*args: Any) -> Any:
        tensors, values = args[: len(layouts)], args[len(layouts) :]
        known = dict(zip(names, values, strict=True))
        result = tensors[0] if len(layouts) == 1 else None
        for index, (layout, tensor) in enumerate(zip(layouts, tensors, strict=True)):
            if not holds(layout, tensor, known):
                replaced = given(index, tensor, values)
                result = replaced if len(layouts) == 1 else None
        return result

    return check


def input_check(layouts: Sequence[Layout]) -> Callable[..., Any]:
    """A callable of all tensors, then the values of `dynamic_numbers`; ArgumentError names the
    first that does not fit."""
    return _checker(layouts, _refuse_argument)


def result_check(layout: Layout) -> Callable[..., Any]:
    """A callable of one tensor (and values) that returns it, or a copy with the promised strides.

    Fake tensors promise the layout of an extern call's result; where the real kernel returns
    another (some do, by size or library version), kernels must not read it by the promise.
    """
    return _checker([layout], _restride)


def view_check(layout: Layout) -> Callable[..., Any]:
    """As `result_check` for results that alias an operand: a copy would be wrong, so refuse."""
    return _checker([layout], _refuse)


def aligned(tensor: Tensor, alignment: int) -> Tensor:
    """`tensor` itself when its first element lies on a multiple of `alignment` bytes, else a copy
    with the same strides."""
    if tensor.data_ptr() % alignment == 0:
        return tensor
    out = torch.empty_strided(
        tensor.size(), tensor.stride(), dtype=tensor.dtype, device=tensor.device
    )
    return out.copy_(tensor)
