"""`aten-to-loop`: every `aten` op becomes a nest, a view or an extern call.

    func.func @forward(%x: !aten.t<f32[4, 8]>, %w: !aten.t<f32[8, 8]>) -> !aten.t<f32[8, 4]> {
      %relu = aten.relu(%x)            %t = aten.permute(%relu) {dims = [1, 0]}
      %c = aten.clone(%t)              func.return %c }
      -->
      %buf0 = loop.nest (d0: 4, d1: 8) -> (%o : !aten.t<f32[4, 8]>) origins ["relu"] {
        %0 = loop.load %x[d0, d1] : f32   %1 = scalar.relu %0 : f32   loop.store %1, %o[d0, d1] }
      %buf1 = loop.nest (d0: 8, d1: 4) -> (%o : !aten.t<f32[8, 4]>) origins ["clone"] {
        %0 = loop.load %buf0[d1, d0] : f32   loop.store %0, %o[d0, d1] }
      func.return %buf1

Here casts become explicit, accumulator types are fixed and random streams numbered: the numerics
contract ends here, later passes choose the order of sums only. Function results get exactly the
strides of their `aten` types; results that alias in eager alias here (`loop.view` of one base).
`aten.copy_` to an argument becomes `loop.commit`, at the end, after all reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import Pure

from minductor.dialects import expr as ex
from minductor.dialects.aten import (
    AssertOp,
    AtenOp,
    ConstantOp,
    ControlOp,
    PyOp,
    Random,
    ScalarOp,
    SeedOp,
    storages_read,
)
from minductor.dialects.attrs import Origin, SymbolsAttr
from minductor.dialects.expr import Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.loop.ops import CommitOp, ViewOp
from minductor.dialects.types import FloatType, IntType, ObjectType, TensorType
from minductor.lowering.aten_to_loop.call import Call
from minductor.lowering.aten_to_loop.devices import lies_elsewhere, main_device, runs_elsewhere
from minductor.lowering.aten_to_loop.extern import control_call, extern_call
from minductor.lowering.aten_to_loop.function import FunctionLowering
from minductor.lowering.aten_to_loop.promote import require_scalar
from minductor.lowering.aten_to_loop.refs import Ref, Result
from minductor.lowering.aten_to_loop.registry import Declined, lowering_of
from minductor.lowering.aten_to_loop.special import assert_call, special_value
from minductor.lowering.aten_to_loop.support import as_dtype
from minductor.passes.base import MiniPass
from minductor.passes.remarks import RemarkSink, sink_of

COPY = "copy_.default"


@dataclass(frozen=True)
class AtenToLoopPass(MiniPass):
    """Lowers `aten` functions to `loop`.

    random: "philox" makes random numbers inside nests; "eager" calls eager's generators, which
    gives eager's very values. skinny: rows up to which a product with a large matrix becomes loops
    (`product.py`); 0 leaves all products to libraries.
    """

    name = "aten-to-loop"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})
    provides: ClassVar[frozenset[str]] = frozenset({"loop"})
    ends: ClassVar[frozenset[str]] = frozenset({"aten"})

    random: str = "philox"
    skinny: int = 8

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lower every function of the module that has a body."""
        if self.random not in ("philox", "eager"):
            raise ValueError(f'random = "{self.random}": it is "philox" or "eager"')
        for func in list(op.ops):
            if isinstance(func, FuncOp) and func.body.blocks:
                converter = _Converter(func, sink_of(ctx), self.name, self.random == "eager")
                converter.fn.skinny = self.skinny
                converter.run()


class _Converter:
    """Walks one function; the new body is built aside and then put in place."""

    def __init__(self, func: FuncOp, remarks: RemarkSink, pass_name: str, eager_random: bool):
        symbols = func.attributes.get("symbols")
        ranges = symbols.ranges() if isinstance(symbols, SymbolsAttr) else Ranges()
        self.func = func
        self.old = func.body.block
        self.remarks = remarks
        self.pass_name = pass_name
        self.eager_random = eager_random
        self.device = main_device(func)
        self.new = Block(arg_types=[a.type for a in self.old.args])
        self.fn = FunctionLowering(self.new, ranges, storages_read(self.old.ops))
        self.commits: dict[SSAValue, Ref] = {}

    def run(self) -> None:
        """Lower all ops and replace the function's body."""
        for old, new in zip(self.old.args, self.new.args, strict=True):
            new.name_hint, new.location = old.name_hint, old.location
            self._bind_argument(old, new)
        for op in list(self.old.ops):
            self._op(op)
        for op in reversed(list(self.old.ops)):
            op.drop_all_references()
        region = self.func.body
        region.insert_block(self.new, 0)
        region.erase_block(self.old, safe_erase=False)

    def _bind_argument(self, old: SSAValue, new: SSAValue) -> None:
        if isinstance(old.type, TensorType):
            self.fn.env[old] = Ref.of(new)
        elif isinstance(old.type, IntType):
            self.fn.env[old] = old.type.data
            self.fn.bind_int(old.type.data, new)
        elif isinstance(old.type, FloatType):
            self.fn.env[old] = self.fn.number_tensor(new)
        elif isinstance(old.type, ObjectType):
            self.fn.objects[old] = new

    def _op(self, op: Operation) -> None:
        self.fn.location = op.location
        if isinstance(op, ReturnOp):
            self._return(op)
        elif isinstance(op, AtenOp):
            self.fn.origins = (Origin(*op.origin),)
            self._aten(op)
        elif isinstance(op, ScalarOp | PyOp | ConstantOp):
            self.fn.env[op.results[0]] = special_value(self.fn, op)
        elif isinstance(op, SeedOp):
            type_ = op.result.type
            words = type_.numel.as_int or 1
            self.fn.env[op.result] = Ref.of(self.fn.fresh_seed(type_.device, words))
        elif isinstance(op, AssertOp):
            self.fn.emit(assert_call(op))
        elif isinstance(op, ControlOp):
            self.fn.origins = (Origin(op.callee.data.removeprefix("minductor.")),)
            for old, new in zip(op.results, control_call(self.fn, op), strict=True):
                if new is not None:
                    self.fn.env[old] = new
        else:
            raise ValueError(f"`{op.name}` in a function of aten ops: aten-to-loop has no rule")

    # -- ops -------------------------------------------------------------------------------------
    def _aten(self, op: AtenOp) -> None:
        if self._is_known_number(op):
            for r in op.results:
                self.fn.env[r] = cast(IntType, r.type).data
            return
        args = {name: self._value(v) for name, v in op.bind().items()}
        if op.overload == COPY and self._copy_(op, args):
            return
        results = self._lower(op, args)
        if len(results) != len(op.results):
            have = f"{len(results)} of {len(op.results)}"
            raise ValueError(f"lowering of `{op.name}`: {have} results")
        for old, new in zip(op.results, results, strict=True):
            if new is None:
                continue
            self.fn.env[old] = new
            if isinstance(new, Ref) and new.type is not old.type and not new.wrapped:
                raise ValueError(f"lowering of `{op.name}`: `{new.type}`, promised `{old.type}`")

    def _lower(self, op: AtenOp, args: Mapping[str, object]) -> list[Result]:
        if self.eager_random and op.has_trait(Random):
            return extern_call(self.fn, op, args)
        if runs_elsewhere(op, self.device):
            reason = f"extern: not on the kernels' device, {self.device}"
            self.remarks.note(self.pass_name, op.overload, reason)
            return extern_call(self.fn, op, args)
        lowering = lowering_of(op.overload)
        if lowering is not None:
            call = Call(self.fn, op, op.overload, args, tuple(r.type for r in op.results))
            try:
                return self._empty(op) or lowering(call)
            except Declined as reason:
                self.remarks.note(self.pass_name, op.overload, f"extern: {reason}")
        return extern_call(self.fn, op, args)

    def _empty(self, op: AtenOp) -> list[Result] | None:
        """Results without elements need no arithmetic: they are fresh tensors of that type."""
        types = [r.type for r in op.results]
        if not op.has_trait(Pure) or not types:
            return None
        out: list[Result] = []
        for t in types:
            if not isinstance(t, TensorType) or t.numel is not ex.ZERO:
                return None
        for t in types:
            assert isinstance(t, TensorType)
            require_scalar([t.dtype])
            b = self.fn.nest_builder([t], t.sizes)
            b.store(b.const(0, t.dtype))
            out.append(Ref.of(self.fn.emit(b.finish()).results[0]))
        return out

    @staticmethod
    def _is_known_number(op: AtenOp) -> bool:
        """All results are ints whose expressions use no symbol that this op binds."""
        return bool(op.results) and all(
            isinstance(r.type, IntType) and not r.type.data.vars("u") for r in op.results
        )

    def _value(self, value: object) -> object:
        if isinstance(value, SSAValue):
            return self.fn.env.get(value)
        if isinstance(value, list | tuple):
            return [self._value(v) for v in cast("list[object]", value)]
        return value

    # -- mutation and results --------------------------------------------------------------------
    def _copy_(self, op: AtenOp, args: Mapping[str, object]) -> bool:
        """`copy_` to a whole argument is a commit; anything else stays a call."""
        target, source = args["self"], args["src"]
        if not isinstance(target, Ref) or not isinstance(source, Ref | Expr | int | float):
            return False
        arg = self._committed_argument(op.operands[0])
        if arg is None or target.type is not arg.type or lies_elsewhere(arg.type, self.device):
            return False
        new = self._converted(source, target.type)
        self.commits[arg] = new
        self.fn.env[op.results[0]] = new
        self.fn.env[op.operands[0]] = new
        return True

    def _committed_argument(self, old: SSAValue) -> BlockArgument | None:
        """The new function's argument that an `aten` argument is; None for other values."""
        if isinstance(old, BlockArgument) and old.owner is self.old:
            return self.new.args[old.index]
        return None

    def _converted(self, source: Ref | Expr | int | float, type_: TensorType) -> Ref:
        """The source with the sizes and dtype of `type_`."""
        if isinstance(source, Ref) and (source.dtype, source.sizes) == (type_.dtype, type_.sizes):
            return source
        b = self.fn.nest_builder([type_], type_.sizes)
        b.store(as_dtype(b, source, type_.dtype))
        return Ref.of(self.fn.emit(b.finish()).results[0])

    def _return(self, op: ReturnOp) -> None:
        """Pointers of the results; then the commits, in order; then the return."""
        fn = self.fn
        outs: list[SSAValue] = []
        shown: dict[SSAValue, SSAValue] = {}
        for value in op.operands:
            found = fn.env[value]
            if isinstance(found, Ref) and not found.wrapped:
                out = self._result(found, value)
                # the caller may mark one of two tensors as without a gradient
                if shown.setdefault(out, value) is not value and isinstance(out.type, TensorType):
                    out = fn.emit(ViewOp.of(out, ex.ZERO, out.type)).results[0]
                outs.append(out)
            else:
                outs.append(fn.number_value(found))
        commits = [
            (self._new_value(ref, arg), arg)
            for arg, ref in self.commits.items()
            if not (ref.is_whole and ref.base is arg)
        ]
        for new, arg in commits:
            fn.emit(CommitOp.of(new, arg))
        fn.emit(ReturnOp(*outs))

    def _result(self, ref: Ref, value: SSAValue) -> SSAValue:
        type_ = value.type
        assert isinstance(type_, TensorType)
        return self.fn.pointer(ref if ref.type is type_ else ref.retyped(type_))

    def _new_value(self, ref: Ref, arg: SSAValue) -> SSAValue:
        """What is committed to `arg`: a copy when it looks at an argument that is written too."""
        return self.fn.pointer(ref, copied=ref.base in self.commits)
