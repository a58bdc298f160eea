"""sympy expressions of sizes become index expressions of the same value."""

import pytest
import sympy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._sympy.functions import (
    CeilToInt,
    CleanDiv,
    FloorDiv,
    FloorToInt,
    IntTrueDiv,
    Max,
    Min,
    Mod,
    ModularIndexing,
    PythonMod,
    ToFloat,
)

from minductor.dialects.expr import Expr
from minductor.lowering.fx_to_aten.errors import ImportRefused
from minductor.lowering.fx_to_aten.symbols import SymbolTable

A = sympy.Symbol("s77", positive=True, integer=True)
B = sympy.Symbol("s27", positive=True, integer=True)
NUMBERS = st.integers(1, 9)


def expressions(depth: int = 3) -> st.SearchStrategy[sympy.Expr]:
    leaf = st.sampled_from([A, B]) | NUMBERS.map(sympy.Integer)
    if depth == 0:
        return leaf
    sub = expressions(depth - 1)
    return st.one_of(
        leaf,
        st.tuples(sub, sub).map(lambda p: p[0] + p[1]),
        st.tuples(sub, sub).map(lambda p: p[0] * p[1]),
        st.tuples(sub, NUMBERS).map(lambda p: FloorDiv(p[0], sympy.Integer(p[1]))),
        st.tuples(sub, NUMBERS).map(lambda p: Mod(p[0], sympy.Integer(p[1]))),
        st.tuples(sub, NUMBERS).map(lambda p: PythonMod(p[0], sympy.Integer(p[1]))),
        st.tuples(sub, NUMBERS, NUMBERS).map(
            lambda p: ModularIndexing(p[0], sympy.Integer(p[1]), sympy.Integer(p[2]))
        ),
        st.tuples(sub, sub).map(lambda p: Max(p[0], p[1])),
        st.tuples(sub, sub).map(lambda p: Min(p[0], p[1])),
    )


def evaluate(e: Expr, table: SymbolTable, values: dict[sympy.Symbol, int]) -> int:
    return e.eval({table.convert(s).as_atom: v for s, v in values.items()})


@settings(max_examples=200, deadline=None)
@given(expressions(), st.integers(1, 50), st.integers(1, 50))
def test_values_agree(e, a, b):
    table = SymbolTable()
    mine = table.convert(e)
    assert evaluate(mine, table, {A: a, B: b}) == int(e.subs({A: a, B: b}))


def test_numbering_by_first_use():
    table = SymbolTable()
    assert str(table.convert(B * 2)) == "2 * s0"
    assert str(table.convert(A + B)) in ("s1 + s0", "s0 + s1")


def test_rounded_quotients():
    table = SymbolTable()
    assert str(table.convert(CleanDiv(A * 4, sympy.Integer(2)))) == "2 * s0"
    up = table.convert(CeilToInt(IntTrueDiv(A, sympy.Integer(3))))
    down = table.convert(FloorToInt(IntTrueDiv(A, sympy.Integer(3))))
    assert [evaluate(up, table, {A: n}) for n in (3, 4, 6)] == [1, 2, 2]
    assert [evaluate(down, table, {A: n}) for n in (3, 5, 6)] == [1, 1, 2]
    half = table.convert(A * sympy.Rational(1, 2) + sympy.Rational(1, 2))
    assert evaluate(half, table, {A: 7}) == 4


def test_no_form():
    with pytest.raises(ImportRefused, match="no form as an index expression"):
        SymbolTable().convert(sympy.sqrt(A))


def test_relations():
    table = SymbolTable()
    assert [str(e) for e in table.nonneg_form(sympy.Ge(A, 2, evaluate=False))] == ["s0 - 2"]
    assert [str(e) for e in table.nonneg_form(sympy.Lt(A, 9, evaluate=False))] == ["-s0 + 8"]
    assert table.nonneg_form(sympy.Ne(A, 2, evaluate=False)) is None


def test_divisibility_from_guards():
    seen = []

    def backend(gm, example):
        from torch._functorch.aot_autograd import aot_module_simplified

        from minductor.lowering.fx_to_aten import import_graph

        def compiler(graph, inputs):
            seen.append(str(import_graph(graph, "inference").module))
            return graph

        return aot_module_simplified(gm, example, fw_compiler=compiler)

    def f(x):
        return x.view(-1, 4) + 1

    torch._dynamo.reset()
    with torch.no_grad():
        torch.compile(f, backend=backend, dynamic=True)(torch.randn(24))
    assert "multiple 4" in seen[0]


@pytest.mark.parametrize(
    "condition",
    [A < B, A <= B, A > B, A >= B, sympy.Eq(A, B), sympy.Ne(A, B)],
    ids=str,
)
def test_conditions_choose_between_sizes(condition):
    table = SymbolTable()
    both = sympy.Or(sympy.And(condition, A > 2), sympy.Eq(B, 1))
    for chosen in (condition, both, sympy.Not(both)):
        e = sympy.Piecewise((A + 7, chosen), (3 * B, A < 3), (0, True))
        mine = table.convert(e)
        for a in range(1, 5):
            for b in range(1, 5):
                assert evaluate(mine, table, {A: a, B: b}) == int(e.subs({A: a, B: b}))


def test_rounded_floats():
    table = SymbolTable()
    exact = table.convert(FloorToInt(ToFloat(A) * sympy.Float(1.5)))
    assert str(exact) == "((3 * s0) floordiv 2)"
    up = table.convert(CeilToInt(ToFloat(A) * sympy.Float(0.25)))
    assert [evaluate(up, table, {A: n}) for n in (4, 5, 8)] == [1, 2, 2]
    bound = []
    table.on_float = lambda e, symbol: bound.append(str(symbol))
    assert str(table.convert(FloorToInt(ToFloat(A) * sympy.Float(0.7)))) == "u0"
    assert bound == ["u0"]
