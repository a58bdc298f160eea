"""Index maths of views against torch: the map, evaluated at every point, must give the element
numbers that torch's view of `arange` holds."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest
import torch

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.dialects.expr_simplify import Ranges, contiguous_strides
from minductor.lowering.aten_to_loop import view_maps as maps
from minductor.lowering.aten_to_loop.refs import broadcast_index
from minductor.lowering.aten_to_loop.registry import Declined


def consts(sizes: Sequence[int]) -> list[Expr]:
    return [ex.const(s) for s in sizes]


def evaluate(index: Sequence[Expr], sizes: Sequence[int], out: Sequence[int]) -> torch.Tensor:
    """The flat element numbers that a map of `out` into `sizes` reads."""
    found: list[int] = []
    for point in itertools.product(*(range(n) for n in out)):
        env = {ex.dim_atom(k): v for k, v in enumerate(point)}
        at = [e.eval(env) for e in index]
        assert all(0 <= i < n for i, n in zip(at, sizes, strict=True)), (index, point)
        flat = 0
        for i, n in zip(at, sizes, strict=True):
            flat = flat * n + i
        found.append(flat)
    return torch.tensor(found, dtype=torch.long).reshape(tuple(out))


def check(index: Sequence[Expr], x: torch.Tensor, want: torch.Tensor) -> None:
    assert torch.equal(evaluate(index, x.shape, want.shape), want)


def numbered(*sizes: int) -> torch.Tensor:
    count = 1
    for s in sizes:
        count *= s
    return torch.arange(count).reshape(sizes)


def factorisation(rng: random.Random, count: int) -> list[int]:
    """Random sizes with the given product, some of them 1."""
    sizes: list[int] = []
    while count > 1:
        divisors = [d for d in range(2, count + 1) if count % d == 0]
        sizes.append(rng.choice(divisors))
        count //= sizes[-1]
    for _ in range(rng.randrange(3)):
        sizes.insert(rng.randrange(len(sizes) + 1), 1)
    return sizes


@pytest.mark.parametrize("seed", range(60))
def test_reshape(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.choice([1, 6, 12, 24, 36, 60, 64, 72])
    sizes, to = factorisation(rng, count), factorisation(rng, count)
    x = numbered(*sizes)
    check(maps.reshape_index(consts(sizes), consts(to), Ranges()), x, x.reshape(to))


@pytest.mark.parametrize(
    ("sizes", "to"), [((0, 3), (3, 0)), ((2, 0), (0,)), ((), (1, 1)), ((1, 1), ())]
)
def test_reshape_without_elements_or_dimensions(sizes: list[int], to: list[int]) -> None:
    x = numbered(*sizes)
    index = maps.reshape_index(consts(sizes), consts(to), Ranges())
    check(index, x, x.reshape(to))
    inner = Ranges().with_extents(enumerate(to))
    for e, s in zip(index, sizes, strict=True):
        assert inner.nonneg(e)
        assert inner.lt(e, s)


def test_reshape_keeps_plain_variables() -> None:
    """What fusion compares: dimensions that do not change stay variables, also symbolic ones."""
    s0, s1 = ex.sym(0), ex.sym(1)
    twelve, sixty_four = ex.const(12), ex.const(64)
    ranges = Ranges()
    heads = maps.reshape_index([s0, s1, ex.const(768)], [s0, s1, twelve, sixty_four], ranges)
    assert heads == [ex.dim(0), ex.dim(1), 64 * ex.dim(2) + ex.dim(3)]
    rows = maps.reshape_index([s0, s1, ex.const(768)], [s0 * s1, ex.const(768)], ranges)
    assert [str(e) for e in rows] == ["(d0 floordiv s1)", "(d0 mod s1)", "d1"]
    back = maps.reshape_index([s0 * s1, ex.const(768)], [s0, s1, ex.const(768)], ranges)
    assert back == [s1 * ex.dim(0) + ex.dim(1), ex.dim(2)]


def test_reshape_and_back_is_the_identity() -> None:
    """Composition with the inverse simplifies to plain variables."""
    s0, s1 = ex.sym(0), ex.sym(1)
    one = maps.reshape_index([s0 * s1], [s0, s1], Ranges())
    two = maps.reshape_index([s0, s1], [s0 * s1], Ranges())
    inner = Ranges().with_extents([(0, s0), (1, s1)])
    env = {ex.dim_atom(0): one[0]}
    assert [inner.simplify(e.subs(env)) for e in two] == [ex.dim(0), ex.dim(1)]


@pytest.mark.parametrize("order", [[0], [1, 0], [2, 0, 1], [3, 1, 0, 2]])
def test_permute(order: list[int]) -> None:
    x = numbered(*range(2, 2 + len(order)))
    check(maps.permute_index(order), x, x.permute(order))


@pytest.mark.parametrize(
    ("start", "end", "step"),
    [(0, 5, 1), (1, 4, 2), (-3, None, 1), (-9, 2, 1), (4, 2, 1), (7, 9, 3)],
)
def test_slice(start: int, end: int | None, step: int) -> None:
    x = numbered(3, 5)
    first = maps.slice_start(ex.const(start), ex.const(5), Ranges())
    check(maps.slice_index(2, 1, first, step), x, x[:, start:end:step])


def test_slice_of_a_symbolic_size() -> None:
    s0 = ex.sym(0)
    known = Ranges({ex.var_atom("s", 0): (ex.const(2), None)})
    assert str(maps.slice_start(ex.const(-2), s0, known)) == "s0 - 2"
    assert str(maps.slice_start(ex.const(-3), s0, known)) == "max(0, s0 - 3)"
    with pytest.raises(Declined, match="sign"):
        maps.slice_start(s0 - 3, s0, known)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_select_unsqueeze_squeeze(dim: int) -> None:
    x = numbered(2, 3, 4)
    check(maps.select_index(3, dim, ex.const(1)), x, x.select(dim, 1))
    check(maps.insert_index(3, dim), x, x.unsqueeze(dim))
    y = x.unsqueeze(dim)
    kept = [k for k in range(4) if k != dim]
    check(maps.drop_index(4, kept), y, y.squeeze(dim))


@pytest.mark.parametrize(("offset", "one", "two"), [(0, 0, 1), (1, 0, 2), (-1, 2, 1), (2, 1, 0)])
def test_diagonal(offset: int, one: int, two: int) -> None:
    x = numbered(3, 4, 5)
    check(maps.diagonal_index(3, offset, one, two), x, x.diagonal(offset, one, two))


@pytest.mark.parametrize(("dim", "size", "step"), [(0, 2, 1), (1, 3, 2), (1, 6, 1), (0, 1, 3)])
def test_unfold(dim: int, size: int, step: int) -> None:
    x = numbered(4, 6)
    check(maps.unfold_index(2, dim, step), x, x.unfold(dim, size, step))


def test_flip_roll_repeat_expand() -> None:
    x = numbered(3, 1, 4)
    sizes = consts(x.shape)
    check(maps.flip_index(sizes, [0, 2]), x, x.flip(0, 2))
    shifts = [ex.const(-5), ex.const(3)]
    check(maps.roll_index(sizes, shifts, [0, 2]), x, x.roll((-5, 3), (0, 2)))
    check(maps.repeat_index(sizes, 4), x, x.repeat(2, 1, 5, 2))
    to = consts([2, 3, 6, 4])
    check(broadcast_index(sizes, to, maps.identity(4)), x, x.expand(2, 3, 6, 4))


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
def test_strided_windows_on_dense_storage(order: list[int]) -> None:
    """`as_strided` reads the storage; the base may be permuted."""
    base = numbered(2, 3, 4).permute(order).contiguous()
    back = [order.index(k) for k in range(3)]
    x = base.permute(back)
    storage = torch.arange(24)
    values = torch.empty(24, dtype=torch.long)
    values[storage] = base.reshape(-1)
    sizes, strides, offset = (3, 4), (5, 2), 1
    want = x.as_strided(sizes, strides, offset)
    flat = maps.strided_offset(2, consts(strides), offset)
    inner = Ranges().with_extents(enumerate(sizes))
    index = maps.storage_index(flat, consts(x.shape), consts(x.stride()), inner)
    logical = evaluate(index, x.shape, sizes)
    assert torch.equal(x.reshape(-1)[logical], want)


def test_storage_with_gaps_is_declined() -> None:
    with pytest.raises(Declined, match="gaps"):
        maps.storage_index(ex.dim(0), consts([4, 4]), consts([8, 1]), Ranges())
    assert maps.storage_order(consts([3, 1, 2]), consts([1, 7, 3])) == [2, 0]


@pytest.mark.parametrize("before", [-1, 0, 2, 3])
def test_padding_positions(before: int) -> None:
    """Reflection and replication, as torch pads one dimension."""
    n = 4
    x = torch.arange(float(n)).reshape(1, 1, n)
    e = ex.dim(0) - before
    size = ex.const(n)
    after = 2
    for mode, index in (
        ("reflect", maps.reflect_position(e, size)),
        ("replicate", maps.clamp_position(e, size)),
    ):
        want = torch.nn.functional.pad(x, (before, after), mode).reshape(-1).long()
        assert torch.equal(evaluate([index], [n], want.shape), want), mode


def test_contiguous_strides_are_torchs() -> None:
    for sizes in ((2, 3, 4), (5,), (), (3, 1, 2)):
        assert tuple(int(s) for s in contiguous_strides(sizes)) == torch.empty(sizes).stride()
