"""The value graph of a fused group: what each point needs, at which level and in which stage.

A node is an op of a nest's body seen under an instance (a nest with its variables written in the
group's variables). Reads of tensors made inside the group lead to the producer's stored value, so
the graph crosses nests and no in-group tensor is read from memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.attrs import IndexAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.loop.ops import LoadOp, NestOp, ReduceOp, ScanOp, StoreOp
from minductor.dialects.loop.verify import op_exprs
from minductor.dialects.scalar.ops import BoundOp
from minductor.dialects.types import TensorType
from minductor.lowering.loop_to_kernel.space import SpaceError


@dataclass(eq=False)
class Instance:
    """A nest with its variables as expressions over the group's fine variables.

    `key` is the extents that the nest iterates inside the common loops, () for none; `across`: its
    reduce variables walk the common loops, its parallel ones are the key.
    """

    nest: NestOp
    position: int
    env: dict[Atom, Expr]
    key: tuple[Expr, ...] = ()
    across: bool = False

    def expr(self, e: Expr) -> Expr:
        """An expression of the nest in the group's variables."""
        return e.subs(self.env)


@dataclass(eq=False)
class Node:
    """One op under one instance; the fields after `op` are found by the analysis.

    inner: varies with variables inside the common loops. after: number of stages that must be
    complete. scan: the scan node whose prefix it needs. stage: where a reduce, scan or store runs.
    late: needs a value that is gathered over the common loops.
    """

    inst: Instance
    op: Operation
    order: tuple[int, int]
    deps: list[Node] = field(default_factory=list["Node"])
    inner: bool = False
    after: int = 0
    scan: Node | None = None
    stage: int = -1
    late: bool = False


class ValueGraph:
    """All nodes that the stores of a group need."""

    def __init__(
        self, bases: Sequence[Instance], kept: set[SSAValue], first_inner: int, ranges: Ranges
    ):
        self.bases = bases
        self.kept = kept
        self.first_inner = first_inner
        self.ranges = ranges
        self.by_tensor: dict[SSAValue, Instance] = {
            r: inst for inst in bases for r in inst.nest.results
        }
        self.nodes: dict[tuple[int, Operation], Node] = {}
        self.loads: dict[tuple[int, Operation], Node] = {}
        self._instances: dict[tuple[object, ...], Instance] = {}
        self._positions: dict[Operation, int] = {}
        self._checks: dict[NestOp, list[BoundOp]] = {}
        for inst in bases:
            for i, op in enumerate(inst.nest.body.block.ops):
                self._positions[op] = i
        self.stores = [n for inst in bases for n in self._store_nodes(inst)]
        self._discover()
        self.ordered = sorted(self.nodes.values(), key=lambda n: n.order)

    def _store_nodes(self, inst: Instance) -> Iterator[Node]:
        for op in inst.nest.body.block.ops:
            if isinstance(op, StoreOp) and self.result_of(inst, op) in self.kept:
                yield self.node(inst, op)

    @staticmethod
    def result_of(inst: Instance, store: StoreOp) -> SSAValue:
        """The nest's result that a store writes."""
        return inst.nest.results[inst.nest.body.block.args.index(store.dest)]

    def node(self, inst: Instance, op: Operation) -> Node:
        """The node of an op under an instance."""
        key = (id(inst), op)
        found = self.nodes.get(key)
        if found is None:
            found = Node(inst, op, (inst.position, self._positions[op]))
            self.nodes[key] = found
        return found

    # -- discovery -------------------------------------------------------------------------------
    def _discover(self) -> None:
        todo, seen = list(self.stores), set(self.stores)
        while todo:
            node = todo.pop()
            node.deps = list(self._deps(node.inst, node.op))
            for dep in node.deps:
                if dep not in seen:
                    seen.add(dep)
                    todo.append(dep)

    def _deps(self, inst: Instance, op: Operation) -> Iterator[Node]:
        """Nodes whose values the op (and its regions) needs."""
        for inner in op.walk():
            if isinstance(inner, LoadOp) and inner.source in self.by_tensor:
                yield self.load_source(inst, inner)
            for value in inner.operands:
                owner = value.owner
                if not isinstance(owner, Block) and owner.parent_op() is inst.nest:
                    yield self.node(inst, owner)
        if isinstance(op, StoreOp | ReduceOp | ScanOp):
            gathers = not isinstance(op, StoreOp)
            for check in self._unread_checks(inst.nest):
                if gathers == _varies_inside(check, inst.nest):
                    yield self.node(inst, check)

    def _unread_checks(self, nest: NestOp) -> list[BoundOp]:
        """Checks of indices to which nothing is addressed: they still report."""
        found = self._checks.get(nest)
        if found is None:
            ops = nest.body.block.ops
            found = [o for o in ops if isinstance(o, BoundOp) and o.result.first_use is None]
            self._checks[nest] = found
        return found

    def load_source(self, inst: Instance, load: LoadOp) -> Node:
        """The store node whose value an in-group load reads."""
        key = (id(inst), load)
        found = self.loads.get(key)
        if found is None:
            found = self._resolve(inst, load)
            self.loads[key] = found
        return found

    def _resolve(self, inst: Instance, load: LoadOp) -> Node:
        base = self.by_tensor[load.source]
        store = plain_store(base.nest, load.source)
        type_ = load.source.type
        assert isinstance(type_, TensorType)
        want = [self.ranges.simplify(inst.expr(e)) for e in load.index.data]
        have = [self.ranges.simplify(base.expr(e)) for e in store.index.data]
        same = all(
            w is h or size is ex.ONE for w, h, size in zip(want, have, type_.sizes, strict=True)
        )
        guarded = load.parent_op() is not inst.nest
        if same and (not guarded or base.key == inst.key):
            return self.node(base, store)
        if guarded:
            raise SpaceError("a guarded read of a tensor made in the same group, at another point")
        return self.node(self._moved(base, store, want, load), store)

    def _moved(self, base: Instance, store: StoreOp, want: list[Expr], load: LoadOp) -> Instance:
        """A pointwise producer evaluated at another point: d_k := index_k."""
        nest = base.nest
        extents = nest.domain.data.parallel
        plain = [ex.dim(k) if e is not ex.ONE else ex.ZERO for k, e in enumerate(extents)]
        index = [
            ex.ZERO if size is ex.ONE else i
            for i, size in zip(store.index.data, extents, strict=False)
        ]
        movable = not nest.domain.data.reduce and not nest.domain.data.scan
        if not movable or index != plain or any(e.vars("t") for e in want):
            raise SpaceError(
                f"`{load.source.name_hint or 'a tensor'}` is read at {list(map(str, want))}, which "
                "is not where its value is made; these nests cannot share a group"
            )
        key = (id(base), *want)
        if key not in self._instances:
            env = {ex.dim_atom(k): e for k, e in enumerate(want)}
            self._instances[key] = Instance(nest, base.position, env)
        return self._instances[key]

    # -- levels and stages -----------------------------------------------------------------------
    def analyse(self, place: StagePlacer) -> None:
        """Fill inner, after, scan and stage of all nodes, in order."""
        kept = set(self.stores)
        for node in self.ordered:
            node.inner = self._varies(node)
            for dep in node.deps:
                node.inner |= dep.inner
                node.after = max(node.after, dep.after)
                node.scan = dep.scan or node.scan
                node.late |= dep.late
            if node.late:
                continue
            if isinstance(node.op, ReduceOp) and node.inst.across:
                node.stage = place.store(node)
                node.inner = node.late = True
            elif isinstance(node.op, ReduceOp):
                node.stage = place.reduce(node)
                node.inner, node.after = False, node.stage + 1
            elif isinstance(node.op, ScanOp):
                node.stage = place.scan(node)
                node.inner, node.scan = True, node
            elif isinstance(node.op, StoreOp) and node.inner and node in kept:
                node.stage = place.store(node)

    def _varies(self, node: Node) -> bool:
        return any(
            a.index >= self.first_inner
            for op in node.op.walk()
            for e in op_exprs(op)
            for a in node.inst.expr(e).vars("d")
        )


class StagePlacer:
    """Finds the stage of reduces, scans and inner stores; merges what has equal extents."""

    def __init__(self) -> None:
        self.stages: list[Stage] = []

    def reduce(self, node: Node) -> int:
        """The first stage of the nest's inner extents after everything the reduction needs."""
        number = self._find(node, node.inst.key)
        self.stages[number].reduces.append(node)
        return number

    def store(self, node: Node) -> int:
        """As `reduce`, for a store that varies inside the common loops."""
        if node.scan is not None:
            number = node.scan.stage
            self.stages[number].after_scan.append(node)
            return number
        number = self._find(node, node.inst.key)
        self.stages[number].stores.append(node)
        return number

    def scan(self, node: Node) -> int:
        """A stage of its own; the scans of one nest share it."""
        for number, stage in enumerate(self.stages):
            if stage.scans and stage.scans[0].inst is node.inst and number >= node.after:
                stage.scans.append(node)
                return number
        self.stages.append(Stage(node.inst.key, scans=[node]))
        return len(self.stages) - 1

    def _find(self, node: Node, key: tuple[Expr, ...]) -> int:
        for number in range(node.after, len(self.stages)):
            stage = self.stages[number]
            if stage.key == key and not stage.scans:
                return number
        self.stages.append(Stage(key))
        return len(self.stages) - 1


@dataclass(eq=False)
class Stage:
    """A sibling loop inside the common loops."""

    key: tuple[Expr, ...]
    reduces: list[Node] = field(default_factory=list[Node])
    stores: list[Node] = field(default_factory=list[Node])
    scans: list[Node] = field(default_factory=list[Node])
    after_scan: list[Node] = field(default_factory=list[Node])

    @property
    def kinds(self) -> list[str]:
        """Reduction kinds of the stage, in order."""
        return [kind_of(n.op) for n in self.reduces]


def _varies_inside(op: Operation, nest: NestOp) -> bool:
    """Whether an op's value varies with what its nest gathers."""
    first = len(nest.domain.data.parallel)
    todo, seen = [op], {op}
    while todo:
        one = todo.pop()
        if any(
            a.index >= first for inner in one.walk() for e in op_exprs(inner) for a in e.vars("d")
        ):
            return True
        for value in one.operands:
            owner = value.owner
            if isinstance(owner, Operation) and owner not in seen:
                seen.add(owner)
                todo.append(owner)
    return False


def kind_of(op: Operation) -> str:
    """The kind of a reduce or scan."""
    kind = op.properties["kind"]
    assert isinstance(kind, StringAttr)
    return kind.data


def plain_store(nest: NestOp, result: SSAValue) -> StoreOp:
    """The one store of a fresh result."""
    arg = nest.body.block.args[nest.number_of(result)]
    for op in nest.body.block.ops:
        if isinstance(op, StoreOp) and op.dest is arg:
            if op.combine is not None or nest.updated(arg.index) is not None:
                break
            return op
    raise SpaceError("an updated tensor is read inside the group that updates it")


def index_of(op: Operation) -> tuple[Expr, ...]:
    """The index of a load or store."""
    index = op.properties["index"]
    assert isinstance(index, IndexAttr)
    return index.data
