"""Views and layouts: non-contiguous, expanded, offset and overlapping inputs; cat, pad, slices."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from harness import check, integers, uniform
from torch import Tensor

LAYOUTS: dict[str, Callable[[], Tensor]] = {
    "transposed": lambda: uniform(6, 7, 8).transpose(0, 2),
    "permuted": lambda: uniform(2, 3, 4, 5).permute(3, 1, 0, 2),
    "channels_last": lambda: uniform(2, 3, 4, 5).to(memory_format=torch.channels_last),
    "expanded_rows": lambda: uniform(1, 9).expand(5, 9),
    "expanded_columns": lambda: uniform(5, 1).expand(5, 9),
    "offset": lambda: uniform(100)[3:99].view(8, 12),
    "odd_offset": lambda: uniform(65)[1:],
    "strided": lambda: uniform(10, 30)[::2, 1::3],
    "overlapping": lambda: uniform(30).as_strided((4, 6), (2, 1), 3),
    "unfolded": lambda: uniform(20).unfold(0, 5, 2),
    "one_wide": lambda: uniform(5, 1, 7).transpose(1, 2),
    "diagonal": lambda: uniform(6, 6).diagonal(),
    "no_elements": lambda: uniform(4, 5)[2:2],
    "no_dimensions": lambda: uniform(4)[2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_inputs_of_every_layout(layout: str) -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        return (
            x + 1,
            x.sin().contiguous(),
            x.sum(),
            x.cumsum(-1) if x.dim() else x * 3,
            x.relu() * x,
        )

    check(f, lambda: (LAYOUTS[layout](),))


@pytest.mark.parametrize("layout", ["transposed", "permuted", "channels_last", "strided", "offset"])
def test_row_reductions_of_every_layout(layout: str) -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        return x.sum(-1), x.softmax(-1), x.amax(0), x.mean(0, keepdim=True) + x, x.argmax(-1)

    check(f, lambda: (LAYOUTS[layout](),))


def test_inputs_of_different_layouts_meet() -> None:
    def f(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        return x + y, y + x, (x * y).contiguous(), x.t() * y.t(), torch.maximum(x, y).t()

    check(f, lambda: (uniform(33, 17), uniform(17, 33).t()))


SHAPES: dict[str, Callable[[Tensor], Any]] = {
    "view": lambda x: (x.view(-1) * 2, x.view(4, 30) + 1, x.reshape(8, 15).sin(), x.flatten(1) + 1),
    "permute": lambda x: (x.permute(2, 0, 1) + 1, x.transpose(0, 1).contiguous(), x.mT.sin()),
    "merge": lambda x: (x.permute(1, 0, 2).reshape(24, 5) * 2, x.transpose(1, 2).reshape(-1) + 1),
    "squeeze": lambda x: (
        x.unsqueeze(1).squeeze(1) + 1,
        x[:1].squeeze(0) * 2,
        x[None, ..., None] + 1,
    ),
    "expand": lambda x: (x[:, :1].expand(4, 6, 5) + x, x[0].expand(3, 6, 5) * 2, x.repeat(2, 1, 3)),
    "select": lambda x: (x[1] + 1, x[:, -1] * 2, x.select(2, 3).sin(), x[0, 1, 2] * 3),
    "slice": lambda x: (x[1:3] + 1, x[:, ::2] * 2, x[..., 1:-1].sin(), x[2:1] + 1, x[-2:] * 2),
    "split": lambda x: [t * 2 for t in (*x.split(2, 1), *x.chunk(3, 1), *x.unbind(0))],
    "flip_roll": lambda x: (x.flip(0) + 1, x.flip(1, 2) * 2, x.roll(2, 1), x.roll((1, -2), (0, 2))),
    "diagonal": lambda x: (
        x.diagonal(0, 1, 2) + 1,
        x[0].tril() * 2,
        x[0].triu(1) + 1,
        x.movedim(0, 2),
    ),
    "narrow": lambda x: (x.narrow(1, 2, 3).exp(), x.unfold(1, 3, 2) + 1, x.swapaxes(0, 2) * 2),
    "as_strided": lambda x: (torch.as_strided(x * 2, (3, 4), (2, 7), 5), x.view_as(x).clone() + 1),
    "dtype_view": lambda x: (x.view(torch.int32) + 1, (x * 2).view(torch.int32)),
    "pixel_shuffle": lambda x: (F.pixel_shuffle(x[:, :4, None] * 2, 2), x.unflatten(1, (2, 3)) * 2),
}


@pytest.mark.parametrize("name", SHAPES)
def test_views_inside_a_graph(name: str) -> None:
    check(SHAPES[name], lambda: (uniform(4, 6, 5),))


@pytest.mark.parametrize(
    "name", ["view", "permute", "expand", "slice", "select", "flip_roll", "split"]
)
def test_views_pass_gradients(name: str) -> None:
    check(SHAPES[name], lambda: (uniform(4, 6, 5).requires_grad_(),), grad=True)


def test_cat_and_stack() -> None:
    def f(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        joined = (torch.cat([x, y * 2, x[:1]]), torch.cat([x.t(), y.t()], 1), torch.cat([x[:0], y]))
        stacked = (torch.stack([x, y]), torch.stack([x, y.sin()], -1), torch.hstack([x, y]))
        return (*joined, *stacked, torch.cat([x, y], 1).relu().sum(1), torch.cat([x.int(), y]))

    check(f, lambda: (uniform(5, 7), uniform(5, 7, seed=1)))


def test_cat_of_very_many() -> None:
    def f(*pieces: Tensor) -> Tensor:
        return torch.cat([p * (k + 1) for k, p in enumerate(pieces)]).relu()

    check(f, lambda: [uniform(k % 4 + 1, seed=k) for k in range(260)], calls=1)


def test_pad() -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        flat = (F.pad(x, (1, 2)), F.pad(x, (0, 3, 2, 1), value=7.0), F.pad(x, (-1, 2, 1, -1)))
        modes = tuple(
            F.pad(x[None], (2, 1, 1, 2), mode=m) for m in ("reflect", "replicate", "circular")
        )
        fused = (F.pad(x, (3, 5), value=2.0).prod(), F.pad(x * 2, (0, 900), value=-1.0).amin(1))
        return (*flat, *modes, *fused, F.pad(x.cumsum(1), (1, 0)))

    check(f, lambda: (uniform(5, 7),))


def test_scatter_of_slices() -> None:
    def f(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        selected = torch.select_scatter(x, y[0], 0, 1)
        sliced = torch.slice_scatter(x, y[:, :2] * 2, 1, 1, 5, 2)
        return selected, sliced, torch.diagonal_scatter(x[:, :5], y[:, 0]), sliced.sum(0) + selected

    check(f, lambda: (uniform(5, 7), uniform(5, 7, seed=1)))


def test_factories() -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        n = x.shape[0]
        ranges = (torch.arange(n), torch.arange(1.0, 9.0, 1.5), torch.linspace(0, 1, 11))
        fills = (torch.zeros(n, 3), torch.full((2, n), 2.5), torch.ones_like(x, dtype=torch.int8))
        masks = (
            torch.eye(n),
            torch.tril(torch.ones(n, n)),
            torch.arange(n)[:, None] < torch.arange(n),
        )
        return (
            *ranges,
            *fills,
            *masks,
            x.new_full((3,), 4) * x[0],
            torch.tensor([1.0, 2.0]) + x[0],
        )

    check(f, lambda: (uniform(6),))


def test_strides_of_outputs_follow_eager() -> None:
    def f(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        dense = (x * 2, x + y, torch.empty_like(x).copy_(y) + 1, x.relu().permute(0, 2, 3, 1))
        return (
            *dense,
            x.clone(memory_format=torch.contiguous_format),
            x.sum(1, keepdim=True),
            x.softmax(1),
        )

    last = torch.channels_last
    check(f, lambda: (uniform(2, 3, 4, 5).to(memory_format=last), uniform(2, 3, 4, 5)))


def test_convolution_keeps_channels_last() -> None:
    def f(x: Tensor, w: Tensor) -> tuple[Tensor, ...]:
        y = F.conv2d(x, w, padding=1).relu()
        return y, F.max_pool2d(y, 2), F.adaptive_avg_pool2d(y, 1).flatten(1)

    for fmt in (torch.contiguous_format, torch.channels_last):
        torch._dynamo.reset()
        x = uniform(2, 4, 9, 7).to(memory_format=fmt)
        check(f, lambda x=x: (x.clone(), uniform(6, 4, 3, 3)), tol=(1e-4, 1e-4))


def test_large_index_arithmetic() -> None:
    def f(x: Tensor, i: Tensor) -> tuple[Tensor, ...]:
        y = x.view(3, 4, 5, 2).permute(2, 0, 3, 1).reshape(15, 8)
        return y.flip(0)[1:].t() * 2, y[i].view(-1, 4).sum(1), y.roll(3, 0).unfold(0, 4, 3).sum(-1)

    check(f, lambda: (uniform(120), integers(7, low=0, high=15)))


def test_a_window_on_the_storage_of_an_empty_view() -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        empty = x.narrow(-2, 1, 0)
        return empty.as_strided((2, 3), (2, 1), 1) * 2, (x + 1)[5:].as_strided((3,), (2,), 1) * 3

    check(f, lambda: (uniform(5, 1, 2),))


def test_writes_into_a_window_that_overlaps_itself() -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        y = x * 2
        window = y.as_strided((2, 2), (1, 1), 1)
        window[0] = 1
        z = x.cumsum(0)
        z.as_strided((2, 3), (2, 2), 2)[0] = 1
        return window, y, z, x.as_strided_scatter(x[:2, :2] * 3, (2, 2), (1, 4), 2)

    check(f, lambda: (uniform(4, 4),))


def test_writes_into_a_window_that_begins_before_the_argument() -> None:
    """A strided window counts from the storage, also in the copy that functionalization makes."""

    def f(x: Tensor) -> tuple[Tensor, ...]:
        window = torch.as_strided(x, (2, 3), (3, 1), 2)
        window.cumsum_(0)
        return window, x * 2

    check(f, lambda: (uniform(40)[3:35].view(16, 2),))


def test_a_result_beside_its_detached_self_passes_gradients() -> None:
    """Both are results of the graph; the one without a gradient is another tensor."""

    def fn(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        both = torch.cat([x, y], 1)
        known = both.detach()
        return both.expand(1, *both.shape), known.cumsum(-2), known

    x, y = torch.randn(2, 2), torch.randn(2, 8, requires_grad=True)
    wide, _, known = torch.compile(fn, backend="minductor", options={"strict": True})(x, y)
    assert wide.requires_grad
    assert not known.requires_grad
    assert torch.equal(torch.autograd.grad(wide.sum(), y)[0], torch.ones_like(y))


WINDOWS = [
    ((10,), 0, 4, 2),
    ((3, 20), 1, 5, 3),
    ((20, 3), 0, 3, 5),
    ((4, 40, 2), 1, 20, 1),
    ((7,), 0, 7, 1),
    ((6, 0), 0, 2, 1),
]


@pytest.mark.parametrize(("shape", "dim", "size", "step"), WINDOWS)
def test_gradients_of_windows(shape: tuple[int, ...], dim: int, size: int, step: int) -> None:
    check(
        lambda x: x.unfold(dim, size, step).sin(),
        lambda: (uniform(*shape).double().requires_grad_(),),
        grad=True,
    )


def test_a_spectrum_turned_back_is_a_few_kernels() -> None:
    def f(x: Tensor) -> Tensor:
        window = torch.hann_window(64)
        spectrum = torch.stft(x, 64, 16, window=window, return_complex=True)
        return torch.istft(spectrum, 64, 16, window=window, length=x.shape[1])

    reports: list[dict[str, Any]] = []
    options: dict[str, Any] = {"strict": True, "report": reports.append}
    x = torch.randn(2, 300)
    torch.testing.assert_close(torch.compile(f, backend="minductor", options=options)(x), f(x))
    assert sum(len(one["kernels"]) for one in reports) < 8


@pytest.mark.parametrize("kind", ["slice", "select", "diagonal", "as_strided"])
def test_windows_on_copies_that_begin_where_their_operand_does(kind: str) -> None:
    """A partial write copies the whole storage of its operand: a window on it sees the rest too."""

    def f(x: Tensor) -> tuple[Tensor, ...]:
        v = x.narrow(1, 0, 3)
        if kind == "slice":
            w = v.slice_scatter(v[:1] * 2, 0, 0, 1).slice_scatter(v[:, 1:2] * 3, 1, 1, 2)
        elif kind == "select":
            w = v.select_scatter(v[0] * 2, 0, 1)
        elif kind == "diagonal":
            w = v.diagonal_scatter(v[0] * 2)
        else:
            w = v.as_strided_scatter(v[0] * 2, (3,), (2,), 4)
        flat = x.as_strided((6,), (1,), 3)
        flat = flat.slice_scatter(flat[:1], 0, 0, 1)
        whole = x.cumsum(0).select_scatter(x[0], 0, 1)
        windows = flat.as_strided((2, 3), (3, 1), 0), whole.as_strided((5,), (2,), 1)
        return w.as_strided((2, 4), (4, 1), 2), w * 2, *windows

    check(f, lambda: (uniform(40)[4:].view(4, 9)[:, :5],))

    def reshaped(x: Tensor) -> Tensor:
        flat = x.reshape(-1)
        return flat.slice_scatter(flat[:1], 0, 0, 1).as_strided((2, 3), (3, 2), 0)

    check(reshaped, lambda: (uniform(40)[4:].view(4, 9),))


COPIES: dict[str, Callable[[Tensor], Tensor]] = {
    "clone": lambda v: v.clone(),
    "repeat": lambda v: v.repeat(1, 1),
    "cat": lambda v: torch.cat([v]),
    "copy": lambda v: v.to(v.dtype, copy=True),
    "pad": lambda v: torch.constant_pad_nd(v, [0, 0]),
    "times one": lambda v: v * 1,
    "whole slice": lambda v: (v * 2).slice_scatter(v, 0, 0, 2),
    "whole copy": lambda v: (v * 2).copy_(v),
    "twice negated": lambda v: -(-v),
    "where": lambda v: torch.where(v > 0, v, v),
    "index": lambda v: v[torch.arange(2)],
    "stack": lambda v: torch.stack([v])[0],
    "flip": lambda v: v.flip(0).flip(0),
    "expand": lambda v: v.expand(2, 4).clone(),
    "tril": lambda v: v.tril(5),
}


@pytest.mark.parametrize("name", COPIES)
def test_windows_on_copies_count_from_the_copy(name: str) -> None:
    """Where a copy may stand for its operand, a window that counts from the storage must not."""
    copied = COPIES[name]

    def f(x: Tensor) -> Tensor:
        return copied(x[1:]).as_strided((2, 2), (2, 1), 1) * 3

    check(f, lambda: (uniform(18)[2:14].view(3, 4),))
