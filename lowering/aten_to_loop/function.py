"""State of one function's lowering: the block written to, values so far, seeds, buffers.

`FunctionLowering` is what all calls of a function share. It knows how to turn a `Ref` into a real
pointer (`pointer`), where one is needed: a function result, an argument of an extern call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from xdsl.dialects.builtin import LocationAttr, UnitAttr, UnknownLoc
from xdsl.ir import Block, Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.aten.special import scalar_type
from minductor.dialects.attrs import ExprAttr, Origin, OriginsAttr
from minductor.dialects.expr import Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.loop.ops import ExternOp, NestOp, ViewOp
from minductor.dialects.pyattrs import ArgAttr, DeviceAttr, DTypeAttr, from_python
from minductor.dialects.types import FloatType, IntType, TensorType
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.refs import Number, Ref

OpT = TypeVar("OpT", bound=Operation)

SEED = "minductor.seed"
"""Extern that draws an i64[1] seed from the default generator of a device, once a call."""

STATE = "minductor.state"
"""Extern that gives the state of a device's default generator, as i64[n]."""

SEEDED = "minductor.seeded"
"""Extern that calls the op args[0] on args[2], its numbers drawn from the seed or state args[1]."""

SIZE = "minductor.size"
"""Extern that gives the value of an index expression as a Python int."""

NUMBER = "minductor.number"
"""Extern that gives its argument, a Python number."""

ASSERT = "minductor.assert"
"""Extern that raises RuntimeError(args[1]) unless the index expression args[0] is >= 0."""

CONSTANT = "minductor.constant"
"""Extern that gives a tensor with the elements `args[0]`, in row-major order."""


class FunctionLowering:
    """One function on its way to `loop`: `ranges` of its size symbols, the option `skinny`, the
    `aten` values whose storage is read as such (`storages_read`)."""

    def __init__(
        self, block: Block, ranges: Ranges, storages_read: frozenset[SSAValue] = frozenset()
    ):
        self.block = block
        self.ranges = ranges
        self.storages_read = storages_read
        self.skinny = 0
        self.env: dict[SSAValue, Ref | Expr | Number] = {}
        self.objects: dict[SSAValue, SSAValue] = {}
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

    # -- random ----------------------------------------------------------------------------------
    def seed(self, device: str) -> SSAValue:
        """The seed tensor of a device: one extern call, before everything that reads it."""
        found = self._seeds.get(device)
        if found is None:
            found = self._seeds[device] = self.fresh_seed(device)
        return found

    def fresh_seed(self, device: str, words: int = 1) -> SSAValue:
        """A seed tensor that no other op reads yet; of several words, the generator's state."""
        op = ExternOp.of(
            SEED if words == 1 else STATE,
            [],
            [],
            {"device": DeviceAttr(device)},
            [TensorType.make("i64", [words], device=device)],
            {"random": UnitAttr(), "ordered": UnitAttr()},
        )
        return self._plain(op, "seed")

    def stream(self) -> int:
        """The next stream number: one for every random op of the function."""
        self._streams += 1
        return self._streams - 1

    # -- pointers --------------------------------------------------------------------------------
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

    # -- numbers ---------------------------------------------------------------------------------
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

    def number_value(self, value: Ref | Expr | Number) -> SSAValue:
        """A Python number as a value of `!aten.float` or `!aten.int<e>`: for an extern call, a
        function result. A `wrapped` 0-d tensor gives its element."""
        if isinstance(value, Expr):
            return self.int_value(value)
        if not isinstance(value, Ref):
            number = from_python(value)
            call = ExternOp.of(NUMBER, [], [number], {}, [scalar_type(number)])
            return self._plain(call, "number")
        found = self._numbers.get(value.base)
        if found is None:
            item = ExternOp.of(
                "aten.item.default", [value.base], [ArgAttr(0)], {}, [FloatType(None)]
            )
            found = self._numbers[value.base] = self._plain(item, "number")
        return found

    def _plain(self, op: ExternOp, name: str) -> SSAValue:
        """Emit a call whose result is no buffer."""
        result = self.emit(op).results[0]
        self._buffers -= 1
        result.name_hint = name
        return result

    def bind_int(self, e: Expr, value: SSAValue) -> None:
        """`value` holds the Python int `e`: an argument, or a size known at run time only."""
        self._ints.setdefault(e, value)

    def int_value(self, e: Expr) -> SSAValue:
        """An index expression as a value of `!aten.int<e>` (a function result, for example)."""
        found = self._ints.get(e)
        if found is None:
            call = ExternOp.of(SIZE, [], [ExprAttr(e)], {}, [IntType(e)])
            found = self._ints[e] = self._plain(call, "size")
        return found


def dense(type_: TensorType) -> TensorType:
    """The type, with a layout that a nest can fill: no element stored twice (0 strides)."""
    for size, stride in zip(type_.sizes, type_.strides, strict=True):
        if stride is ex.ZERO and size is not ex.ONE:
            return TensorType.make(type_.dtype, type_.sizes, None, type_.device)
    return type_


def origins_attr(origins: Sequence[Origin]) -> OriginsAttr:
    """Origins as an attribute."""
    return OriginsAttr(tuple(origins))
