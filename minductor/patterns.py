"""Rewrites of a user's own: a pair of functions, traced into `aten`.

    fast = minductor.pattern(before, after, (torch.randn(4, 8),), name="fast")
    torch.compile(f, backend="minductor", options={"patterns": fast})

Nothing is registered anywhere: a pattern is a value, its text and what its guard is made of are
part of the cache's key. docs/patterns.md says what fits and what is refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp

from minductor.dialects.printing import module_text
from minductor.lowering.decompositions import decompositions
from minductor.lowering.fx_to_aten import ImportRefused, import_graph
from minductor.passes.aten._pattern import Guard, Pattern, PatternError, read_patterns
from minductor.passes.aten.dce import drop_dead
from minductor.passes.context import MiniContext

__all__ = ["Pattern", "PatternError", "pattern"]


def pattern(
    before: Callable[..., Any],
    after: Callable[..., Any],
    example_inputs: Sequence[Any],
    *,
    name: str | None = None,
    guard: Guard | None = None,
    dynamic: bool = True,
) -> Pattern:
    """A rewrite of what `before` computes into what `after` computes, for `options["patterns"]`.

    Both take the same arguments and return a tensor or a tuple of them, of equal types. They are
    traced on `example_inputs`, without gradients, as a graph is. Tensors give dtype, rank and
    layout; each size above 1 fits any size above 1, equal sizes fit equal sizes; with
    `dynamic=False` sizes are as they are. Numbers among the inputs are those very numbers. `guard`
    gets a `Match` (`shape`, `strides`, `dtype` by argument name) and returns True, False or the
    reason why not; it may use constants, modules and plain functions.

    Raises PatternError when no pattern can be made of them, with the reason.
    """
    label = name or getattr(before, "__name__", "pattern")
    parameters = _parameters(before, len(example_inputs))
    module = _traced(label, before, after, example_inputs, dynamic)
    text = module_text(_pair(module, parameters))
    for one in read_patterns(MiniContext(), text, label):
        # the checked form: the text of two equal patterns is one
        text = module_text(ModuleOp([one.before.clone(), one.after.clone()]))
    return Pattern(label, text, guard, "" if guard is None else _content(guard, label))


def _parameters(function: Callable[..., Any], count: int) -> list[str]:
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    return names if len(names) == count else [f"arg{i}" for i in range(count)]


def _traced(
    label: str,
    before: Callable[..., Any],
    after: Callable[..., Any],
    inputs: Sequence[Any],
    dynamic: bool,
) -> ModuleOp:
    """One function that gives the results of both: one trace, so that sizes have one name."""

    counts: list[int] = []

    def both(*args: Any) -> list[Any]:
        mine, theirs = _listed(before(*args)), _listed(after(*args))
        counts[:] = [len(mine), len(theirs)]
        return [*mine, *theirs]

    mode = "symbolic" if dynamic else "fake"
    try:
        with torch.no_grad():
            graph = make_fx(both, decomposition_table=decompositions(), tracing_mode=mode)(*inputs)
        found = import_graph(graph, "both")
    except ImportRefused as refusal:
        raise PatternError(f"pattern '{label}': {refusal}") from refusal
    except Exception as error:
        raise PatternError(f"pattern '{label}' cannot be traced: {error}") from error
    if counts[0] != counts[1]:
        raise PatternError(
            f"pattern '{label}': before gives {counts[0]} results, after {counts[1]}"
        )
    if found.constants:
        raise PatternError(f"pattern '{label}' holds a tensor: make it an argument")
    return found.module


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _pair(module: ModuleOp, parameters: Sequence[str]) -> ModuleOp:
    """The functions `before` and `after`, each with its own part of the trace."""
    (both,) = (op for op in module.ops if isinstance(op, FuncOp))
    last = both.body.block.last_op
    count = 0 if last is None else len(last.operands)
    half = count // 2
    return ModuleOp(
        [
            _part(both, "before", range(half), parameters),
            _part(both, "after", range(half, count), parameters),
        ]
    )


def _part(both: FuncOp, name: str, results: range, parameters: Sequence[str]) -> FuncOp:
    clone = both.clone()
    block = clone.body.block
    last = block.last_op
    assert last is not None
    kept = [last.operands[i] for i in results]
    last.detach()
    last.erase()
    block.add_op(ReturnOp(*kept))
    drop_dead(block)
    for arg, hint in zip(block.args, parameters, strict=False):
        arg.name_hint = hint
    types = ([a.type for a in block.args], [v.type for v in kept])
    made = FuncOp(name, types, clone.body.clone())
    made.attributes.update(clone.attributes)
    return made


# -- what a guard is made of ----------------------------------------------------------------------
PLAIN = (int, float, str, bytes, bool, complex, type(None), torch.dtype, torch.device)


def _content(guard: Guard, label: str) -> str:
    """The guard's code and all that it refers to. Raises PatternError for what has no text."""
    seen: set[int] = set()

    def of(value: Any, where: str) -> str:
        if isinstance(value, PLAIN):
            return repr(value)
        if isinstance(value, tuple | list | frozenset | set):
            items = [of(one, where) for one in value]  # pyright: ignore
            ordered = sorted(items) if isinstance(value, frozenset | set) else items
            return f"{type(value).__name__}({', '.join(ordered)})"  # pyright: ignore
        if isinstance(value, dict):
            return f"dict({of(list(value.items()), where)})"  # pyright: ignore
        if isinstance(value, ModuleType):
            return f"module {value.__name__}"
        if isinstance(value, type) or inspect.isbuiltin(value):
            return f"{value.__module__}.{value.__qualname__}"
        if isinstance(value, CodeType):
            names = (value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars)
            return f"code({value.co_code.hex()}, {of(value.co_consts, where)}, {names})"
        if isinstance(value, FunctionType):
            return function(value)
        raise PatternError(
            f"pattern '{label}': the guard uses {where}, of type {type(value).__name__}, which the "
            "cache's key cannot hold: use numbers, strings, tuples, modules and plain functions"
        )

    def function(value: FunctionType) -> str:
        if id(value) in seen:
            return f"again {value.__qualname__}"
        seen.add(id(value))
        code = value.__code__
        parts = [of(code, "its code"), of(value.__defaults__, "a default")]
        parts.append(of(value.__kwdefaults__, "a default"))
        for free, cell in zip(code.co_freevars, value.__closure__ or (), strict=True):
            parts.append(of(cell.cell_contents, f"'{free}'"))
        for used in code.co_names:
            if used in value.__globals__:
                parts.append(f"{used}={of(value.__globals__[used], repr(used))}")
        return f"function({'; '.join(parts)})"

    return of(guard, f"'{getattr(guard, '__name__', guard)}'")
