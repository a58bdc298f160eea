"""The `kernel` dialect, host side: the program `func.func @call` that owns memory.

A buffer is an SSA value: def-use is its lifetime, its name hint its name. `free` and `reuse` end a
value; later uses of it or of its aliases are refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import SymbolOpInterface

from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.expr import Expr, ExprLike
from minductor.dialects.kernel.host_text import (
    AllocText,
    CheckText,
    FreeText,
    LaunchText,
    ReinterpretText,
    VariantsText,
)
from minductor.dialects.loop.ops import ExternCall
from minductor.dialects.types import IntType, TensorType


@irdl_op_definition
class CheckOp(CheckText, IRDLOperation):
    """`check %x align 16 : T`: sizes, strides, dtype, device and address alignment (bytes)."""

    name = "kernel.check"
    value = operand_def()
    align = opt_prop_def(IntegerAttr)

    @staticmethod
    def of(value: SSAValue, align: int | None = None) -> CheckOp:
        """Check an argument against its type."""
        props: dict[str, Attribute] = {} if align is None else {"align": IntegerAttr(align, 64)}
        return CheckOp.create(operands=[value], properties=props)


@irdl_op_definition
class AllocOp(AllocText, IRDLOperation):
    """`alloc : T`: fresh memory with exactly the type's strides."""

    name = "kernel.alloc"
    result = result_def(TensorType)

    @staticmethod
    def of(type_: TensorType) -> AllocOp:
        """Allocate a tensor."""
        return AllocOp.create(result_types=[type_])


@irdl_op_definition
class SizeOp(AllocText, IRDLOperation):
    """`size : !aten.int<e>`: a number for an extern call or a result."""

    name = "kernel.size"
    result = result_def(IntType)

    @staticmethod
    def of(e: ExprLike) -> SizeOp:
        """The value of an expression over the symbols."""
        return SizeOp.create(result_types=[IntType(Expr.of(e))])


@irdl_op_definition
class ReuseOp(ReinterpretText, IRDLOperation):
    """`reuse %b : T to U`: the memory of a dead buffer as another tensor; ends %b."""

    name = "kernel.reuse"
    source = operand_def(TensorType)
    result = result_def(TensorType)

    @staticmethod
    def of(source: SSAValue, type_: TensorType) -> ReuseOp:
        """Reuse a buffer of at least as many bytes."""
        return ReuseOp.create(operands=[source], result_types=[type_])


@irdl_op_definition
class ReinterpretOp(ReinterpretText, IRDLOperation):
    """`reinterpret %b offset e : T to U`: a view (offset in elements of U); %b stays alive."""

    name = "kernel.reinterpret"
    source = operand_def(TensorType)
    offset = prop_def(ExprAttr)
    result = result_def(TensorType)

    @staticmethod
    def of(source: SSAValue, offset: ExprLike, type_: TensorType) -> ReinterpretOp:
        """A view of a tensor."""
        return ReinterpretOp.create(
            operands=[source],
            result_types=[type_],
            properties={"offset": ExprAttr(Expr.of(offset))},
        )


@irdl_op_definition
class LaunchOp(LaunchText, IRDLOperation):
    """`launch @k(%x, %o)[s0] [when (e) else @k2]`: run a kernel; buffers in parameter order.

    With `when`, @k runs if e > 0, else @k2.
    """

    name = "kernel.launch"
    args = var_operand_def()
    callee = prop_def(SymbolRefAttr)
    symbols = prop_def(IndexAttr)
    when = opt_prop_def(ExprAttr)
    orelse = opt_prop_def(SymbolRefAttr)

    @staticmethod
    def of(callee: str, args: Sequence[SSAValue], symbols: Sequence[Expr]) -> LaunchOp:
        """Launch a kernel by name."""
        return LaunchOp.create(
            operands=list(args),
            properties={
                "callee": SymbolRefAttr(callee),
                "symbols": IndexAttr(tuple(symbols)),
            },
        )


@irdl_op_definition
class ExternOp(ExternCall):
    """A call of an eager kernel, as loop.extern.

    With `out` the op has no results: its trailing operands, one per output of the schema, are
    planned memory that the out= form writes; `args_` names the leading ones.
    """

    name = "kernel.extern"


@irdl_op_definition
class FreeOp(FreeText, IRDLOperation):
    """`free %a, %b`: the last use of these buffers is past."""

    name = "kernel.free"
    values = var_operand_def()

    @staticmethod
    def of(*values: SSAValue) -> FreeOp:
        """End the lifetime of buffers."""
        return FreeOp.create(operands=list(values))


@irdl_op_definition
class VariantsOp(VariantsText, IRDLOperation):
    """`variants @k [@k.0, @k.1]`: candidates of one kernel; one is chosen by measuring."""

    name = "kernel.variants"
    sym_name = prop_def(StringAttr)
    candidates = prop_def(ArrayAttr)
    traits = traits_def(SymbolOpInterface())


HOST_OPS: tuple[type[Operation], ...] = (
    CheckOp,
    AllocOp,
    SizeOp,
    ReuseOp,
    ReinterpretOp,
    LaunchOp,
    ExternOp,
    FreeOp,
    VariantsOp,
)
