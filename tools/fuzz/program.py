"""A random program: inputs, straight-line statements, results; and its text as Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from minductor.tools.fuzz import tensors


@dataclass(frozen=True)
class Input:
    """An input tensor; see `tensors.tensor`."""

    name: str
    dtype: torch.dtype
    shape: tuple[int, ...]
    layout: str = "dense"
    values: str = "small"
    seed: int = 0
    grad: bool = False

    def make(self) -> torch.Tensor:
        """The tensor, made anew."""
        out = tensors.tensor(self.dtype, self.shape, self.layout, self.values, self.seed)
        return out.requires_grad_() if self.grad else out

    def text(self) -> str:
        """The expression that makes it."""
        made = f'tensor({self.dtype}, {self.shape}, "{self.layout}", "{self.values}", {self.seed})'
        return f"{made}.requires_grad_()" if self.grad else made

    def resized(self, sizes: Mapping[int, int]) -> Input:
        """The input with other sizes, `sizes` being old to new."""
        return replace(self, shape=tuple(sizes.get(n, n) for n in self.shape))


@dataclass(frozen=True)
class Program:
    """`repeat`: an input given a second time, as an argument of its own, or None."""

    inputs: tuple[Input, ...]
    lines: tuple[str, ...]
    returns: tuple[str, ...]
    dynamic: bool = False
    repeat: str | None = None

    @property
    def grads(self) -> bool:
        """Whether gradients are asked for."""
        return any(one.grad for one in self.inputs)

    def source(self) -> str:
        """`def f(...)`."""
        names = [one.name for one in self.inputs] + (["again"] if self.repeat else [])
        body = [*self.lines, f"return {', '.join(self.returns)}{',' * bool(self.returns)}"]
        return f"def f({', '.join(names)}):\n" + "".join(f"    {line}\n" for line in body)

    def function(self) -> Callable[..., Any]:
        """`f`, compiled by Python anew, so that Dynamo has not seen it."""
        scope: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
        exec(compile(self.source(), "<fuzz>", "exec"), scope)
        return scope["f"]

    def make(self) -> list[Any]:
        """Fresh arguments."""
        made = {one.name: one.make() for one in self.inputs}
        return [*made.values(), *([made[self.repeat]] if self.repeat else [])]

    def resized(self) -> Program | None:
        """The program with its largest size grown by two, None where there is none above 1."""
        sizes = sorted({n for one in self.inputs for n in one.shape if n > 1})
        if not sizes:
            return None
        change = {sizes[-1]: sizes[-1] + 2}
        return replace(self, inputs=tuple(one.resized(change) for one in self.inputs))

    def script(self, options: Mapping[str, Any], why: str) -> str:
        """A self-contained program that compares eager and compiled."""
        helpers = [inspect.getsource(one) for one in (tensors.numbers, tensors.tensor)]
        again = [self.repeat] if self.repeat else []
        arguments = "".join(f"    {one.name} = {one.text()}\n" for one in self.inputs)
        listed = ", ".join([*(one.name for one in self.inputs), *again])
        note = "".join(f"# {line}\n" for line in why.splitlines())
        return "\n".join(
            [
                f"{note}import torch\nimport torch.nn.functional as F\n",
                f'SPECIALS = (0.0, -0.0, float("nan"), float("inf"), float("-inf"), '
                f"{', '.join(repr(v) for v in tensors.SPECIALS[5:])})\n",
                *helpers,
                self.source(),
                f"def make():\n{arguments}    return [{listed}]\n",
                "eager, ours = make(), make()",
                "want = f(*eager)",
                f'g = torch.compile(f, backend="minductor", dynamic={self.dynamic}, '
                f"options={dict(options)!r})",
                "got = g(*ours)",
                _GRADS if self.grads else "",
                "for i, (a, b) in enumerate(zip([*got, *ours], [*want, *eager])):",
                "    unit = torch.finfo(b.dtype).eps if b.is_floating_point() else 0.0",
                "    same = a.shape == b.shape and a.stride() == b.stride() and torch.allclose(",
                "        a.double(), b.double(), rtol=max(1e-5, 4 * unit), equal_nan=True)",
                '    print(i, "same" if same else f"DIFFERS\\n{a}\\n{b}")',
                "",
            ]
        )


_GRADS = """\
def grads(outs, args):
    outs = [o for o in outs if o.requires_grad]
    args = [a for a in args if a.requires_grad]
    return [g for g in torch.autograd.grad(
        outs, args, [torch.ones_like(o) for o in outs], allow_unused=True) if g is not None]

want, got = [*want, *grads(want, eager)], [*got, *grads(got, ours)]
want, got = [t.detach() for t in want], [t.detach() for t in got]
eager, ours = [t.detach() for t in eager], [t.detach() for t in ours]"""
