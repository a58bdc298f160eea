"""Which nests are computed inside their readers instead of being stored.

Two steps. First, in reverse order, every pointwise nest whose readers all end up in one body, at
one point of it, joins that body: its effective use is single. So does, at all points of all bodies,
a nest that does nothing but widen floats: stored, it would hold the same values in more bytes. What
is left has several bodies, or several points, that want it; these are priced in program order, when
all that they would bring along is known:

    materialise = time(P) + sum of time(R)        inline = sum of time(R with P inside)

with time = launch + max(bytes, arithmetic in bytes). Where a reader walks P's own loops, P and that
reader count as the one kernel that fusion makes of them. Everything is bounded: ops and reads of a
body, reads that a recomputed value may bring.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from xdsl.ir import Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.dtypes import dtype_of_scalar
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges, product
from minductor.dialects.loop.ops import LoadOp, NestOp, StoreOp
from minductor.dialects.scalar.ops import CastOp
from minductor.passes.loop.deps import Access, Box, MemoryDep, NestDeps, access_dep, analyse
from minductor.passes.loop.fusion.machine import Machine
from minductor.passes.loop.inlining.emit import Producer

CHEAP = 8
"""Cost up to which a value is done again at no more than the price of its bytes: more work does not
hide behind all of those that it saves."""

NEAR = 64
"""Ops that are asked whether one needs another."""

WIDENED = 16
"""Points up to which a nest that only widens is computed at all of them."""

Place = tuple[Expr, ...]
"""Where a nest sits in a body: its variables as expressions over the body's."""


@dataclass(frozen=True)
class Limits:
    """Bounds of a body: ops, reads; of a value computed in several bodies: ops, reads."""

    ops: int = 256
    reads: int = 64
    shared_ops: int = 64
    shared_reads: int = 6
    depth: int = 7


@dataclass
class Site:
    """One point at which a body wants a producer's value."""

    root: Body
    place: Place
    guarded: bool
    depth: int
    exact: bool
    """False where the index holds data, so that nothing is known of equal sites."""

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for sites that one computation serves."""
        return (id(self.root), *(self.place if self.exact else (id(self),)))


@dataclass
class Body:
    """A nest that is stored, with everything that is computed inside it."""

    info: NestDeps
    ranges: Ranges
    members: dict[tuple[NestOp, Place], None] = field(
        default_factory=dict[tuple[NestOp, Place], None]
    )
    reads: dict[tuple[SSAValue, Place, object], Access] = field(
        default_factory=dict[tuple[SSAValue, Place, object], Access]
    )
    ops: int = 0
    cost: float = 0.0
    work: float = 0.0
    """Simple operations of the whole nest, with what does not vary hoisted."""

    @property
    def nest(self) -> NestOp:
        """The nest itself."""
        return self.info.nest


@dataclass
class Verdict:
    """What became of a pointwise nest."""

    nest: NestOp
    inlined: bool
    reason: str
    bytes: int = 0


class Decider:
    """Decides for all nests of one function; `producers` is the answer."""

    def __init__(
        self,
        nests: Sequence[NestOp],
        symbols: Ranges,
        hints: Mapping[Atom, int],
        machine: Machine,
        limits: Limits,
        told: Container[SSAValue] = (),
    ):
        """`told`: results that a second computation would make another number."""
        self.told = told
        self.machine = machine
        self.limits = limits
        self.symbols = symbols
        self.infos = {nest: analyse(nest) for nest in nests}
        self.order = {nest: i for i, nest in enumerate(nests)}
        self.hints = hints
        self.bodies: dict[NestOp, Body] = {}
        self.places: dict[NestOp, list[tuple[Body, Place, bool, int]]] = {}
        self.producers: dict[SSAValue, Producer] = {}
        self.verdicts: list[Verdict] = []
        self._ranges: dict[object, Ranges] = {}
        self._values: dict[Expr, int] = {}
        self._producers: dict[tuple[NestOp, int], Producer | None] = {}

    def run(self) -> None:
        """Fill `producers` and `verdicts`."""
        nests = list(self.infos)
        waiting: list[NestOp] = []
        for nest in reversed(nests):
            if not self._join(nest):
                waiting.append(nest)
        for nest in reversed(waiting):
            self._price(nest)

    # -- facts ------------------------------------------------------------------------------------
    def value(self, e: Expr) -> int:
        """An expression at the hints (64 for a symbol without one)."""
        found = self._values.get(e)
        if found is None:
            env = {a: self.hints.get(a, 64) for a in e.vars("su")}
            found = e.eval(env) if not e.vars("dt") else 1
            self._values[e] = found
        return found

    def ranges_of(self, info: NestDeps) -> Ranges:
        """Ranges of a nest's variables, shared by nests of one domain."""
        found = self._ranges.get(info.domain)
        if found is None:
            found = info.domain.ranges(self.symbols)
            self._ranges[info.domain] = found
        return found

    def producer(self, nest: NestOp, result: int) -> Producer | None:
        """`producer_of`, once."""
        key = (nest, result)
        if key not in self._producers:
            self._producers[key] = producer_of(nest, result)
        return self._producers[key]

    def candidate(self, nest: NestOp) -> str:
        """Why a nest can not be computed in its readers; empty if it can."""
        info = self.infos[nest]
        if not info.is_pointwise:
            return "a reduction, scan or update is stored"
        if any(access.guarded or access.combine for access in info.stores):
            return "stored under a condition"
        if any(self.producer(nest, i) is None for i in range(len(nest.results))):
            return "its store is not one variable a dimension"
        return ""

    # -- step 1: one effective use ----------------------------------------------------------------
    def _join(self, nest: NestOp) -> bool:
        """Join the one body that reads a nest, or open a body of its own. True if decided."""
        info = self.infos[nest]
        why = self.candidate(nest)
        sites = [] if why else list(self.sites(nest))
        stored = any(_other_use(r) for r in nest.results)
        if not stored and len({site.key for site in sites}) == 1:
            site = sites[0]
            refusal = self._room(info, site) or self._repeated(info, site)
            if not refusal:
                self._accept(nest, sites, "single use")
                return True
        if not stored and 0 < len(sites) <= WIDENED and widens(nest):
            if not any(self._room(info, site) for site in sites):
                self._accept(nest, sites, "it only widens what its readers can read as it is")
                return True
        body = Body(info, self.ranges_of(info))
        place = tuple(ex.dim(i) for i in range(len(info.domain.extents)))
        self._add(body, info, place)
        self.bodies[nest] = body
        self.places[nest] = [(body, place, False, 0)]
        return bool(why)

    def sites(self, nest: NestOp) -> Iterator[Site]:
        """Every point of every body that reads a result of the nest."""
        for i, result in enumerate(nest.results):
            made = self.producer(nest, i)
            assert made is not None
            for use in result.uses:
                load = use.operation
                if not isinstance(load, LoadOp) or use.index != 0:
                    continue
                reader, depth = _nest_around(load)
                for body, place, guarded, outer in self.places.get(reader, ()):
                    at = made.place(self._moved(load.index.data, place, body))
                    exact = not reads_data(at)
                    yield Site(body, at, guarded or depth > 0, outer + depth, exact)

    def _moved(self, index: Sequence[Expr], place: Place, body: Body) -> Place:
        """An index of a nest in the variables of the body where the nest sits."""
        subst = substitution(place)
        if not subst:
            return tuple(index)
        return tuple(body.ranges.simplify(e.subs(subst)) for e in index)

    def _room(self, info: NestDeps, site: Site, checked: bool = False) -> str:
        """Why a body can not take a nest in; empty if it can. `checked`: another place checks the
        nest's indices at all its points."""
        body = site.root
        if body.ops + info.ops > self.limits.ops:
            return f"the reader would have more than {self.limits.ops} ops"
        if len(body.reads) + len(info.loads) > self.limits.reads:
            return f"the reader would have more than {self.limits.reads} reads"
        if site.guarded and info.has_bound and not checked:
            return "a checked index would be skipped where a guard fails"
        if site.depth + info.depth > self.limits.depth:
            return "conditions would nest too deep"
        return ""

    def _repeated(self, info: NestDeps, site: Site) -> str:
        """Why a single reader should not recompute a value at many of its points."""
        trips = self._trips(site.root, site.place)
        once = self.value(product(info.domain.parallel))
        extra = int((trips - once) * info.cost * self.machine.op_bytes)
        if extra <= 0:
            return ""
        body = site.root
        moved = sum(self.value(dep.bytes) for dep in [*body.info.reads, *body.info.writes])
        slack = max(0, moved - int(body.work * self.machine.op_bytes))
        saved = self.machine.launch_bytes + sum(self.value(d.bytes) for d in info.writes) * 2
        return "" if extra <= slack + saved else "recomputed at every point of a larger loop"

    def _trips(self, body: Body, place: Place) -> int:
        """How often a body computes a value of this place, with what does not vary hoisted."""
        count = len(body.info.domain.extents) if reads_data(place) else innermost(place) + 1
        return self.value(product(body.info.domain.extents[:count]))

    # -- step 2: several uses ---------------------------------------------------------------------
    def _price(self, nest: NestOp) -> None:
        body = self.bodies[nest]
        sites = list(self.sites(nest))
        if not sites:
            return
        stored = any(_other_use(r) for r in nest.results)
        why = self._refusal(body, sites, stored)
        if why:
            self.verdicts.append(Verdict(nest, False, why))
            return
        gain = self._gain(body, sites, stored)
        if gain <= 0:
            why = "storing moves no more bytes than computing it again"
            self.verdicts.append(Verdict(nest, False, why, -gain))
            return
        self._accept(nest, sites, f"computed in {len(sites)} places", gain, body)
        if not stored:
            del self.bodies[nest]
            for member, _ in body.members:
                self.places[member] = [p for p in self.places[member] if p[0] is not body]

    def _refusal(self, body: Body, sites: Sequence[Site], stored: bool) -> str:
        if any(r in self.told for r in body.nest.results):
            return "compared with what holds it, so both are one number"
        if stored and (body.reads or body.cost > 2):
            return "stored in any case, so readers load it"
        if body.ops > self.limits.shared_ops or len(sites) > 16:
            return f"used often, with more than {self.limits.shared_ops} ops"
        if len(body.reads) > self.limits.shared_reads:
            return f"used often, with more than {self.limits.shared_reads} reads"
        checked = stored or any(self._at_all_points(body, site) for site in sites)
        for site in sites:
            for member, _ in body.members:
                refusal = self._room(self.infos[member], site, checked)
                if refusal:
                    return refusal
            if site.root.ops + body.ops > self.limits.ops:
                return f"a reader would have more than {self.limits.ops} ops"
            if not site.exact and body.cost > 8:
                return "costly, and read through data"
        return ""

    def _at_all_points(self, body: Body, site: Site) -> bool:
        """A site computes a nest at each point of its domain, under no condition."""
        extents, own = body.info.domain.extents, site.root.info.domain.extents
        atoms = [e.as_atom for e in site.place]
        if site.guarded or any(a is None or a.kind != "d" for a in atoms):
            return False
        numbers = [a.index for a in atoms if a is not None]
        whole = [own[v] is n for v, n in zip(numbers, extents, strict=True)]
        return len(set(numbers)) == len(numbers) and all(whole)

    def _gain(self, body: Body, sites: Sequence[Site], stored: bool) -> int:
        """Bytes that inlining everywhere saves (negative: costs)."""
        roots = {id(site.root): site.root for site in sites}
        partner = None if stored else self._partner(body, sites)
        before = 0 if stored or partner else self._time([body])
        after = 0
        for root in roots.values():
            before += self._time([body, root] if root is partner else [root])
            reads = [a for key, a in root.reads.items() if key[0] not in set(body.nest.results)]
            work = root.work
            for site in sites:
                if site.root is root:
                    reads += [self._seen_from(access, site) for access in body.reads.values()]
                    work += body.cost * self._trips(root, site.place)
            after += self._priced(reads, list(root.info.writes), work)
        return before - after

    def _partner(self, body: Body, sites: Sequence[Site]) -> Body | None:
        """The first reader that walks the nest's own loops: stored, the two would be one kernel.
        None where it needs what another reader makes, unless the nest is costly."""
        extents = body.info.domain.extents
        same = tuple(ex.dim(i) for i in range(len(extents)))
        before: list[Operation] = []
        for site in sorted(sites, key=lambda site: self.order[site.root.nest]):
            own = site.root.info.domain.extents
            if site.place == same and own[: len(extents)] == extents and not site.guarded:
                cheap = body.cost <= CHEAP
                return None if cheap and _needs(self.bodies, site.root.nest, before) else site.root
            before.append(site.root.nest)
        return None

    def _seen_from(self, access: Access, site: Site) -> Access:
        """A read of a nest as it looks where the nest is computed inside another body."""
        return self._moved_access(access, site.place, site.root)

    def _moved_access(self, access: Access, place: Place, body: Body) -> Access:
        return access._replace(
            indices=self._moved(access.indices, place, body),
            hidden=self._moved(access.hidden, place, body),
            box=_whole(body.info),
        )

    def _time(self, bodies: Sequence[Body]) -> int:
        """The time of bodies as one kernel that stores all their results."""
        made = {r for body in bodies for r in body.nest.results}
        reads = [a for body in bodies for a in body.reads.values() if a.value not in made]
        writes = [dep for body in bodies for dep in body.info.writes]
        return self._priced(reads, writes, sum(body.work for body in bodies))

    def _priced(self, reads: Sequence[Access], writes: Sequence[MemoryDep], work: float) -> int:
        """Launch, and the larger of bytes and arithmetic, in bytes."""
        deps: dict[MemoryDep, None] = dict.fromkeys(access_dep(access) for access in reads)
        moved = sum(self.value(d.bytes) for d in [*deps, *writes])
        return self.machine.launch_bytes + max(moved, int(work * self.machine.op_bytes))

    # -- taking a nest into bodies ----------------------------------------------------------------
    def _accept(
        self,
        nest: NestOp,
        sites: Sequence[Site],
        reason: str,
        gain: int = 0,
        body: Body | None = None,
    ) -> None:
        for i, result in enumerate(nest.results):
            made = self.producer(nest, i)
            assert made is not None
            self.producers[result] = made
        members = [(nest, None)] if body is None else list(body.members)
        for site in sites:
            for member, inner in members:
                place = site.place if inner is None else self._moved(inner, site.place, site.root)
                if (member, place) in site.root.members:
                    continue
                self._add(site.root, self.infos[member], place)
                entry = (site.root, place, site.guarded, site.depth)
                self.places.setdefault(member, []).append(entry)
        for site in sites:
            gone = [k for k in site.root.reads if k[0] in nest.results]
            for key in gone:
                del site.root.reads[key]
        self.verdicts.append(Verdict(nest, True, reason, gain))

    def _add(self, body: Body, info: NestDeps, place: Place) -> None:
        """Count a nest's ops and reads in a body, at a place."""
        body.members[(info.nest, place)] = None
        body.ops += info.ops
        body.cost += info.cost
        body.work += info.cost * self._trips(body, place)
        for access in info.loads:
            if access.value in self.producers:
                continue
            if info.nest is not body.nest:
                access = self._moved_access(access, place, body)
            body.reads[(access.value, access.indices, access.operands)] = access


def _other_use(value: SSAValue) -> bool:
    return any(not isinstance(use.operation, LoadOp) for use in value.uses)


def _needs(bodies: Mapping[NestOp, Body], op: Operation, sources: Sequence[Operation]) -> bool:
    """Whether an op needs what one of these makes, as far as a short walk back can tell."""
    todo, seen = [op], {op}
    while todo and len(seen) < NEAR:
        one = todo.pop()
        if one is not op and one in sources:
            return True
        body = bodies.get(one) if isinstance(one, NestOp) else None
        read = one.operands if body is None else [key[0] for key in body.reads]
        owners = dict.fromkeys(v.owner for v in read if isinstance(v.owner, Operation))
        todo += [owner for owner in owners if owner not in seen]
        seen |= owners.keys()
    return False


@lru_cache(maxsize=1 << 14)
def substitution(place: Place) -> dict[Atom, Expr]:
    """What a place says of a nest's variables; variables that stand for themselves left out."""
    return {ex.dim_atom(i): e for i, e in enumerate(place) if e.as_atom is not ex.dim_atom(i)}


@lru_cache(maxsize=1 << 14)
def innermost(place: Place) -> int:
    """The largest number of an iteration variable in a place, -1 for none."""
    return max((a.index for e in place for a in e.vars("d")), default=-1)


@lru_cache(maxsize=1 << 14)
def reads_data(place: Place) -> bool:
    """Whether a place depends on data."""
    return any(e.vars("t") for e in place)


def producer_of(nest: NestOp, result: int) -> Producer | None:
    """How a result can be computed elsewhere; None unless it has one store, a variable a dimension.

    Dimensions of size one, stored at 0, name no variable.
    """
    dest = nest.body.block.args[result]
    stores = [use.operation for use in dest.uses]
    if len(stores) != 1 or not isinstance(store := stores[0], StoreOp) or len(store.operands) > 2:
        return None
    dims: list[Atom | None] = []
    for e in store.index.data:
        atom = e.as_atom
        if e.terms and (atom is None or atom.kind != "d" or atom in dims):
            return None
        dims.append(atom)
    extents = nest.domain.data.extents
    if any(e is not ex.ONE and ex.dim_atom(i) not in dims for i, e in enumerate(extents)):
        return None
    return Producer(nest, dest, tuple(dims))


def widens(nest: NestOp) -> bool:
    """A nest that loads floats and stores them as wider floats, and nothing else."""
    ops = list(nest.body.block.ops)
    if len(ops) != 3 or not isinstance(ops[0], LoadOp) or not isinstance(ops[1], CastOp):
        return False
    narrow, wide = (dtype_of_scalar(v.type) for v in (ops[1].arg, ops[1].result))
    return narrow.is_float and wide.is_float and wide.size > narrow.size


def _nest_around(load: LoadOp) -> tuple[NestOp, int]:
    """The nest of a load, and the number of conditions around the load in it."""
    depth, parent = 0, load.parent_op()
    while not isinstance(parent, NestOp):
        assert parent is not None
        depth, parent = depth + 1, parent.parent_op()
    return parent, depth


def _whole(info: NestDeps) -> Box:
    extents = info.domain.extents
    return Box((ex.ZERO,) * len(extents), extents)
