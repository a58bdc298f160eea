"""What a workload is: a function, its inputs, and the bytes and flops that it cannot avoid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Where:
    """Device, floating dtype and scale of a run.

    `rows(n)` is the number of rows of a workload: `n` on a CPU, sixteen times as many on a GPU,
    whose caches and bandwidth ask for more.
    """

    device: str
    dtype: torch.dtype

    def rows(self, cpu: int) -> int:
        return cpu if self.device == "cpu" else 16 * cpu

    def normal(self, *shape: int, seed: int = 0, dtype: torch.dtype | None = None) -> Tensor:
        """Seeded normal values in the run's dtype."""
        generator = torch.Generator().manual_seed(seed + 1)
        values = torch.randn(shape, generator=generator)
        return values.to(self.device, dtype or self.dtype)

    def whole(self, *shape: int, high: int, seed: int = 0) -> Tensor:
        """Seeded i64 values in [0, high)."""
        generator = torch.Generator().manual_seed(seed + 1)
        return torch.randint(0, high, shape, generator=generator).to(self.device)


@dataclass
class Workload:
    """`fn(*args)` is what is measured; with `tangents` its backward runs in the same step.

    Without tangents nothing may ask for a gradient: then no grad mode has to be switched.

    Gradients are taken of `wrt`, left out of all inputs that ask for one. `remake` gives fresh
    inputs to check results with, for a function that writes its inputs.

    `reads` and `writes` are the bytes that any implementation must move; left out, they are the
    bytes of all inputs (and tangents) and of all outputs (and gradients). `floor`, if given, is a
    library call whose time bounds the workload from below where flops and not bytes decide.
    `exact` makes the same workload in f64, for one whose function holds tensors of its own.
    """

    fn: Callable[..., Any]
    args: Sequence[Any]
    tangents: tuple[Tensor, ...] = ()
    wrt: Sequence[Tensor] | None = None
    reads: int | None = None
    writes: int | None = None
    floor: Callable[[], Any] | None = None
    tolerance: float | None = None
    slack: int = 0
    remake: Callable[[], Sequence[Any]] | None = None
    exact: Callable[[], Workload] | None = None


Build = Callable[[Where], Workload]


def tensors(tree: Any) -> list[Tensor]:
    """All tensors of nested sequences, dicts and model outputs."""
    if isinstance(tree, Tensor):
        return [tree]
    if isinstance(tree, dict):
        return [t for value in tree.values() for t in tensors(value)]
    if isinstance(tree, (list, tuple)):
        return [t for value in tree for t in tensors(value)]
    return []


def stored_bytes(tensor: Tensor) -> int:
    """Bytes of distinct elements: an expanded dimension counts once."""
    count = 1
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        count *= size if stride or size == 0 else 1
    return count * tensor.element_size()


def step_of(workload: Workload, fn: Callable[..., Any]) -> Callable[[], Any]:
    """A step without arguments: forward, or forward and backward; returns all results."""
    args = workload.args
    if not workload.tangents:
        return lambda: fn(*args)
    leaves = workload.wrt or [t for t in tensors(args) if t.requires_grad]

    def both() -> list[Tensor]:
        outs = tensors(fn(*args))
        asked = [t for t in outs if t.requires_grad]
        grads = torch.autograd.grad(asked, leaves, workload.tangents)
        return [t.detach() for t in outs] + list(grads)

    return both


def in_f64(workload: Workload) -> Workload | None:
    """The workload with all floating inputs in f64, or None when it makes its own."""
    if workload.exact is not None:
        return workload.exact()
    if workload.remake is not None:
        return None
    made: dict[int, Tensor] = {}

    def wide(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [wide(one) for one in value]
        if not isinstance(value, Tensor) or not value.is_floating_point():
            return value
        if id(value) not in made:
            made[id(value)] = value.detach().double().requires_grad_(value.requires_grad)
        return made[id(value)]

    args, tangents = wide(list(workload.args)), tuple(wide(list(workload.tangents)))
    known = all(id(t) in made for t in workload.wrt or ())
    wrt = None if workload.wrt is None else [wide(t) for t in workload.wrt]
    return Workload(workload.fn, args, tangents, wrt) if known else None


def traffic(workload: Workload, results: Sequence[Tensor]) -> tuple[int, int]:
    """Bytes read and written at least, by the workload's own count or by its inputs and results."""
    reads, writes = workload.reads, workload.writes
    if reads is None:
        reads = sum(stored_bytes(t) for t in [*tensors(workload.args), *workload.tangents])
    if writes is None:
        writes = sum(stored_bytes(t) for t in results)
    return reads, writes
