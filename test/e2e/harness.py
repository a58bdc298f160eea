"""What the end-to-end tests share: compile with the backend under test, compare with eager.

The backend is `minductor`; `MINDUCTOR_TEST_BACKEND=aot_eager` runs the same tests against torch's
own reference backend, which shows that the tests themselves ask for the right thing.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.backends.registry import lookup_backend
from torch.utils import _pytree as pytree

BACKEND = os.environ.get("MINDUCTOR_TEST_BACKEND", "minductor")

ours_only = pytest.mark.skipif(BACKEND != "minductor", reason="asks for minductor's own features")

TOLERANCE = {
    torch.float64: (1e-9, 1e-9),
    torch.float32: (1e-5, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-2),
    torch.float16: (2e-3, 1e-3),
    torch.complex64: (1e-5, 1e-5),
    torch.complex128: (1e-9, 1e-9),
}

Make = Callable[[], Sequence[Any]]


@dataclass
class Compiled:
    """A compiled callable that counts the graphs its backend was given."""

    fn: Callable[..., Any]
    graphs: list[torch.fx.GraphModule] = field(default_factory=list[torch.fx.GraphModule])
    reports: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fn(*args, **kwargs)


def compiled(
    fn: Callable[..., Any],
    *,
    dynamic: bool | None = False,
    fullgraph: bool = True,
    options: dict[str, Any] | None = None,
) -> Compiled:
    """`fn` through the backend under test.

    Options reach minductor only; its reports are kept, and a graph that it cannot compile fails the
    test instead of running eagerly.
    """
    inner = lookup_backend(BACKEND)
    result = Compiled(fn)
    keywords: dict[str, Any] = {}
    if BACKEND == "minductor":
        keywords["options"] = {"report": result.reports.append, "strict": True, **(options or {})}

    def counted(gm: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        result.graphs.append(gm)
        return inner(gm, inputs, **keywords)

    result.fn = torch.compile(fn, backend=counted, dynamic=dynamic, fullgraph=fullgraph)
    return result


def leaves(tree: Any) -> list[Any]:
    """All leaves of nested tuples, lists, dicts and model outputs, `None` included."""
    return pytree.tree_leaves(tree)


def real_strides(tensor: Tensor) -> list[int]:
    """Strides in dimensions larger than one: the others have no meaning."""
    if tensor.numel() == 0:
        return []
    return [s for s, n in zip(tensor.stride(), tensor.shape, strict=True) if n > 1]


def same_bits(got: Tensor, want: Tensor) -> bool:
    """Equal bit for bit, where any NaN stands for any NaN."""
    if got.dtype.is_complex:
        return same_bits(torch.view_as_real(got), torch.view_as_real(want))
    if not want.dtype.is_floating_point:
        return torch.equal(got, want)
    nan = want.isnan()
    if not torch.equal(got.isnan(), nan):
        return False
    bits = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[want.element_size()]
    got_bits, want_bits = got.contiguous().view(bits), want.contiguous().view(bits)
    return torch.equal(got_bits.masked_fill(nan, 0), want_bits.masked_fill(nan, 0))


def difference(
    got: Any,
    want: Any,
    *,
    tol: tuple[float, float] | None = None,
    exact: bool = False,
    strides: bool = True,
) -> str | None:
    """Why `got` is not what eager gave, or `None`."""
    if not isinstance(want, Tensor):
        same = type(got) is type(want) and got == want
        return None if same else f"{got!r} for {want!r}"
    if not isinstance(got, Tensor):
        return f"{type(got).__name__} for a tensor"
    for what, a, b in (
        ("dtype", got.dtype, want.dtype),
        ("shape", tuple(got.shape), tuple(want.shape)),
        ("requires_grad", got.requires_grad, want.requires_grad),
        ("strides", real_strides(got), real_strides(want)),
    ):
        if a != b and (strides or what != "strides"):
            return f"{what} {a}, expected {b}"
    got, want = got.detach(), want.detach()
    if exact or not (want.dtype.is_floating_point or want.dtype.is_complex):
        return None if same_bits(got, want) else f"bits differ: {got.flatten()[:8]}"
    rtol, atol = tol or TOLERANCE.get(want.dtype, (0.0, 0.0))
    try:
        torch.testing.assert_close(got, want, rtol=rtol, atol=atol, equal_nan=True)
    except AssertionError as error:
        return " ".join(str(error).split())[:300]
    return None


def same(got: Any, want: Any, what: str = "result", names: Sequence[str] = (), **how: Any) -> None:
    """Assert that two trees agree leaf for leaf; the message names each wrong leaf."""
    a, b = leaves(got), leaves(want)
    assert len(a) == len(b), f"{what}: {len(a)} leaves, expected {len(b)}"
    wrong: list[str] = []
    for index, (x, y) in enumerate(zip(a, b, strict=True)):
        why = difference(x, y, **how)
        if why:
            wrong.append(f"{names[index] if index < len(names) else index}: {why}")
    assert not wrong, f"{what} differs from eager's in {len(wrong)} of {len(b)}\n" + "\n".join(
        wrong
    )


def aliases(inputs: Any, outputs: Any) -> list[list[bool]]:
    """Which of the inputs and outputs share storage with which."""
    tensors = [t for t in leaves((inputs, outputs)) if isinstance(t, Tensor)]
    keys = [t.untyped_storage().data_ptr() if t.numel() else -1 - i for i, t in enumerate(tensors)]
    return [[a == b for b in keys] for a in keys]


def gradients(outputs: Any, inputs: Any) -> list[Tensor | None]:
    """Gradients of all inputs that ask for one, of the outputs against fixed random tangents."""
    outs = [t for t in leaves(outputs) if isinstance(t, Tensor) and t.requires_grad]
    ins = [t for t in leaves(inputs) if isinstance(t, Tensor) and t.requires_grad]
    generator = torch.Generator().manual_seed(7)
    tangents = [torch.randn(o.shape, generator=generator).to(o.dtype) for o in outs]
    return list(torch.autograd.grad(outs, ins, tangents, allow_unused=True))


def check(
    fn: Callable[..., Any],
    make: Make,
    *,
    graphs: int = 1,
    calls: int = 2,
    grad: bool = False,
    alias: bool = False,
    names: Sequence[str] = (),
    dynamic: bool | None = False,
    fullgraph: bool = True,
    options: dict[str, Any] | None = None,
    **how: Any,
) -> Compiled:
    """Eager against compiled on fresh inputs of `make`.

    Compared are outputs, what became of the inputs, with `grad` the gradients, with `alias` which
    of inputs and outputs share memory, and the number of graphs that the backend was given.
    """
    subject = compiled(fn, dynamic=dynamic, fullgraph=fullgraph, options=options)
    for _ in range(calls):
        eager_args, our_args = make(), make()
        want, got = fn(*eager_args), subject(*our_args)
        same(got, want, names=names, **how)
        same(our_args, eager_args, "an input after the call", **how)
        if alias:
            assert aliases(our_args, got) == aliases(eager_args, want), "other outputs alias"
        if grad:
            # Eager gives expanded stride-0 gradients where AOTAutograd gives dense ones.
            loose = {**how, "strides": False}
            same(gradients(got, our_args), gradients(want, eager_args), "gradient", **loose)
    assert len(subject.graphs) == graphs, f"{len(subject.graphs)} graphs, expected {graphs}"
    return subject


def uniform(*shape: int, low: float = -2.0, high: float = 2.0, seed: int = 0) -> Tensor:
    """Seeded f32 values in [low, high)."""
    generator = torch.Generator().manual_seed(seed + 1)
    return torch.rand(shape, generator=generator) * (high - low) + low


def integers(*shape: int, low: int = -9, high: int = 10, seed: int = 0) -> Tensor:
    """Seeded i64 values in [low, high)."""
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed + 1))


def filled(dtype: torch.dtype, *shape: int, seed: int = 0) -> Tensor:
    """Seeded values that suit the dtype: small floats, small (wrapping for u8) ints, bools."""
    if dtype is torch.bool:
        return integers(*shape, low=0, high=2, seed=seed).bool()
    if dtype.is_floating_point:
        return uniform(*shape, seed=seed).to(dtype)
    return integers(*shape, seed=seed).to(dtype)


def leaf(tensor: Tensor) -> Tensor:
    """A fresh leaf of the same values and strides that asks for a gradient."""
    return tensor.detach().clone(memory_format=torch.preserve_format).requires_grad_()
