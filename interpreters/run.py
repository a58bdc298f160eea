"""Runs a function of any level: `aten`, `loop`, or `kernel` (a host program with its kernels)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

LEVELS = ("aten", "loop", "kernel")


def entry_of(module: ModuleOp) -> func.FuncOp:
    """@call, else the only function with a body that is not private (sub-graphs of control flow
    are). ValueError when there is neither."""
    found = [
        op for op in module.body.block.ops if isinstance(op, func.FuncOp) and not op.is_declaration
    ]
    for fn in found:
        if fn.sym_name.data == "call":
            return fn
    public = [fn for fn in found if fn.sym_visibility is None]
    if len(public) != 1:
        names = ", ".join(f"@{fn.sym_name.data}" for fn in found) or "none"
        raise ValueError(f"no function @call; the module has {names}")
    return public[0]


def level_of(fn: func.FuncOp) -> str:
    """`aten`, `loop` or `kernel`, by the first op that is of one of them."""
    for op in fn.body.block.ops:
        level = op.name.split(".")[0]
        if level in LEVELS:
            return level
    return "loop"


def run_entry(
    module: ModuleOp, fn: func.FuncOp, args: Sequence[Any], named_draws: bool = False
) -> list[Any]:
    """The results of a function of `module` under the interpreter of its level.

    Arguments that the function mutates are written in place. `named_draws`: as for `run_function`
    of the `aten` interpreter.
    """
    level, name = level_of(fn), fn.sym_name.data
    if level == "aten":
        from minductor.interpreters.aten import run_function

        return run_function(fn, args, named_draws=named_draws)
    if level == "kernel":
        from minductor.interpreters.kernel import run_kernel

        return run_kernel(module, args, name)
    from minductor.interpreters.loop import run_loop

    return run_loop(module, args, name)
