"""What a lowering sees of one `aten` op: typed access to its arguments and results.

@lower("sum.dim_IntList")
def sum_dim(call: Call) -> list[Result]:
    x, dims = call.ref("self"), call.ints("dim")
    b = call.nest(x.sizes[:1], reduce=x.sizes[1:])
    ...
    return call.done(b)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.ir import Attribute, Operation, SSAValue

from minductor.dialects.expr import Expr, ExprLike
from minductor.dialects.pyattrs import DeviceAttr, DTypeAttr, EnumAttr
from minductor.dialects.types import TensorType
from minductor.lowering.aten_to_loop.function import FunctionLowering
from minductor.lowering.aten_to_loop.nest_builder import NestBuilder
from minductor.lowering.aten_to_loop.promote import Operand
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import Declined


@dataclass(frozen=True)
class Call:
    """One op; `args` by schema name: tensors as `Ref`, symbolic ints as `Expr`, defaults filled."""

    fn: FunctionLowering
    op: Operation
    overload: str
    args: Mapping[str, object]
    result_types: tuple[Attribute, ...]

    # -- results ---------------------------------------------------------------------------------
    @property
    def types(self) -> tuple[TensorType, ...]:
        """Types of the results, all tensors. Declined if one is not."""
        if not all(isinstance(t, TensorType) for t in self.result_types):
            raise Declined("a result is not a tensor")
        return cast(tuple[TensorType, ...], self.result_types)

    @property
    def type(self) -> TensorType:
        """Type of the first result."""
        return self.types[0]

    # -- arguments -------------------------------------------------------------------------------
    def _get(self, name: str, kinds: tuple[type, ...] | type) -> object:
        if name not in self.args:
            raise KeyError(f"`{self.overload}` has no argument `{name}`: {', '.join(self.args)}")
        value = self.args[name]
        if not isinstance(value, kinds):
            raise Declined(f"argument `{name}` is a {type(value).__name__}")
        return value

    def has(self, name: str) -> bool:
        """The argument exists and is not None."""
        return self.args.get(name) is not None

    def ref(self, name: str) -> Ref:
        """A tensor."""
        return cast(Ref, self._get(name, Ref))

    def opt_ref(self, name: str) -> Ref | None:
        """A tensor or None."""
        return self.ref(name) if self.has(name) else None

    def refs(self, name: str) -> list[Ref]:
        """A list of tensors."""
        items = cast(list[object], self._get(name, (list, tuple)))
        if not all(isinstance(x, Ref) for x in items):
            raise Declined(f"argument `{name}` is not a list of tensors")
        return cast(list[Ref], list(items))

    def opt_refs(self, name: str) -> list[Ref | None]:
        """A list of tensors and None."""
        return cast(list[Ref | None], list(cast(list[object], self._get(name, (list, tuple)))))

    def operand(self, name: str) -> Operand:
        """A tensor or a number."""
        return cast(Operand, self._get(name, (Ref, Expr, bool, int, float)))

    def stored(self, name: str) -> Operand:
        """An operand that is converted to the result's dtype. Declines a number that does not fit
        an integer: eager raises, where arithmetic with such a number wraps."""
        value = self.operand(name)
        info = self.type.info
        if isinstance(value, int | float) and info.kind in ("int", "uint"):
            signed = info.kind == "int"
            most = (1 << (8 * info.size - signed)) - 1
            if not -most - signed <= value <= most:  # -1 as u8 is 255, in eager, too
                raise Declined(f"{value} does not fit {self.type.dtype}")
        return value

    def number(self, name: str) -> bool | int | float:
        """A number known at compile time."""
        value = self._get(name, (Expr, bool, int, float))
        if isinstance(value, Expr):
            return int(self._known(name, value))
        return cast("bool | int | float", value)

    def opt_number(self, name: str) -> bool | int | float | None:
        """A number known at compile time, or None."""
        return self.number(name) if self.has(name) else None

    def int_(self, name: str) -> int:
        """An int known at compile time."""
        return int(self.number(name))

    def _known(self, name: str, e: Expr) -> int:
        value = e.as_int
        if value is None:
            raise Declined(f"argument `{name}` is known at run time only: {e}")
        return value

    def ints(self, name: str) -> list[int]:
        """A list of ints known at compile time; None and a missing list are []."""
        if not self.has(name):
            return []
        value = self.args[name]
        if isinstance(value, int | Expr):
            value = [value]
        items = cast(Sequence[ExprLike], value)
        return [self._known(name, Expr.of(x)) for x in items]

    def expr(self, name: str) -> Expr:
        """An int, symbolic or not."""
        return Expr.of(cast(ExprLike, self._get(name, (Expr, int))))

    def opt_expr(self, name: str) -> Expr | None:
        """An int, symbolic or not, or None."""
        return self.expr(name) if self.has(name) else None

    def exprs(self, name: str) -> list[Expr]:
        """A list of ints, symbolic or not."""
        return [Expr.of(e) for e in cast(Sequence[ExprLike], self._get(name, (list, tuple)))]

    def flag(self, name: str) -> bool:
        """A bool; a missing or None argument is False."""
        return bool(self.args.get(name))

    def text(self, name: str) -> str | None:
        """A string or an enum's name, or None."""
        value = self.args.get(name)
        if isinstance(value, EnumAttr | DeviceAttr):
            return value.data
        return None if value is None else str(value)

    def dtype(self, name: str = "dtype") -> str | None:
        """A dtype's short name, or None."""
        value = self.args.get(name)
        return value.data if isinstance(value, DTypeAttr) else None

    def dim(self, name: str, rank: int) -> int:
        """A dimension number, wrapped; a 0-d tensor has dimension 0 and -1."""
        return wrap_dim(self.int_(name), rank)

    # -- writing ---------------------------------------------------------------------------------
    def nest(
        self,
        parallel: Sequence[Expr] | None = None,
        reduce: Sequence[Expr] = (),
        scan: Sequence[Expr] = (),
        types: Sequence[TensorType] | None = None,
        updates: dict[int, SSAValue] | None = None,
    ) -> NestBuilder:
        """A nest builder: over the first result's sizes and for all results unless given."""
        types = self.types if types is None else types
        extents = types[0].sizes if parallel is None else parallel
        return self.fn.nest_builder(types, extents, reduce, scan, updates)

    def done(self, builder: NestBuilder) -> list[Result]:
        """Emit the nest; its results as values."""
        return [Ref.of(v) for v in self.fn.emit(builder.finish()).results]


def wrap_dim(dim: int, rank: int) -> int:
    """A dimension in 0 .. rank - 1 (a 0-d tensor counts as rank 1). IndexError text as eager's."""
    room = max(rank, 1)
    if not -room <= dim < room:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-room}, {room - 1}], got {dim})"
        )
    return dim % room


def wrap_dims(dims: Sequence[int], rank: int) -> list[int]:
    """Dimensions to reduce, ascending; none given means all."""
    if not dims:
        return list(range(rank))
    return sorted({wrap_dim(d, rank) for d in dims}) if rank else []
