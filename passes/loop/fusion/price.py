"""The time of a node, in bytes, and what fusing two nodes gains.

    time = launch + max(bytes moved, arithmetic) * idle

Bytes: every read from outside once a pass over it, results that somebody else needs once, whole
cache lines where a nest walks memory across them and they do not stay near. Idle: how many times
longer it takes because too few iterations of the shared loops keep the machine busy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import product
from minductor.dialects.loop.ops import NestOp
from minductor.dialects.types import TensorType
from minductor.passes.loop.deps import (
    Access,
    MemoryDep,
    NestDeps,
    flat_index,
    resolve,
)
from minductor.passes.loop.fusion.graph import Node, Vars
from minductor.passes.loop.fusion.machine import Machine

Axes = Mapping[NestOp, Vars]


class Pricer:
    """Evaluates bytes at the hints of one function."""

    def __init__(self, machine: Machine, hints: Mapping[Atom, int]):
        self.machine = machine
        self.hints = hints
        self._values: dict[Expr, int] = {}
        self._times: dict[Node, int] = {}

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

    # -- one node ---------------------------------------------------------------------------------
    def node_time(self, node: Node) -> int:
        """The time of a node as it is."""
        found = self._times.get(node)
        if found is None:
            found = self.time(node.infos, node.axes, set(node.made))
            self._times[node] = found
        return found

    def fused_time(self, first: Node, last: Node, axes: Axes) -> int:
        """The time of two nodes as one."""
        return self.time([*first.infos, *last.infos], axes, {*first.made, *last.made})

    def gain(self, first: Node, last: Node, axes: Axes) -> int:
        """Bytes that fusing saves; negative when it costs."""
        apart = self.node_time(first) + self.node_time(last)
        return apart - self.fused_time(first, last, axes)

    def time(self, infos: Sequence[NestDeps], axes: Axes, made: set[SSAValue]) -> int:
        """The time of nests that share `axes`; `made` are the tensors that they make."""
        moved = sum(self.value(dep.bytes) * k for dep, k in self.moved(infos, axes, made).items())
        work = sum(i.cost * self.value(product(i.domain.extents)) for i in infos)
        busy = max(moved, int(work * self.machine.op_bytes))
        return self.machine.launch_bytes + int(busy * self.idle(infos, axes, busy))

    def idle(self, infos: Sequence[NestDeps], axes: Axes, busy: int) -> float:
        """How many times longer the shared loops take than with enough iterations."""
        if len(infos) == 1:
            return 1.0
        nest = infos[0].nest
        rows = self.value(product(nest.domain.data.extents[v] for v in axes[nest]))
        wanted = min(self.machine.units, busy // self.machine.grain)
        return max(1.0, wanted / max(1, rows))

    def moved(
        self, infos: Sequence[NestDeps], axes: Axes, made: set[SSAValue]
    ) -> dict[MemoryDep, int]:
        """Deps that reach memory, and how often their bytes move."""
        nests: set[Operation] = {i.nest for i in infos}
        out: dict[MemoryDep, int] = {}
        levels = pass_levels(infos)
        passes: dict[MemoryDep, set[int]] = {}
        for info in infos:
            shared = axes[info.nest]
            for access, dep in zip(info.loads, info.load_deps, strict=True):
                if access.value not in made:
                    passes.setdefault(dep, set()).add(levels[info.nest])
                    out[dep] = max(out.get(dep, 0), self.waste(info, access, shared))
            for access, dep in zip(info.stores, info.store_deps, strict=True):
                if needed_outside(access.value, nests):
                    again = 2 if access.combine else 1
                    out[dep] = out.get(dep, 0) + self.waste(info, access, shared) * again
        if any(len(found) > 1 for found in passes.values()) and not self.near(infos, axes):
            for dep, found in passes.items():
                out[dep] *= len(found)
        return out

    def near(self, infos: Sequence[NestDeps], axes: Axes) -> bool:
        """Whether what one iteration of the shared loops touches stays in cache between passes."""
        total = 0
        for dep in {d: None for i in infos for d in (*i.reads, *i.writes)}:
            total += self.value(dep.bytes)
        nest = infos[0].nest
        rows = self.value(product(nest.domain.data.extents[v] for v in axes[nest]))
        return total // max(1, rows) <= self.machine.cache

    def waste(self, info: NestDeps, access: Access, shared: Vars) -> int:
        """Bytes fetched per byte used: lines crossed by the inner loop that do not stay near."""
        type_ = access.value.type
        assert isinstance(type_, TensorType)
        item = type_.info.size
        flat = resolve(access.value, flat_index(access.indices, type_))[1]
        if access.operands:
            return 1 if _varies_densely(flat, info) else max(1, self.machine.line // item)
        inner = [v for v in range(len(info.domain.extents)) if v not in shared]
        used = [v for v in [*shared, *inner] if flat.coeff(ex.dim_atom(v)).terms]
        if not used:
            return 1
        stride = flat.coeff(ex.dim_atom(used[-1])).as_int
        if stride is not None and abs(stride) * item <= item:
            return 1
        extent = self.value(info.domain.extents[used[-1]])
        if extent * self.machine.line <= self.machine.cache:
            return 1
        step = self.machine.line if stride is None else min(self.machine.line, abs(stride) * item)
        return max(1, step // item)


def _varies_densely(flat: Expr, info: NestDeps) -> bool:
    """Whether a gather reads runs: some iteration variable moves it by one element."""
    numbers = range(len(info.domain.extents))
    return any(flat.coeff(ex.dim_atom(v)) is ex.ONE for v in numbers)


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


def needed_outside(value: SSAValue, nests: set[Operation]) -> bool:
    """Whether something other than the bodies of `nests` uses a tensor."""
    for use in value.uses:
        op: Operation | None = use.operation
        while op is not None and op not in nests:
            op = op.parent_op()
        if op is None or op is use.operation:
            return True
    return False
