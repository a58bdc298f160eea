"""Writes one `loop.nest`: dimensions, loads through views, scalar arithmetic, casts, stores.

    b = NestBuilder([out_type], parallel=out_type.sizes, ranges=ranges)
    x = b.load(ref, b.dims)                     # through any view
    b.store(b.op("relu", x))                    # to result 0 at b.dims
    nest = b.finish()

Extents of 1 make no variable: `b.dims[k]` is 0 there. Equal loads, constants and ops within one
scope are written once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.attrs import Domain, Origin
from minductor.dialects.dtypes import DTYPES, dtype_of_scalar, scalar_of
from minductor.dialects.expr import Expr, ExprLike
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.loop.assumed import mark_assumed
from minductor.dialects.loop.ops import LoadOp, NestOp, ReduceOp, ScanOp, StoreOp
from minductor.dialects.scalar import ops as sc
from minductor.dialects.scalar.text import _KINDS as KINDS
from minductor.dialects.types import TensorType
from minductor.lowering.aten_to_loop.promote import HALVES, opmath, require_scalar
from minductor.lowering.aten_to_loop.refs import Number, Ref
from minductor.lowering.aten_to_loop.registry import Declined

OpT = TypeVar("OpT", bound=Operation)


def dtype_of(value: SSAValue) -> str:
    """The dtype of a scalar value."""
    return dtype_of_scalar(value.type).name


class NestBuilder:
    """One nest under construction.

    `dims`, `rdims`, `sdims`: an expression per given parallel, reduce and scan extent (a variable,
    or 0 for an extent of 1; reduce and scan extents always get a variable). `ranges` knows the size
    symbols and all variables, `shape` is the given parallel extents. `updates` maps a result number
    to the tensor that it updates.
    """

    def __init__(
        self,
        types: Sequence[TensorType],
        parallel: Sequence[ExprLike],
        reduce: Sequence[ExprLike] = (),
        scan: Sequence[ExprLike] = (),
        ranges: Ranges | None = None,
        origins: Sequence[Origin] = (),
        updates: Mapping[int, SSAValue] | None = None,
    ):
        require_scalar([t.dtype for t in types])
        extents = [Expr.of(e) for e in parallel]
        self.shape = tuple(extents)
        live = [e for e in extents if e is not ex.ONE]
        self.types = tuple(types)
        self.domain = Domain(
            tuple(live), tuple(Expr.of(e) for e in reduce), tuple(Expr.of(e) for e in scan)
        )
        numbers = iter(range(len(live)))
        self.dims = [ex.ZERO if e is ex.ONE else ex.dim(next(numbers)) for e in extents]
        self.rdims = [ex.dim(k) for k in self.domain.reduce_dims]
        self.sdims = [ex.dim(k) for k in self.domain.scan_dims]
        self.ranges = self.domain.ranges(ranges)
        self._origins = tuple(origins)
        self._updates = dict(updates or {})
        self._block = Block(arg_types=list(types))
        for k, arg in enumerate(self._block.args):
            arg.name_hint = "o" if len(types) == 1 else f"o{k}_"
        self._top = self._block
        self._seen: list[dict[tuple[Any, ...], SSAValue]] = [{}]
        self._data: list[SSAValue] = []

    # -- plumbing --------------------------------------------------------------------------------
    def _add(self, op: OpT) -> OpT:
        self._block.add_op(op)
        return op

    def _once(self, key: tuple[Any, ...], make: Callable[[], Operation]) -> SSAValue:
        for scope in reversed(self._seen):
            found = scope.get(key)
            if found is not None:
                return found
        value = self._add(make()).results[0]
        self._seen[-1][key] = value
        return value

    def _operands(self, exprs: Sequence[Expr]) -> tuple[list[Expr], list[SSAValue]]:
        """Index operands of an op: the builder's tN become t0, t1, .. of the op."""
        used: dict[int, int] = {}
        for e in exprs:
            for atom in e.vars("t"):
                used.setdefault(atom.index, len(used))
        if not used:
            return list(exprs), []
        env = {ex.var_atom("t", old): ex.operand(new) for old, new in used.items()}
        return [e.subs(env) for e in exprs], [self._data[k] for k in used]

    def _simplified(self, index: Sequence[ExprLike]) -> list[Expr]:
        return [self._simple(Expr.of(e)) for e in index]

    def _simple(self, e: Expr) -> Expr:
        """Normal form by the ranges; a variable of the domain is one already."""
        atom = e.as_atom
        if atom is not None and atom.kind == "d":
            return ex.ZERO if self.domain.extents[atom.index] is ex.ONE else e
        return e if e.as_int is not None else self.ranges.simplify(e)

    # -- memory ----------------------------------------------------------------------------------
    def load(self, ref: Ref, index: Sequence[ExprLike]) -> SSAValue:
        """The element `index` of a value, in the value's dtype."""
        require_scalar([ref.dtype, ref.base_type.dtype])
        exprs = self._simplified(ref.at([Expr.of(e) for e in index]))

        def make() -> Operation:
            placed, operands = self._operands(exprs)
            return self._trusted(LoadOp.of(ref.base, placed, operands), exprs, ref.base_type)

        value = self._once(("load", ref.base, *exprs), make)
        return value if ref.dtype == ref.base_type.dtype else self.bitcast(value, ref.dtype)

    def load_raw(self, base: SSAValue, index: Sequence[ExprLike]) -> SSAValue:
        """The element `index` of a loop tensor."""
        return self.load(Ref.of(base), index)

    def store(
        self,
        value: SSAValue,
        result: int = 0,
        index: Sequence[ExprLike] | None = None,
        combine: str | None = None,
        ordered: bool = False,
    ) -> None:
        """Store to a result, at `dims` unless an index is given; casts to the result's dtype.

        The cast to a half type is marked `storage`: it is there because of memory only.
        """
        dtype = self.types[result].dtype
        have = dtype_of(value)
        value = self.cast(value, dtype, storage=dtype in HALVES and have == "f32")
        exprs = self._simplified(self.dims if index is None else index)
        placed, operands = self._operands(exprs)
        dest = self._top.args[result]
        store = StoreOp.of(value, dest, placed, operands, combine, ordered)
        self._add(self._trusted(store, exprs, self.types[result]))

    def _trusted(self, access: OpT, index: Sequence[Expr], type_: TensorType) -> OpT:
        """Marks an access to symbolic sizes as `assumed` where ranges do not prove it in range.

        Inside an `if` that is the condition's business.
        """
        if self._block is self._top:
            mark_assumed(access, index, type_, self.ranges)
        return access

    # -- values ----------------------------------------------------------------------------------
    def op(self, name: str, *values: SSAValue) -> SSAValue:
        """A scalar op of the table by name. Declined for a dtype that the row has no rule for."""
        row, dtype = sc.TABLE_OPS[name].ROW, dtype_of(values[-1])
        if not row.triton and self.types[0].device != "cpu":
            raise Declined(f"{name} has no Triton form")
        kinds = row.operands
        if DTYPES[dtype].kind not in KINDS[kinds[-1]]:
            raise Declined(f"{name} of {dtype}")
        return self._once((name, *values), lambda: sc.scalar(name, *values))

    def const(self, value: Number, dtype: str) -> SSAValue:
        """A literal of a dtype; integers wrap, floats round."""
        type_ = scalar_of(dtype)
        return self._once(("const", repr(value), type_), lambda: sc.ConstantOp.of(value, type_))

    def like(self, value: Number, other: SSAValue) -> SSAValue:
        """A literal of the dtype of another value."""
        return self.const(value, dtype_of(other))

    def cast(self, value: SSAValue, dtype: str, storage: bool = False) -> SSAValue:
        """Conversion as `.to(dtype)`; nothing when the dtype is the same."""
        type_ = scalar_of(dtype)
        if value.type == type_:
            return value
        key = ("cast", value, type_, storage)
        return self._once(key, lambda: sc.CastOp.of(value, type_, storage))

    def opmath(self, value: SSAValue) -> SSAValue:
        """A half value in f32, anything else as it is."""
        return self.cast(value, opmath(dtype_of(value)))

    def bitcast(self, value: SSAValue, dtype: str) -> SSAValue:
        """The same bits as another dtype of equal width."""
        type_ = scalar_of(dtype)
        if value.type == type_:
            return value
        if "bool" in (dtype, dtype_of(value)):
            return self.cast(value, dtype)
        return self._once(("bitcast", value, type_), lambda: sc.BitcastOp.of(value, type_))

    def index(self, e: ExprLike, dtype: str = "i64") -> SSAValue:
        """An index expression as a value; floating dtypes go through i64."""
        expr = self.ranges.simplify(Expr.of(e))
        whole = expr.as_int
        if whole is not None:
            return self.const(whole, dtype)
        if DTYPES[dtype].kind not in ("int", "uint"):
            return self.cast(self.index(expr), dtype)
        type_ = scalar_of(dtype)

        def make() -> Operation:
            placed, operands = self._operands([expr])
            return sc.IndexOp.of(placed[0], type_, operands)

        return self._once(("index", expr, type_), make)

    def within(self, e: ExprLike, lo: ExprLike, hi: ExprLike) -> SSAValue:
        """lo <= e < hi as a bool value; a constant where the ranges decide it."""
        e, lo, hi = self._simplified([e, lo, hi])
        if self.ranges.le(lo, e) and self.ranges.lt(e, hi):
            return self.const(True, "bool")
        if self.ranges.lt(e, lo) or self.ranges.le(hi, e):
            return self.const(False, "bool")

        def make() -> Operation:
            (test, low, high), operands = self._operands([e, lo, hi])
            return sc.WithinOp.of(test, low, high, operands)

        return self._once(("within", e, lo, hi), make)

    def data(self, value: SSAValue, size: ExprLike, wrap: bool = True) -> Expr:
        """A value as index into `size` elements: checked (negative values wrap if `wrap`).

        The expression that comes back stands for the value in any index of this nest.
        """
        value = self.cast(value, "i64")
        bound = self._once(
            ("bound", value, Expr.of(size), wrap), lambda: sc.BoundOp.of(value, size, i64, wrap)
        )
        if bound in self._data:
            return ex.operand(self._data.index(bound))
        number = len(self._data)
        self._data.append(bound)
        self.ranges = self.ranges.with_operand(number, 0, Expr.of(size) - 1)
        return ex.operand(number)

    def random(
        self, seed: SSAValue, e: ExprLike, stream: int, dtype: str, kind: str = "philox"
    ) -> SSAValue:
        """A random value of (seed, stream, e); `seed` is an i64[1] tensor."""
        type_ = scalar_of(dtype)
        word = self.load_raw(seed, [0])
        placed, operands = self._operands(self._simplified([e]))
        return self._add(sc.RandomOp.of(word, placed[0], stream, type_, kind, operands)).result

    # -- structure -------------------------------------------------------------------------------
    def if_(
        self,
        cond: SSAValue,
        then: Callable[[], SSAValue],
        orelse: Callable[[], SSAValue],
    ) -> SSAValue:
        """Control flow: loads made by `then` are touched only where `cond` holds.

        Both give a value of one dtype. A constant condition leaves one branch.
        """
        known = self.known(cond)
        if known is not None:
            return then() if known else orelse()
        regions = [self._region(then), self._region(orelse)]
        yielded = regions[0].block.last_op
        assert yielded is not None
        type_ = yielded.operands[0].type
        return self._add(sc.IfOp.of(cond, [type_], *regions)).results[0]

    def _region(self, body: Callable[[], SSAValue]) -> Region:
        outer, self._block = self._block, Block()
        self._seen.append({})
        self._add(sc.YieldOp.of(body()))
        self._seen.pop()
        region = Region(self._block)
        self._block = outer
        return region

    @staticmethod
    def known(cond: SSAValue) -> bool | None:
        """The value of a constant condition, else None."""
        owner = cond.owner
        if isinstance(owner, sc.ConstantOp) and cond.type == i1:
            return bool(owner.number)
        return None

    def all_of(self, conds: Sequence[SSAValue]) -> SSAValue:
        """Conjunction; known conditions are left out."""
        left: list[SSAValue] = []
        for c in conds:
            known = self.known(c)
            if known is False:
                return c
            if known is None:
                left.append(c)
        if not left:
            return self.const(True, "bool")
        out = left[0]
        for c in left[1:]:
            out = self.op("and", out, c)
        return out

    def reduce(
        self, kind: str, *values: SSAValue, types: Sequence[Attribute] | None = None
    ) -> list[SSAValue]:
        """Collapse the reduce variables; result types are the operands' unless given."""
        given = [v.type for v in values] if types is None else types
        return list(self._add(ReduceOp.of(kind, values, given)).results)

    def scan(
        self, kind: str, *values: SSAValue, types: Sequence[Attribute] | None = None
    ) -> list[SSAValue]:
        """Inclusive prefix along the scan variable."""
        given = [v.type for v in values] if types is None else types
        return list(self._add(ScanOp.of(kind, values, given)).results)

    def finish(self) -> NestOp:
        """The nest."""
        return NestOp.of(self.domain, self.types, self._top, self._origins, self._updates)
