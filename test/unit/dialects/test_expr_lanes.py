"""How indices move between lanes, against evaluation element by element."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from minductor.dialects import expr as ex
from minductor.dialects.expr_lanes import first_lane, lane_offsets, period_of, pick_of
from minductor.dialects.expr_simplify import Ranges

D = ex.dim(0)
LANE = ex.dim_atom(0)


@st.composite
def indices(draw):
    e = D * draw(st.integers(-3, 6)) + draw(st.integers(0, 9))
    n = draw(st.integers(1, 9))
    e = draw(st.sampled_from([e, ex.floordiv(e, n), ex.mod(e, n), ex.emax(e, n), ex.emin(e, n)]))
    return e + ex.dim(1) * 5


@given(indices(), st.sampled_from([4, 8, 16]), st.integers(1, 5))
def test_offsets_are_those_of_every_vector(e, width, vectors):
    ranges = Ranges().with_extents([(0, width * vectors), (1, 7)])
    offsets, first = lane_offsets(e, LANE, width, ranges), first_lane(e, LANE, width, ranges)
    for q in range(vectors):
        at = [e.eval({LANE: q * width + i, ex.dim_atom(1): 3}) for i in range(width)]
        assert offsets is None or tuple(x - at[0] for x in at) == offsets
        assert first is None or at[0] == first


@given(st.sampled_from([4, 8, 16]), st.integers(1, 4), st.integers(1, 8), st.integers(0, 7))
def test_a_pick_gives_its_offsets(width, step, over, add):
    offsets = tuple((step * i + add % over) // over for i in range(width))
    pick = pick_of(offsets)
    if pick is not None:
        assert tuple(pick.at(i) for i in range(width)) == offsets
    assert max(offsets) < 2 * width or pick is None


def test_periods():
    assert period_of((1, 3, 1, 3)) == (1, 3)
    assert period_of((1, 3, 1, 4)) == (1, 3, 1, 4)
    assert period_of((2, 2, 2, 2)) == (2,)
