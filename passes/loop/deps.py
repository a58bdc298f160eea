"""Memory dependences of nests: which buffer, through which index, over which range.

A load or store names one expression per dimension. Its `MemoryDep` is what reaches memory: the flat
index by the strides of the type, neighbouring variables collapsed where `coeff(a)` is
`coeff(b) * extent(b)`, variables renamed `c0..`:

    %x[d0, d1] of f32[1024, 1024], d0: 1024, d1: 1024   MemoryDep('x', c0, {c0: 1048576})
    %x[d1, d0]                                          MemoryDep('x', c0 + 1024*c1, {..})
    %s[]                                                MemoryDep('s', 0, {})

Two accesses share data when buffer, index and ranges agree; fusion compares nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple, cast

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.attrs import Domain, IndexAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import flatten_index, product
from minductor.dialects.loop.ops import LoadOp, NestOp, ReduceOp, ScanOp, StoreOp, ViewOp
from minductor.dialects.loop.verify import op_exprs
from minductor.dialects.scalar.ops import BoundOp, IfOp, WithinOp
from minductor.dialects.types import TensorType

Extents = tuple[Expr, ...]


class MemoryDep:
    """One access to memory by a whole nest. Immutable; equal by value, with its hash at hand.

    `buffer` is the value that owns the storage (views resolved), `flat` the index in elements
    over c0.. (numbered as d atoms), `ranges` their extents, `item` bytes of an element, `indirect`
    what index operands are computed from: gathers agree only if their data does. A gather, and an
    index that stands still, touch no more than `most` elements, all of the buffer.
    """

    __slots__ = ("_hash", "buffer", "bytes", "flat", "indirect", "item", "ranges")

    def __init__(
        self,
        buffer: SSAValue,
        flat: Expr,
        ranges: Extents,
        item: int,
        indirect: tuple[object, ...] = (),
        most: Expr | None = None,
    ):
        self.buffer = buffer
        self.flat = flat
        self.ranges = ranges
        self.item = item
        self.indirect = indirect
        self.bytes = dep_bytes(ranges, item, most)
        """Bytes touched, each element once."""
        self._hash = hash((id(buffer), flat, ranges, indirect))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, MemoryDep)
            and self._hash == other._hash
            and self.buffer is other.buffer
            and self.flat is other.flat
            and self.ranges == other.ranges
            and self.indirect == other.indirect
        )

    def __str__(self) -> str:
        ranges = ", ".join(f"c{i}: {dep_text(e)}" for i, e in enumerate(self.ranges))
        return f"MemoryDep('{buffer_name(self.buffer)}', {dep_text(self.flat)}, {{{ranges}}})"

    __repr__ = __str__


@lru_cache(maxsize=1 << 14)
def dep_bytes(ranges: Extents, item: int, most: Expr | None = None) -> Expr:
    """Bytes of a range of elements, of which there are `most`."""
    count = product(ranges)
    return (count if most is None else ex.emin(count, most)) * item


class Access(NamedTuple):
    """A load or store as the nest's body has it.

    `value` is the operand (a view stays a view), `indices` one expression per dimension over the
    nest's variables, `guarded` true under a `scalar.if`, `combine` the store's word or empty,
    `hidden` the variables behind its data operands.
    """

    op: Operation
    value: SSAValue
    indices: tuple[Expr, ...]
    operands: tuple[SSAValue, ...]
    guarded: bool
    box: Box
    combine: str = ""
    hidden: tuple[Expr, ...] = ()


class Box(NamedTuple):
    """The part of a domain in which an access happens: first value and extent per variable."""

    starts: Extents
    extents: Extents

    def cut(self, number: int, start: Expr, extent: Expr) -> Box:
        """The box with one variable's range replaced."""
        return Box(_with(self.starts, number, start), _with(self.extents, number, extent))


@dataclass(eq=False)
class NestDeps:
    """What a nest touches.

    `load_deps` and `store_deps` go with `loads` and `stores`; `reads` and `writes` hold each once.
    """

    nest: NestOp
    domain: Domain
    loads: list[Access] = field(default_factory=list[Access])
    stores: list[Access] = field(default_factory=list[Access])
    load_deps: list[MemoryDep] = field(default_factory=list[MemoryDep])
    store_deps: list[MemoryDep] = field(default_factory=list[MemoryDep])
    reads: dict[MemoryDep, None] = field(default_factory=dict[MemoryDep, None])
    writes: dict[MemoryDep, None] = field(default_factory=dict[MemoryDep, None])
    accumulates: set[SSAValue] = field(default_factory=set[SSAValue])
    """Results that combine with, or overwrite a part of, what was there."""
    data: list[Expr] = field(default_factory=list[Expr])
    """Expressions that are values or tests, not addresses."""
    has_reduce: bool = False
    has_scan: bool = False
    renamed: dict[Atom, Expr] | None = None
    """The nest's variables over those of `domain`, where the analysis has split some."""
    has_bound: bool = False
    depth: int = 0
    """How deep conditions nest."""
    ops: int = 0
    cost: float = 0.0

    @property
    def is_pointwise(self) -> bool:
        """No reduction, no scan, nothing updated."""
        return not (self.has_reduce or self.has_scan or self.accumulates)


def buffer_name(value: SSAValue) -> str:
    """The name that logs use for a buffer: its hint, or its position."""
    hint = value.name_hint
    if not isinstance(value, BlockArgument):
        return hint or "buf"
    # FX names inputs arg0_1, arg1_1, .. and primals_1, primals_2, ..; a hint ends before the `_1`
    if not hint or re.fullmatch(r"arg\d+", hint):
        return f"arg{value.index}_1" if not hint else f"{hint}_1"
    alike = [arg for arg in value.block.args if arg.name_hint == hint]
    return hint if len(alike) == 1 else f"{hint}_{alike.index(value) + 1}"


def dep_text(e: Expr) -> str:
    """`c0 + 1024*c1`: an expression whose variables are printed as c0.."""
    return ex.render(e, _var_text, _STYLE).replace(" * ", "*")


_STYLE = {
    "floordiv": "({0}//{1})",
    "mod": "({0}%{1})",
    "min": "min({0}, {1})",
    "max": "max({0}, {1})",
}


def _var_text(atom: Atom) -> str:
    letter = {"d": "c", "t": "tmp"}.get(atom.kind, atom.kind)
    return f"{letter}{atom.index}"


def extents_text(extents: Iterable[Expr]) -> str:
    """`(1048576,)`, `()`: extents as Python prints a tuple."""
    items = [dep_text(e) for e in extents]
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


@lru_cache(maxsize=1 << 16)
def collapse(flat: Expr, extents: Extents) -> tuple[Expr, Extents]:
    """The normal form of a flat index: variables of the index only, merged and renamed.

    `extents[i]` is the extent of variable i. Returns the index over c0.. and their extents.
    """
    ones = {a: ex.ZERO for a in flat.vars("d") if extents[a.index] is ex.ONE}
    flat = flat.subs(ones)
    kept: list[tuple[Atom, Expr]] = []
    for atom in reversed(flat.vars("d")):
        extent = extents[atom.index]
        if kept and flat.is_linear_in(atom) and flat.is_linear_in(kept[-1][0]):
            inner, inner_extent = kept[-1]
            factor = flat.coeff(atom)
            if factor is flat.coeff(inner) * inner_extent:
                flat = flat - factor * Expr.of_atom(atom)
                kept[-1] = (inner, inner_extent * extent)
                continue
        kept.append((atom, extent))
    kept.reverse()
    index = flat.subs({atom: ex.dim(i) for i, (atom, _) in enumerate(kept)})
    return index, tuple(extent for _, extent in kept)


@lru_cache(maxsize=1 << 14)
def collapse_domain(flats: frozenset[Expr], domain: Domain) -> tuple[Extents, Extents]:
    """(parallel, reduce and scan) extents after merging neighbours that every access allows."""
    parallel = len(domain.parallel)
    merged: tuple[list[Expr], list[Expr]] = ([], [])
    for part, numbers in (
        (0, range(parallel)),
        (1, range(parallel, len(domain.extents))),
    ):
        run: list[tuple[int, Expr]] = []
        for number in reversed(numbers):
            extent = domain.extents[number]
            if extent is ex.ONE:
                continue
            if run and all(_mergeable(f, number, *run[-1]) for f in flats):
                run[-1] = (run[-1][0], run[-1][1] * extent)
            else:
                run.append((number, extent))
        merged[part].extend(extent for _, extent in reversed(run))
    return tuple(merged[0]), tuple(merged[1])


def _mergeable(flat: Expr, outer: int, inner: int, inner_extent: Expr) -> bool:
    a, b = ex.dim_atom(outer), ex.dim_atom(inner)
    return (
        flat.is_linear_in(a)
        and flat.is_linear_in(b)
        and flat.coeff(a) is flat.coeff(b) * inner_extent
    )


def resolve(value: SSAValue, flat: Expr) -> tuple[SSAValue, Expr]:
    """The base of a chain of views, and the flat index in it (same element size only)."""
    while type(owner := value.owner) is ViewOp:
        source = owner.source.type
        assert isinstance(source, TensorType)
        assert isinstance(value.type, TensorType)
        if source.info.size != value.type.info.size:
            break
        flat = flat + owner.offset.data
        value = owner.source
    return value, flat


def access_dep(access: Access) -> MemoryDep:
    """The memory dependence of an access."""
    type_ = access.value.type
    assert isinstance(type_, TensorType)
    value, flat = resolve(access.value, flat_index(access.indices, type_))
    box = access.box
    shifts = {
        ex.dim_atom(i): ex.dim(i) + start for i, start in enumerate(box.starts) if start.terms
    }
    index, ranges = collapse(flat.subs(shifts), box.extents)
    assert isinstance(value.type, TensorType)
    if not access.operands:
        most = value.type.numel if _revisits(index) else None
        return MemoryDep(value, index, ranges, type_.info.size, most=most)
    data = tuple(data_key(operand) for operand in access.operands)
    ranges += _hidden_ranges(access)
    return MemoryDep(value, index, ranges, type_.info.size, data, value.type.numel)


def _revisits(flat: Expr) -> bool:
    """Whether one element may be touched at several points: `d0 floordiv 2`."""
    return any(not atom.is_var for mono, _ in flat.terms for atom in mono)


def turned(info: NestDeps) -> NestDeps:
    """The same nest seen with its reduce variables outside: its reads as that order walks them."""
    count = len(info.domain.parallel)
    return reordered(info, [*range(count, len(info.domain.extents)), *range(count)])


def reordered(info: NestDeps, order: Sequence[int]) -> NestDeps:
    """The same nest seen with its variables in another order: its accesses as that walks them."""
    env = {ex.dim_atom(old): ex.dim(new) for new, old in enumerate(order)}

    def moved(access: Access) -> MemoryDep:
        box = Box(
            tuple(access.box.starts[v].subs(env) for v in order),
            tuple(access.box.extents[v].subs(env) for v in order),
        )
        indices = tuple(e.subs(env) for e in access.indices)
        hidden = tuple(e.subs(env) for e in access.hidden)
        return access_dep(access._replace(indices=indices, box=box, hidden=hidden))

    loads, stores = [moved(a) for a in info.loads], [moved(a) for a in info.stores]
    return replace(
        info,
        load_deps=loads,
        store_deps=stores,
        reads=dict.fromkeys(loads),
        writes=dict.fromkeys(stores),
    )


@lru_cache(maxsize=1 << 16)
def flat_index(index: tuple[Expr, ...], type_: TensorType) -> Expr:
    """Offset in elements of a logical index, without the offset of a view."""
    return flatten_index(index, type_.strides)


def _hidden_ranges(access: Access) -> Extents:
    """A gather touches as many elements as it makes trips: variables behind its data count too."""
    shown = {a.index for e in access.indices for a in e.vars("d")}
    hidden = {a.index for e in access.hidden for a in e.vars("d")} - shown
    extents = access.box.extents
    return tuple(extents[i] for i in sorted(hidden) if extents[i] is not ex.ONE)


def variables_behind(values: Iterable[SSAValue]) -> tuple[Expr, ...]:
    """Iteration variables that body values depend on."""
    found: set[Atom] = set()
    todo = list(values)
    seen: set[Operation] = set()
    while todo:
        owner = todo.pop().owner
        if isinstance(owner, Block) or owner in seen or isinstance(owner, NestOp):
            continue
        seen.add(owner)
        found.update(a for e in op_exprs(owner) for a in e.vars("d"))
        todo.extend(owner.operands)
    return tuple(Expr.of_atom(a) for a in sorted(found, key=lambda a: a.index))


def data_key(value: SSAValue, depth: int = 8) -> tuple[object, ...]:
    """A key of how a body value is computed: equal keys mean equal values at equal points."""
    owner = value.owner
    if isinstance(owner, Block) or isinstance(owner, NestOp) or depth == 0 or owner.regions:
        return (value,)
    inner = tuple(data_key(operand, depth - 1) for operand in owner.operands)
    return (owner.name, tuple(sorted(owner.properties.items(), key=_first)), inner)


def _first(item: tuple[str, object]) -> str:
    return item[0]


def analyse(nest: NestOp) -> NestDeps:
    """The accesses of a nest. Linear in its body."""
    domain = nest.domain.data
    info = NestDeps(nest, domain, has_scan=bool(domain.scan))
    block = nest.body.block
    results: dict[SSAValue, SSAValue] = dict(zip(block.args, nest.results, strict=True))
    box = Box((ex.ZERO,) * len(domain.extents), domain.extents)
    _walk(info, block, box, 0, results)
    for i, result in enumerate(nest.results):
        if nest.updated(i) is not None:
            info.accumulates.add(result)
    info.load_deps = [access_dep(access) for access in info.loads]
    info.store_deps = [access_dep(access) for access in info.stores]
    info.reads = dict.fromkeys(info.load_deps)
    info.writes = dict.fromkeys(info.store_deps)
    return info


def _walk(
    info: NestDeps,
    block: Block,
    box: Box,
    depth: int,
    results: Mapping[SSAValue, SSAValue],
) -> None:
    for op in block.ops:
        kind = type(op)
        if kind is LoadOp:
            args = op.operands
            operands = tuple(args[1:])
            access = Access(op, args[0], _indices(op), operands, depth > 0, box)
            if operands:
                access = access._replace(hidden=variables_behind(operands))
            info.loads.append(access)
        elif kind is StoreOp:
            args = op.operands
            word = cast(StoreOp, op).combine
            text = "" if word is None else word.data
            target, operands = results[args[1]], tuple(args[2:])
            access = Access(op, target, _indices(op), operands, depth > 0, box, text)
            if operands:
                access = access._replace(hidden=variables_behind(operands))
            info.stores.append(access)
        elif kind is IfOp:
            for region, cut in zip(op.regions, _cuts(cast(IfOp, op), box), strict=True):
                _walk(info, region.block, cut, depth + 1, results)
            info.depth = max(info.depth, depth + 1)
        else:
            info.ops += 1
            info.cost += op_cost(op)
            info.has_reduce = info.has_reduce or kind is ReduceOp
            info.has_bound = info.has_bound or kind is BoundOp
            info.data.extend(op_exprs(op))


def _indices(op: Operation) -> tuple[Expr, ...]:
    return cast(IndexAttr, op.properties["index"]).data


def op_cost(op: Operation) -> float:
    """Relative cost of a body op per point; an add is 1, constants and index values are free."""
    row = getattr(op, "ROW", None)
    if row is not None:
        return float(row.cost)
    return 1.0 if isinstance(op, ReduceOp | ScanOp) else _SPECIAL.get(op.name, 0.0)


# A Philox round takes about 40 integer operations; a normal adds log, sqrt and a sine.
_SPECIAL = {"scalar.cast": 1.0, "scalar.random": 40.0, "scalar.bound": 2.0, "scalar.within": 1.0}


def _cuts(op: IfOp, box: Box) -> tuple[Box, Box]:
    """Boxes of the two regions, where the condition is `dN + k in lo to hi`."""
    test = op.cond.owner
    if not isinstance(test, WithinOp) or test.operands:
        return box, box
    e, lo, hi = test.test
    offset = Expr.of(e.constant_term)
    atom = (e - offset).as_atom
    if atom is None or atom.kind != "d":
        return box, box
    if lo.vars("d") or hi.vars("d"):  # not a box
        return box, box
    number = atom.index
    start, extent = box.starts[number], box.extents[number]
    low = ex.emax(lo - offset, start)
    high = ex.emin(hi - offset, start + extent)
    inside = ex.emax(high - low, 0)
    if low is start:
        outside = box.cut(number, high, extent - inside)
    elif high is start + extent:
        outside = box.cut(number, start, extent - inside)
    else:
        outside = box
    return box.cut(number, low, inside), outside


def _with(extents: Extents, number: int, extent: Expr) -> Extents:
    return (*extents[:number], extent, *extents[number + 1 :])


def iteration_group(info: NestDeps) -> tuple[Extents, Extents]:
    """((collapsed parallel extents), (collapsed reduce and scan extents)) of a nest."""
    flats: set[Expr] = set(info.data)
    for access in [*info.loads, *info.stores]:
        type_ = access.value.type
        assert isinstance(type_, TensorType)
        flats.add(resolve(access.value, flat_index(access.indices, type_))[1])
    return collapse_domain(frozenset(flats), info.domain)


def group_text(group: tuple[Extents, Extents]) -> str:
    """`((), (1048576,))`."""
    return f"({extents_text(group[0])}, {extents_text(group[1])})"


def shared_deps(a: Sequence[MemoryDep], b: Iterable[MemoryDep]) -> list[MemoryDep]:
    """Deps of both, in the order of `a`."""
    other = set(b)
    return [dep for dep in a if dep in other]
