"""The `loop` dialect: nests over iteration domains with explicit loads and stores.

Meaning of a nest in one sentence: each variable of the domain is an axis, each value a tensor that
broadcasts over the axes, a load is a gather, `reduce` a reduction over axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.traits import IsTerminator, NoTerminator, Pure, ReturnLike

from minductor.dialects import expr as ex
from minductor.dialects.attrs import (
    BytesAttr,
    Domain,
    DomainAttr,
    ExprAttr,
    IndexAttr,
    Origin,
    OriginsAttr,
)
from minductor.dialects.expr import Expr, ExprLike
from minductor.dialects.loop.canonicalize import ViewCanonicalization
from minductor.dialects.loop.text import (
    CollapseText,
    CommitText,
    ExternText,
    GroupText,
    LoadText,
    NestText,
    StoreText,
    TensorYieldText,
    ViewText,
)
from minductor.dialects.loop.verify import (
    CollapseVerify,
    CommitVerify,
    ExternVerify,
    GroupVerify,
    LoadVerify,
    NestVerify,
    StoreVerify,
    ViewVerify,
)
from minductor.dialects.text import empty_dict
from minductor.dialects.types import TensorType


@irdl_op_definition
class NestOp(NestText, NestVerify, IRDLOperation):
    """A loop nest; one result per block argument, stored by the body.

    `tied[i]` is the operand that result i updates (`%p = %acc`), or -1 for a fresh result.
    """

    name = "loop.nest"
    updates = var_operand_def(TensorType)
    domain = prop_def(DomainAttr)
    tied = prop_def(IndexAttr)
    origins = prop_def(OriginsAttr)
    results_ = var_result_def(TensorType)
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), Pure())

    @staticmethod
    def of(
        domain: Domain,
        types: Sequence[TensorType],
        block: Block,
        origins: Sequence[Origin] = (),
        updates: Mapping[int, SSAValue] | None = None,
    ) -> NestOp:
        """A nest whose block has one argument per type; `updates` maps result -> operand."""
        tied = [-1] * len(types)
        operands: list[SSAValue] = []
        for result, value in (updates or {}).items():
            tied[result] = len(operands)
            operands.append(value)
        return NestOp.create(
            operands=operands,
            result_types=list(types),
            properties={
                "domain": DomainAttr(domain),
                "tied": IndexAttr(tuple(ex.const(t) for t in tied)),
                "origins": OriginsAttr(tuple(origins)),
            },
            regions=[Region(block)],
        )

    def number_of(self, result: SSAValue) -> int:
        """The position of one of the nest's results."""
        return next(i for i, r in enumerate(self.results) if r is result)

    def updated(self, result: int) -> SSAValue | None:
        """The operand that a result updates, or None for a fresh result."""
        tie = int(self.tied.data[result])
        return self.operands[tie] if tie >= 0 else None


@irdl_op_definition
class LoadOp(LoadText, LoadVerify, IRDLOperation):
    """`load %x[d0, %j] : f32`: one element; an expression per dimension.

    The attribute `assumed` says that the index is in range by facts on symbolic sizes that are not
    written in the module (PyTorch has checked them), so the verifier asks for no proof.
    """

    name = "loop.load"
    source = operand_def(TensorType)
    operands_ = var_operand_def()
    index = prop_def(IndexAttr)
    result = result_def()

    @staticmethod
    def of(
        source: SSAValue, index: Sequence[ExprLike], operands: Sequence[SSAValue] = ()
    ) -> LoadOp:
        """A load of `source`; `operands[k]` is tk of the index."""
        type_ = source.type
        assert isinstance(type_, TensorType)
        attr = IndexAttr(tuple(Expr.of(e) for e in index))
        return LoadOp.create(
            operands=[source, *operands], result_types=[type_.scalar], properties={"index": attr}
        )


@irdl_op_definition
class StoreOp(StoreText, StoreVerify, IRDLOperation):
    """`store [add] %v, %o[d0]`: into a result of the enclosing nest; combine: add mul min max last.

    `ordered` asks for iteration order (a deterministic scatter). `assumed`: as on a load.
    """

    name = "loop.store"
    value = operand_def()
    dest = operand_def(TensorType)
    operands_ = var_operand_def()
    index = prop_def(IndexAttr)
    combine = opt_prop_def(StringAttr)
    ordered = opt_prop_def(UnitAttr)

    @staticmethod
    def of(
        value: SSAValue,
        dest: SSAValue,
        index: Sequence[ExprLike],
        operands: Sequence[SSAValue] = (),
        combine: str | None = None,
        ordered: bool = False,
    ) -> StoreOp:
        """A store into a block argument of the nest."""
        props: dict[str, Attribute] = {"index": IndexAttr(tuple(Expr.of(e) for e in index))}
        if combine is not None:
            props["combine"] = StringAttr(combine)
        if ordered:
            props["ordered"] = UnitAttr()
        return StoreOp.create(operands=[value, dest, *operands], properties=props)


class CollapseOp(CollapseText, CollapseVerify, IRDLOperation):
    """Base of `reduce` and `scan`: values to values."""

    args = var_operand_def()
    kind = prop_def(StringAttr)
    results_ = var_result_def()
    traits = traits_def(Pure())


@irdl_op_definition
class ReduceOp(CollapseOp):
    """`reduce KIND %a, .. : T -> ..`: collapses all reduce variables of the nest.

    add mul min max any all xor: value -> value. argmin argmax: (value, flat i64) -> both, ties to
    the smallest flat index, NaN wins. welford: value -> mean, m2, n. max_sumexp: value -> max, sum.
    """

    name = "loop.reduce"

    @staticmethod
    def of(kind: str, args: Sequence[SSAValue], types: Sequence[Attribute]) -> ReduceOp:
        """A reduction to results of `types`."""
        return ReduceOp.create(
            operands=list(args), result_types=list(types), properties={"kind": StringAttr(kind)}
        )


@irdl_op_definition
class ScanOp(CollapseOp):
    """`scan KIND %a : T -> ..`: inclusive prefix along the scan variable.

    add mul min max logaddexp: value -> value. cummax cummin: (value, i64 index) -> both.
    """

    name = "loop.scan"

    @staticmethod
    def of(kind: str, args: Sequence[SSAValue], types: Sequence[Attribute]) -> ScanOp:
        """A scan to results of `types`."""
        return ScanOp.create(
            operands=list(args), result_types=list(types), properties={"kind": StringAttr(kind)}
        )


@irdl_op_definition
class ViewOp(ViewText, ViewVerify, IRDLOperation):
    """`view %x offset e : T to U`: the same storage in another layout (dtype may be bitcast).

    Made only where a real pointer is needed (output, extern argument); loads go to the base.
    """

    name = "loop.view"
    source = operand_def(TensorType)
    offset = prop_def(ExprAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure(), ViewCanonicalization())

    @staticmethod
    def of(source: SSAValue, offset: ExprLike, type_: TensorType) -> ViewOp:
        """A view whose first element is `offset` elements into the storage of `source`."""
        return ViewOp.create(
            operands=[source],
            result_types=[type_],
            properties={"offset": ExprAttr(Expr.of(offset))},
        )


class ExternCall(ExternText, ExternVerify, IRDLOperation):
    """A call by schema name, run by the eager kernel.

    args_: positional arguments in schema order, `#loop.arg<k>` for operand k; kwargs: keyword-only
    ones. mutates: operands written in place (each has a tied result). aliases: [result, operand]
    pairs that share storage. needs: layout wanted per operand. out: has an out= form that writes
    planned memory. random, ordered: effects. workspace: bytes the call allocates inside.
    """

    inputs = var_operand_def()
    callee = prop_def(StringAttr)
    args_ = prop_def(ArrayAttr)
    kwargs = prop_def(DictionaryAttr)
    mutates = opt_prop_def(IndexAttr)
    aliases = opt_prop_def(ArrayAttr)
    needs = opt_prop_def(ArrayAttr)
    out = opt_prop_def(UnitAttr)
    random = opt_prop_def(UnitAttr)
    ordered = opt_prop_def(UnitAttr)
    workspace = opt_prop_def(ExprAttr)
    origins = opt_prop_def(OriginsAttr)
    results_ = var_result_def()
    regions_ = var_region_def()

    @classmethod
    def of(
        cls,
        callee: str,
        operands: Sequence[SSAValue],
        args: Sequence[Attribute],
        kwargs: Mapping[str, Attribute],
        types: Sequence[Attribute],
        props: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> Self:
        """A call; `props` holds the optional properties."""
        return cls.create(
            operands=list(operands),
            result_types=list(types),
            properties={
                "callee": StringAttr(callee),
                "args_": ArrayAttr(args),
                "kwargs": DictionaryAttr(dict(kwargs)) if kwargs else empty_dict(),
                **(props or {}),
            },
            regions=list(regions),
        )


@irdl_op_definition
class ExternOp(ExternCall):
    """A call of an eager kernel between nests."""

    name = "loop.extern"


@irdl_op_definition
class CommitOp(CommitText, CommitVerify, IRDLOperation):
    """`commit %new to %arg`: the argument's storage holds %new when the function returns."""

    name = "loop.commit"
    new = operand_def(TensorType)
    arg = operand_def(TensorType)

    @staticmethod
    def of(new: SSAValue, arg: SSAValue) -> CommitOp:
        """Write back a mutated argument."""
        return CommitOp.create(operands=[new, arg])


@irdl_op_definition
class GroupOp(GroupText, GroupVerify, IRDLOperation):
    """`group "name" -> T across [2] {.. yield}`: a fused group; only yielded tensors reach memory.

    across: places, among the nests, of those whose reduce variables walk the shared loops: they
    gather their results over all iterations of the group, and no nest inside reads them.
    """

    name = "loop.group"
    sym = prop_def(StringAttr)
    bytes_ = opt_prop_def(BytesAttr)
    across = opt_prop_def(IndexAttr)
    results_ = var_result_def(TensorType)
    body = region_def("single_block")
    traits = traits_def(Pure())

    @staticmethod
    def of(
        name: str,
        types: Sequence[Attribute],
        block: Block,
        bytes_: BytesAttr | None = None,
        across: Sequence[int] = (),
    ) -> GroupOp:
        """A group whose block ends with a `loop.yield`."""
        props: dict[str, Attribute] = {"sym": StringAttr(name)}
        if bytes_ is not None:
            props["bytes_"] = bytes_
        if across:
            props["across"] = IndexAttr(tuple(map(Expr.of, across)))
        return GroupOp.create(result_types=list(types), properties=props, regions=[Region(block)])

    @property
    def nests(self) -> list[NestOp]:
        """The nests of the group, in order."""
        return [op for op in self.body.block.ops if isinstance(op, NestOp)]

    @property
    def across_nests(self) -> list[NestOp]:
        """The nests whose reduce variables walk the shared loops."""
        if self.across is None:
            return []
        nests = self.nests
        return [nests[int(e)] for e in self.across.data]


@irdl_op_definition
class YieldOp(TensorYieldText, IRDLOperation):
    """`yield %a, %b`: the tensors that a group leaves in memory."""

    name = "loop.yield"
    args = var_operand_def(TensorType)
    traits = traits_def(IsTerminator(), ReturnLike(), Pure())

    @staticmethod
    def of(*args: SSAValue) -> YieldOp:
        """Yield tensors."""
        return YieldOp.create(operands=list(args))


LOOP_OPS: tuple[type[Operation], ...] = (
    NestOp,
    LoadOp,
    StoreOp,
    ReduceOp,
    ScanOp,
    ViewOp,
    ExternOp,
    CommitOp,
    GroupOp,
    YieldOp,
)
