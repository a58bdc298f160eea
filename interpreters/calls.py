"""Extern calls in the interpreters: the eager op by its schema name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.dtypes import DTYPES
from minductor.dialects.pyattrs import ArgAttr, DeviceAttr, DTypeAttr, EnumAttr, to_python
from minductor.dialects.types import AbsentType
from minductor.interpreters import control
from minductor.interpreters.points import Points

SEED = "minductor.seed"


def _constant(
    numbers: Sequence[Any], size: Sequence[int], dtype: torch.dtype, device: Any = "cpu"
) -> torch.Tensor:
    return torch.tensor(numbers, dtype=dtype, device=device).reshape(list(size))


def _assert(value: int, message: str) -> None:
    if value < 0:
        raise RuntimeError(message)


def new_seed(words: int = 1) -> torch.Tensor:
    """A seed, or the state of the default generator as i64[n].

    A seed is drawn as the runtime draws it, so that the same generator gives the same numbers.
    """
    if words == 1:
        return torch.empty(1, dtype=torch.int64).random_()
    return torch.get_rng_state().view(torch.int64)


def take_seed(seed: torch.Tensor) -> None:
    """What is drawn next comes from a seed or a saved state."""
    if seed.numel() == 1:
        torch.manual_seed(int(seed.item()))
    else:
        torch.set_rng_state(seed.view(torch.uint8))


def _state(device: Any = "cpu") -> torch.Tensor:
    return new_seed(0)


def _seeded(name: str, seed: torch.Tensor, args: Sequence[Any], **keywords: Any) -> Any:
    with torch.random.fork_rng(devices=[]):
        take_seed(seed)
        return _torch_op(name)(*args, **keywords)


OWN: dict[str, Any] = {
    "minductor.assert": _assert,
    "minductor.constant": _constant,
    "minductor.number": float,
    "minductor.seeded": _seeded,
    "minductor.size": int,
    "minductor.state": _state,
}
"""Callees that are no ops of torch."""


RunFunction = Callable[[FuncOp, list[Any]], list[Any]]
"""Runs a function of the module on its arguments, at the level of the interpreter that calls."""


def call(
    op: Operation, operands: Sequence[Any], points: Points, run: RunFunction | None = None
) -> list[Any]:
    """The results of an extern op on concrete operands, as a flat list.

    A seed is drawn from torch's default generator, so that torch.manual_seed fixes it. `run` runs
    the functions that control flow is given.
    """
    callee = op.properties["callee"]
    assert isinstance(callee, StringAttr)
    if callee.data == SEED:
        return [new_seed() for _ in op.results]
    fn: Any = OWN.get(callee.data) or control.CALLS.get(callee.data) or _torch_op(callee.data)
    props: Any = op.properties

    def function(ref: SymbolRefAttr) -> control.Function:
        return partial(_run, run, function_named(op, ref.string_value()))

    args = [argument(a, operands, points, function) for a in props["args_"]]
    kwargs = {k: argument(a, operands, points) for k, a in props["kwargs"].data.items()}
    holes = any(isinstance(r.type, AbsentType) for r in op.results)
    return flatten(fn(*args, **kwargs), holes)


def _torch_op(name: str) -> Any:
    found: Any = torch.ops
    for part in name.split("."):
        found = getattr(found, part)
    return found


def flatten(value: Any, holes: bool = False) -> list[Any]:
    """Nested results as one list; None results are dropped unless they are `holes` in it."""
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in flatten(item, holes)]
    return [] if value is None and not holes else [value]


def _run(run: RunFunction | None, target: FuncOp, args: list[Any]) -> list[Any]:
    if run is None:
        raise ValueError(f"@{target.sym_name.data} cannot be run here")
    return run(target, args)


def function_named(op: Operation, name: str) -> FuncOp:
    """A function of the module around `op`."""
    module: Operation | None = op
    while module is not None and not isinstance(module, ModuleOp):
        module = module.parent_op()
    for one in () if module is None else module.body.block.ops:
        if isinstance(one, FuncOp) and one.sym_name.data == name:
            return one
    raise ValueError(f"no function @{name} in the module")


def argument(
    attr: Attribute,
    operands: Sequence[Any],
    points: Points,
    function: Callable[[SymbolRefAttr], Any] | None = None,
) -> Any:
    """The Python value of an argument attribute; `function` gives that of a function's name."""
    match attr:
        case SymbolRefAttr() if function is not None:
            return function(attr)
        case ArgAttr():
            return operands[attr.data]
        case ExprAttr():
            return points.number(attr.data)
        case IndexAttr():
            return [points.number(e) for e in attr.data]
        case DTypeAttr():
            return getattr(torch, DTYPES[attr.data].torch_name)
        case DeviceAttr():
            return torch.device(attr.data)
        case EnumAttr():
            return getattr(torch, attr.data.removeprefix("torch."))
        case ArrayAttr():
            return [argument(a, operands, points, function) for a in attr]
        case _:
            return to_python(attr)
