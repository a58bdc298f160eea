"""Which nodes may share loops, and which loops: every refusal is a sentence.

A fused node's nests share loops, its axes. Two nodes fuse along links between axes. A consumer of a
tensor is linked by the tensor itself: the producer stores dimension k at its variable v, the
consumer reads dimension k at its variable w, so v and w walk the same loop. What is left over of
both domains becomes loops inside the shared ones. No shared loop, no fusion: a value that is
complete only after its whole loop can not be used at every step of another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.dtypes import dtype_of_scalar
from minductor.dialects.expr_simplify import Ranges, product
from minductor.dialects.loop.ops import NestOp, ReduceOp
from minductor.passes.loop.deps import (
    Access,
    MemoryDep,
    NestDeps,
    access_dep,
    buffer_name,
    dep_text,
    extents_text,
    group_text,
    reordered,
    turned,
)
from minductor.passes.loop.fusion.graph import Fit, FusionGraph, Node, Vars
from minductor.passes.loop.fusion.split import linear, proposals, split_node

Axes = dict[NestOp, Vars]
ACROSS = frozenset(("add", "mul", "min", "max", "any", "all"))
"""Reduction kinds whose running value is one element."""


@dataclass(frozen=True)
class Rules:
    """What a preset allows. `ordered`: linked loops stand in the same order in both nodes.

    `equal_groups`: nodes without a dependence fuse only if they iterate alike. `size`: ops of a
    kernel; `buffers`: its tensors; `whole`: steps that one worker may do before another loop;
    `bar`: bytes that reads in common must save, of 100 that the smaller of two nodes that iterate
    differently reads or writes;
    `reach`: nodes that may lie between two that only read the same; `splits`: variables that may be
    split so that shapes agree; `across`: bytes of the arrays in which nests may gather what they
    reduce over the shared loops; `turns`: pointwise nests that read one tensor in different orders
    may walk it in one.
    """

    ordered: bool = True
    equal_groups: bool = True
    size: int = 1024
    buffers: int = 64
    whole: int = 0
    bar: int = 0
    reach: int = 1 << 30
    splits: int = 0
    across: int = 0
    turns: bool = False


@dataclass(frozen=True)
class Refusal:
    """Why two nodes do not fuse."""

    reason: str


def can_fuse(
    graph: FusionGraph, first: Node, last: Node, shared: Sequence[MemoryDep], rules: Rules
) -> Fit | Refusal:
    """How two nodes share loops, or why they do not. `first` comes before `last`."""
    vertical = last in first.succs
    if not vertical and shared and last.order - first.order > rules.reach:
        return Refusal(f"more than {rules.reach} nodes lie between them")
    fit = can_share(first, last, shared, rules, graph.symbols, vertical)
    if not isinstance(fit, Refusal) and graph.path_outside(first, last):
        return Refusal("a node between them depends on one and is needed by the other: a cycle")
    return fit


def can_share(
    first: Node,
    last: Node,
    shared: Sequence[MemoryDep],
    rules: Rules,
    symbols: Ranges,
    vertical: bool,
) -> Fit | Refusal:
    """As `can_fuse`, whatever else is in the graph; `vertical`: `last` needs `first`."""
    for node in (first, last):
        if node.alone:
            return Refusal(f"{node.name} {node.alone}")
    if first.device != last.device:
        return Refusal(f"different devices, {first.device} and {last.device}")
    if not shared and not vertical and not rules.across and not rules.turns:
        return Refusal("no shared data")
    if first.size + last.size > rules.size:
        return Refusal(f"the kernel would have more than {rules.size} ops")
    buffers = len(first.touched) + len(last.touched)
    if buffers > rules.buffers and len({**first.touched, **last.touched}) > rules.buffers:
        return Refusal(f"the kernel would touch more than {rules.buffers} buffers")
    if (why := _overwrites(first, last)) or (why := _overwrites(last, first)):
        return Refusal(why)
    if vertical:
        fit = _vertical(first, last, rules, symbols)
    elif not shared:
        fit = Refusal("no shared data")
    else:
        fit = _horizontal(first, last, shared, rules)
    if isinstance(fit, Refusal) and rules.turns and not vertical and not shared:
        fit = _transposed(first, last, rules) or fit
    if isinstance(fit, Refusal) and rules.across:
        fit = _across(first, last, vertical, rules, symbols) or fit
    return fit


def _overwrites(node: Node, other: Node) -> str:
    """Why an update may not share loops with a reader of the old value; empty if it may."""
    for info in node.infos:
        for value in info.nest.operands if info.accumulates else ():
            if value in other.made or any(a.value is value for i in other.infos for a in i.loads):
                name = buffer_name(value)
                return f"{node.name} updates {name}, which {other.name} makes or reads"
    return ""


# -- a consumer and its producer ------------------------------------------------------------------
def _vertical(
    first: Node, last: Node, rules: Rules, symbols: Ranges, turning: bool = False
) -> Fit | Refusal:
    """Along the reads of the results of `first`; a variable may have to be split first. With
    `turning`, the reduce variables of `last` are its axes, and may be split too."""
    reader = turn(last, rules) if turning else last
    found = _along_reads(first, reader, rules) if reader else Refusal("")
    tries = rules.splits
    while isinstance(found, Mismatch) and tries:
        tries -= 1
        for split in proposals(found.maker, found.store, found.info, found.access):
            if split.number >= len(split.info.domain.parallel) and not turning:
                continue
            new = split_node(first if split.first else last, split, symbols)
            if new is not None:
                first, last = (new, last) if split.first else (first, new)
                break
        else:
            break
        reader = turn(last, rules) if turning else last
        found = _along_reads(first, reader, rules) if reader else Refusal("")
    return found


def _along_reads(first: Node, last: Node, rules: Rules) -> Fit | Refusal:
    matches: list[tuple[NestDeps, NestDeps, dict[int, int]]] = []
    for info in last.infos:
        for access in info.loads:
            if access.value not in first.made:
                continue
            maker = first.made[access.value]
            assert maker is not None
            found = _match(first, maker, last, info, access)
            if isinstance(found, Refusal):
                return found
            matches.append((maker, info, found))
    if not matches:
        return Refusal(f"{last.name} needs {first.name} otherwise than by reading its result")
    linked = [_links(first, last, *match) for match in matches]
    fit = _joined(first, last, set.intersection(*linked), rules)
    if isinstance(fit, Refusal):
        return fit
    why = _wall(first, last, fit, rules) or _elsewhere(first, last, fit, matches)
    return Refusal(why) if why else fit


def _elsewhere(
    first: Node, last: Node, fit: Fit, matches: Sequence[tuple[NestDeps, NestDeps, dict[int, int]]]
) -> str:
    """Why a value made in an inner loop is not at hand in that of its reader; empty if it is."""
    for maker, info, match in matches:
        inner = {w for v, w in match.items() if v not in fit.axes[maker.nest]}
        walked = set(range(len(info.domain.extents))) - set(fit.axes[info.nest])
        if inner and inner != walked:
            return f"{last.name} needs what {first.name} makes, inside another inner loop"
    return ""


def _links(
    first: Node, last: Node, maker: NestDeps, info: NestDeps, match: dict[int, int]
) -> set[tuple[int, int]]:
    """Pairs of axes that a match of variables links."""
    ours, theirs = first.axes[maker.nest], last.axes[info.nest]
    out: set[tuple[int, int]] = set()
    for i, v in enumerate(ours):
        w = match.get(v)
        if w in theirs:
            out.add((i, theirs.index(w)))
    return out


@dataclass(frozen=True)
class Mismatch(Refusal):
    """A read whose index is not that of the store."""

    maker: NestDeps
    store: Access
    info: NestDeps
    access: Access


def _match(
    first: Node, maker: NestDeps, last: Node, info: NestDeps, access: Access
) -> dict[int, int] | Refusal:
    """Variables of the two nests that one read of one result matches."""
    name = buffer_name(access.value)
    if first.is_across(maker):
        return Refusal(f"{first.name} gathers {name} over its loops: it is ready only after them")
    if access.value in maker.accumulates or maker.has_scan:
        what = "scans" if maker.has_scan else "updates"
        return Refusal(f"{first.name} {what} {name}, so it is ready only after the whole loop")
    store = next(a for a in maker.stores if a.value is access.value)
    match = match_variables(maker, store, info, access)
    if match is None:
        text = (
            f"{last.name} reads {name} at {dep_text(access_dep(access).flat)}, "
            f"{first.name} writes it at {dep_text(access_dep(store).flat)}"
        )
        return Mismatch(text, maker, store, info, access)
    return match


def match_variables(
    maker: NestDeps, store: Access, info: NestDeps, access: Access
) -> dict[int, int] | None:
    """Producer variable -> consumer variable that one read of a result implies.

    None where some dimension is not read at exactly the variables that it is stored at, over the
    same ranges: shifted, reversed, strided, gathered, or a part of it only.
    """
    match: dict[int, int] = {}
    for have, want in zip(store.indices, access.indices, strict=True):
        if have is want and not have.terms:
            continue
        ours, theirs = linear(have), linear(want)
        if ours is None or theirs is None or ours.keys() != theirs.keys():
            return None
        for factor, v in ours.items():
            w = theirs[factor]
            if maker.domain.extents[v.index] is not info.domain.extents[w.index]:
                return None
            match[v.index] = w.index
    if len(set(match.values())) != len(match):
        return None
    return match


# -- nodes that read the same ---------------------------------------------------------------------
def _horizontal(
    first: Node, last: Node, shared: Sequence[MemoryDep], rules: Rules
) -> Fit | Refusal:
    if rules.equal_groups and first.group != last.group:
        return Refusal(
            f"they share only reads and iterate differently, {group_text(first.group)} "
            f"and {group_text(last.group)}"
        )
    buffers = {dep.buffer for dep in shared}
    for ours, theirs in _shared_reads(first, last, buffers):
        links = _read_links(first, ours[0], ours[1], last, theirs[0], theirs[1])
        if not links:
            continue
        joined = _joined(first, last, links, rules)
        if not isinstance(joined, Refusal):
            return joined
    return _by_position(first, last, rules)


def _shared_reads(
    first: Node, last: Node, buffers: set[SSAValue]
) -> Iterator[tuple[tuple[NestDeps, Access], tuple[NestDeps, Access]]]:
    """Pairs of reads of the same data, one of each node, the largest first."""
    seen: dict[MemoryDep, tuple[NestDeps, Access]] = {}
    for info in first.infos:
        for access, dep in zip(info.loads, info.load_deps, strict=True):
            if dep.buffer in buffers:
                seen.setdefault(dep, (info, access))
    found: dict[MemoryDep, tuple[NestDeps, Access]] = {}
    for info in last.infos:
        for access, dep in zip(info.loads, info.load_deps, strict=True):
            if dep in seen:
                found.setdefault(dep, (info, access))
    order = sorted(found, key=lambda dep: -len(dep.ranges))
    for dep in order:
        yield seen[dep], found[dep]


def _read_links(
    first: Node, ours: NestDeps, a: Access, last: Node, theirs: NestDeps, b: Access
) -> set[tuple[int, int]]:
    """Axes that two reads of one tensor walk alike."""
    out: set[tuple[int, int]] = set()
    if a.value is not b.value:
        return out
    left, right = first.axes[ours.nest], last.axes[theirs.nest]
    for x, y in zip(a.indices, b.indices, strict=True):
        v, w = x.as_atom, y.as_atom
        if v is None or w is None or v.kind != "d" or w.kind != "d":
            continue
        same = ours.domain.extents[v.index] is theirs.domain.extents[w.index]
        if same and v.index in left and w.index in right:
            out.add((left.index(v.index), right.index(w.index)))
    return out


def _by_position(first: Node, last: Node, rules: Rules) -> Fit | Refusal:
    """Link axes in order, where both nodes walk the same extents."""
    left, right = first.extents, last.extents
    count = min(len(left), len(right))
    links = {(i, i) for i in range(count) if left[i] is right[i]}
    if left[:count] != right[:count]:
        return Refusal(f"they share no loop, {extents_text(left)} and {extents_text(right)}")
    return _joined(first, last, links, rules)


def _transposed(first: Node, last: Node, rules: Rules) -> Fit | None:
    """Both nodes are pointwise and read one tensor, each all of it and in its own order: the last
    one walks it as the first one does, and stores across instead."""
    if first.is_reduction or last.is_reduction or len(first.extents) != len(last.extents):
        return None
    for ours in first.infos:
        for a in ours.loads:
            for theirs in last.infos:
                for b in theirs.loads:
                    if a.value is not b.value or not _whole(a, ours) or not _whole(b, theirs):
                        continue
                    links = _read_links(first, ours, a, last, theirs, b)
                    if len(links) < len(first.extents):
                        continue
                    fit = _joined(first, last, links, rules)
                    if not isinstance(fit, Refusal):
                        late = [reordered(i, _order(i, fit.axes[i.nest])) for i in last.infos]
                        return Fit(fit.axes, [*first.infos, *late])
    return None


def _whole(access: Access, info: NestDeps) -> bool:
    """A read of each element of a tensor, at some order of all variables of its nest."""
    atoms = [e.as_atom for e in access.indices if e.terms]
    return (
        not access.operands
        and not access.guarded
        and len(set(atoms)) == len(info.domain.extents)
        and all(a is not None and a.kind == "d" for a in atoms)
    )


def _order(info: NestDeps, shared: Vars) -> list[int]:
    return [*shared, *(v for v in range(len(info.domain.extents)) if v not in shared)]


# -- rows and columns -----------------------------------------------------------------------------
def _across(first: Node, last: Node, vertical: bool, rules: Rules, symbols: Ranges) -> Fit | None:
    """One of the nodes reduces along the other's loops: it gathers its result while they run."""
    pairs: list[tuple[Node | None, Node | None]] = [(first, turn(last, rules))]
    if not vertical:
        pairs.append((turn(first, rules), last))
    for one, other in pairs:
        if one is None or other is None:
            continue
        shared = [dep for dep in one.deps if dep in other.deps]
        whole = {product(i.domain.extents) for i in (one if other is last else other).infos}
        if not any(product(dep.ranges) in whole and _in_order(dep) for dep in shared):
            continue
        fit = (
            _vertical(first, last, rules, symbols, turning=True)
            if vertical
            else _horizontal(one, other, shared, replace(rules, equal_groups=False))
        )
        if not isinstance(fit, Refusal):
            return fit
    return None


def _in_order(dep: MemoryDep) -> bool:
    """The innermost variable of an access moves it by one element."""
    return bool(dep.ranges) and dep.flat.coeff(ex.dim_atom(len(dep.ranges) - 1)) is ex.ONE


def turn(node: Node, rules: Rules) -> Node | None:
    """A node of reductions with their reduce variables as its axes; None where that has no form."""
    room, infos, axes = 0, list[NestDeps](), Axes()
    for info in node.infos:
        if not info.has_reduce or info.has_scan or node.is_across(info):
            return None
        if any(a.value in node.made for a in info.loads):
            return None
        reduces = [op for op in info.nest.body.block.ops if isinstance(op, ReduceOp)]
        columns = product(info.domain.parallel).as_int
        if not ACROSS.issuperset(op.kind.data for op in reduces) or (columns or 0) < 2:
            return None
        room += (columns or 0) * sum(dtype_of_scalar(op.results[0].type).size for op in reduces)
        infos.append(turned(info))
        count = len(info.domain.parallel)
        axes[info.nest] = tuple(range(count, count + len(info.domain.reduce)))
    if not infos or room > rules.across:
        return None
    made: dict[SSAValue, NestDeps | None] = {r: i for i in infos for r in i.nest.results}
    return replace(
        node,
        infos=infos,
        axes=axes,
        made=made,
        reads={d: None for i in infos for d in i.reads},
        writes={d: None for i in infos for d in i.writes},
    )


# -- the fused node -------------------------------------------------------------------------------
def _joined(first: Node, last: Node, links: set[tuple[int, int]], rules: Rules) -> Fit | Refusal:
    """The fused node along links, if its structure is one that can be built."""
    ordered = sorted(links, key=lambda link: link[::-1] if last.is_reduction else link)
    if len({i for i, _ in ordered}) != len(ordered) or len({j for _, j in ordered}) != len(ordered):
        return Refusal("their loops do not match one to one")
    if rules.ordered and any(i != j or i != k for k, (i, j) in enumerate(ordered)):
        return Refusal("their loops match in another order only")
    axes: Axes = {n: tuple(v[i] for i, _ in ordered) for n, v in first.axes.items()}
    axes.update({n: tuple(v[j] for _, j in ordered) for n, v in last.axes.items()})
    fit = Fit(axes, [*first.infos, *last.infos])
    why = _structure(first, last, fit)
    return Refusal(why) if why else fit


def _structure(first: Node, last: Node, fit: Fit) -> str:
    """Why nests do not fit around shared loops; empty if they do.

    A nest that reduces has all its parallel variables shared, else its rows would lie in an inner
    loop; without one, all loops are shared.
    """
    across = [i for i in fit.infos if fit.is_across(i)]
    for info in across:
        first_one, count = len(info.domain.parallel), len(info.domain.reduce)
        if fit.axes[info.nest] != tuple(range(first_one, first_one + count)):
            return f"{last.name} reduces along more than the loops that they share"
    inside = [i for i in fit.infos if i not in across]
    collapsing = [i for i in inside if i.has_reduce or i.has_scan]
    extents = fit.extents
    for info in collapsing or ([] if across else inside):
        if len(fit.axes[info.nest]) != len(info.domain.parallel):
            return (
                f"{first.name} iterates {group_text(first.group)}, {last.name} "
                f"{group_text(last.group)}; they share {extents_text(extents)} only"
            )
    return ""


def _wall(first: Node, last: Node, fit: Fit, rules: Rules) -> str:
    """Why a reduced value can not be waited for; empty if it can.

    Without a shared loop the whole of one nest runs before the other: that is two kernels, unless
    the loop is so short that one worker does it all.
    """
    if fit.extents or not any(i.has_reduce for i in first.infos):
        return ""
    needed = [i for i in last.infos if any(a.value in first.made for a in i.loads)]
    counts = [product(i.domain.extents) for i in needed]
    if all(count is ex.ONE for count in counts):
        return ""
    before = product(max((i.domain.extents for i in first.infos if i.has_reduce), key=len))
    sizes = [e.as_int for e in (before, *counts)]
    if all(size is not None and size <= rules.whole for size in sizes):
        return ""
    return (
        f"{first.name} has its value only after a loop of {dep_text(before)} steps and "
        f"{last.name} needs it at each of its {dep_text(counts[0])}: they share no loop"
    )
