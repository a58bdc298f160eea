"""Operators of the user's: writes into whole tensors and parts, autograd, lists, sizes from data,
and Triton kernels."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from harness import check, compiled, leaf, same, uniform
from torch import Tensor


@torch.library.custom_op("e2e_ops::scaled_square", mutates_args=())
def scaled_square(x: Tensor, k: float) -> Tensor:
    return x * x * k


scaled_square.register_fake(lambda x, k: torch.empty_like(x))


def _keep(ctx: Any, inputs: tuple[Tensor, float], output: Tensor) -> None:
    ctx.save_for_backward(inputs[0])
    ctx.k = inputs[1]


def _square_backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
    return g * 2 * ctx.saved_tensors[0] * ctx.k, None


scaled_square.register_autograd(_square_backward, setup_context=_keep)


@torch.library.custom_op("e2e_ops::increase", mutates_args=("x",))
def increase(x: Tensor, k: int) -> None:
    x.add_(k)


@torch.library.custom_op("e2e_ops::each_plus", mutates_args=())
def each_plus(xs: list[Tensor], n: int) -> list[Tensor]:
    return [x + n for x in xs]


each_plus.register_fake(lambda xs, n: [torch.empty_like(x) for x in xs])


@torch.library.custom_op("e2e_ops::doubled_into", mutates_args=("out",))
def doubled_into(x: Tensor, out: Tensor) -> Tensor:
    out.copy_(x * 2)
    return x + 1


doubled_into.register_fake(lambda x, out: torch.empty_like(x))


@torch.library.custom_op("e2e_ops::positive", mutates_args=())
def positive(x: Tensor) -> Tensor:
    return x[x > 0].clone()


positive.register_fake(lambda x: x.new_empty(torch.library.get_ctx().new_dynamic_size()))


def whole(x: Tensor, y: Tensor) -> Any:
    z = y * 2
    increase(z, 3)
    increase(x, 1)
    return z + x


def parts_of_an_input(x: Tensor, y: Tensor) -> Any:
    increase(x[1:], 2)
    increase(x.view(2, 2, 4)[0], 1)
    return x * 2


def parts_of_a_value(x: Tensor, y: Tensor) -> Any:
    z = x * 1
    increase(z[1:3], 2)
    increase(z.t()[2], 1)
    increase(z.view(-1)[::5], 4)
    return z, z.sum(0)


def parts_of_a_view(x: Tensor, y: Tensor) -> Any:
    increase(x.t()[1:3], 2)
    return x + y


def lists(x: Tensor, y: Tensor) -> Any:
    return each_plus([x * 2, y], 3)


def an_out_argument(x: Tensor, y: Tensor) -> Any:
    out = torch.empty_like(x)
    r = doubled_into(x, out)
    return r + out, out


PROGRAMS: dict[str, Callable[[Tensor, Tensor], Any]] = {
    f.__name__: f
    for f in (
        whole,
        parts_of_an_input,
        parts_of_a_value,
        parts_of_a_view,
        lists,
        an_out_argument,
    )
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_operators_of_the_users(name: str) -> None:
    check(PROGRAMS[name], lambda: (uniform(4, 4), uniform(4, 4, seed=1)), alias=True)


@pytest.mark.parametrize("name", ["parts_of_an_input", "parts_of_a_view"])
def test_writes_into_parts_of_an_offset_input(name: str) -> None:
    def make() -> tuple[Tensor, Tensor]:
        return uniform(5, 4)[1:], uniform(4, 4, seed=1)

    check(PROGRAMS[name], make)


def test_gradient_of_the_users() -> None:
    check(lambda x: scaled_square(x * 2, 3.0) + 1, lambda: (leaf(uniform(4)),), grad=True)


def test_a_size_that_the_users_op_decides() -> None:
    subject = compiled(lambda x: positive(x) * 2)
    for seed in range(3):
        x = uniform(20, seed=seed)
        same(subject(x), x[x > 0] * 2)
    assert len(subject.graphs) == 1


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_triton_kernel_is_carried(monkeypatch: pytest.MonkeyPatch, dynamic: bool) -> None:
    triton = pytest.importorskip("triton")
    tl = pytest.importorskip("triton.language")
    import torch._higher_order_ops.triton_kernel_wrap as wrap

    calls: list[Any] = []

    def stand_in(**given: Any) -> dict[str, Tensor]:
        """What the kernel does, for a machine without a GPU."""
        written = {n: given["kwargs"][n].clone() for n in given["tensors_to_clone"]}
        tensors = {**given["kwargs"], **written}
        calls.append((given["grid"], tensors["n"] if dynamic else None))
        tensors["o_ptr"].copy_(tensors["x_ptr"] + tensors["y_ptr"])
        return written

    monkeypatch.setattr("torch.utils._triton.has_triton", lambda *a: True)
    monkeypatch.setitem(
        wrap.triton_kernel_wrapper_functional.py_kernels,
        torch._C.DispatchKey.CompositeExplicitAutograd,
        stand_in,
    )
    # what an earlier call found for the key would be taken again
    monkeypatch.setattr(wrap.triton_kernel_wrapper_functional, "_dispatch_cache", {}, raising=False)
    monkeypatch.setattr(wrap.log, "disabled", True)
    add = triton.jit(added)
    globals()["tl"] = tl

    def f(x: Tensor, y: Tensor) -> Tensor:
        out, n = torch.empty_like(x), x.numel()
        add[((n + 63) // 64,)](x * 2, y, out, n, BLOCK=64)
        return out + 1

    subject = compiled(f, dynamic=dynamic)
    for n in (100, 300) if dynamic else (100, 100):
        x, y = uniform(n), uniform(n, seed=1)
        same(subject(x, y), x * 2 + y + 1)
        assert calls[-1] == ([((n + 63) // 64, 1, 1)], n if dynamic else None)
    assert len(subject.graphs) == 1
    assert all(one["externs"]["minductor.apply"] == 1 for one in subject.reports)


def added(x_ptr, y_ptr, o_ptr, n, BLOCK: "tl.constexpr"):  # noqa: F821
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # noqa: F821
    kept = i < n
    tl.store(o_ptr + i, tl.load(x_ptr + i, kept) + tl.load(y_ptr + i, kept), kept)  # noqa: F821
