"""The `kernel` dialect, inside a kernel: loop trees over local values, flat buffers.

Schedule words (see `Words`) say how a loop runs; without words a loop is sequential. Extents and
indices may use variables of the loops around.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, StringAttr, UnitAttr
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
    var_result_def,
)
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    NoTerminator,
    Pure,
    ReturnLike,
    SymbolOpInterface,
)

from minductor.dialects.attrs import (
    BytesAttr,
    ConfigAttr,
    ExprAttr,
    IndexAttr,
    Origin,
    OriginsAttr,
    Words,
    WordsAttr,
)
from minductor.dialects.expr import Expr, ExprLike
from minductor.dialects.kernel.attrs import AccessAttr, VarAttr
from minductor.dialects.kernel.canonicalize import LoopCanonicalization
from minductor.dialects.kernel.text import (
    BarrierText,
    FoldText,
    FuncText,
    LoadText,
    LocalText,
    LoopText,
    StoreText,
    TransposeText,
)
from minductor.dialects.kernel.verify import (
    AccessVerify,
    FoldVerify,
    FuncVerify,
    LoopVerify,
    ReduceVerify,
)
from minductor.dialects.scalar.text import YieldText
from minductor.dialects.text import strings
from minductor.dialects.types import BufType


@irdl_op_definition
class FuncOp(FuncText, FuncVerify, IRDLOperation):
    """`kernel.func @k(read %x : B, write %o : B) [s0, s1] config {target = "cpp"} {..}`.

    Isolated; buffers are flat; symbols are integer arguments, in order. config: target, threads or
    warps, stages, isa, index, math, call.
    """

    name = "kernel.func"
    sym_name = prop_def(StringAttr)
    access = prop_def(AccessAttr)
    symbols = prop_def(IndexAttr)
    config = prop_def(ConfigAttr)
    origins = prop_def(OriginsAttr)
    bytes_ = opt_prop_def(BytesAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), IsolatedFromAbove(), SymbolOpInterface())

    @staticmethod
    def of(
        name: str,
        access: Sequence[str],
        symbols: Sequence[Expr],
        config: ConfigAttr,
        block: Block,
        origins: Sequence[Origin] = (),
        bytes_: BytesAttr | None = None,
    ) -> FuncOp:
        """A kernel whose block arguments are its buffers."""
        props: dict[str, Attribute] = {
            "sym_name": StringAttr(name),
            "access": AccessAttr(tuple(access)),
            "symbols": IndexAttr(tuple(symbols)),
            "config": config,
            "origins": OriginsAttr(tuple(origins)),
        }
        if bytes_ is not None:
            props["bytes_"] = bytes_
        return FuncOp.create(properties=props, regions=[Region(block)])

    @property
    def target(self) -> str:
        """`cpp` or `triton`."""
        return str(self.config.lookup("target", "cpp"))


class LoopOp(LoopText, LoopVerify, IRDLOperation):
    """Base of the loops with one region."""

    var = prop_def(VarAttr)
    extent = prop_def(ExprAttr)
    words = prop_def(WordsAttr)
    body = region_def("single_block")

    @classmethod
    def make(cls, var: int, extent: ExprLike, block: Block, words: Words | None = None) -> Any:
        """A loop of variable d`var` over 0 .. extent-1."""
        return cls.create(
            properties=_header(var, extent, words or Words()), regions=[Region(block)]
        )


def _header(var: int, extent: ExprLike, words: Words) -> dict[str, Attribute]:
    return {
        "var": VarAttr(var),
        "extent": ExprAttr(Expr.of(extent)),
        "words": WordsAttr(words),
    }


@irdl_op_definition
class ParallelOp(LoopOp):
    """`parallel d0 : n <S> {}`: iterations are independent."""

    name = "kernel.parallel"
    traits = traits_def(NoTerminator(), LoopCanonicalization())


@irdl_op_definition
class ForOp(LoopOp):
    """`for d0 : n <S> {}`: iterations run in order."""

    name = "kernel.for"
    traits = traits_def(NoTerminator(), LoopCanonicalization())


@irdl_op_definition
class TileOp(LoopOp):
    """`tile d1 : n <lanes N> {}`: all iterations at once, n <= N; `fold` collapses the axis.

    A store that varies with neither value nor index along d1 happens once.
    """

    name = "kernel.tile"
    traits = traits_def(NoTerminator())


@irdl_op_definition
class ReduceOp(LoopText, ReduceVerify, IRDLOperation):
    """`%r = reduce d1 : n <S> [max, add] -> f32, f32 { yield %a, %b }`: loop with accumulators.

    Each kind takes its operands from the yield in order and gives its results (see loop.reduce).
    The kind's identity starts it; its combine merges lanes, threads and trips.
    """

    name = "kernel.reduce"
    var = prop_def(VarAttr)
    extent = prop_def(ExprAttr)
    words = prop_def(WordsAttr)
    kinds = prop_def(ArrayAttr)
    results_ = var_result_def()
    body = region_def("single_block")
    traits = traits_def(NoTerminator())

    @staticmethod
    def of(
        var: int,
        extent: ExprLike,
        kinds: Sequence[str],
        types: Sequence[Attribute],
        block: Block,
        words: Words | None = None,
    ) -> ReduceOp:
        """A reduction loop; the block ends with a kernel.yield."""
        return ReduceOp.create(
            result_types=list(types),
            properties=_header(var, extent, words or Words()) | {"kinds": strings(kinds)},
            regions=[Region(block)],
        )

    @property
    def kind_names(self) -> list[str]:
        """The reduction kinds, in order."""
        return [k.data for k in self.kinds if isinstance(k, StringAttr)]


@irdl_op_definition
class ScanOp(LoopText, LoopVerify, IRDLOperation):
    """`scan d1 : n <S> [add] { yield %v } do (%p : f32) {..}`: the second sees the prefix."""

    name = "kernel.scan"
    var = prop_def(VarAttr)
    extent = prop_def(ExprAttr)
    words = prop_def(WordsAttr)
    kinds = prop_def(ArrayAttr)
    body = region_def("single_block")
    then = region_def("single_block")
    traits = traits_def(NoTerminator())

    @staticmethod
    def of(
        var: int,
        extent: ExprLike,
        kinds: Sequence[str],
        body: Block,
        then: Block,
        words: Words | None = None,
    ) -> ScanOp:
        """An inclusive scan loop; `body` yields contributions, `then` takes the prefixes."""
        return ScanOp.create(
            properties=_header(var, extent, words or Words()) | {"kinds": strings(kinds)},
            regions=[Region(body), Region(then)],
        )

    @property
    def kind_names(self) -> list[str]:
        """The scan kinds, in order."""
        return [k.data for k in self.kinds if isinstance(k, StringAttr)]


class TileAxisOp(FoldText, FoldVerify, IRDLOperation):
    """Base of ops that work along the axis of an enclosing tile."""

    args = var_operand_def()
    kind = prop_def(StringAttr)
    over = prop_def(VarAttr)
    results_ = var_result_def()
    traits = traits_def(Pure())

    @classmethod
    def make(
        cls, kind: str, args: Sequence[SSAValue], over: int, types: Sequence[Attribute]
    ) -> Any:
        """An op along d`over`."""
        return cls.create(
            operands=list(args),
            result_types=list(types),
            properties={"kind": StringAttr(kind), "over": VarAttr(over)},
        )


@irdl_op_definition
class FoldOp(TileAxisOp):
    """`fold max %a over d1 : f32 -> f32`: collapses the tile's axis; dead lanes count nothing."""

    name = "kernel.fold"


@irdl_op_definition
class CumfoldOp(TileAxisOp):
    """`cumfold add %a over d1 : f32 -> f32`: inclusive scan along the tile's axis."""

    name = "kernel.cumfold"


@irdl_op_definition
class DotOp(TileAxisOp):
    """`dot add %a, %b over d2 : f32, f32 -> f32`: a matmul step, summed along d2."""

    name = "kernel.dot"


@irdl_op_definition
class LocalOp(LocalText, IRDLOperation):
    """`local SPACE [= init] : B`: memory private to the iteration of the loops around it."""

    name = "kernel.local"
    space = prop_def(StringAttr)
    init = opt_prop_def()
    result = result_def(BufType)

    @staticmethod
    def of(space: str, type_: BufType, init: Attribute | None = None) -> LocalOp:
        """Local memory in `reg`, `stack` or `shared`, filled with `init` when given."""
        props: dict[str, Attribute] = {"space": StringAttr(space)}
        if init is not None:
            props["init"] = init
        return LocalOp.create(result_types=[type_], properties=props)


@irdl_op_definition
class TransposeOp(TransposeText, IRDLOperation):
    """`transpose %t[16, 16]`: a local buffer, transposed in place."""

    name = "kernel.transpose"
    buffer = operand_def(BufType)
    shape = prop_def(IndexAttr)


@irdl_op_definition
class LoadOp(LoadText, AccessVerify, IRDLOperation):
    """`load %x[e] [if %c else %z] {nt, evict = "first"}`: a masked load never touches memory.

    Operands: buffer, index operands, condition and substitute when `masked`. `pick`: the lanes of
    every vector lie about its first in one way, at most two vectors apart: a shuffle brings them.
    `ahead`: the line of the element so much further is asked for too.
    """

    name = "kernel.load"
    buffer = operand_def(BufType)
    operands_ = var_operand_def()
    index = prop_def(IndexAttr)
    masked = opt_prop_def(UnitAttr)
    nt = opt_prop_def(UnitAttr)
    evict = opt_prop_def(StringAttr)
    pick = opt_prop_def(UnitAttr)
    ahead = opt_prop_def(ExprAttr)
    result = result_def()

    @staticmethod
    def of(
        buffer: SSAValue,
        index: ExprLike,
        operands: Sequence[SSAValue] = (),
        mask: tuple[SSAValue, SSAValue] | None = None,
    ) -> LoadOp:
        """A load at a flat index in elements; mask is (condition, value where it is false)."""
        type_ = buffer.type
        assert isinstance(type_, BufType)
        props: dict[str, Attribute] = {"index": IndexAttr((Expr.of(index),))}
        if mask is not None:
            props["masked"] = UnitAttr()
        return LoadOp.create(
            operands=[buffer, *operands, *(mask or ())],
            result_types=[type_.scalar],
            properties=props,
        )

    @property
    def index_operands(self) -> list[SSAValue]:
        """Operands t0, t1, .. of the index."""
        return list(self.operands[1:-2] if self.masked is not None else self.operands[1:])

    @property
    def mask(self) -> tuple[SSAValue, SSAValue] | None:
        """(condition, substitute) of a masked load."""
        return (self.operands[-2], self.operands[-1]) if self.masked is not None else None


@irdl_op_definition
class StoreOp(StoreText, AccessVerify, IRDLOperation):
    """`store [add] %v, %o[e] [if %c] {nt, by = "atomic"}`: combine add mul min max last.

    Operands: value, buffer, index operands, then the condition when `masked`. `by`: how concurrent
    combining stores stay exact, "atomic" or "owner" (each thread owns a range of the index).
    `ahead` as for loads.
    """

    name = "kernel.store"
    value = operand_def()
    buffer = operand_def(BufType)
    operands_ = var_operand_def()
    index = prop_def(IndexAttr)
    combine = opt_prop_def(StringAttr)
    masked = opt_prop_def(UnitAttr)
    nt = opt_prop_def(UnitAttr)
    evict = opt_prop_def(StringAttr)
    by = opt_prop_def(StringAttr)
    ahead = opt_prop_def(ExprAttr)

    @staticmethod
    def of(
        value: SSAValue,
        buffer: SSAValue,
        index: ExprLike,
        operands: Sequence[SSAValue] = (),
        combine: str | None = None,
        mask: SSAValue | None = None,
        by: str | None = None,
    ) -> StoreOp:
        """A store at a flat index in elements."""
        props: dict[str, Attribute] = {"index": IndexAttr((Expr.of(index),))}
        if combine is not None:
            props["combine"] = StringAttr(combine)
        if by is not None:
            props["by"] = StringAttr(by)
        if mask is not None:
            props["masked"] = UnitAttr()
        extra = [] if mask is None else [mask]
        return StoreOp.create(operands=[value, buffer, *operands, *extra], properties=props)

    @property
    def index_operands(self) -> list[SSAValue]:
        """Operands t0, t1, .. of the index."""
        return list(self.operands[2:-1] if self.masked is not None else self.operands[2:])

    @property
    def mask(self) -> SSAValue | None:
        """The condition of a masked store."""
        return self.operands[-1] if self.masked is not None else None


@irdl_op_definition
class BarrierOp(BarrierText, IRDLOperation):
    """`barrier`: between two top-level loops of which the second reads what the first wrote."""

    name = "kernel.barrier"


@irdl_op_definition
class YieldOp(YieldText, IRDLOperation):
    """`yield %a, %b : f32, f32`: what one iteration contributes."""

    name = "kernel.yield"
    args = var_operand_def()
    traits = traits_def(IsTerminator(), ReturnLike(), Pure())

    @staticmethod
    def of(*args: SSAValue) -> YieldOp:
        """Yield values."""
        return YieldOp.create(operands=list(args))


KERNEL_OPS: tuple[type[Operation], ...] = (
    FuncOp,
    ParallelOp,
    ForOp,
    TileOp,
    ReduceOp,
    ScanOp,
    FoldOp,
    CumfoldOp,
    DotOp,
    LocalOp,
    TransposeOp,
    LoadOp,
    StoreOp,
    BarrierOp,
    YieldOp,
)
