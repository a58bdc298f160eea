"""One program, compiled against eager: the oracle.

Results, inputs after the call and gradients are compared with the tolerance that the program's own
arithmetic gives (`minductor.validate.tolerance`), integers and booleans exactly; dtypes, sizes,
strides and which of inputs and results share memory have to be eager's. A value that is off is held
against eager's ops in f64, each rounded once, before it counts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch._subclasses import FakeTensorMode

from minductor.tools.fuzz.ideal import Ideal, Kept
from minductor.tools.fuzz.program import Program
from minductor.validate.compare import Reference, outcome
from minductor.validate.snapshot import Snapshot

HALVES = (torch.float16, torch.bfloat16)


@dataclass(frozen=True)
class Fault:
    """What is wrong with a program, in a sentence."""

    kind: str
    why: str

    def head(self) -> str:
        """What a smaller program's fault has in common with it."""
        return f"{self.kind} {self.why[:40]}" if self.kind == "error" else self.kind

    def __str__(self) -> str:
        return f"{self.kind}: {self.why}"


@dataclass(frozen=True)
class Checker:
    """Checks programs under options of the backend."""

    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def fault(self, program: Program, validate: bool = False) -> Fault | None:
        """What is wrong, or None. Programs that eager cannot run on their inputs are right."""
        options = {**self.options, "strict": True, "validate": validate, "progress": False}
        found = _through("minductor", program, options)
        if found is None or _through("aot_eager", program, None) is not None:
            return None  # what torch itself does not trace, or traces otherwise, is not ours
        return found


def _through(backend: str, program: Program, options: dict[str, Any] | None) -> Fault | None:
    torch._dynamo.reset()
    call = torch.compile(
        program.function(), backend=backend, dynamic=program.dynamic, options=options
    )
    sizes = [program]
    if program.dynamic and (other := program.resized()) is not None:
        sizes.append(other)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for one in sizes:
            found = _compare(one, call)
            if found is not None:
                return found
    return None


def _compare(program: Program, call: Callable[..., Any]) -> Fault | None:
    f = program.function()
    inputs = Snapshot(program.make())
    marks = [isinstance(a, Tensor) and a.requires_grad for a in program.make()]
    try:
        reference = Reference(_runner(f, marks), inputs)
    except Exception:
        return None  # eager refuses it
    try:
        got = outcome(_runner(call, marks), inputs)
    except Exception as error:
        return Fault("error", _short(error))
    halves = any(isinstance(v, Tensor) and v.dtype in HALVES for v in _seen(program))
    why = reference.difference(_forgiven(got, reference.exact) if halves else got)
    modes = (Ideal, Kept) if halves else (Ideal,)
    if why is not None and all(_as_meant(f, marks, inputs, got, halves, m) for m in modes):
        return Fault("value", why)
    why = _layouts(f, call, program)
    return None if why is None else Fault("layout", why)


def _as_meant(
    f: Callable[..., Any],
    marks: Sequence[bool],
    inputs: Snapshot,
    got: list[Any],
    halves: bool,
    mode: type[Ideal | Kept],
) -> str | None:
    """How results differ from those of eager's ops without (inner) rounding, or None."""
    run = _runner(f, marks)

    def ideal(args: list[Any]) -> list[Any]:
        with mode():
            return run(args)

    reference = Reference(ideal, inputs)
    return reference.difference(_forgiven(got, reference.exact) if halves else got)


def _runner(f: Callable[..., Any], marks: Sequence[bool]) -> Callable[[list[Any]], list[Any]]:
    """`f` on a list, its gradients behind its results."""

    def run(args: list[Any]) -> list[Any]:
        for arg, mark in zip(args, marks, strict=True):
            if mark:
                arg.requires_grad_()
        results = list(f(*args))
        wanted = [a for a, mark in zip(args, marks, strict=True) if mark]
        outs = [r for r in results if isinstance(r, Tensor) and r.requires_grad]
        if not wanted or not outs:
            return results
        tangents = [torch.ones_like(o) for o in outs]
        found: list[Any] = [*torch.autograd.grad(outs, wanted, tangents, allow_unused=True)]
        return [*results, *(torch.zeros(0) if g is None else g for g in found)]

    return run


def _seen(program: Program) -> list[Any]:
    """A tensor of each half type that a program may hold."""
    text = program.source()
    named = [t for t in HALVES if str(t) in text]
    named += [one.dtype for one in program.inputs]
    return [torch.empty(0, dtype=t) for t in named]


def _forgiven(got: list[Any], want: Sequence[Any]) -> list[Any]:
    """Where eager overflowed in a half type, a kernel that kept f32 may have a number."""
    out: list[Any] = []
    for a, b in zip(got, want, strict=False):
        both = isinstance(a, Tensor) and isinstance(b, Tensor) and a.shape == b.shape
        if both and a.dtype == b.dtype and a.is_floating_point():
            a = torch.where(b.isfinite(), a, b)
        out.append(a)
    return out


def _layouts(f: Callable[..., Any], call: Callable[..., Any], program: Program) -> str | None:
    """How strides or sharing of memory differ from eager's, or None."""
    eager, ours = program.make(), program.make()
    want, got = list(f(*eager)), list(call(*ours))
    for i, (a, b) in enumerate(zip(got, want, strict=True)):
        if not isinstance(a, Tensor) or not isinstance(b, Tensor):
            continue
        if _strides(a) != _strides(b) and _strides(a) != _promised(f, program, i):
            return (
                f"result {i} has strides {a.stride()}, eager's {b.stride()}, sizes {list(b.shape)}"
            )
        if a.requires_grad != b.requires_grad:
            return f"result {i}: requires_grad is {a.requires_grad}"
    if _shared([*ours, *got]) != _shared([*eager, *want]):
        return "other inputs and results share memory than in eager"
    return None


def _promised(f: Callable[..., Any], program: Program, i: int) -> list[int] | None:
    """Strides of a result by torch's own shape functions, which a few ops do not keep to."""
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    try:
        fakes = [mode.from_tensor(a, static_shapes=True) for a in program.make()]
        with mode:
            return _strides(f(*fakes)[i])
    except Exception:
        return None


def _strides(t: Tensor) -> list[int]:
    if t.numel() == 0:
        return []
    return [s for s, n in zip(t.stride(), t.shape, strict=True) if n > 1]


def _shared(values: Sequence[Any]) -> list[list[bool]]:
    keys = [
        t.untyped_storage().data_ptr() if isinstance(t, Tensor) and t.numel() else -1 - i
        for i, t in enumerate(values)
    ]
    return [[a == b for b in keys] for a in keys]


def _short(error: Exception) -> str:
    inner = getattr(error, "inner_exception", None) or error
    text = str(inner).split("Set TORCHDYNAMO_VERBOSE")[0].strip()
    return f"{type(inner).__name__}: {text[:1500]}"
