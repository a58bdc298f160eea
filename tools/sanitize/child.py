"""One child process: compiles programs, runs them, compares with eager, prints a line a program."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from minductor.tools.sanitize.planted import run_planted
from minductor.tools.sanitize.programs import PROGRAMS, Program


def results(program: Program, fn: Any, device: str = "cpu") -> list[Tensor]:
    """All outputs, and the gradients of inputs of a program with a backward."""
    args = [a.to(device) if isinstance(a, Tensor) else a for a in program.make()]
    leaves = [a for a in args if program.grad and isinstance(a, Tensor) and a.is_floating_point()]
    for leaf in leaves:
        leaf.requires_grad_()
    outs = tensors(fn(*args))
    if not leaves:
        return outs
    ones = [torch.linspace(-1, 1, o.numel(), device=device).reshape(o.shape) for o in outs]
    return [*(o.detach() for o in outs), *torch.autograd.grad(outs, leaves, ones)]


def tensors(tree: Any) -> list[Tensor]:
    """The tensors of nested sequences."""
    if isinstance(tree, Tensor):
        return [tree]
    return [t for value in tree for t in tensors(value)]


def compiled(program: Program, options: dict[str, Any]) -> Any:
    """The program's function, compiled; threads start for little work already."""
    torch.compiler.reset()
    return torch.compile(
        program.fn,
        backend="minductor",
        dynamic=program.dynamic,
        options={"strict": True, "threads": 2, **options},
    )


def check(program: Program, options: dict[str, Any], device: str) -> str:
    """Run a program; empty when its results are eager's, else how they differ."""
    want = results(program, program.fn, device)
    got = results(program, compiled(program, options), device)
    for ours, eager in zip(got, want, strict=True):
        half = eager.dtype in (torch.bfloat16, torch.float16)
        near = 2e-2 if half else 2e-4
        try:
            torch.testing.assert_close(ours, eager, rtol=near, atol=near, equal_nan=True)
        except AssertionError as error:
            return str(error).splitlines()[0]
    return ""


def main(argv: Sequence[str] | None = None) -> int:
    """`child [device=cuda] [isa=avx2] NAME ...`; the exit status counts wrong programs."""
    torch.set_num_threads(1)  # eager's own threads are none of ours
    wrong = 0
    options: dict[str, Any] = {}
    device = "cpu"
    for name in sys.argv[1:] if argv is None else argv:
        if name.startswith("isa="):
            options["isa"] = name.removeprefix("isa=")
            continue
        if name.startswith("device="):
            device = name.removeprefix("device=")
            continue
        if name.startswith("planted-"):
            run_planted(name.removeprefix("planted-"))
            print(f"ran {name}", flush=True)
            continue
        why = check(PROGRAMS[name], options, device)
        wrong += bool(why)
        print(f"WRONG {name}: {why}" if why else f"ran {name}", flush=True)
    return wrong


if __name__ == "__main__":
    raise SystemExit(main())
