"""The time of a node, in bytes, and what fusing two nodes gains.

    time = launch + max(bytes moved, arithmetic) * idle

Bytes: every read from outside once a pass over it, results that somebody else needs once, whole
cache lines where a nest walks memory across them and they do not stay near. Idle: how many times
longer it takes because too few iterations of the shared loops keep the machine busy.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import product
from minductor.dialects.loop.ops import NestOp
from minductor.dialects.types import TensorType
from minductor.passes.loop.deps import MemoryDep, NestDeps
from minductor.passes.loop.fusion.graph import Fit, Node, Vars
from minductor.passes.loop.fusion.machine import Machine
from minductor.passes.loop.fusion.walk import Fetch, walk

Axes = Mapping[NestOp, Vars]
Walks = tuple[list[tuple[MemoryDep, Fetch]], list[tuple[MemoryDep, Fetch]]]
"""Reads and writes of a nest, each with how its bytes move."""


class Pricer:
    """Evaluates bytes at the hints of one function."""

    def __init__(self, machine: Machine, hints: Mapping[Atom, int]):
        self.machine = machine
        self.hints = hints
        self._values: dict[Expr, int] = {}
        self._times: dict[Node, int] = {}
        self._bytes: dict[Node, int] = {}
        self._walks: dict[tuple[NestDeps, Vars], Walks] = {}
        self._work: dict[NestOp, float] = {}
        self._users: dict[SSAValue, frozenset[Operation | None]] = {}

    def value(self, e: Expr) -> int:
        """An expression at the hints (64 for a symbol without one)."""
        found = self._values.get(e)
        if found is None:
            found = e.eval({a: self.hints.get(a, 64) for a in e.vars("su")})
            self._values[e] = found
        return found

    def bytes(self, deps: Iterable[MemoryDep]) -> int:
        """Bytes of deps, each once."""
        return sum(self.value(dep.bytes) for dep in deps)

    # -- nodes ------------------------------------------------------------------------------------
    def node_time(self, node: Node) -> int:
        """The time of a node as it is."""
        found = self._times.get(node)
        if found is None:
            found = self.time(node.infos, node.axes, node.made)
            self._times[node] = found
        return found

    def node_bytes(self, node: Node) -> int:
        """Bytes that a node reads and writes, each dep once."""
        found = self._bytes.get(node)
        if found is None:
            found = self._bytes[node] = self.bytes(node.deps)
        return found

    def gain(self, first: Node, last: Node, fit: Fit) -> int:
        """Bytes that fusing saves; negative when it costs."""
        apart = self.node_time(first) + self.node_time(last)
        return apart - self.time(fit.infos, fit.axes, fit.made)

    def time(self, infos: Sequence[NestDeps], axes: Axes, made: Container[SSAValue]) -> int:
        """The time of nests that share `axes`; `made` are the tensors that they make."""
        moved = self.traffic(self.moved(infos, axes, made))
        work = sum(self.work(info) for info in infos)
        busy = max(moved, int(work * self.machine.op_bytes))
        return self.machine.launch_bytes + int(busy * self.idle(infos, axes, busy))

    def work(self, info: NestDeps) -> float:
        """Simple operations of a nest."""
        found = self._work.get(info.nest)
        if found is None:
            found = self._work[info.nest] = info.cost * self.value(product(info.domain.extents))
        return found

    def idle(self, infos: Sequence[NestDeps], axes: Axes, busy: int) -> float:
        """How many times longer the shared loops take than with enough iterations."""
        if len(infos) == 1 or (self.machine.parts and _one_stage(infos)):
            return 1.0
        wanted = min(self.machine.units, busy // self.machine.grain)
        return 1.0 if wanted <= 1 else max(1.0, wanted / max(1, self.programs(infos, axes)))

    def programs(self, infos: Sequence[NestDeps], axes: Axes) -> int:
        """Iterations of the shared loops that run apart: on a grid the columns of a line do not."""
        count, together = self.rows(infos, axes), 1
        for info in infos if self.machine.parts else ():
            if not info.has_reduce:
                continue
            reads, _ = self.walks(info, axes[info.nest])
            for access, (dep, how) in zip(info.loads, reads, strict=True):
                type_ = access.value.type
                assert isinstance(type_, TensorType)
                columns = 1 in how.along and self.value(dep.bytes) > count * type_.info.size
                together = max(together, self.machine.line // type_.info.size if columns else 1)
        return count // together

    def rows(self, infos: Sequence[NestDeps], axes: Axes) -> int:
        """Iterations of the shared loops."""
        extents = infos[0].domain.extents
        return self.value(product(extents[v] for v in axes[infos[0].nest]))

    def moved(
        self, infos: Sequence[NestDeps], axes: Axes, made: Container[SSAValue]
    ) -> dict[MemoryDep, Fetch]:
        """Deps that reach memory, and how their bytes move."""
        nests: set[Operation] = {i.nest for i in infos}
        out: dict[MemoryDep, Fetch] = {}
        twice = False
        for info in infos:
            reads, writes = self.walks(info, axes[info.nest])
            for dep, how in reads:
                if dep.buffer not in made:
                    before = out.get(dep)
                    twice = twice or before is not None
                    if before is not None:
                        times = max(how.times, before.times)
                        how = before._replace(spread=max(how.spread, before.spread), times=times)
                    out[dep] = how
            for dep, how in writes:
                if self.needed_outside(dep.buffer, nests):
                    before = out.get(dep)
                    out[dep] = how._replace(times=how.times + before.times) if before else how
        if twice and not self.near(infos, axes):
            for dep, count in _passes(infos, made).items():
                out[dep] = out[dep]._replace(times=out[dep].times * count)
        return out

    def traffic(self, moved: Mapping[MemoryDep, Fetch]) -> int:
        """Bytes of deps; those that go along one buffer count as no more than all of it."""
        totals: dict[tuple[SSAValue, tuple[int, ...]], tuple[int, int]] = {}
        parts: set[tuple[SSAValue, tuple[int, ...]]] = set()
        for dep, (spread, times, along) in moved.items():
            size = self.value(dep.bytes) * spread * times
            key = (dep.buffer, along)
            before = totals.get(key)
            if before is not None or spread > 1:
                parts.add(key)
            added, most = before or (0, 1)
            totals[key] = (added + size, max(most, times))
        for key in parts:
            added, most = totals[key]
            totals[key] = (min(added, self.value(whole(key[0])) * most), most)
        return sum(size for size, _ in totals.values())

    def walks(self, info: NestDeps, shared: Vars) -> Walks:
        """Reads and writes of a nest with how their bytes move; memoised."""
        key = (info, shared)
        found = self._walks.get(key)
        if found is None:
            reads = [
                (dep, walk(info, access, shared, self.machine, self.value))
                for access, dep in zip(info.loads, info.load_deps, strict=True)
            ]
            writes: list[tuple[MemoryDep, Fetch]] = []
            for access, dep in zip(info.stores, info.store_deps, strict=True):
                how = walk(info, access, shared, self.machine, self.value)
                writes.append((dep, how._replace(times=2 * how.times) if access.combine else how))
            found = self._walks[key] = (reads, writes)
        return found

    def needed_outside(self, value: SSAValue, nests: set[Operation]) -> bool:
        """Whether something other than the bodies of `nests` uses a tensor."""
        found = self._users.get(value)
        if found is None:
            found = self._users[value] = frozenset(users(value))
        return not found <= nests

    def near(self, infos: Sequence[NestDeps], axes: Axes) -> bool:
        """Whether what one iteration of the shared loops touches stays in cache between passes."""
        deps = {d: None for i in infos for d in (*i.reads, *i.writes)}
        return self.bytes(deps) // max(1, self.rows(infos, axes)) <= self.machine.cache


def whole(buffer: SSAValue) -> Expr:
    """Bytes of all elements of a tensor."""
    type_ = buffer.type
    assert isinstance(type_, TensorType)
    return type_.numel * type_.info.size


def _one_stage(infos: Sequence[NestDeps]) -> bool:
    """Reductions over one domain that do not wait for each other: one loop does them all."""
    domains = {info.domain.extents for info in infos}
    alike = len(domains) == 1 and all(info.has_reduce for info in infos)
    return alike and not any(pass_levels(infos).values())


def pass_levels(infos: Sequence[NestDeps]) -> dict[NestOp, int]:
    """The pass in which each nest runs: one more than the reductions that it waits for."""
    levels: dict[NestOp, int] = {}
    made: dict[SSAValue, tuple[int, bool]] = {}
    for info in infos:
        level = 0
        for access in info.loads:
            if access.value in made:
                before, reduces = made[access.value]
                level = max(level, before + reduces)
        levels[info.nest] = level
        for result in info.nest.results:
            made[result] = (level, info.has_reduce)
    return levels


def _passes(infos: Sequence[NestDeps], made: Container[SSAValue]) -> dict[MemoryDep, int]:
    """How many passes read each dep from outside."""
    levels = pass_levels(infos)
    seen: dict[MemoryDep, set[int]] = {}
    for info in infos:
        for dep in info.reads:
            if dep.buffer not in made:
                seen.setdefault(dep, set()).add(levels[info.nest])
    return {dep: len(found) for dep, found in seen.items()}


def users(value: SSAValue) -> Iterator[Operation | None]:
    """Nests that load a tensor in their bodies; None for any other use."""
    for use in value.uses:
        op: Operation | None = use.operation
        while op is not None and not isinstance(op, NestOp):
            op = op.parent_op()
        yield None if op is use.operation else op
