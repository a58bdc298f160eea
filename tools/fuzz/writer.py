"""Writes a program statement by statement, running each in eager as it goes.

A statement that eager refuses is dropped.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar

import torch
from torch import Tensor

from minductor.tools.fuzz.program import Input

T = TypeVar("T")

MOST_ELEMENTS = 3000
"""Elements of the largest tensor that a program makes."""

DTYPES = (
    torch.float32,
    torch.float64,
    torch.bfloat16,
    torch.float16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
)

CONSTANTS = ("1", "2", "-1", "0.5", "3", "-2.5", "0", "1e-3", "True")


class Dropped(Exception):
    """A statement cannot be written here."""


def is_int(t: Tensor) -> bool:
    """Integers, booleans apart."""
    return not t.is_floating_point() and not t.is_complex() and t.dtype != torch.bool


KINDS: dict[str, Callable[[Tensor], bool]] = {
    "a": lambda t: True,
    "f": lambda t: t.is_floating_point(),
    "i": is_int,
    "b": lambda t: t.dtype == torch.bool,
    "n": lambda t: t.dtype != torch.bool,
    "g": lambda t: not t.is_floating_point(),
}
"""First letter of a placeholder -> which tensors may stand there."""


class Writer:
    """The program so far: statements, and every value by name."""

    def __init__(self, random: Random, inputs: Sequence[Input]):
        self.random = random
        self.env: dict[str, Any] = {}
        self.lines: list[str] = []
        for one in inputs:
            self.env[one.name] = one.make()

    # -- choices ----------------------------------------------------------------------------------
    def number(self, low: int, high: int) -> int:
        """A whole number."""
        return self.random.randint(low, high)

    def choose(self, options: Sequence[T]) -> T:
        """One of the options."""
        return self.random.choice(options)

    def tensors(self, kind: str = "a") -> list[str]:
        """Names of the tensors of a kind, oldest first."""
        return [name for name, t in self.env.items() if KINDS[kind](t)]

    def pick(self, kind: str = "a", where: Callable[[Tensor], bool] | None = None) -> str:
        """A tensor's name. Dropped when there is none."""
        names = [n for n in self.tensors(kind) if where is None or where(self.env[n])]
        if not names:
            raise Dropped
        if len(names) > 3 and self.number(0, 1):
            names = names[-3:]
        return self.choose(names)

    def partner(self, kind: str, first: Tensor) -> str:
        """A tensor that broadcasts with another."""

        def fits(t: Tensor) -> bool:
            try:
                shape = torch.broadcast_shapes(t.shape, first.shape)
            except RuntimeError:
                return False
            return shape.numel() <= MOST_ELEMENTS

        return self.pick(kind, fits)

    def dim(self, t: Tensor) -> int:
        """A dimension of a tensor, counted from either end. Dropped for rank 0."""
        if t.dim() == 0:
            raise Dropped
        return self.number(-t.dim(), t.dim() - 1)

    # -- templates --------------------------------------------------------------------------------
    def fill(self, template: str) -> str:
        """A template with its placeholders chosen.

        `{a}` `{f}` `{i}` `{b}` `{n}` `{g}` (with a digit, to name another): tensors of a kind,
        those behind the first broadcast with it; `{d}` a dimension of the first;
        `{c}` a constant; `{k}` -3..4; `{p}` 1..4; `{t}` a dtype; `{y}` True or False.
        """
        chosen: dict[str, str] = {}
        first: Tensor | None = None

        def one(match: re.Match[str]) -> str:
            nonlocal first
            key = match.group(1)
            if key in chosen:
                return chosen[key]
            kind = key[0]
            if kind in KINDS:
                chosen[key] = self.pick(kind) if first is None else self.partner(kind, first)
                first = self.env[chosen[key]] if first is None else first
                return chosen[key]
            return self._plain(kind, first)

        return re.sub(r"\{(\w+)\}", one, template)

    def _plain(self, kind: str, first: Tensor | None) -> str:
        match kind:
            case "d":
                if first is None:
                    raise Dropped
                return str(self.dim(first))
            case "c":
                return self.choose(CONSTANTS)
            case "k":
                return str(self.choose((0, 1, 2, 3, 4, -1, -2, -3)))
            case "p":
                return str(self.number(1, 4))
            case "t":
                return str(self.choose(DTYPES))
            case _:
                return self.choose(("False", "True"))

    # -- statements -------------------------------------------------------------------------------
    def evaluate(self, text: str) -> Any:
        """The value of an expression in eager. Dropped when it raises."""
        scope = {"torch": torch, "F": torch.nn.functional, **self.env}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return eval(text, scope)
            except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError) as error:
                raise Dropped from error

    def let(self, text: str) -> None:
        """`vN = text`, for each of its tensors when it is a tuple. Dropped when it will not do."""
        value = self.evaluate(text)
        several = isinstance(value, tuple | list)
        values: list[Any] = list(value) if several else [value]
        if not values or not all(isinstance(v, Tensor) for v in values):
            raise Dropped
        if any(v.numel() > MOST_ELEMENTS or v.is_complex() or v.dim() > 5 for v in values):
            raise Dropped
        names = [f"v{len(self.env) + k}" for k in range(len(values))]
        self.env.update(zip(names, values, strict=True))
        self.lines.append(f"{', '.join(names)}{',' if several else ''} = {text}")

    def do(self, text: str) -> None:
        """A statement for its effect. Dropped when eager refuses it."""
        self.evaluate(text)
        self.lines.append(text)
