"""Programs over many sizes: compiled once with symbolic sizes, compared with eager at each."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from harness import Compiled, compiled, gradients, leaves, same, uniform
from torch import Tensor
from torch._dynamo.testing import CompileCounterWithBackend

LOOSE = (1e-4, 1e-4)
"""Tolerances of sums over many elements."""
SIZES = (5, 7, 12, 16, 33, 50, 64, 100, 129, 257)
"""Ten sizes, apart from 0, 1 and the fixed extents of the programs, at which Dynamo specialises."""

SIDES = (6, 7, 12, 17, 33)
"""Sides of images."""
EVEN = (6, 8, 12, 16, 34, 50, 64, 100, 130, 258)
"""Sizes that two divides."""
FOURS = (8, 12, 16, 20, 32, 36, 64, 100, 132, 256)


def row(n: int) -> list[Tensor]:
    """x: (n,)."""
    return [uniform(n)]


def matrix(n: int) -> list[Tensor]:
    """x: (n, 6)."""
    return [uniform(n, 6)]


def wide(n: int) -> list[Tensor]:
    """x: (3, n)."""
    return [uniform(3, n)]


def square(n: int) -> list[Tensor]:
    """x: (n, n + 1)."""
    return [uniform(n, n + 1)]


def image(n: int) -> list[Tensor]:
    """x: (2, 3, n, n + 3)."""
    return [uniform(2, 3, n, n + 3)]


def pair(n: int) -> list[Tensor]:
    """x: (n, 6), y: (2n + 1, 6)."""
    return [uniform(n, 6), uniform(2 * n + 1, 6, seed=1)]


@dataclass(frozen=True)
class Program:
    """A function of tensors and numbers, its arguments at a size, and the graphs Dynamo makes.

    `make(n)` gives equal arguments on each call with the same n. `graphs` None: Dynamo itself
    specialises on some sizes, and there are as many graphs as with torch's own `aot_eager`.
    """

    fn: Callable[..., Any]
    make: Callable[[int], Sequence[Any]]
    sizes: Sequence[int] = SIZES
    graphs: int | None = 1
    grad: bool = False
    tol: tuple[float, float] | None = None
    strides: bool = True


def run(program: Program, *, dynamic: bool | None = True, **how: Any) -> Compiled:
    """Eager against one compiled callable at each size; then the number of graphs."""
    subject = compiled(program.fn, dynamic=dynamic, **how)
    for n in program.sizes:
        at_size(subject, program, n)
    wanted = program.graphs
    assert len(subject.graphs) == (graphs_of(program, dynamic) if wanted is None else wanted)
    return subject


def graphs_of(program: Program, dynamic: bool | None = True) -> int:
    """How many graphs Dynamo makes of the calls by itself."""
    torch._dynamo.reset()
    count = CompileCounterWithBackend("aot_eager")
    subject = torch.compile(program.fn, backend=count, dynamic=dynamic, fullgraph=True)
    for n in program.sizes:
        subject(*program.make(n))
    return count.frame_count


def at_size(subject: Compiled, program: Program, n: int) -> None:
    """Values, strides, arguments after the call, and gradients where asked for, at one size."""
    ours, eagers = program.make(n), program.make(n)
    got, want = subject(*ours), program.fn(*eagers)
    rules: dict[str, Any] = {"tol": program.tol, "strides": program.strides}
    same(got, want, f"n={n}", **rules)
    same(ours, eagers, f"an argument after the call, n={n}", **rules)
    if program.grad:
        mine, theirs = gradients(got, ours), gradients(want, eagers)
        same(mine, theirs, f"gradient, n={n}", tol=program.tol, strides=False)


def wants_gradients(args: Iterable[Any]) -> list[Any]:
    """The arguments, floating tensors as leaves that ask for a gradient."""
    return [
        a.detach().clone(memory_format=torch.preserve_format).requires_grad_()
        if isinstance(a, torch.Tensor) and a.is_floating_point()
        else a
        for a in leaves(args)
    ]
