"""New bodies of nests: producers substituted, indices simplified, equal ops made once.

A body is built in one walk. A load of an inlined producer becomes the producer's body with
`d_k := index_k`; nothing is copied twice, and nothing recurses but `scalar.if` (at most 8 deep).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.dtypes import dtype_of_scalar
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.loop.assumed import mark_load
from minductor.dialects.loop.ops import LoadOp, NestOp, StoreOp
from minductor.dialects.scalar.fold import around
from minductor.dialects.scalar.ops import (
    BoundOp,
    CastOp,
    ConstantOp,
    IfOp,
    IndexOp,
    RandomOp,
    WithinOp,
    YieldOp,
)

Subst = Mapping[Atom, Expr]
Key = tuple[object, ...]


@dataclass(frozen=True)
class Producer:
    """An inlined result: the nest, the block argument it is stored to, and its variables by dim.

    `dims[k]` is the variable that dimension k of the result is stored at, or None for a unit one.
    """

    nest: NestOp
    dest: SSAValue
    dims: tuple[Atom | None, ...]

    def subst(self, index: Sequence[Expr]) -> dict[Atom, Expr]:
        """The producer's variables when the result is read at `index`."""
        return {a: e for a, e in zip(self.dims, index, strict=True) if a is not None}

    def place(self, index: Sequence[Expr]) -> tuple[Expr, ...]:
        """The same as a tuple: an expression per variable of the nest."""
        subst = self.subst(index)
        count = len(self.nest.domain.data.extents)
        return tuple(subst.get(ex.dim_atom(i), ex.ZERO) for i in range(count))


@dataclass
class Frame:
    """A body being walked: where its values and variables are in the new body."""

    ops: Iterator[Operation]
    env: dict[SSAValue, SSAValue]
    subst: Subst | None = None
    operands: tuple[SSAValue, ...] = ()
    wanted: SSAValue | None = None
    finish: tuple[dict[SSAValue, SSAValue], SSAValue, Key] | None = None
    chosen: tuple[IfOp, Region] | None = None
    """The `if` whose condition is known, and the region of it that this frame walks."""
    memo: dict[tuple[Expr, int], Expr] = field(default_factory=dict[tuple[Expr, int], Expr])


class BodyBuilder:
    """Fills a block; `scopes` find equal ops in this block and those around."""

    def __init__(
        self,
        ranges: Ranges,
        producers: Mapping[SSAValue, Producer],
        emulate: bool = False,
    ):
        """`emulate` keeps roundings for storage where nothing is stored."""
        self.ranges = ranges
        self.producers = producers
        self.emulate = emulate
        self.dests: dict[SSAValue, SSAValue] = {}
        self.block = Block()
        self.scopes: list[dict[Key, tuple[SSAValue, ...]]] = [{}]
        self.inlined: dict[NestOp, None] = {}

    def build(self, nest: NestOp) -> None:
        """The new body of a nest, in `block`; dead ops are gone."""
        old = nest.body.block
        for arg in old.args:
            fresh = self.block.insert_arg(arg.type, len(self.block.args))
            fresh.name_hint = arg.name_hint
            self.dests[arg] = fresh
        self.run(Frame(iter(old.ops), {}))
        drop_dead(self.block)

    # -- walking ----------------------------------------------------------------------------------
    def run(self, frame: Frame) -> None:
        """Emit all ops of a frame, and of the producers that it reads."""
        stack = [frame]
        while stack:
            top = stack[-1]
            op = next(top.ops, None)
            if op is None:
                stack.pop()
                _close_choice(top)
                continue
            kind = type(op)
            if kind is LoadOp and op.operands[0] in self.producers:
                inner = self._enter(top, cast(LoadOp, op))
                if inner is not None:
                    stack.append(inner)
            elif kind is StoreOp:
                dest = op.operands[1]
                if top.wanted is None:
                    self._store(top, cast(StoreOp, op))
                elif dest is top.wanted:
                    stack.pop()
                    value = op.operands[0]
                    self._leave(top, top.env.get(value, value))
            elif kind is IfOp:
                region = self._if(top, cast(IfOp, op))
                if region is not None:
                    stack.append(region)
            elif kind is not YieldOp:
                self._plain(top, op)

    def _enter(self, top: Frame, op: LoadOp) -> Frame | None:
        """A frame for the producer behind a load; None where its value is at hand already."""
        producer = self.producers[op.source]
        index, extra = self.mapped(top, op.index.data, op.operands[1:])
        key: Key = ("inline", op.source, tuple(index), extra)
        found = self.lookup(key)
        if found is not None:
            top.env[op.result] = found[0]
            return None
        self.inlined[producer.nest] = None
        subst = producer.subst(index)
        if all(e.as_atom is a for a, e in subst.items()):
            subst = None
        ops = iter(producer.nest.body.block.ops)
        return Frame(ops, {}, subst, extra, producer.dest, (top.env, op.result, key))

    def _leave(self, frame: Frame, value: SSAValue) -> None:
        assert frame.finish is not None
        env, result, key = frame.finish
        env[result] = value
        self.scopes[-1][key] = (value,)

    def lookup(self, key: Key) -> tuple[SSAValue, ...] | None:
        """Values made under a key in this scope or one around."""
        for scope in reversed(self.scopes):
            found = scope.get(key)
            if found is not None:
                return found
        return None

    # -- expressions ------------------------------------------------------------------------------
    def mapped(
        self, frame: Frame, exprs: Sequence[Expr], operands: Iterable[SSAValue]
    ) -> tuple[list[Expr], tuple[SSAValue, ...]]:
        """Index expressions and their operands in the new body, simplified, unused ones dropped."""
        own = [frame.env.get(v, v) for v in operands]
        if not own and not frame.operands:
            return [self.substituted(frame, e, 0) for e in exprs], ()
        out = [self.substituted(frame, e, len(own)) for e in exprs]
        every = (*own, *frame.operands)
        used = sorted({a.index for e in out for a in e.vars("t")})
        if used != list(range(len(every))):
            rename = {ex.var_atom("t", k): ex.operand(i) for i, k in enumerate(used)}
            out = [e.subs(rename) for e in out]
            every = tuple(every[k] for k in used)
        ranges = self._bounded(out, every)
        return [ranges.simplify(e) for e in out], every

    def substituted(self, frame: Frame, e: Expr, shift: int) -> Expr:
        """An expression of the frame's nest over the new body's variables."""
        if frame.subst is None:
            return self.ranges.simplify(e)
        key = (e, shift)
        found = frame.memo.get(key)
        if found is None:
            subst = frame.subst
            if frame.operands and shift:
                count = range(len(frame.operands))
                up = {ex.var_atom("t", k): ex.operand(k + shift) for k in count}
                subst = {a: v.subs(up) for a, v in subst.items()}
            found = self.ranges.simplify(e.subs(subst))
            frame.memo[key] = found
        return found

    def _bounded(self, exprs: Sequence[Expr], operands: Sequence[SSAValue]) -> Ranges:
        """Ranges that know what `scalar.bound` promises of the operands, if that can matter."""
        ranges = self.ranges
        if not any(a.args for e in exprs for mono, _ in e.terms for a in mono):
            return ranges
        for k, value in enumerate(operands):
            if isinstance(value.owner, BoundOp):
                ranges = ranges.with_operand(k, 0, value.owner.size.data - 1)
        return ranges

    # -- ops --------------------------------------------------------------------------------------
    def _plain(self, frame: Frame, op: Operation) -> None:
        lead = _LEAD.get(type(op))
        properties: Mapping[str, Attribute] = op.properties
        if lead is None:
            operands = [frame.env.get(v, v) for v in op.operands]
        else:
            fixed = op.operands[:lead]
            name, attr = _index_property(op)
            index, extra = self.mapped(frame, _exprs(attr), op.operands[lead:])
            if type(op) is WithinOp and (known := self._decided(index)) is not None:
                made = self.made(ConstantOp.of(known, i1))
                frame.env[op.result] = made[0]
                return
            properties = {**properties, name: _attr_like(attr, index)}
            operands = [*(frame.env.get(v, v) for v in fixed), *extra]
        if type(op) is CastOp and (short := self._cast(op, operands[0])) is not None:
            frame.env[op.result] = short
            return
        key = _op_key(op, operands, properties)
        results = self.lookup(key)
        if results is None:
            new = type(op).create(
                operands=operands,
                result_types=[r.type for r in op.results],
                properties=properties,
                attributes=op.attributes,
                location=op.location,
            )
            self.block.add_op(new)
            if isinstance(new, LoadOp) and len(self.scopes) == 1:
                mark_load(new, self.ranges)
            results = tuple(new.results)
            self.scopes[-1][key] = results
            for old, result in zip(op.results, results, strict=True):
                result.name_hint = old.name_hint
        frame.env.update(zip(op.results, results, strict=True))

    def made(self, op: Operation) -> tuple[SSAValue, ...]:
        """The results of an op, or of an equal one that stands already."""
        key = _op_key(op, op.operands, op.properties)
        found = self.lookup(key)
        if found is None:
            self.block.add_op(op)
            found = tuple(op.results)
            self.scopes[-1][key] = found
        return found

    def _decided(self, test: Sequence[Expr]) -> bool | None:
        """The value of `lo <= e < hi` where ranges prove it."""
        e, lo, hi = test
        ranges = self.ranges
        if any(x.vars("t") for x in test):
            return None
        if ranges.le(lo, e) and ranges.lt(e, hi):
            return True
        if ranges.lt(e, lo) or ranges.le(hi, e):
            return False
        return None

    def _cast(self, op: CastOp, source: SSAValue) -> SSAValue | None:
        """The value before a rounding for storage that this cast undoes, or before an exact one."""
        before = source.owner
        whole = around(op, source)
        if whole is not None:
            return self.made(CastOp.of(whole, op.result.type))[0]
        if self.emulate or type(before) is not CastOp or before.storage is None:
            return None
        value, target = before.arg, op.result.type
        if value.type == target:
            return value
        old, new = dtype_of_scalar(value.type), dtype_of_scalar(target)
        if not (old.is_float and new.is_float and new.size > old.size):
            return None
        return self.made(CastOp.of(value, target))[0]

    def _store(self, frame: Frame, op: StoreOp) -> None:
        dest = self.dests.get(op.dest)
        if dest is None:
            return
        index, extra = self.mapped(frame, op.index.data, op.operands[2:])
        new = StoreOp.create(
            operands=[frame.env.get(op.value, op.value), dest, *extra],
            properties={**op.properties, "index": IndexAttr(tuple(index))},
            attributes=op.attributes,
            location=op.location,
        )
        self.block.add_op(new)

    def _if(self, frame: Frame, op: IfOp) -> Frame | None:
        """Emit an `if`; where its condition is known, the frame of the region that holds."""
        cond = frame.env.get(op.cond, op.cond)
        if isinstance(cond.owner, ConstantOp):
            region = op.then if cond.owner.number else op.orelse
            return Frame(
                iter(region.block.ops),
                frame.env,
                frame.subst,
                frame.operands,
                chosen=(op, region),
                memo=frame.memo,
            )
        made = [self._region(frame, op, cond, side) for side in (True, False)]
        new = IfOp.of(cond, [r.type for r in op.results], made[0], made[1])
        new.location = op.location
        self.block.add_op(new)
        for old, result in zip(op.results, new.results, strict=True):
            result.name_hint = old.name_hint
            frame.env[old] = result
        return None

    def _region(self, frame: Frame, op: IfOp, cond: SSAValue, side: bool) -> Region:
        region = op.then if side else op.orelse
        outer = (self.block, self.ranges)
        self.block = Block()
        self.ranges = refined(self.ranges, cond, side)
        self.scopes.append({})
        inner = self._inner(frame, region)
        if self.ranges is not outer[1]:
            inner.memo = {}
        self.run(inner)
        last = region.block.last_op
        assert last is not None
        self.block.add_op(YieldOp.of(*(inner.env.get(v, v) for v in last.operands)))
        self.scopes.pop()
        block = self.block
        self.block, self.ranges = outer
        return Region(block)

    def _inner(self, frame: Frame, region: Region) -> Frame:
        # values made inside stay inside, so that no later op outside refers to them
        return Frame(
            iter(region.block.ops), dict(frame.env), frame.subst, frame.operands, memo=frame.memo
        )


def _close_choice(frame: Frame) -> None:
    """The results of an `if` with a known condition are what the chosen region yields."""
    if frame.chosen is None:
        return
    op, region = frame.chosen
    last = region.block.last_op
    assert last is not None
    for old, value in zip(op.results, last.operands, strict=True):
        frame.env[old] = frame.env.get(value, value)


# ops that hold index expressions -> how many operands come before the index operands
_LEAD: dict[type[Operation], int] = {LoadOp: 1, WithinOp: 0, RandomOp: 1, IndexOp: 0}


def _index_property(op: Operation) -> tuple[str, Attribute]:
    for name, attr in op.properties.items():
        if isinstance(attr, IndexAttr | ExprAttr):
            return name, attr
    raise AssertionError(f"{op.name} has no index property")


def _exprs(attr: Attribute) -> tuple[Expr, ...]:
    if isinstance(attr, IndexAttr):
        return attr.data
    assert isinstance(attr, ExprAttr)
    return (attr.data,)


def _attr_like(attr: Attribute, exprs: Sequence[Expr]) -> Attribute:
    return IndexAttr(tuple(exprs)) if isinstance(attr, IndexAttr) else ExprAttr(exprs[0])


def _op_key(
    op: Operation, operands: Sequence[SSAValue], properties: Mapping[str, Attribute]
) -> Key:
    row = getattr(op, "ROW", None)
    values: object = tuple(operands)
    if row is not None and "commutative" in row.algebra:
        values = frozenset(operands)
    items = (
        tuple(properties.items())
        if len(properties) < 2
        else tuple(sorted(properties.items(), key=lambda item: item[0]))
    )
    return (op.name, values, items, tuple(r.type for r in op.results))


def refined(ranges: Ranges, cond: SSAValue, side: bool) -> Ranges:
    """Ranges where `within dN + k in lo to hi` is known to hold, or not to."""
    test = cond.owner
    if not isinstance(test, WithinOp) or test.operands:
        return ranges
    e, lo, hi = test.test
    shift = Expr.of(e.constant_term)
    atom = (e - shift).as_atom
    if atom is None or atom.kind != "d":
        return ranges
    first, last = ranges.of(atom)
    low, high = lo - shift, hi - shift - 1
    if first is None or last is None:
        return ranges
    # Bounds by variables further in, or by itself, could go round in a circle.
    if any(v.index >= atom.index for v in (*low.vars("d"), *high.vars("d"))):
        return ranges
    if side:
        bounds = (
            low if ranges.le(first, low) else first,
            high if ranges.le(high, last) else last,
        )
    elif ranges.le(low, first):
        bounds = (high + 1 if ranges.le(first, high + 1) else first, last)
    elif ranges.le(last, high):
        bounds = (first, low - 1 if ranges.le(low - 1, last) else last)
    else:
        return ranges
    return ranges.with_bound(atom, *bounds)


_ROOTS: frozenset[type[Operation]] = frozenset((StoreOp, YieldOp, BoundOp))


def drop_dead(block: Block) -> None:
    """Erase body ops without uses, last first; stores stay, and checks of indices, which report."""
    for op in reversed(list(block.ops)):
        if type(op) in _ROOTS:
            continue
        if any(r.first_use is not None for r in op.results):
            for region in op.regions:
                drop_dead(region.block)
            continue
        op.detach()
        op.erase()
