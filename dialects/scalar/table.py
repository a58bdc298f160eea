"""The one table of scalar ops: semantics, algebra, cost and the text of every target.

Columns of a row
  name      op name in the `scalar` dialect
  operands  what each operand may be: `num` `float` `int` `any` share one type, `i1` is a condition
  result    `same` (the operands' type) or `i1`
  torch     the reference: PyTorch expression over {0}, {1}, {2} (tensors of the operand dtype)
  cpp       C++ text, valid for scalars and GCC vectors alike (functions live in codegen/cpp)
  triton    Triton text (functions with a leading `mi_` live in codegen/triton); "" has none
  fold      Python function on constants, or None; the folder wraps integers and rounds floats
  algebra   facts: commutative, associative (exact, so integers and min/max only), idempotent,
            exact (an operand, its negative or zero, so that rounding may come before or after),
            jumps (of floats next to each other the results may lie far apart, as of whole parts)
  safe      may run on dead lanes (False: integer division)
  cost      relative cost per lane; an add is 1
  ulp       bound of the error in units in the last place of an f32 result (0: exactly rounded)

Integer results wrap around. Comparisons with NaN are false, except `ne`. `minimum` and `maximum`
propagate NaN; `fmin` and `fmax` ignore it. `floordiv` and `remainder` follow Python's signs, `fmod`
and `truncdiv` C's. `divide_by` is `div` by a number that all lanes share. Integer division by zero
is a fault. A row is the only place that an op's semantics is written; overrides for a target are
extra text in its column.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

Fold = Callable[..., "float | int | bool"]


@dataclass(frozen=True)
class ScalarRow:
    """One scalar op; see the module's docstring for the columns."""

    name: str
    operands: tuple[str, ...]
    result: str
    torch: str
    cpp: str
    triton: str
    fold: Fold | None = None
    algebra: frozenset[str] = field(default_factory=frozenset[str])
    safe: bool = True
    cost: float = 1
    ulp: float = 0

    @property
    def is_function(self) -> bool:
        """C++ text that is one call of a function of floats, with the operands as they are."""
        args = ", ".join(f"{{{k}}}" for k in range(len(self.operands)))
        floats = self.result == "same" and self.safe and set(self.operands) <= {"float", "num"}
        return floats and self.cpp == f"m_{self.name}({args})"


_NUM2, _ANY2, _INT2, _FLT = ("num", "num"), ("any", "any"), ("int", "int"), ("float",)
_COMM = frozenset({"commutative"})
_EXACT = frozenset({"exact"})
_JUMPS = frozenset({"jumps"})
_LATTICE = frozenset({"commutative", "associative", "idempotent", "exact"})
_INTCOMM = frozenset({"commutative", "associative_int"})


def _infix(name: str, sign: str, operands: tuple[str, ...], fold: Fold | None = None) -> ScalarRow:
    """A row whose text is the same operator everywhere."""
    text = f"({{0}} {sign} {{1}})"
    algebra = _INTCOMM if name in ("add", "mul") else frozenset[str]()
    return ScalarRow(name, operands, "same", text[1:-1], text, text, fold, algebra)


def _named(
    name: str,
    operands: tuple[str, ...],
    torch: str = "",
    algebra: frozenset[str] = frozenset(),
    safe: bool = True,
    cost: float = 1,
) -> ScalarRow:
    """A row whose text is a function: torch.name, m_name, mi_name."""
    args = ", ".join(f"{{{k}}}" for k in range(len(operands)))
    reference = torch or f"torch.{name}({args})"
    return ScalarRow(
        name, operands, "same", reference, f"m_{name}({args})", f"mi_{name}({args})", None,
        algebra, safe, cost,
    )  # fmt: skip


def _arith() -> list[ScalarRow]:
    one, two = ("num",), ("float", "float")
    trunc = "torch.div({0}, {1}, rounding_mode='trunc')"
    return [
        _infix("add", "+", _NUM2, lambda a, b: a + b),
        _infix("sub", "-", _NUM2, lambda a, b: a - b),
        _infix("mul", "*", _NUM2, lambda a, b: a * b),
        ScalarRow("div", two, "same", "{0} / {1}", "({0} / {1})", "mi_div({0}, {1})", cost=4),
        replace(_named("divide_by", two, "{0} / {1}", cost=3), triton="mi_div({0}, {1})"),
        _named("floordiv", _NUM2, "torch.floor_divide({0}, {1})", _JUMPS, False, 8),
        _named("truncdiv", _NUM2, trunc, _JUMPS, False, 8),
        _named("remainder", _NUM2, "", _JUMPS, False, 10),
        _named("fmod", _NUM2, "", _JUMPS, False, 10),
        ScalarRow("neg", one, "same", "-{0}", "(- {0})", "(-{0})", lambda a: -a, _EXACT),
        ScalarRow(
            "abs", one, "same", "torch.abs({0})", "m_abs({0})", "tl.abs({0})", lambda a: abs(a),
            _EXACT,
        ),
        _named("sign", one),
        _named("minimum", _NUM2, algebra=_LATTICE),
        _named("maximum", _NUM2, algebra=_LATTICE),
        _named("fmin", two, algebra=_LATTICE),
        _named("fmax", two, algebra=_LATTICE),
        _named("relu", one, algebra=_EXACT),
        ScalarRow(
            "select", ("i1", "any", "any"), "same", "torch.where({0}, {1}, {2})",
            "m_select({0}, {1}, {2})", "tl.where({0}, {1}, {2})", lambda c, a, b: a if c else b,
            _EXACT,
        ),
    ]  # fmt: skip


def _compare() -> list[ScalarRow]:
    ops: list[tuple[str, str, Fold]] = [
        ("eq", "==", lambda a, b: a == b),
        ("ne", "!=", lambda a, b: a != b),
        ("lt", "<", lambda a, b: a < b),
        ("le", "<=", lambda a, b: a <= b),
        ("gt", ">", lambda a, b: a > b),
        ("ge", ">=", lambda a, b: a >= b),
    ]
    rows = [
        ScalarRow(
            name,
            _ANY2,
            "i1",
            f"{{0}} {op} {{1}}",
            f"({{0}} {op} {{1}})",
            f"({{0}} {op} {{1}})",
            fold,
            _COMM if name in ("eq", "ne") else frozenset(),
        )
        for name, op, fold in ops
    ]
    rows += [
        ScalarRow(
            "isnan", _FLT, "i1", "torch.isnan({0})", "({0} != {0})", "({0} != {0})", math.isnan
        ),
        ScalarRow(
            "isinf", _FLT, "i1", "torch.isinf({0})", "m_isinf({0})", "mi_isinf({0})", math.isinf
        ),
        ScalarRow(
            "isfinite",
            _FLT,
            "i1",
            "torch.isfinite({0})",
            "m_isfinite({0})",
            "mi_isfinite({0})",
            math.isfinite,
        ),
        ScalarRow(
            "signbit",
            _FLT,
            "i1",
            "torch.signbit({0})",
            "m_signbit({0})",
            "mi_signbit({0})",
            lambda a: math.copysign(1, a) < 0,
        ),
    ]
    return rows


def _bits() -> list[ScalarRow]:
    return [
        ScalarRow(
            "and",
            _INT2,
            "same",
            "torch.bitwise_and({0}, {1})",
            "({0} & {1})",
            "({0} & {1})",
            lambda a, b: a & b,
            _LATTICE,
        ),
        ScalarRow(
            "or",
            _INT2,
            "same",
            "torch.bitwise_or({0}, {1})",
            "({0} | {1})",
            "({0} | {1})",
            lambda a, b: a | b,
            _LATTICE,
        ),
        ScalarRow(
            "xor",
            _INT2,
            "same",
            "torch.bitwise_xor({0}, {1})",
            "m_xor({0}, {1})",
            "({0} ^ {1})",
            lambda a, b: a ^ b,
            frozenset({"commutative", "associative"}),
        ),
        ScalarRow(
            "not",
            ("int",),
            "same",
            "torch.bitwise_not({0})",
            "m_not({0})",
            "mi_not({0})",
            lambda a: (not a) if isinstance(a, bool) else ~a,
        ),
        ScalarRow(
            "shl",
            _INT2,
            "same",
            "torch.bitwise_left_shift({0}, {1})",
            "m_shl({0}, {1})",
            "mi_shl({0}, {1})",
        ),
        ScalarRow(
            "shr",
            _INT2,
            "same",
            "torch.bitwise_right_shift({0}, {1})",
            "m_shr({0}, {1})",
            "mi_shr({0}, {1})",
        ),
    ]


def _math(name: str, cost: float, ulp: float, torch: str = "", triton: str = "") -> ScalarRow:
    return ScalarRow(
        name,
        _FLT,
        "same",
        torch or f"torch.{name}({{0}})",
        f"m_{name}({{0}})",
        triton or f"mi_{name}({{0}})",
        None,
        cost=cost,
        ulp=ulp,
    )


def _rounding() -> list[ScalarRow]:
    return [_math(name, 1, 0) for name in ("floor", "ceil", "trunc", "round")]


def _transcendental() -> list[ScalarRow]:
    exact = [_math("sqrt", 6, 0), _math("rsqrt", 7, 1), _math("reciprocal", 4, 0)]
    usual = [
        _math(name, cost, ulp)
        for name, cost, ulp in (
            ("exp", 8, 1),
            ("exp2", 8, 1),
            ("expm1", 12, 2),
            ("log", 10, 1),
            ("log2", 10, 1.5),
            ("log10", 10, 2),
            ("log1p", 12, 2),
            ("sin", 12, 2),
            ("cos", 12, 2),
            ("tan", 20, 4),
            ("asin", 15, 4),
            ("acos", 15, 4),
            ("atan", 14, 3),
            ("sinh", 16, 4),
            ("cosh", 16, 4),
            ("tanh", 12, 3),
            ("asinh", 20, 4),
            ("acosh", 20, 4),
            ("atanh", 18, 4),
            ("erf", 14, 4),
            ("sigmoid", 14, 3),
            ("lgamma", 40, 8),
        )
    ]
    special = [
        _math(name, cost, 8, f"torch.special.{name}({{0}})")
        for name, cost in (
            ("erfc", 18),
            ("erfinv", 25),
            ("digamma", 40),
            ("i0", 30),
            ("i0e", 30),
            ("i1", 30),
            ("i1e", 30),
            ("ndtri", 30),
            ("erfcx", 30),
            ("log_ndtr", 40),
            ("bessel_j0", 40),
            ("bessel_j1", 40),
            ("bessel_y0", 60),
            ("bessel_y1", 60),
            ("modified_bessel_k0", 60),
            ("modified_bessel_k1", 60),
            ("scaled_modified_bessel_k0", 60),
            ("scaled_modified_bessel_k1", 60),
            ("spherical_bessel_j0", 30),
            ("airy_ai", 80),
        )
    ]
    sums = [_math("erf_plus_one", 12, 4, "1 + torch.erf({0})", "(1.0 + mi_erf({0}))")]
    return [*exact, *usual, *sums, *special, _math("trigamma", 40, 8, "torch.polygamma(1, {0})")]


POLYNOMIALS = (
    *(f"chebyshev_polynomial_{kind}" for kind in "tuvw"),
    *(f"shifted_chebyshev_polynomial_{kind}" for kind in "tuvw"),
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
)
"""Orthogonal polynomials at the first operand, of the degree that the second gives."""


def _pair(name: str, cost: float, torch: str = "") -> ScalarRow:
    row = _named(name, ("float", "float"), torch, cost=cost)
    return replace(row, ulp=8)


def _binary_math() -> list[ScalarRow]:
    two = ("float", "float")
    rows = [
        ScalarRow(
            name,
            two,
            "same",
            f"torch.{name}({{0}}, {{1}})",
            f"m_{name}({{0}}, {{1}})",
            f"mi_{name}({{0}}, {{1}})",
            None,
            cost=cost,
            ulp=ulp,
        )
        for name, cost, ulp in (
            ("atan2", 20, 4),
            ("hypot", 10, 2),
            ("copysign", 1, 0),
            ("nextafter", 4, 0),
        )
    ]
    rows += [replace(_pair(name, 100), triton="") for name in ("igamma", "igammac")]
    rows += [_pair(name, 100, f"torch.special.{name}({{0}}, {{1}})") for name in POLYNOMIALS]
    rows.append(_pair("zeta", 100, "torch.special.zeta({0}, {1})"))
    power = ScalarRow(
        "pow",
        _NUM2,
        "same",
        "torch.pow({0}, {1})",
        "m_pow({0}, {1})",
        "mi_pow({0}, {1})",
        None,
        cost=30,
        ulp=2,
    )
    return [*rows, power]


ROWS: tuple[ScalarRow, ...] = tuple(
    _arith() + _compare() + _bits() + _rounding() + _transcendental() + _binary_math()
)
BY_NAME: dict[str, ScalarRow] = {row.name: row for row in ROWS}
