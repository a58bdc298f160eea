"""State of one function's lowering: the block written to, values so far, seeds, buffers.

`FunctionLowering` is what all calls of a function share. It knows how to turn a `Ref` into a real
pointer (`pointer`), where one is needed: a function result, an argument of an extern call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from xdsl.dialects.builtin import LocationAttr, StringAttr, UnitAttr, UnknownLoc
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import Pure

from minductor.dialects import expr as ex
from minductor.dialects.attrs import ExprAttr, Origin, OriginsAttr
from minductor.dialects.expr import Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.loop.ops import ExternOp, NestOp, ViewOp
from minductor.dialects.pyattrs import ArgAttr, DeviceAttr, DTypeAttr
from minductor.dialects.types import IntType, TensorType
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.refs import Ref

OpT = TypeVar("OpT", bound=Operation)

SEED = "minductor.seed"
"""Extern that draws an i64[1] seed from the default generator of a device, once a call."""

SIZE = "minductor.size"
"""Extern that gives the value of an index expression as a Python int."""


class FunctionLowering:
    """One function on its way to `loop`. `ranges` knows its size symbols."""

    def __init__(self, block: Block, ranges: Ranges):
        self.block = block
        self.ranges = ranges
        self.env: dict[SSAValue, Ref | Expr] = {}
        self.origins: tuple[Origin, ...] = ()
        self.location: LocationAttr = UnknownLoc()
        self._seeds: dict[str, SSAValue] = {}
        self._streams = 0
        self._buffers = 0
        self._pointers: dict[tuple[object, ...], SSAValue] = {}
        self._numbers: dict[SSAValue, SSAValue] = {}
        self._ints: dict[Expr, SSAValue] = {}

    def emit(self, op: OpT) -> OpT:
        """Append an op: location of the current `aten` op, results named buf0, buf1, ..."""
        op.location = self.location
        self.block.add_op(op)
        if isinstance(op, NestOp | ExternOp):
            for result in op.results:
                result.name_hint = f"buf{self._buffers}"
                self._buffers += 1
        return op

    # -- random -------------------------------------------------------------------------------------
    def seed(self, device: str) -> SSAValue:
        """The seed tensor of a device: one extern call, before everything that reads it."""
        found = self._seeds.get(device)
        if found is None:
            op = ExternOp.of(
                SEED,
                [],
                [],
                {"device": DeviceAttr(device)},
                [TensorType.make("i64", [1], device=device)],
                {"random": UnitAttr(), "ordered": UnitAttr()},
            )
            found = self.emit(op).results[0]
            found.name_hint = "seed"
            self._buffers -= 1
            self._seeds[device] = found
        return found

    def stream(self) -> int:
        """The next stream number: one for every random op of the function."""
        self._streams += 1
        return self._streams - 1

    # -- pointers -----------------------------------------------------------------------------------
    def pointer(self, ref: Ref, copied: bool = False) -> SSAValue:
        """The value as a loop tensor of exactly its type.

        The base itself, a `loop.view` of the base when the value aliases its storage, else a copy
        (always when `copied`). The same value gives the same pointer.
        """
        if ref.is_whole and not copied:
            return ref.base
        key = (ref.base, ref.index, ref.type, copied)
        found = self._pointers.get(key)
        if found is None:
            if not copied and (ref.shares or ref.affine(self.ranges)):
                view = self.emit(ViewOp.of(ref.base, ref.offset(), ref.type))
                found = view.result
                found.name_hint = ref.base.name_hint
            else:
                found = self.copy(ref, dense(ref.type))
            self._pointers[key] = found
        return found

    def copy(self, ref: Ref, type_: TensorType) -> SSAValue:
        """A copy of the value into a fresh tensor of `type_` (same sizes)."""
        b = self.nest_builder([type_], type_.sizes)
        b.store(b.load(ref, b.dims))
        return self.emit(b.finish()).results[0]

    def nest_builder(
        self,
        types: Sequence[TensorType],
        parallel: Sequence[Expr],
        reduce: Sequence[Expr] = (),
        scan: Sequence[Expr] = (),
        updates: dict[int, SSAValue] | None = None,
    ) -> NestBuilder:
        """A builder that knows the function's symbols and the current op's origins."""
        return NestBuilder(types, parallel, reduce, scan, self.ranges, self.origins, updates)

    def replace_base(self, old: SSAValue, new: SSAValue) -> None:
        """A call has written `old`: values that look at it see `new` from now on."""
        for key, ref in self.env.items():
            if isinstance(ref, Ref) and ref.base is old:
                self.env[key] = replace(ref, base=new)
        self._pointers = {k: v for k, v in self._pointers.items() if k[0] is not old}

    # -- numbers ------------------------------------------------------------------------------------
    def number_tensor(self, value: SSAValue) -> Ref:
        """A run-time Python float as a 0-d f64 tensor that nests can load."""
        op = ExternOp.of(
            "aten.scalar_tensor.default",
            [value],
            [ArgAttr(0)],
            {"dtype": DTypeAttr("f64")},
            [TensorType.make("f64", [])],
        )
        base = self.emit(op).results[0]
        self._numbers[base] = value
        return replace(Ref.of(base), wrapped=True)

    def raw_number(self, ref: Ref) -> SSAValue | None:
        """The Python number that a 0-d tensor was made of, for an extern call; else None."""
        return self._numbers.get(ref.base) if ref.wrapped else None

    def bind_int(self, e: Expr, value: SSAValue) -> None:
        """`value` holds the Python int `e`: a function argument, or a size known at run time only."""
        self._ints.setdefault(e, value)

    def int_value(self, e: Expr) -> SSAValue:
        """An index expression as a value of `!aten.int<e>` (a function result, for example)."""
        found = self._ints.get(e)
        if found is None:
            found = self.emit(ExternOp.of(SIZE, [], [ExprAttr(e)], {}, [IntType(e)])).results[0]
            self._buffers -= 1
            found.name_hint = "size"
            self._ints[e] = found
        return found


def dense(type_: TensorType) -> TensorType:
    """The type, with a layout that a nest can fill: no element stored twice (0 strides)."""
    for size, stride in zip(type_.sizes, type_.strides, strict=True):
        if stride is ex.ZERO and size is not ex.ONE:
            return TensorType.make(type_.dtype, type_.sizes, None, type_.device)
    return type_


def origin_of(op: Operation) -> Origin:
    """The origin that an `aten` op names, by default its own base name."""
    attr = op.attributes.get("origin")
    if isinstance(attr, StringAttr):
        return Origin.parse(attr.data)
    return Origin(base_name(op.name))


def base_name(op_name: str) -> str:
    """`aten.add.Tensor` -> `add`; `prims.iota.default` -> `iota`."""
    parts = op_name.split(".")
    return parts[-2] if len(parts) > 2 else parts[-1]


def origins_attr(origins: Sequence[Origin]) -> OriginsAttr:
    """Origins as an attribute."""
    return OriginsAttr(tuple(origins))


def is_pure(op: Operation) -> bool:
    """The op has the Pure trait."""
    return op.has_trait(Pure, value_if_unregistered=False)
