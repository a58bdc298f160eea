"""Whole programs of data movement: every case of a family in one graph, against eager."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import data_movement_cases as families
import pytest
import search_cases as more
import torch
from harness import ours_only
from torch import Tensor

pytestmark = ours_only

PROGRAMS = {
    "views": families.views,
    "copies": families.copies,
    "parts": families.parts,
    "reads": families.reads,
    "writes": families.writes,
    "searches": more.searches,
    "distances": more.distances,
    "embeddings": more.embeddings,
    "pools": lambda: dict(list(families.pools().items())[::3]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_family_in_one_graph(name: str) -> None:
    """Nothing falls back, values and strides are eager's, though neighbours fuse."""
    cases = PROGRAMS[name]()

    def program(inputs: list[tuple[Tensor, ...]]) -> list[list[Tensor]]:
        calls = zip(cases.values(), inputs, strict=True)
        return [listed(fn(*args)) for (fn, _), args in calls]

    inputs = [args for _, args in cases.values()]
    want = program(inputs)
    compiled: Callable[..., Any] = torch.compile(
        program, backend="minductor", fullgraph=True, options={"strict": True}
    )
    for case, found, expected in zip(cases, compiled(inputs), want, strict=True):
        for a, b in zip(found, expected, strict=True):
            torch.testing.assert_close(a, b, equal_nan=True, msg=lambda m, c=case: f"{c}: {m}")
            kept = [k for k in range(b.dim()) if b.shape[k] > 1 and b.numel()]
            assert [a.stride(k) for k in kept] == [b.stride(k) for k in kept], case


def listed(value: Any) -> list[Tensor]:
    return list(value) if isinstance(value, list | tuple) else [value]


@pytest.mark.parametrize(
    ("op", "args"),
    [
        (torch.ops.aten.index, (torch.randn(4), [torch.tensor([0, 4])])),
        (torch.ops.aten.embedding, (torch.randn(4, 2), torch.tensor([-1]))),
        (torch.ops.aten.gather, (torch.randn(4), 0, torch.tensor([9]))),
        (torch.ops.aten.index_put, (torch.zeros(4), [torch.tensor([-5])], torch.ones(1))),
        (torch.ops.aten.scatter_add, (torch.zeros(4), 0, torch.tensor([4]), torch.ones(1))),
    ],
    ids=lambda v: str(v) if callable(v) else "",
)
def test_an_index_outside_is_an_error(op: Any, args: tuple[Any, ...]) -> None:
    """As in eager, and the operand is not touched."""
    with pytest.raises((IndexError, RuntimeError)):
        op(*args)
    compiled = torch.compile(lambda *a: op(*a), backend="minductor", options={"strict": True})
    with pytest.raises((IndexError, RuntimeError)):
        compiled(*args)
    assert torch.equal(args[0], args[0].clone())


@pytest.mark.parametrize("step", [1, 3])
def test_a_cache_is_updated_in_place(step: int) -> None:
    """Only the written part changes, also when the new part reads the old one."""

    def advance(cache: Tensor, new: Tensor, at: int) -> Tensor:
        cache[:, at : at + 2] = new + cache[:, :2]
        return cache.sum(1)

    caches = [torch.arange(12.0).reshape(2, 6) for _ in range(2)]
    new = torch.ones(2, 2)
    compiled = torch.compile(advance, backend="minductor", options={"strict": True})
    torch.testing.assert_close(compiled(caches[0], new, step), advance(caches[1], new, step))
    torch.testing.assert_close(caches[0], caches[1])


def test_unpooling_keeps_the_layout() -> None:
    """Native for contiguous inputs; channels_last is eager's to keep."""

    def f(x: Tensor) -> Tensor:
        values, places = torch.nn.functional.max_pool2d(x, 2, return_indices=True)
        return torch.nn.functional.max_unpool2d(values, places, 2)

    for layout in (torch.contiguous_format, torch.channels_last):
        torch._dynamo.reset()
        x = torch.randn(2, 4, 6, 8).to(memory_format=layout)
        compiled = torch.compile(f, backend="minductor", options={"strict": True})
        assert torch.equal(compiled(x), f(x))
        assert compiled(x).stride() == f(x).stride()
