"""How an index moves between the lanes of a vector of iterations.

A vector of W lanes begins where its variable is a multiple of W:

    2 * d1,         W = 4   -->  0, 2, 4, 6
    d1 floordiv 2,  W = 4   -->  0, 0, 1, 1
    d1 mod 2,       W = 4   -->  0, 1, 0, 1
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges


def lane_offsets(e: Expr, lane: Atom, width: int, ranges: Ranges) -> tuple[int, ...] | None:
    """What each lane has more than lane 0, where that is the same in all vectors."""
    inside = _by_vector(lane, width, ranges)
    first = inside.simplify(e.subs({lane: Expr.of_atom(lane) * width}))
    out: list[int] = []
    for i in range(width):
        here = inside.simplify(e.subs({lane: Expr.of_atom(lane) * width + i}))
        offset = inside.simplify(here - first).as_int
        if offset is None:
            return None
        out.append(offset)
    return tuple(out)


def first_lane(e: Expr, lane: Atom, width: int, ranges: Ranges) -> int | None:
    """The index of lane 0, where it is the same in all vectors."""
    inside = _by_vector(lane, width, ranges)
    return inside.simplify(e.subs({lane: Expr.of_atom(lane) * width})).as_int


def _by_vector(lane: Atom, width: int, ranges: Ranges) -> Ranges:
    """The ranges with the lane variable counting vectors."""
    low, high = ranges.of(lane)
    last = None if high is None else ranges.simplify(ex.floordiv(high, width))
    return ranges.with_bound(lane, low, last)


@dataclass(frozen=True)
class Pick:
    """Offsets `(step * i + add) floordiv over` of the lanes i."""

    step: int
    over: int
    add: int

    def at(self, i: int) -> int:
        """The offset of lane i."""
        return (self.step * i + self.add) // self.over


@cache
def pick_of(offsets: tuple[int, ...]) -> Pick | None:
    """The form of offsets that fit into two vectors; None: another form, or they do not."""
    width = len(offsets)
    if max(offsets) - min(offsets) >= 2 * width:
        return None
    for over in (1, 2, 3, 4, 6, 8, 16):
        for step in (1, 2, -1, -2) if over == 1 else range(1, over + over // 2 + 1):
            for add in range(over):
                pick = Pick(step, over, add)
                if all(pick.at(i) == offsets[i] for i in range(width)):
                    return pick
    return None


def period_of(offsets: tuple[int, ...]) -> tuple[int, ...]:
    """The shortest run of offsets that repeats to give them all."""
    width = len(offsets)
    for n in range(1, width):
        if width % n == 0 and all(offsets[i] == offsets[i % n] for i in range(width)):
            return offsets[:n]
    return offsets
