"""Control flow of a host program: the functions of sub-graphs, called as eager would.

A function takes a list of inputs, which it empties, and returns the list of its results. What these
calls return shares no memory with what they were given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

Function = Callable[[list[Any]], list[Any]]


def _fresh(values: Sequence[Any]) -> list[Any]:
    return [one.clone() if isinstance(one, Tensor) else one for one in values]


def _holds(pred: Any) -> bool:
    """A truth value: a tensor of one element, a bool, or numbers that must all be >= 0."""
    return all(n >= 0 for n in pred) if isinstance(pred, list) else bool(pred)


def _again(results: list[Any]) -> bool:
    """What the first function of a loop says: one truth value, or numbers that must be >= 0."""
    return _holds(results if any(type(one) is int for one in results) else results[0])


def cond(pred: Any, true: Function, false: Function, operands: Sequence[Any]) -> list[Any]:
    """The results of one of the two functions."""
    return (true if _holds(pred) else false)(list(operands))


def while_loop(
    again: Function, body: Function, carried: Sequence[Any], more: Sequence[Any]
) -> list[Any]:
    """The carried values when `again` says no; copies of the first ones if it does at once."""
    values: list[Any] | None = None
    while _again(again([*(carried if values is None else values), *more])):
        values = body([*(carried if values is None else values), *more])
    return _fresh(carried) if values is None else values


def while_loop_stack_output(
    again: Function, body: Function, carried: Sequence[Any], more: Sequence[Any]
) -> list[Any]:
    """The carried values after each step, stacked; the first ones where there is no step."""
    values, steps = list(carried), list[list[Any]]()
    while _again(again([*values, *more])):
        values = body([*values, *more])
        steps.append(values)
    if not steps:
        return [v.unsqueeze(0).clone() if isinstance(v, Tensor) else v for v in carried]
    return _stacked(steps)


def scan(
    step: Function, carried: Sequence[Any], xs: Sequence[Tensor], more: Sequence[Any]
) -> list[Any]:
    """The last carried values, then what the steps over dimension 0 of `xs` gave, stacked."""
    values, kept = list(carried), list[list[Any]]()
    for i in range(xs[0].shape[0]):
        results = step([*values, *(x.select(0, i) for x in xs), *more])
        values = results[: len(carried)]
        kept.append(results[len(carried) :])
    return [*(values if kept else _fresh(values)), *_stacked(kept)]


def map_impl(f: Function, xs: Sequence[Tensor], more: Sequence[Any]) -> list[Any]:
    """`f` over dimension 0 of `xs`, its results stacked."""
    return _stacked([f([*(x.select(0, i) for x in xs), *more]) for i in range(xs[0].shape[0])])


def invoke(f: Function, operands: Sequence[Any]) -> list[Any]:
    """The function's results."""
    return f(list(operands))


def _stacked(rows: Sequence[Sequence[Any]]) -> list[Any]:
    return [torch.stack(column) for column in zip(*rows, strict=True)]


CALLS: dict[str, Callable[..., list[Any]]] = {
    "minductor.apply": invoke,
    "minductor.cond": cond,
    "minductor.invoke": invoke,
    "minductor.map_impl": map_impl,
    "minductor.scan": scan,
    "minductor.while_loop": while_loop,
    "minductor.while_loop_stack_output": while_loop_stack_output,
}
"""Callee of a `kernel.extern` -> what it calls."""


def bind(name: str, results: int) -> Callable[..., Any]:
    """The call of `name`, which gives one value, or a list of several."""
    function = CALLS[name]
    if results != 1:
        return function
    return lambda *args: function(*args)[0]
