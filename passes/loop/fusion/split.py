"""Splits a loop variable in two, so that nests of different shapes share loops.

    %m[d0, d1] of group norm, d0: 16, d1: 8      read as %m[d0, d1 floordiv 8] over (16, 64, 784)

With d1 = 8 * d1' + d2' the reader walks (16, 8, 8, 784) and reads %m[d0, d1']. A split is tried on
the analysis of a nest; the nest itself is rewritten when its group is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from minductor.dialects import expr as ex
from minductor.dialects.attrs import Domain
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.loop.ops import NestOp
from minductor.passes.loop.deps import Access, Box, NestDeps, access_dep
from minductor.passes.loop.fusion.graph import Node, Vars


@dataclass(frozen=True)
class Split:
    """Variable `number` of a nest becomes inner * outer + rest; `first` says in which node."""

    first: bool
    info: NestDeps
    number: int
    inner: Expr


@lru_cache(maxsize=1 << 14)
def linear(e: Expr) -> dict[Expr, Atom] | None:
    """Coefficient -> variable of a linear expression without a constant; None for any other."""
    out: dict[Expr, Atom] = {}
    rest = e
    for atom in e.vars("dt"):
        if atom.kind != "d" or not e.is_linear_in(atom):
            return None
        factor = e.coeff(atom)
        if factor in out:
            return None
        out[factor] = atom
        rest = rest - factor * Expr.of_atom(atom)
    return None if rest.terms else out


def proposals(maker: NestDeps, store: Access, info: NestDeps, access: Access) -> Iterator[Split]:
    """Splits that may bring the index of a read to that of the store."""
    for have, want in zip(store.indices, access.indices, strict=True):
        for atom in _functions(want):
            x = atom.args[0].as_atom
            if x is not None and x.kind == "d" and atom.args[1].as_int is not None:
                yield Split(False, info, x.index, atom.args[1])
        ours, theirs = linear(have), linear(want)
        if ours is None or theirs is None or ex.ONE not in ours:
            continue
        for factor in sorted(theirs.keys() - ours.keys(), key=lambda e: e.key, reverse=True):
            if factor is not ex.ONE:
                yield Split(True, maker, ours[ex.ONE].index, factor)


def _functions(e: Expr) -> Iterator[Atom]:
    for mono, _ in e.terms:
        for atom in mono:
            if atom.kind in ("floordiv", "mod"):
                yield atom


def split_node(node: Node, split: Split, symbols: Ranges) -> Node | None:
    """A node with a variable split; a shared loop splits in all its nests. None if uneven."""
    shared = node.axes[split.info.nest]
    infos: list[NestDeps] = []
    axes: dict[NestOp, Vars] = {}
    for info in node.infos:
        here = node.axes[info.nest]
        if split.number in shared:
            number = here[shared.index(split.number)]
        elif info.nest is split.info.nest:
            number = split.number
        else:
            infos.append(info)
            axes[info.nest] = here
            continue
        new = split_variable(info, number, split.inner, symbols)
        if new is None:
            return None
        infos.append(new)
        axes[info.nest] = _shifted(here, number)
    made = {r: info for info in infos for r in info.nest.results}
    return replace(node, infos=infos, axes=axes, made=dict(made))


def _shifted(variables: Vars, number: int) -> Vars:
    out: list[int] = []
    for v in variables:
        out += [v, v + 1] if v == number else [v + (v > number)]
    return tuple(out)


def split_variable(info: NestDeps, number: int, inner: Expr, symbols: Ranges) -> NestDeps | None:
    """The analysis of a nest with a variable split, not one of a scan; None where it does not
    divide. A reduction over the two runs in the order of the one."""
    extents = info.domain.extents
    count, collapsed = len(info.domain.parallel), len(info.domain.reduce)
    if number >= count + collapsed or any(a.box.extents != extents for a in info.loads):
        return None
    outer, rest = ex.split_multiple(extents[number], inner)
    if rest.terms or not outer.terms or outer is ex.ONE or inner is ex.ONE:
        return None
    extents = (*extents[:number], outer, inner, *extents[number + 1 :])
    count, collapsed = (count + 1, collapsed) if number < count else (count, collapsed + 1)
    ends = count + collapsed
    domain = Domain(extents[:count], extents[count:ends], extents[ends:])
    ranges = domain.ranges(symbols)
    subst: dict[Atom, Expr] = {ex.dim_atom(number): inner * ex.dim(number) + ex.dim(number + 1)}
    for v in range(number + 1, len(info.domain.extents)):
        subst[ex.dim_atom(v)] = ex.dim(v + 1)

    def moved(e: Expr) -> Expr:
        return ranges.simplify(e.subs(subst))

    box = Box((ex.ZERO,) * len(domain.extents), domain.extents)

    def access(a: Access) -> Access:
        indices, hidden = tuple(map(moved, a.indices)), tuple(map(moved, a.hidden))
        return a._replace(indices=indices, hidden=hidden, box=box)

    before = info.renamed or {ex.dim_atom(v): ex.dim(v) for v in range(len(info.domain.extents))}
    new = replace(info, domain=domain, renamed={a: moved(e) for a, e in before.items()})
    new.loads, new.stores = [access(a) for a in info.loads], [access(a) for a in info.stores]
    new.data = [moved(e) for e in info.data]
    new.load_deps = [access_dep(a) for a in new.loads]
    new.store_deps = [access_dep(a) for a in new.stores]
    new.reads, new.writes = dict.fromkeys(new.load_deps), dict.fromkeys(new.store_deps)
    return new
