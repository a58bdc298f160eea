"""The `aten` dialect: PyTorch's operators, their classes made from schemas at first use."""

from __future__ import annotations

from xdsl.ir import Dialect

from minductor.dialects.aten.control import ControlOp
from minductor.dialects.aten.ops import AtenOp, CustomOp, known_op, op_class
from minductor.dialects.aten.special import (
    SPECIAL_OPS,
    AssertOp,
    ConstantOp,
    PyOp,
    ScalarOp,
    SeedOp,
)
from minductor.dialects.aten.traits import (
    COPIES_STORAGE,
    Commutative,
    Elementwise,
    Library,
    MayCopy,
    Mutates,
    Ordered,
    Random,
    View,
    always_view,
    is_mutating,
    is_ordered,
    is_pure,
    is_removable,
    is_view,
    storages_read,
)
from minductor.dialects.attrs import SymbolsAttr
from minductor.dialects.pyattrs import (
    ComplexAttr,
    DeviceAttr,
    DTypeAttr,
    DynAttr,
    EnumAttr,
    NoneAttr,
)
from minductor.dialects.types import AbsentType, FloatType, IntType, ObjectType, TensorType

ATEN = Dialect(
    "aten",
    [*SPECIAL_OPS, CustomOp, ControlOp],
    [
        TensorType,
        IntType,
        FloatType,
        AbsentType,
        ObjectType,
        SymbolsAttr,
        NoneAttr,
        DTypeAttr,
        DeviceAttr,
        EnumAttr,
        ComplexAttr,
        DynAttr,
    ],
)

__all__ = [
    "ATEN",
    "COPIES_STORAGE",
    "AssertOp",
    "AtenOp",
    "Commutative",
    "ConstantOp",
    "ControlOp",
    "CustomOp",
    "Elementwise",
    "Library",
    "MayCopy",
    "Mutates",
    "Ordered",
    "PyOp",
    "Random",
    "ScalarOp",
    "SeedOp",
    "View",
    "always_view",
    "is_mutating",
    "is_ordered",
    "is_pure",
    "is_removable",
    "is_view",
    "known_op",
    "op_class",
    "storages_read",
]
