"""Calls of eager kernels: the ops that have no lowering, and cases that a lowering declines.

    %r = aten.mm(%a, %t)        %t a permute of %w
      -->
    %t = loop.view %w offset 0 : .. to ..:[1, 64]
    %r = loop.extern "aten.mm.default"(%a, %t) args [#loop.arg<0>, #loop.arg<1>] : ..

Arguments stand in schema order, keyword-only ones by name, defaults at the end left out. Tensors
are handed over with exactly the sizes and strides that the `aten` types promise.

A collective runs on while the program goes on; the wait for its result gives that very result, and
holds what the collective reads:

    %r = aten._c10d_functional.all_reduce(%x, ..)
    %w = aten._c10d_functional.wait_tensor(%r)
      -->
    %r = loop.extern "_c10d_functional.all_reduce.default"(%x) args [#loop.arg<0>, ..] {ordered}
    %w = loop.extern "_c10d_functional.wait_tensor.default"(%r, %x) args [#loop.arg<0>]
           {aliases [[0, 0]], ordered}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue

from minductor.dialects.aten import AtenOp, ControlOp
from minductor.dialects.aten.table import SEED
from minductor.dialects.aten.traits import (
    COLLECTIVES,
    COPIES_DESPITE_ALIAS,
    WAIT,
    Random,
    is_ordered,
)
from minductor.dialects.attrs import IndexAttr
from minductor.dialects.expr import Expr
from minductor.dialects.loop.ops import ExternOp
from minductor.dialects.pyattrs import ArgAttr, NoneAttr, from_python
from minductor.dialects.types import AbsentType, IntType, TensorType
from minductor.lowering.aten_to_loop.function import SEEDED, STATE, FunctionLowering, origins_attr
from minductor.lowering.aten_to_loop.refs import Ref, Result


def extern_call(fn: FunctionLowering, op: AtenOp, args: Mapping[str, object]) -> list[Result]:
    """Emit the call; a value per result. Written operands get their new values in `fn.env`."""
    packer = _Packer(fn)
    positional, keywords = _pack_arguments(op, args, packer)
    callee = op.schema.qualified
    if SEED.name in keywords:
        seed = keywords.pop(SEED.name)
        if not _drawn_next(args[SEED.name]):
            positional = [StringAttr(callee), seed, ArrayAttr(positional)]
            callee = SEEDED
    written = _written_operands(op, args, packer)
    aliases = _aliases(op, args, packer)
    if callee == WAIT:
        _hold(args, packer)
        aliases = [(0, 0)]
    props: dict[str, Attribute] = {"origins": origins_attr(fn.origins)}
    if written:
        props["mutates"] = IndexAttr(tuple(Expr.of(k) for k in written))
    props.update(_effects(op))
    if aliases:
        props["aliases"] = ArrayAttr([IndexAttr((Expr.of(r), Expr.of(k))) for r, k in aliases])
    ties = [packer.operands[k].type for k in written]
    types = [r.type for r in op.results]
    call = fn.emit(
        ExternOp.of(callee, packer.operands, positional, keywords, [*types, *ties], props)
    )
    for old, new in zip(written, call.results[len(types) :], strict=True):
        _rewritten(fn, packer.refs[old], new)
    return [result_of(fn, v) for v in call.results[: len(types)]]


def _hold(args: Mapping[str, object], packer: _Packer) -> None:
    """What the collective reads is in use until the wait, which takes it as operands, too."""
    for ref in args.values():
        owner = ref.base.owner if isinstance(ref, Ref) else None
        packer.operand(cast(Ref, ref))
        if isinstance(owner, ExternOp) and owner.callee.data.startswith(COLLECTIVES):
            packer.operands += [v for v in owner.operands if v not in packer.operands]


def _drawn_next(seed: object) -> bool:
    """The state that was saved just before, in the same function: the op draws on from it."""
    owner = seed.base.owner if isinstance(seed, Ref) else None
    return isinstance(owner, ExternOp) and owner.callee.data == STATE


def control_call(fn: FunctionLowering, op: ControlOp) -> list[Result]:
    """Control flow stays a call; its operands become pointers."""
    packer = _Packer(fn)
    places = [packer.attr(fn.objects.get(v) or fn.env[v]) for v in op.operands]
    args = [_renumbered(a, places) for a in op.args_]
    props: dict[str, Attribute] = {"origins": origins_attr(fn.origins), "ordered": UnitAttr()}
    types = [r.type for r in op.results]
    call = fn.emit(ExternOp.of(op.callee.data, packer.operands, args, {}, types, props))
    return [result_of(fn, v) for v in call.results]


def _renumbered(attr: Attribute, places: Sequence[Attribute]) -> Attribute:
    """An argument whose operand k is now `places[k]`: another operand, or a number."""
    if isinstance(attr, ArgAttr):
        return places[attr.data]
    if isinstance(attr, ArrayAttr):
        return ArrayAttr([_renumbered(a, places) for a in cast(ArrayAttr[Attribute], attr)])
    return attr


def _rewritten(fn: FunctionLowering, ref: Ref, new: SSAValue) -> None:
    """The call has written `ref`, whose elements are now those of `new`.

    Of a value seen through a view, the base gets a new value: the old one with the view's elements
    replaced.
    """
    if ref.is_whole:
        fn.replace_base(ref.base, new)
        return
    if ref.dtype != ref.base_type.dtype:
        raise ValueError(f"a call writes {ref.base_type.dtype} memory as {ref.dtype}")
    b = fn.nest_builder([ref.base_type], ref.sizes, updates={0: ref.base})
    b.store(b.load_raw(new, b.dims), 0, ref.at(b.dims))
    fn.replace_base(ref.base, fn.emit(b.finish()).results[0])


def result_of(fn: FunctionLowering, value: SSAValue) -> Result:
    """What the environment holds for a result of an extern call."""
    if isinstance(value.type, TensorType):
        return Ref.of(value)
    if isinstance(value.type, AbsentType):
        return None
    if isinstance(value.type, IntType):
        fn.bind_int(value.type.data, value)
        return value.type.data
    return fn.number_tensor(value)


class _Packer:
    """Collects operands and turns arguments into attributes."""

    def __init__(self, fn: FunctionLowering):
        self.fn = fn
        self.operands: list[SSAValue] = []
        self.refs: list[Ref] = []

    def operand(self, ref: Ref) -> ArgAttr:
        """The argument that stands for a tensor."""
        value = self.fn.number_value(ref) if ref.wrapped else self.fn.pointer(ref)
        if value not in self.operands:
            self.operands.append(value)
            self.refs.append(ref)
        return ArgAttr(self.operands.index(value))

    def attr(self, value: object) -> Attribute:
        """The attribute of an argument."""
        if isinstance(value, Ref):
            return self.operand(value)
        if isinstance(value, SSAValue):  # a Python object
            self.operands.append(value)
            return ArgAttr(len(self.operands) - 1)
        if isinstance(value, list | tuple):
            items = cast("list[object]", value)
            if any(isinstance(v, Ref) for v in items):
                return ArrayAttr([self.attr(v) for v in items])
        return from_python(value)


def _pack_arguments(
    op: AtenOp, args: Mapping[str, object], packer: _Packer
) -> tuple[list[Attribute], dict[str, Attribute]]:
    positional: list[Attribute] = []
    keywords: dict[str, Attribute] = {}
    last = 0
    for arg in op.schema.args:
        value = args[arg.name]
        attr = packer.attr(value)
        default = _is_default(arg.default, value, attr)
        if arg.keyword_only:
            if not default:
                keywords[arg.name] = attr
            continue
        positional.append(attr)
        if not default:
            last = len(positional)
    return positional[:last], keywords


def _is_default(default: object, value: object, attr: Attribute) -> bool:
    if isinstance(value, Ref):
        return False
    if isinstance(attr, NoneAttr):
        return default is None
    if isinstance(value, list | tuple):
        return list(cast("list[object]", value)) == default
    return type(value) is type(default) and value == default


def _written_operands(op: AtenOp, args: Mapping[str, object], packer: _Packer) -> list[int]:
    out: list[int] = []
    for arg in op.schema.args:
        if arg.written:
            value = args[arg.name]
            refs = cast("list[object]", value) if isinstance(value, list) else [value]
            out += [packer.operand(r).data for r in refs if isinstance(r, Ref)]
    return sorted(set(out))


def _aliases(op: AtenOp, args: Mapping[str, object], packer: _Packer) -> list[tuple[int, int]]:
    """(result, operand) pairs that share storage, by the schema's marks."""
    if op.schema.packet in COPIES_DESPITE_ALIAS:
        return []
    marks = {a.alias.rstrip("!"): a.name for a in op.schema.args if a.alias}
    out: list[tuple[int, int]] = []
    for k, ret in enumerate(op.schema.returns):
        source = args.get(marks.get(ret.alias.rstrip("!"), "")) if ret.alias else None
        if isinstance(source, Ref):
            results = range(len(op.results)) if ret.is_list else [k]
            out += [(r, packer.operand(source).data) for r in results]
    return out


def _effects(op: Operation) -> dict[str, Attribute]:
    out: dict[str, Attribute] = {}
    if op.has_trait(Random):
        out["random"] = UnitAttr()
    if op.has_trait(Random) or is_ordered(op):
        out["ordered"] = UnitAttr()
    return out
