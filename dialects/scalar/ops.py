"""The `scalar` dialect: the arithmetic of one point, used inside `loop` and `kernel` alike.

Op classes of the table (`scalar.add %a, %b : f32`) are generated from its rows; the ops that need
more than operands of one type are written out here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr, UnitAttr, i1
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import IsTerminator, NoTerminator, Pure, ReturnLike

from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.expr import Expr, ExprLike
from minductor.dialects.scalar.fold import ScalarCanonicalization
from minductor.dialects.scalar.number import Number, literal
from minductor.dialects.scalar.table import ROWS, ScalarRow
from minductor.dialects.scalar.text import (
    BoundText,
    CastText,
    ConstantText,
    IfText,
    IndexText,
    LookupText,
    RandomText,
    TableText,
    WithinText,
    YieldText,
)


class TableOp(TableText, IRDLOperation):
    """Base of the op classes made from table rows; `ROW` holds the semantics."""

    result = result_def()

    def __post_init__(self) -> None:
        """Nothing: a row has no properties with defaults to fill in."""

    @classmethod
    def build_from(cls, *operands: SSAValue) -> Self:
        """The op on these operands; the result type follows the row's rule."""
        result = i1 if cls.ROW.result == "i1" else operands[-1].type
        return cls.create(operands=list(operands), result_types=[result])


def _make_class(row: ScalarRow) -> type[TableOp]:
    fields: dict[str, Any] = {
        "__module__": __name__,
        "__qualname__": f"{row.name.capitalize()}Op",
        "__doc__": f"`{row.name}`: PyTorch's `{row.torch}`.",
        "name": f"scalar.{row.name}",
        "traits": traits_def(Pure(), ScalarCanonicalization()),
    }
    for i in range(len(row.operands)):
        fields[f"arg{i}"] = operand_def()
    cls = type(f"{row.name.capitalize()}Op", (TableOp,), fields)
    made = cast(type[TableOp], irdl_op_definition(cls))
    made.ROW = row
    return made


TABLE_OPS: dict[str, type[TableOp]] = {row.name: _make_class(row) for row in ROWS}


def scalar(name: str, *operands: SSAValue) -> TableOp:
    """A table op by name. KeyError if the table has no such row."""
    return TABLE_OPS[name].build_from(*operands)


@irdl_op_definition
class ConstantOp(ConstantText, IRDLOperation):
    """`constant 2.0 : f32`: a literal; integers wrap to the type, floats round to it."""

    name = "scalar.constant"
    value = prop_def()
    result = result_def()
    traits = traits_def(Pure())

    @staticmethod
    def of(value: Number, type_: Attribute) -> ConstantOp:
        """A constant of a scalar type."""
        return ConstantOp.create(properties={"value": literal(value, type_)}, result_types=[type_])

    @property
    def number(self) -> Number:
        """The value as a Python number (bool for i1)."""
        value = self.value
        if isinstance(value, FloatAttr):
            return value.value.data
        assert isinstance(value, IntegerAttr)
        number = value.value.data
        if self.result.type == i1:
            return bool(number)
        return number


@irdl_op_definition
class CastOp(CastText, IRDLOperation):
    """`cast %a : f32 to bf16`: conversion as PyTorch's `.to`; always rounds.

    `storage` marks a rounding that the lowering added because a buffer has that dtype: it may be
    dropped where the value does not reach memory. A cast that the user wrote has no mark.
    """

    name = "scalar.cast"
    arg = operand_def()
    storage = opt_prop_def(UnitAttr)
    result = result_def()
    traits = traits_def(Pure(), ScalarCanonicalization())

    @staticmethod
    def of(arg: SSAValue, to: Attribute, storage: bool = False) -> CastOp:
        """A conversion to a scalar type."""
        props: dict[str, Attribute] = {"storage": UnitAttr()} if storage else {}
        return CastOp.create(operands=[arg], result_types=[to], properties=props)


@irdl_op_definition
class BitcastOp(CastText, IRDLOperation):
    """`bitcast %a : f32 to i32`: the same bits in another type of equal width."""

    name = "scalar.bitcast"
    arg = operand_def()
    storage = opt_prop_def(UnitAttr)
    result = result_def()
    traits = traits_def(Pure())

    @staticmethod
    def of(arg: SSAValue, to: Attribute) -> BitcastOp:
        """A reinterpretation in another scalar type."""
        return BitcastOp.create(operands=[arg], result_types=[to])


@irdl_op_definition
class IndexOp(IndexText, IRDLOperation):
    """`index d1 : i64`: an index expression as data (arange, argmax, masks)."""

    name = "scalar.index"
    operands_ = var_operand_def()
    expr = prop_def(ExprAttr)
    result = result_def()
    traits = traits_def(Pure(), ScalarCanonicalization())

    @staticmethod
    def of(expr: ExprLike, type_: Attribute, operands: Sequence[SSAValue] = ()) -> IndexOp:
        """An expression as a value of an integer type."""
        props: dict[str, Attribute] = {"expr": ExprAttr(Expr.of(expr))}
        return IndexOp.create(operands=list(operands), result_types=[type_], properties=props)


@irdl_op_definition
class WithinOp(WithinText, IRDLOperation):
    """`within d1 in 0 to 512`: lo <= e < hi as i1. `bounds` holds [e, lo, hi]."""

    name = "scalar.within"
    operands_ = var_operand_def()
    bounds = prop_def(IndexAttr)
    result = result_def(i1)
    traits = traits_def(Pure(), ScalarCanonicalization())

    @staticmethod
    def of(e: ExprLike, lo: ExprLike, hi: ExprLike, operands: Sequence[SSAValue] = ()) -> WithinOp:
        """The test lo <= e < hi."""
        bounds = IndexAttr((Expr.of(e), Expr.of(lo), Expr.of(hi)))
        return WithinOp.create(
            operands=list(operands), result_types=[i1], properties={"bounds": bounds}
        )

    @property
    def test(self) -> tuple[Expr, Expr, Expr]:
        """(e, lo, hi)."""
        e, lo, hi = self.bounds.data
        return e, lo, hi


@irdl_op_definition
class BoundOp(BoundText, IRDLOperation):
    """`bound %k to s1 wrap if %c`: a checked index as i64.

    Adds the size when negative (`wrap`), reports a fault when outside, and gives a value that is
    safe to address with: 0 <= result < size. Where a mask is given and false nothing is checked,
    and the result may not be used.
    """

    name = "scalar.bound"
    arg = operand_def()
    mask = opt_operand_def(i1)
    size = prop_def(ExprAttr)
    wrap = opt_prop_def(UnitAttr)
    result = result_def()

    @staticmethod
    def of(arg: SSAValue, size: ExprLike, type_: Attribute, wrap: bool = True) -> BoundOp:
        """A checked index of `arg` into `size` elements; `type_` is i64."""
        props: dict[str, Attribute] = {"size": ExprAttr(Expr.of(size))}
        if wrap:
            props["wrap"] = UnitAttr()
        return BoundOp.create(operands=[arg], result_types=[type_], properties=props)


@irdl_op_definition
class YieldOp(YieldText, IRDLOperation):
    """`yield %a, %b : f32, f32`: the values of the region."""

    name = "scalar.yield"
    args = var_operand_def()
    traits = traits_def(IsTerminator(), ReturnLike(), Pure())

    @staticmethod
    def of(*args: SSAValue) -> YieldOp:
        """Yield values."""
        return YieldOp.create(operands=list(args))


@irdl_op_definition
class IfOp(IfText, IRDLOperation):
    """`if %c -> f32 {..} else {..}`: control flow; a load inside is touched only when it holds."""

    name = "scalar.if"
    cond = operand_def(i1)
    results_ = var_result_def()
    then = region_def("single_block")
    orelse = region_def("single_block")
    traits = traits_def(NoTerminator())

    @staticmethod
    def of(cond: SSAValue, types: Sequence[Attribute], then: Region, orelse: Region) -> IfOp:
        """Both regions yield values of `types`."""
        return IfOp.create(operands=[cond], result_types=list(types), regions=[then, orelse])


@irdl_op_definition
class LookupOp(LookupText, IRDLOperation):
    """`lookup %v -> bf16 { ^(%x : bf16): .. yield %r }`: what the region yields for %v.

    The region is a function of one value of 8 or 16 bits. A target may fill a table of its results
    once and read that instead.
    """

    name = "scalar.lookup"
    arg = operand_def()
    result = result_def()
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), Pure())

    @staticmethod
    def of(arg: SSAValue, type_: Attribute, body: Region) -> LookupOp:
        """The region takes a value of `arg`'s type and yields one of `type_`."""
        return LookupOp.create(operands=[arg], result_types=[type_], regions=[body])


@irdl_op_definition
class RandomOp(RandomText, IRDLOperation):
    """`random philox %seed, e stream 3 -> f32`: uniform in [0, 1) from (seed, stream, e).

    Pure: loop order, tiling and recomputation cannot change the value. `seed` is an i64 value, `e`
    the logical flat index. Source: Salmon et al., Parallel random numbers: as easy as 1, 2, 3.
    """

    name = "scalar.random"
    seed = operand_def()
    operands_ = var_operand_def()
    expr = prop_def(ExprAttr)
    stream = prop_def(IntegerAttr)
    kind = prop_def(StringAttr)
    result = result_def()
    traits = traits_def(Pure())

    @staticmethod
    def of(
        seed: SSAValue,
        expr: ExprLike,
        stream: int,
        type_: Attribute,
        kind: str = "philox",
        operands: Sequence[SSAValue] = (),
    ) -> RandomOp:
        """A random value: `philox` uniform in [0, 1), `philox_normal`, or `philox_bits` (i64)."""
        return RandomOp.create(
            operands=[seed, *operands],
            result_types=[type_],
            properties={
                "expr": ExprAttr(Expr.of(expr)),
                "stream": IntegerAttr(stream, 64),
                "kind": StringAttr(kind),
            },
        )


SPECIAL_OPS: tuple[type[Operation], ...] = (
    ConstantOp,
    CastOp,
    BitcastOp,
    IndexOp,
    WithinOp,
    BoundOp,
    YieldOp,
    IfOp,
    LookupOp,
    RandomOp,
)
