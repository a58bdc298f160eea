"""One layout a buffer: channels last around convolutions whose library wants them so.

    mini-opt m.mlir -p loop-layout

before, on CUDA, every tensor contiguous:

    %buf0 = loop.extern "aten.convolution.default"(%x, %w) ..  : (bf16[8, 64, 56, 56], ..)
    %buf1 = loop.nest (d0: 8, d1: 64, d2: 56, d3: 56) -> bf16[8, 64, 56, 56] {         // a relu
      .. load %buf0[d0, d1, d2, d3] .. store %r, %o[d0, d1, d2, d3] }
    %buf2 = loop.extern "aten.convolution.default"(%buf1, %v) ..

after; a load or store names one index a dimension, so that a layout is the type's alone:

    %0 = loop.nest (d0: 8, d1: 56, d2: 56, d3: 64) -> bf16[8, 64, 56, 56]:[200704, 1, 3584, 64] {
      .. load %x[d0, d3, d1, d2] .. }                                          // a copy, once
    %buf0 = loop.extern "aten.convolution.default"(%0, ..) ..
    %buf1 = loop.nest (d0: 8, d1: 56, d2: 56, d3: 64) -> bf16[8, 64, 56, 56]:[200704, 1, 3584, 64] {
      .. load %buf0[d0, d3, d1, d2] .. store %r, %o[d0, d3, d1, d2] }

Tensor cores multiply rows of channels. Given channels apart, the library turns the pixels of each
convolution of a half type before it and the result back after it: two more passes over both, and
memory for them. What is given channels last it takes as it lies, and gives its result so. A
convolution without groups whose channels are multiples of `channels=8` asks for that; others of the
function follow. All buffers between them that nests alone write and read change with them, and the
variables of nests are ordered so that channels are innermost.

What is fixed keeps its layout: arguments, results, what other calls or views take. There a copy
stands: of an argument once, of a weight too (of kernels of one pixel the memory is the same).
Where the copies move as many bytes as the library would, the pass refuses. `loose_results` of a
function names results whose layout is free: what a forward saves for its backward.

`channels=0` leaves all as it is; `wide=true` takes f32 too, which pays where TF32 is allowed;
`layout-on` is the device.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue, Use

from minductor.dialects import expr as ex
from minductor.dialects.attrs import Domain, DomainAttr, OriginsAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.loop.ops import ExternOp, LoadOp, NestOp, ReduceOp, ScanOp, StoreOp, ViewOp
from minductor.dialects.pyattrs import ArgAttr, to_python
from minductor.dialects.types import TensorType
from minductor.passes.base import MiniPass
from minductor.passes.loop.simplify_index import map_exprs
from minductor.passes.peak import LOOSE, bytes_of, hints_of
from minductor.passes.remarks import RemarkSink, sink_of

LAST = (0, 2, 3, 1)
"""Dimensions of images from the outermost in memory, channels last."""


@dataclass(frozen=True)
class _Form:
    """A call: which arguments and results are images or weights, and where its groups stand."""

    images: tuple[int, ...]
    weight: int
    groups: int
    results: int


CALLS = {
    "aten.convolution.default": _Form((0,), 1, 8, 1),
    "aten.convolution_backward.default": _Form((0, 1), 2, 9, 2),
}


@dataclass(frozen=True)
class LoopLayoutPass(MiniPass):
    """Lays images around convolutions out channels last."""

    name = "loop-layout"
    needs: ClassVar[frozenset[str]] = frozenset({"loop-inlined"})

    channels: int = 8
    wide: bool = False
    layout_on: str = "cuda"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if self.channels and isinstance(func, FuncOp) and func.body.blocks:
                self._function(func, sink_of(ctx))

    def _function(self, func: FuncOp, sink: RemarkSink) -> None:
        plan = _Plan(func, self)
        for call in func.body.block.ops:
            if isinstance(call, ExternOp) and call.callee.data in CALLS:
                why = plan.add(call)
                if why is not None:
                    sink.refused(self.name, _name(call), why)
        if not any(plan.calls.values()):
            return
        plan.choose()
        saved, spent = plan.saved(), plan.spent()
        subject = ", ".join(_name(call) for call in plan.calls)
        if spent >= saved:
            why = f"copies move {spent} bytes, the library's own {saved}"
            sink.refused(self.name, subject, why)
            return
        plan.rewrite()
        sink.accepted(self.name, subject, "channels last", bytes=saved - spent)


def channels_last(type_: TensorType) -> TensorType:
    """Images with channels next to each other, then columns, then rows."""
    return type_.dense(LAST)


def _turned(type_: Attribute) -> TensorType | None:
    """The type channels last; None where that is the same memory, or not known to be another."""
    if not isinstance(type_, TensorType) or type_.rank != 4:
        return None
    new = channels_last(type_)
    pairs = zip(type_.sizes, type_.strides, new.strides, strict=True)
    return None if all(n is ex.ONE or a is b for n, a, b in pairs) else new


def _is_image(value: SSAValue | None) -> bool:
    type_ = None if value is None else value.type
    return isinstance(type_, TensorType) and type_.rank == 4


def _name(call: ExternOp) -> str:
    hint = next((r.name_hint for r in call.results if r.name_hint), "")
    return f"{call.callee.data.split('.')[1]} %{hint}"


def _argument(call: ExternOp, k: int) -> SSAValue | None:
    """The tensor that is argument k of the schema."""
    attr = call.args_.data[k]
    return call.operands[attr.data] if isinstance(attr, ArgAttr) else None


@dataclass
class _Plan:
    """Which calls ask for channels last, which buffers follow, and where copies stand."""

    func: FuncOp
    options: LoopLayoutPass
    calls: dict[ExternOp, bool] = field(default_factory=dict[ExternOp, bool])
    chosen: dict[SSAValue, TensorType] = field(default_factory=dict[SSAValue, TensorType])

    def __post_init__(self) -> None:
        self.hints = hints_of(self.func)
        loose = self.func.attributes.get(LOOSE)
        self.loose = set(loose.get_values()) if isinstance(loose, DenseArrayBase) else set[int]()
        self.copies: dict[SSAValue, SSAValue] = {}

    # -- calls -----------------------------------------------------------------------------------
    def add(self, call: ExternOp) -> str | None:
        """Notes a call that takes channels last, or says why it does not."""
        form = CALLS[call.callee.data]
        weight = _argument(call, form.weight)
        images = [_argument(call, k) for k in form.images]
        type_ = None if weight is None else weight.type
        if not isinstance(type_, TensorType) or not images or None in images:
            return "an operand is no tensor"
        if type_.device.partition(":")[0] != self.options.layout_on:
            return f"on {type_.device} the library has its own layouts"
        if not all(_is_image(v) for v in images):
            return "its images have not two dimensions"
        if type_.info.size != 2 and not (self.options.wide and type_.dtype == "f32"):
            return f"{type_.dtype} is not multiplied by tensor cores, or not always"
        if to_python(call.args_.data[form.groups]) != 1:
            return "it has groups"
        if type_.sizes[1] is ex.ONE or type_.sizes[0] is ex.ONE:
            return "of one channel no layout is channels last"
        counts = [n.as_int for n in type_.sizes[:2]]
        self.calls[call] = all(n is not None and n % self.options.channels == 0 for n in counts)
        return None

    def choose(self) -> None:
        """Finds the buffers that change: operands and results of calls, and what lies between."""
        for call in self.calls:
            for value in self._results(call):
                if isinstance(value.type, TensorType) and value.type.rank == 4:
                    self.chosen[value] = channels_last(value.type)
            for value in (*self._images(call), *self._weights(call)):
                if self._free(value):
                    self._take(value)
        nests = [op for op in self.func.body.block.ops if isinstance(op, NestOp)]
        for nest in nests:
            if any(self._follows(nest, load) for load in _loads(nest)):
                self._take_all(nest)
        for nest in reversed(nests):
            if any(self._is_read_so(result) for result in nest.results):
                self._take_all(nest)

    def _images(self, call: ExternOp) -> list[SSAValue]:
        found = [_argument(call, k) for k in CALLS[call.callee.data].images]
        return [value for value in found if value is not None]

    def _weights(self, call: ExternOp) -> list[SSAValue]:
        found = _argument(call, CALLS[call.callee.data].weight)
        return [] if found is None else [found]

    def _results(self, call: ExternOp) -> list[SSAValue]:
        return list(call.results[: CALLS[call.callee.data].results])

    def _take(self, value: SSAValue) -> None:
        new = _turned(value.type)
        if new is not None:
            self.chosen[value] = new

    def _take_all(self, nest: NestOp) -> None:
        for result in nest.results:
            if result not in self.chosen and self._free(result):
                self._take(result)

    def _free(self, value: SSAValue) -> bool:
        """A nest makes it, and nests, the calls or loose results read it."""
        nest = value.owner
        if not isinstance(nest, NestOp) or nest.updated(nest.number_of(value)) is not None:
            return False
        return not any(self._fixed(use) for use in value.uses)

    def _fixed(self, use: Use) -> bool:
        """A use that asks for the layout that the value has."""
        op = use.operation
        if isinstance(op, ReturnOp):
            return use.index not in self.loose
        if isinstance(op, ExternOp):
            return op not in self.calls
        return not isinstance(op, LoadOp)

    def _follows(self, nest: NestOp, load: LoadOp) -> bool:
        """A load of channels from where they are last, to store them as channels."""
        if load.source not in self.chosen:
            return False
        return any(_channel(store) is load.index.data[1] for store in _stores(nest))

    def _is_read_so(self, value: SSAValue) -> bool:
        """All who read it are nests that store it as channels, last."""
        if value in self.chosen or value.first_use is None:
            return False
        for use in value.uses:
            load, nest = use.operation, _nest_of(use.operation)
            if not isinstance(load, LoadOp) or nest is None or len(load.index.data) != 4:
                return False
            stores = [s for s in _stores(nest) if nest.results[_place(s)] in self.chosen]
            if not any(_channel(store) is load.index.data[1] for store in stores):
                return False
        return True

    # -- prices ----------------------------------------------------------------------------------
    def saved(self) -> int:
        """Bytes that the library would move to turn images and results of calls that ask."""
        asking = [call for call, asks in self.calls.items() if asks]
        values = [v for call in asking for v in (*self._images(call), call.results[0])]
        turned = [v for v in values if _turned(v.type) is not None]
        return sum(2 * bytes_of(value, self.hints) for value in turned)

    def spent(self) -> int:
        """Bytes that copies move."""
        before = {v for call in self.calls for v in self._images(call) if self._needs_copy(v)}
        after = {
            v
            for call in self.calls
            for v in self._results(call)[:1]
            if _turned(v.type) is not None and any(self._fixed(use) for use in v.uses)
        }
        return sum(2 * bytes_of(value, self.hints) for value in (*before, *after))

    def _needs_copy(self, value: SSAValue) -> bool:
        return value not in self.chosen and _turned(value.type) is not None

    # -- the other side --------------------------------------------------------------------------
    def rewrite(self) -> None:
        """Copies, types, and the order of variables."""
        for call in self.calls:
            for k in range(len(call.operands)):
                value = call.operands[k]
                if self._needs_copy(value):
                    call.operands[k] = self._copied(value, call)
            for value in self._results(call):
                self._given_back(call, value)
        for value, new in self.chosen.items():
            value._type = new  # pyright: ignore[reportPrivateUsage]
            owner = value.owner
            if isinstance(owner, NestOp):
                inner = owner.body.block.args[owner.number_of(value)]
                inner._type = new  # pyright: ignore[reportPrivateUsage]
        for op in list(self.func.body.block.ops):
            if isinstance(op, NestOp) and not _vanishes(op):
                _reorder(op)
        last = self.func.body.block.last_op
        if isinstance(last, ReturnOp):
            inputs = self.func.function_type.inputs.data
            types = [v.type for v in last.operands]
            self.func.function_type = FunctionType.from_lists(list(inputs), types)

    def _copied(self, value: SSAValue, before: ExternOp) -> SSAValue:
        """The value channels last: one copy for all calls that read it."""
        found = self.copies.get(value)
        if found is None:
            type_ = _turned(value.type)
            assert type_ is not None
            copy = _copy_of(value, type_, before)
            before.parent_block().insert_op_before(copy, before)  # pyright: ignore[reportOptionalMemberAccess]
            found = self.copies[value] = copy.results[0]
        return found

    def _given_back(self, call: ExternOp, value: SSAValue) -> None:
        """A copy, as the result was, for those who ask for that; of the same memory a view."""
        fixed = [use for use in value.uses if self._fixed(use)]
        type_ = value.type
        if value not in self.chosen or self.chosen[value] is type_ or not fixed:
            return
        assert isinstance(type_, TensorType)
        same = _turned(type_) is None
        copy = ViewOp.of(value, 0, type_) if same else _copy_of(value, type_, call)
        copy.results[0].name_hint = f"{value.name_hint or 'buf'}_turned"
        call.parent_block().insert_op_after(copy, call)  # pyright: ignore[reportOptionalMemberAccess]
        for use in fixed:
            use.operation.operands[use.index] = copy.results[0]


def _copy_of(value: SSAValue, type_: TensorType, call: ExternOp) -> NestOp:
    block = Block(arg_types=[type_])
    live = [k for k, n in enumerate(type_.sizes) if n is not ex.ONE]
    index = [ex.dim(live.index(k)) if k in live else ex.ZERO for k in range(type_.rank)]
    load = LoadOp.of(value, index)
    block.add_ops([load, StoreOp.of(load.result, block.args[0], index)])
    block.args[0].name_hint = "o"
    origins = call.origins.data if isinstance(call.origins, OriginsAttr) else ()
    domain = Domain(tuple(type_.sizes[k] for k in live))
    nest = NestOp.of(domain, [type_], block, origins)
    nest.location = call.location
    nest.results[0].name_hint = f"{value.name_hint or 'buf'}_turned"
    return nest


def _vanishes(nest: NestOp) -> bool:
    """Takes a copy out that has become one of the very layout that it reads."""
    ops = list(nest.body.block.ops)
    if len(ops) != 2 or nest.operands:
        return False
    load, store = ops
    if not isinstance(load, LoadOp) or not isinstance(store, StoreOp):
        return False
    (result,) = nest.results
    if load.source.type is not result.type or load.index.data != store.index.data:
        return False
    if store.value is not load.result or len(load.operands) > 1 or len(store.operands) > 2:
        return False
    if any(isinstance(use.operation, ReturnOp) for use in result.uses):
        return False
    result.replace_all_uses_with(load.source)
    nest.detach()
    nest.erase()
    return True


def _nest_of(op: Operation) -> NestOp | None:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, NestOp):
        parent = parent.parent_op()
    return parent


def _loads(nest: NestOp) -> Iterator[LoadOp]:
    return (op for op in nest.body.walk() if isinstance(op, LoadOp))


def _stores(nest: NestOp) -> list[StoreOp]:
    return [op for op in nest.body.block.ops if isinstance(op, StoreOp)]


def _place(store: StoreOp) -> int:
    assert isinstance(store.dest, BlockArgument)
    return store.dest.index


def _channel(store: StoreOp) -> Expr | None:
    """The index of channels where images are stored."""
    return store.index.data[1] if len(store.index.data) == 4 else None


# -- the order of variables -----------------------------------------------------------------------
def _reorder(nest: NestOp) -> None:
    """Variables in the order of memory: of what is stored, and of images that are summed."""
    domain = nest.domain.data
    stores, loads = _stores(nest), list(_loads(nest))
    if any(s.ordered is not None for s in stores) or any(
        isinstance(op, ScanOp) for op in nest.body.block.ops
    ):
        return
    order = list(range(len(domain.extents)))
    kept = len(domain.parallel)
    if (index := _last_index(stores)) is not None:
        order[:kept] = _by_memory(index, order[:kept])
    if (index := _last_index(loads)) is not None and domain.reduce:
        if all(_free_of_order(op) for op in nest.body.block.ops):
            order[kept:] = _by_memory(index, order[kept:])
    if order != sorted(order):
        _renumber(nest, order)


def _free_of_order(op: Operation) -> bool:
    return not isinstance(op, ReduceOp) or not op.kind.data.startswith("arg")


def _last_index(accesses: Sequence[StoreOp] | Sequence[LoadOp]) -> tuple[Expr, ...] | None:
    """The index of the first access to images whose channels are last."""
    for access in accesses:
        type_ = access.dest.type if isinstance(access, StoreOp) else access.source.type
        if isinstance(type_, TensorType) and type_.rank == 4 and type_ is channels_last(type_):
            return None if type_.is_contiguous else access.index.data
    return None


def _by_memory(index: Sequence[Expr], dims: Sequence[int]) -> list[int]:
    """Variables, those of the outer dimensions of memory first; others stay before them."""
    place: dict[int, int] = {}
    for k, dim in enumerate(LAST):
        for atom in index[dim].vars("d"):
            place.setdefault(atom.index, k)
    return sorted(dims, key=lambda d: (place.get(d, -1), d))


def _renumber(nest: NestOp, order: Sequence[int]) -> None:
    """Gives the variable `order[k]` the number k."""
    old = nest.domain.data
    extents = [old.extents[d] for d in order]
    kept, summed = len(old.parallel), len(old.parallel) + len(old.reduce)
    parts = (extents[:kept], extents[kept:summed], extents[summed:])
    nest.properties["domain"] = DomainAttr(Domain(*(tuple(part) for part in parts)))
    subst: dict[Atom, Expr] = {ex.dim_atom(d): ex.dim(k) for k, d in enumerate(order)}
    for op in nest.body.block.walk():
        for name, attr in op.properties.items():
            if not isinstance(attr, ArrayAttr):
                new = map_exprs(attr, lambda e: e.subs(subst))
                if new is not attr:
                    op.properties[name] = new
