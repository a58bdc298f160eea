"""Proofs about index expressions: never wrong (against all small values), and strong enough."""

from __future__ import annotations

import itertools
import random

import pytest

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.dialects.expr_simplify import Ranges

D0, D1, S0, S1 = ex.dim(0), ex.dim(1), ex.sym(0), ex.sym(1)
ATOMS = [ex.dim_atom(0), ex.dim_atom(1), ex.var_atom("s", 0), ex.var_atom("s", 1)]


def ranges() -> Ranges:
    """s0 >= 1, s1 >= 2, d0 below s0, d1 below s0 * s1."""
    low = {ATOMS[2]: (ex.const(1), None), ATOMS[3]: (ex.const(2), None)}
    return Ranges(low).with_extents([(0, S0), (1, S0 * S1)])


def points() -> list[dict[ex.Atom, int]]:
    return [
        dict(zip(ATOMS, (d0, d1, s0, s1), strict=True))
        for s0, s1 in itertools.product((1, 2, 5), (2, 3))
        for d0 in range(s0)
        for d1 in range(s0 * s1)
    ]


def expression(rng: random.Random, depth: int) -> Expr:
    kind = rng.randrange(8)
    if depth == 0 or kind < 2:
        return rng.choice([D0, D1, S0, S1, ex.const(rng.randrange(-3, 5))])
    a, b = expression(rng, depth - 1), expression(rng, depth - 1)
    match kind:
        case 2:
            return a + b
        case 3:
            return a - b
        case 4:
            return a * rng.choice([-2, -1, 2, 3])
        case 5:
            return ex.floordiv(a, rng.choice([ex.const(2), ex.const(3), S1]))
        case 6:
            return ex.mod(a, rng.choice([ex.const(2), ex.const(4), S0]))
        case _:
            return rng.choice([ex.emin, ex.emax])(a, b)


def test_a_proof_is_never_wrong() -> None:
    rng, known, everywhere = random.Random(0), ranges(), points()
    proved = 0
    for _ in range(1500):
        e = expression(rng, 3)
        if known.nonneg(e):
            proved += 1
            assert all(e.eval(p) >= 0 for p in everywhere), e
    assert proved > 500


@pytest.mark.parametrize(
    "e",
    [
        S0 - 1 - ex.floordiv(D1, S1),
        S1 - 1 - ex.mod(D1, S1),
        S0 - ex.emin(S0, S1),
        S0 - ex.floordiv(S0, 2),
        S0 - 1 - ex.emin(ex.emax(0, D0 - 3), S0 - 1),
        ex.emax(D0 - 3, 0),
        ex.mod(D0 - 2, S0),
    ],
    ids=str,
)
def test_what_views_need_is_proved(e: Expr) -> None:
    assert ranges().nonneg(e)


@pytest.mark.parametrize("e", [S0 - S1, D0 - 1, S0 - 2 - D0, ex.emin(S0, S1) - S0], ids=str)
def test_what_may_be_negative_is_not_proved(e: Expr) -> None:
    assert not ranges().nonneg(e)
