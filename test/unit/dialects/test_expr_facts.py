"""Facts on sizes: what they prove, how they simplify, and that no value changes by it."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from minductor.dialects import expr as ex
from minductor.dialects.attrs import Known, Symbol, known_ranges
from minductor.dialects.expr import Expr
from minductor.dialects.expr_facts import Fact
from minductor.lowering.fx_to_aten.facts import learn

S0, S1, S2 = (ex.sym(k) for k in range(3))
ROWS = [Symbol(ex.var_atom("s", k), lo=2) for k in range(3)]


def learned(*facts: tuple[str, Expr]) -> Known:
    return learn(ROWS, [Fact(kind, e) for kind, e in facts])


def texts(known: Known) -> list[str]:
    return [row.text() for row in known.symbols if row != ROWS[row.atom.index]] + [
        fact.text() for fact in known.facts
    ]


def test_what_one_symbol_obeys_goes_into_its_row() -> None:
    assert texts(learned(("zero", ex.mod(11 * S0, 2)))) == ["s0 = [min 2, multiple 2]"]
    assert texts(learned(("nonneg", S1 - 7))) == ["s1 = [min 7]"]
    assert texts(learned(("nonneg", 9 - S1))) == ["s1 = [min 2, max 9]"]
    assert texts(learned(("nonzero", S0 - 2))) == ["s0 = [min 3]"]
    quarter = ex.floordiv(S0, 4)
    facts = (("nonzero", quarter), ("nonzero", quarter - 1))
    assert texts(learned(*facts)) == ["s0 = [min 8]"]


def test_facts_are_learned_from_one_another() -> None:
    quarter = ex.floordiv(S0, 4)
    facts = (("zero", ex.mod(S0, quarter)), ("zero", ex.floordiv(S0, quarter) - 4))
    known = learned(*facts, ("nonneg", quarter - 1))
    assert texts(known) == ["s0 = [min 4, multiple 4]"]


def test_what_says_nothing_is_dropped() -> None:
    assert texts(learned(("nonzero", S0 * S1 - 1), ("nonneg", S0 - ex.floordiv(S0, 2)))) == []
    assert texts(learned(("nonneg", S0 - S1), ("nonneg", S0 * S2 - S1 * S2))) == [
        "nonneg -s1 + s0" if str(S0 - S1) == "-s1 + s0" else f"nonneg {S0 - S1}"
    ]


def test_sizes_that_differ_and_are_ordered() -> None:
    known = learned(("nonneg", S0 - S1), ("nonzero", S0 - S1))
    assert texts(known) == [f"nonneg {S0 - S1 - 1}"]
    assert texts(learned(("nonzero", S0 - S1))) == [f"nonzero {S0 - S1}"]


def test_proofs() -> None:
    ranges = known_ranges(learned(("nonneg", S0 - S1), ("nonneg", S1 - S2)))
    d0 = ex.dim(0)
    inner = ranges.with_extents([(0, S2)])
    assert inner.lt(d0, S0)
    assert inner.lt(d0 + S0 - S1, S0)
    assert ranges.nonneg(S0 * S0 - S2 * S0)
    assert not ranges.nonneg(S1 - S0)


def test_simplification() -> None:
    even = known_ranges(learned(("zero", ex.mod(S0, 2))))
    half = ex.floordiv(S0, 2)
    assert even.simplify(2 * half) is S0
    assert even.simplify(ex.floordiv(S0, half)) is ex.const(2)
    assert even.simplify(6 * half * S1) is 3 * S0 * S1
    parts = known_ranges(learned(("zero", ex.mod(S0 * S1, S2))))
    assert parts.simplify(S2 * ex.floordiv(S0 * S1, S2)) is S0 * S1
    assert parts.simplify(ex.mod(S0 * S1, S2)) is ex.ZERO


def test_a_quotient_of_a_quotient_is_another_division() -> None:
    known = known_ranges(learned(("zero", ex.mod(ex.floordiv(S0, 2), 3))))
    whole = 6 * ex.floordiv(S0, 6)
    assert known.simplify(whole).eval({ROWS[0].atom: 7}) == 6


def expressions(depth: int = 2) -> st.SearchStrategy[Expr]:
    leaf = st.sampled_from([S0, S1, S2]) | st.integers(1, 4).map(ex.const)
    if not depth:
        return leaf
    sub, number = expressions(depth - 1), st.integers(2, 4)
    return st.one_of(
        leaf,
        st.tuples(sub, sub).map(lambda p: p[0] + p[1]),
        st.tuples(sub, sub).map(lambda p: p[0] - p[1]),
        st.tuples(sub, sub).map(lambda p: p[0] * p[1]),
        st.tuples(sub, number).map(lambda p: ex.floordiv(p[0], p[1])),
        st.tuples(sub, number).map(lambda p: ex.mod(p[0], p[1])),
        st.tuples(sub, leaf).map(lambda p: ex.floordiv(p[0], p[1])),
        st.tuples(sub, leaf).map(lambda p: ex.mod(p[0], p[1])),
        st.tuples(sub, sub).map(lambda p: ex.emin(p[0], p[1])),
        st.tuples(sub, sub).map(lambda p: ex.emax(p[0], p[1])),
    )


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.integers(2, 24), min_size=3, max_size=3),
    st.lists(expressions(), min_size=1, max_size=4),
    st.lists(expressions(3), min_size=1, max_size=3),
)
def test_true_facts_change_no_value(
    sizes: list[int], given_facts: list[Expr], asked: list[Expr]
) -> None:
    env = {row.atom: n for row, n in zip(ROWS, sizes, strict=True)}
    try:
        values = [e.eval(env) for e in (*given_facts, *asked)]
    except ZeroDivisionError:
        assume(False)
        return
    facts: list[Fact] = []
    for e, value in zip(given_facts, values, strict=False):
        facts.append(Fact("nonneg", e if value >= 0 else -e))
        facts.append(Fact("nonzero" if value else "zero", e))
    known = learn(ROWS, facts)
    for row in known.symbols:
        n = env[row.atom]
        assert (row.lo or 0) <= n
        assert row.hi is None or n <= row.hi
        assert n % row.multiple == 0
    ranges = known_ranges(known)
    for e in asked:
        value = e.eval(env)
        assert ranges.simplify(e).eval(env) == value
        assert not (ranges.nonneg(e) and value < 0)
        assert not (ranges.nonneg(-1 - e) and value >= 0)


def test_bounds_that_leave_one_quotient() -> None:
    ranges = known_ranges(Known((Symbol(ex.var_atom("s", 0), lo=6, hi=7),), ()))
    assert ranges.simplify(ex.floordiv(S0, 2)) is ex.const(3)
    assert ranges.simplify(ex.mod(S0, 2)) is S0 - 6
    assert ranges.simplify(ex.floordiv(-S0, 4)) is ex.const(-2)
    assert ranges.simplify(ex.mod(-S0, 4)) is 8 - S0
    assert ranges.simplify(ex.floordiv(S0, 7)) is ex.floordiv(S0, 7)
