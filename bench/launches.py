"""The kernels that a workload launches, taken down so that each can be run again alone."""

import contextlib
import dataclasses
import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch

from bench.contenders import compile_for
from bench.report import OURS
from bench.shadow import shadows
from bench.workload import Where, step_of
from bench.workloads import MICRO
from minductor.runtime import triton_loader
from minductor.runtime.host import Host
from minductor.tools.mini_plan import parse


@dataclass(eq=False)
class Launch:
    """A kernel as a graph ran it: `run` does so again.

    `planned`: bytes as priced; `share`: of them, those written; `programs` of a grid, and
    `part(n)`, which runs the first n-th of them (neither on a CPU). On a CPU `shadow()` gives the
    launch over memory that lies in the cache.
    """

    name: str
    planned: int
    share: float
    run: Callable[[], object]
    programs: int = 0
    part: Callable[[int], Callable[[], object]] | None = None
    shadow: Callable[[], Callable[[], object]] | None = None


@dataclass
class Recorder:
    """Takes down the kernels that graphs launch while `on`."""

    on: bool = False
    launches: list[Launch] = field(default_factory=list[Launch])

    def wrap(self, host: Host, name: str, call: Callable[..., None]) -> Callable[..., None]:
        """`call`, that also takes itself down."""
        rows = [r for plan in parse(host.artifact.plan) for r in plan.rows if r.kind == "kernel"]
        planned = {r.name.replace(".", "_"): r.planned or 0 for r in rows}
        artifact: Any = host.artifact
        writes = written(f"{artifact.cpp or ''}\n{artifact.triton or ''}", name.replace(".", "_"))

        def recorded(*args: Any) -> None:
            call(*args)
            if self.on:
                price = planned.get(name.replace(".", "_"), 0)
                run = lambda: call(*args)  # noqa: E731
                one = Launch(name, price, write_share(args, writes), run)
                if artifact.triton and not triton_loader.interpreting():
                    one.programs = programs_of(host, name, args)
                    one.part = lambda n: lambda call=part_of(host, name, n): call(*args)
                else:
                    one.shadow = lambda: partial(call, *shadows(args))
                self.launches.append(one)

        return recorded


def programs_of(host: Host, name: str, args: Sequence[Any]) -> int:
    """Programs of a launch of a Triton kernel."""
    launch: triton_loader.Launch = host._triton._launches[name]
    x, y, z = launch.grid_function()(*args[len(args) - len(launch.sizes) :])
    return x * y * z


def part_of(host: Host, name: str, share: int) -> Callable[..., None]:
    """A Triton kernel of which a launch runs the first of `share` equal parts of its programs."""
    module = host._triton
    launch: triton_loader.Launch = module._launches[name]
    x, y, z = launch.grid
    some = dataclasses.replace(launch, grid=(f"max(1, ({x}) // {share})", y, z))
    slow = triton_loader._Unaligned(name, module._function(name), some)
    return triton_loader._direct(module._compiled(name), name, some, slow)


def written(source: str, name: str) -> list[bool]:
    """For each pointer of a kernel in C++ or Triton source: does it write there?"""
    entry = re.search(rf"  return {name}_body\((.*)\);", source)
    if entry:
        casts = re.findall(r"\((const )?\w+ \*\)ptrs", entry[1])
        return [not const for const in casts]
    made = re.search(rf"^def {name}\((.*)\):\n((?:    .*\n|\n)*)", source, re.MULTILINE)
    if made is None:
        return []
    names = [one.split(":")[0].strip() for one in made[1].split(",")]
    stored = set(re.findall(r"tl\.(?:store|atomic_\w+)\((\w+)", made[2]))
    return [one in stored for one in names]


def write_share(args: Sequence[Any], writes: Sequence[bool]) -> float:
    """The share of a launch's tensor bytes that it writes; half where that is not known."""
    sizes = [a.untyped_storage().nbytes() if isinstance(a, torch.Tensor) else 0 for a in args]
    pairs = list(zip(sizes, writes, strict=False))
    total = sum(size for size, _ in pairs)
    return sum(size for size, wrote in pairs if wrote) / total if total else 0.5


@contextlib.contextmanager
def recording(found: Recorder) -> Generator[None]:
    """Kernels that are bound meanwhile are taken down."""
    kernel, triton = Host.kernel, Host.triton

    def bind_kernel(self: Host, name: str, pointers: int, sizes: int = 0) -> Callable[..., None]:
        return found.wrap(self, name, kernel(self, name, pointers, sizes))

    def bind_triton(self: Host, name: str) -> Callable[..., None]:
        return found.wrap(self, name, triton(self, name))

    Host.kernel, Host.triton = bind_kernel, bind_triton
    try:
        yield
    finally:
        Host.kernel, Host.triton = kernel, triton


def launches_of(name: str, where: Where, options: dict[str, Any] | None = None) -> list[Launch]:
    """The kernels of one step of a workload, in order; `options` are minductor's."""
    found = Recorder()
    torch._dynamo.reset()
    torch.manual_seed(0)
    work = MICRO[name](where)
    with recording(found):
        step = step_of(work, compile_for(OURS, work.fn, options or {}))
        for _ in range(2):  # the first compiles, the second settles choices among variants
            step()
        found.on = True
        step()
    return found.launches
