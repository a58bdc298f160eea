"""Extents of slices are Python's."""

from itertools import product

from minductor.dialects import expr as ex
from minductor.lowering.fx_to_aten.slices import extent


def test_extents_are_those_of_python() -> None:
    s, e, n = (ex.Expr.of_atom(ex.var_atom("u", k)) for k in range(3))
    for step in (1, 2, 3):
        first, size = extent(s, e, ex.const(step), n)
        for start, end, room in product(range(-6, 7), range(-6, 7), range(5)):
            values = {s.as_atom: start, e.as_atom: end, n.as_atom: room}
            want = range(room)[start:end:step]
            assert size.eval(values) == len(want)
            if want:
                assert first.eval(values) == want[0]
