"""What an `aten` value is during lowering: a base tensor seen through an index map.

A view makes no loop op. `Ref(base, index, type)` says: element [d0, d1, ..] of the value is element
`index` of `base`, where `index` has one expression per dimension of `base` over the variables
d0 .. d(rank-1) of the value. Views compose by substitution:

    %t = aten.permute(%x, [1, 0])      Ref(%x, [d1, d0])
    %u = aten.unsqueeze(%t, 0)         Ref(%x, [d2, d1])

`shares` says that the value is an alias of `base`'s storage in eager too, with the strides of its
type; then a pointer to it can be made from (base, offset, strides) alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from xdsl.ir import SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom, Expr, ExprLike
from minductor.dialects.expr_simplify import Ranges, flatten_index
from minductor.dialects.types import TensorType

Result: TypeAlias = "Ref | Expr | None"
Number: TypeAlias = "bool | int | float"


@dataclass(frozen=True)
class Ref:
    """A tensor value: `base` through `index`, presented with `type` (sizes, strides, dtype).

    The dtype of `type` may differ from the base's (same width): the bits are reinterpreted.
    `wrapped` marks a run-time Python number: it takes part in type promotion as a number does.
    """

    base: SSAValue
    index: tuple[Expr, ...]
    type: TensorType
    shares: bool = True
    wrapped: bool = False

    @staticmethod
    def of(value: SSAValue) -> Ref:
        """A loop value as it is."""
        type_ = value.type
        assert isinstance(type_, TensorType)
        return Ref(value, tuple(ex.dim(k) for k in range(type_.rank)), type_)

    @property
    def dtype(self) -> str:
        """Short dtype name of the value."""
        return self.type.dtype

    @property
    def sizes(self) -> tuple[Expr, ...]:
        """Sizes of the value."""
        return self.type.sizes

    @property
    def rank(self) -> int:
        """Number of dimensions of the value."""
        return self.type.rank

    @property
    def base_type(self) -> TensorType:
        """Type of the base."""
        type_ = self.base.type
        assert isinstance(type_, TensorType)
        return type_

    @property
    def is_whole(self) -> bool:
        """The value is its base: same type, identity map."""
        return self.type is self.base_type and all(e is ex.dim(k) for k, e in enumerate(self.index))

    def at(self, index: Sequence[ExprLike]) -> tuple[Expr, ...]:
        """The base's index of the element `index` (one expression per dimension of the value)."""
        point = [Expr.of(e) for e in index]
        env = {ex.dim_atom(k): e for k, e in enumerate(point)}
        return tuple(_placed(e, point, env) for e in self.index)

    def view(
        self, type_: TensorType, index: Sequence[ExprLike], ranges: Ranges, shares: bool = True
    ) -> Ref:
        """A view of this value: `index` has an expression per dimension of *this* value over the
        variables of the new one, whose type is `type_`. `ranges` knows the size symbols."""
        inner = ranges.with_extents(enumerate(type_.sizes))
        new = tuple(inner.simplify(e) for e in self.at(index))
        return replace(self, index=new, type=type_, shares=self.shares and shares)

    def retyped(self, type_: TensorType) -> Ref:
        """The same elements under another type of the same sizes (an alias, a detach)."""
        return replace(self, type=type_)

    def offset(self) -> Expr:
        """Distance in elements from the base's first element to this value's first element."""
        if any(s.as_int == 0 for s in self.sizes):
            return ex.ZERO
        return flatten_index(self.at([ex.ZERO] * self.rank), self.base_type.strides)

    def affine(self, ranges: Ranges) -> bool:
        """The index map, flattened with the base's strides, is proved to be `type`'s layout."""
        if self.dtype != self.base_type.dtype:
            return False
        inner = ranges.with_extents(enumerate(self.sizes))
        flat = inner.simplify(flatten_index(self.index, self.base_type.strides))
        want = flatten_index([ex.dim(k) for k in range(self.rank)], self.type.strides)
        return flat is inner.simplify(want + self.offset())


def _placed(e: Expr, point: Sequence[Expr], env: Mapping[Atom, Expr]) -> Expr:
    """e at a point; a plain variable is looked up, which spares a substitution."""
    atom = e.as_atom
    if atom is not None and atom.kind == "d":
        return point[atom.index]
    return e if e.as_int is not None else e.subs(env)


def broadcast_index(sizes: Sequence[Expr], to: Sequence[Expr], dims: Sequence[Expr]) -> list[Expr]:
    """Index of a value of `sizes` broadcast (aligned right) to `to`, at the point `dims`."""
    skip = len(to) - len(sizes)
    return [
        ex.ZERO if size is ex.ONE and want is not ex.ONE else dim
        for size, want, dim in zip(sizes, to[skip:], dims[skip:], strict=True)
    ]
