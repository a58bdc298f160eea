"""Division by expressions of several terms."""

from hypothesis import given, settings
from hypothesis import strategies as st

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.dialects.expr_exact import divide
from minductor.dialects.expr_simplify import Ranges

S0, S1, S2 = ex.sym(0), ex.sym(1), ex.sym(2)
D0, D1 = ex.dim(0), ex.dim(1)

TERMS = st.tuples(st.integers(1, 4), st.lists(st.sampled_from([S0, S1, S2]), max_size=2))


def sum_of(terms: list[tuple[int, list[Expr]]]) -> Expr:
    out = ex.ZERO
    for factor, atoms in terms:
        term = ex.const(factor)
        for atom in atoms:
            term = term * atom
        out = out + term
    return out


SUMS = st.lists(TERMS, min_size=1, max_size=3).map(sum_of)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(SUMS, SUMS)
def test_a_product_divides_by_its_factors(a: Expr, b: Expr) -> None:
    assert divide(a * b, a) == (b, ex.ZERO)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(SUMS, SUMS)
def test_quotient_and_rest_make_the_whole(x: Expr, n: Expr) -> None:
    q, r = divide(x, n)
    assert n * q + r is x


def test_a_linear_index_over_a_sum_is_taken_apart() -> None:
    """Whatever symbol comes first, and with another term of the sum's own degree."""
    for rows, inner in ((S0, S1 + 3), (S1, S0 + 3), (S2, S0 + S1 + S0 * S1)):
        ranges = Ranges().with_extents([(0, rows), (1, inner)])
        flat = D0 * inner + D1
        assert ranges.simplify(ex.floordiv(flat, inner)) is D0
        assert ranges.simplify(ex.mod(flat, inner)) is D1


def test_an_index_that_may_pass_the_sum_is_left() -> None:
    inner = S1 + 3
    ranges = Ranges().with_extents([(0, S0), (1, inner + 1)])
    quotient = ex.floordiv(D0 * inner + D1, inner)
    assert ranges.simplify(quotient) is quotient
