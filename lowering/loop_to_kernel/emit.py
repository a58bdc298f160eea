"""From the value graph of a group to the loop tree of one kernel.

Common loops around; inside, ops that do not vary with the stages' variables, then stage after
stage (`reduce`, `parallel` or `scan` loops), each with the ops that it needs:

    parallel d0 : 64 {                                   // common loops
      %m = reduce d1 : 1024 [max] -> f32 {..}             // stage 0
      %s = reduce d1 : 1024 [add] -> f32 {..}             // stage 1
      parallel d1 : 1024 { .. store %q, %o[1024 * d0 + d1] } }   // stage 2
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges, flatten_index
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.ops import LoadOp, ReduceOp, ScanOp, StoreOp
from minductor.dialects.scalar.ops import BoundOp
from minductor.dialects.types import TensorType
from minductor.lowering.loop_to_kernel.graph import Instance, Node, Stage, ValueGraph, index_of
from minductor.lowering.loop_to_kernel.space import SpaceError
from minductor.passes.kernel._tree import is_pure

# kinds whose results can be yielded to an outer loop of the same kind
SELF_COMBINING = frozenset(("add", "mul", "min", "max", "any", "all", "xor", "argmin", "argmax"))


@dataclass
class Scope:
    """A block being filled, the values it can see, and the variables in force."""

    block: Block
    env: Mapping[Atom, Expr]
    ranges: Ranges
    parent: Scope | None = None
    values: dict[tuple[int, SSAValue], SSAValue] = field(
        default_factory=dict[tuple[int, SSAValue], SSAValue]
    )

    made: dict[tuple[object, ...], Operation] = field(
        default_factory=dict[tuple[object, ...], Operation]
    )

    def equal(self, key: tuple[object, ...]) -> Operation | None:
        """The op of this `key_of` that the scope can see."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.made.get(key)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def number(self, op: Operation) -> Operation:
        """The op itself, now in the block, or the equal one that this scope can see."""
        key = key_of(op.name, op.operands, op.properties, [r.type for r in op.results])
        found = self.equal(key)
        if found is not None:
            op.erase()  # or its operands would count a use that nobody can reach
            return found
        self.made[key] = op
        self.block.add_op(op)
        return op

    def lookup(self, inst: Instance, value: SSAValue) -> SSAValue | None:
        """The emitted form of a nest's value, in this scope or around."""
        key = (id(inst), value)
        scope: Scope | None = self
        while scope is not None:
            found = scope.values.get(key)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def expr(self, inst: Instance, e: Expr) -> Expr:
        """An expression of the nest in final variables, simplified."""
        return self.ranges.simplify(inst.expr(e).subs(self.env))


def key_of(
    name: str,
    operands: Iterable[SSAValue],
    properties: Mapping[str, Attribute],
    types: Iterable[Attribute],
) -> tuple[object, ...]:
    """By which equal ops are known."""
    return (name, *map(id, operands), *properties.items(), *types)


class Emitter:
    """Emits the nodes of one group; `buffers` maps outside tensors and results to arguments."""

    def __init__(self, graph: ValueGraph, buffers: Mapping[SSAValue, SSAValue]):
        self.graph = graph
        self.buffers = buffers
        self.mutable = {buffers[r] for r in graph.kept}

    # -- single ops ------------------------------------------------------------------------------
    def emit(self, nodes: Iterable[Node], common: Scope, scope: Scope) -> None:
        """Emit nodes in order: what varies inside goes to `scope`, the rest to `common`."""
        for node in self._needed(nodes, common, scope):
            target = scope if node.inner else common
            if not isinstance(node.op, StoreOp):
                self._copy(node.inst, node.op, target)

    def _needed(self, roots: Iterable[Node], common: Scope, scope: Scope) -> list[Node]:
        seen: set[Node] = set()
        todo = list(roots)
        while todo:
            node = todo.pop()
            if node in seen or self._done(node, scope if node.inner else common):
                continue
            seen.add(node)
            todo.extend(node.deps)
        return sorted(seen, key=lambda n: n.order)

    def _done(self, node: Node, scope: Scope) -> bool:
        results = node.op.results
        return bool(results) and scope.lookup(node.inst, results[0]) is not None

    def value(self, inst: Instance, value: SSAValue, scope: Scope) -> SSAValue:
        """The emitted form of a nest's value; it must have been emitted."""
        found = scope.lookup(inst, value)
        if found is None:
            raise SpaceError(f"value `{value.name_hint or value}` is used before it is made")
        return found

    def _copy(self, inst: Instance, op: Operation, scope: Scope) -> None:
        if isinstance(op, LoadOp):
            result = self._load(inst, op, scope)
            scope.values[(id(inst), op.result)] = result
            return
        if isinstance(op, ReduceOp | ScanOp):
            raise SpaceError(f"the result of `{op.name}` is needed before its loop is done")
        operands = [self.value(inst, v, scope) for v in op.operands]
        properties = {n: self._attr(inst, a, scope) for n, a in op.properties.items()}
        types = [r.type for r in op.results]
        key: tuple[object, ...] = ()
        # a bound faults at most once more when repeated: equal ones are one
        new: Operation | None = None
        if not op.regions and (is_pure(op) or isinstance(op, BoundOp)):
            key = key_of(op.name, operands, properties, types)
            new = scope.equal(key)
        if new is None:
            new = type(op).create(
                operands=operands,
                result_types=types,
                properties=properties,
                attributes=op.attributes,
                regions=[Region() for _ in op.regions],
                location=op.location,
            )
            for old, copy in zip(op.regions, new.regions, strict=True):
                self._copy_region(inst, old, copy, scope)
            scope.block.add_op(new)
            if key:
                scope.made[key] = new
        for old, made in zip(op.results, new.results, strict=True):
            if made.name_hint is None:
                made.name_hint = old.name_hint
            scope.values[(id(inst), old)] = made

    def _copy_region(self, inst: Instance, old: Region, new: Region, scope: Scope) -> None:
        block = Block()
        new.add_block(block)
        inner = Scope(block, scope.env, scope.ranges, scope)
        for op in old.block.ops:
            self._copy(inst, op, inner)

    def _attr(self, inst: Instance, attr: Attribute, scope: Scope) -> Attribute:
        if isinstance(attr, ExprAttr):
            return ExprAttr(scope.expr(inst, attr.data))
        if isinstance(attr, IndexAttr):
            return IndexAttr(tuple(scope.expr(inst, e) for e in attr.data))
        return attr

    def _load(self, inst: Instance, op: LoadOp, scope: Scope) -> SSAValue:
        if op.source in self.graph.by_tensor:
            store = self.graph.load_source(inst, op)
            return self.value(store.inst, store.op.operands[0], scope)
        extra = [self.value(inst, v, scope) for v in op.operands[1:]]
        load = k.LoadOp.of(self.buffers[op.source], self._flat(inst, op, op.source, scope), extra)
        load.location = op.location
        load.result.name_hint = op.result.name_hint
        if self.buffers[op.source] in self.mutable:
            scope.block.add_op(load)
            return load.result
        return scope.number(load).results[0]

    def _flat(self, inst: Instance, op: Operation, tensor: SSAValue, scope: Scope) -> Expr:
        type_ = tensor.type
        assert isinstance(type_, TensorType)
        flat = flatten_index([inst.expr(e) for e in index_of(op)], type_.strides)
        return scope.ranges.simplify(flat.subs(scope.env))

    def store(self, node: Node, scope: Scope) -> None:
        """Emit the store of a kept result."""
        op, inst = node.op, node.inst
        assert isinstance(op, StoreOp)
        result = self.graph.result_of(inst, op)
        new = k.StoreOp.of(
            self.value(inst, op.value, scope),
            self.buffers[result],
            self._flat(inst, op, result, scope),
            [self.value(inst, v, scope) for v in op.operands[2:]],
            combine=None if op.combine is None else op.combine.data,
        )
        new.location = op.location
        scope.block.add_op(new)

    # -- stages ----------------------------------------------------------------------------------
    def stage(
        self,
        stage: Stage,
        loops: StageLoops,
        common: Scope,
        ordered: AbstractSet[int],
        gathered: Sequence[Node] = (),
        before: Callable[[Scope], None] | None = None,
        after: Callable[[Scope], None] | None = None,
    ) -> None:
        """Emit one stage after what it needs of the common level.

        `before` adds what stands first in an iteration, `after` what follows its values and stores:
        what the `gathered` reductions take from it.
        """
        block = Block()
        body = Scope(block, loops.env, loops.ranges, common)
        if stage.scans:
            self._scan(stage, loops, common, body)
            return
        if before is not None:
            before(body)
        roots = [d for n in (*stage.reduces, *gathered, *stage.stores) for d in n.deps]
        self.emit(roots, common, body)
        for node in stage.stores:
            self.store(node, body)
        if after is not None:
            after(body)
        if not stage.reduces:
            pairs = list(zip(loops.variables, loops.extents, strict=True))
            common.block.add_op(wrap_loops(pairs, block, ordered))
            return
        block.add_op(k.YieldOp.of(*self._contributions(stage.reduces, body)))
        loop = _nest_reduce(loops, block, stage.reduces)
        common.block.add_op(loop)
        results = iter(loop.results)
        for node in stage.reduces:
            for old in node.op.results:
                common.values[(id(node.inst), old)] = next(results)

    def _contributions(self, nodes: Sequence[Node], scope: Scope) -> list[SSAValue]:
        return [self.value(n.inst, v, scope) for n in nodes for v in n.op.operands]

    def _scan(self, stage: Stage, loops: StageLoops, common: Scope, body: Scope) -> None:
        self.emit([d for n in stage.scans for d in n.deps], common, body)
        body.block.add_op(k.YieldOp.of(*self._contributions(stage.scans, body)))
        olds = [(id(n.inst), r) for n in stage.scans for r in n.op.results]
        then = Block(arg_types=[r.type for _, r in olds])
        inner = Scope(then, loops.env, loops.ranges, common)
        inner.values.update(zip(olds, then.args, strict=True))
        self.emit([d for n in stage.after_scan for d in n.deps], common, inner)
        for node in stage.after_scan:
            self.store(node, inner)
        (var,), (extent,) = loops.variables, loops.extents
        kinds = stage_kinds(stage.scans)
        common.block.add_op(k.ScanOp.of(var, extent, kinds, body.block, then))


@dataclass(frozen=True)
class StageLoops:
    """The loops of a stage: final variables and extents; `env` writes fine variables in them."""

    variables: tuple[int, ...]
    extents: tuple[Expr, ...]
    env: Mapping[Atom, Expr]
    ranges: Ranges


def stage_kinds(nodes: Sequence[Node]) -> list[str]:
    """Kinds of reduce or scan nodes, in order."""
    out: list[str] = []
    for node in nodes:
        assert isinstance(node.op, ReduceOp | ScanOp)
        out.append(node.op.kind.data)
    return out


def wrap_loops(
    loops: Sequence[tuple[int, Expr]], block: Block, ordered: AbstractSet[int]
) -> Operation:
    """Loops around a block, outermost first; variables in `ordered` run in order (`for`)."""
    op: Operation | None = None
    for var, extent in reversed(loops):
        if op is not None:
            block = Block([op])
        cls = k.ForOp if var in ordered else k.ParallelOp
        op = cls.make(var, extent, block)
    if op is None:
        raise SpaceError("a loop nest needs a variable")
    return op


def _nest_reduce(loops: StageLoops, block: Block, nodes: Sequence[Node]) -> k.ReduceOp:
    kinds = stage_kinds(nodes)
    types = [r.type for n in nodes for r in n.op.results]
    op: k.ReduceOp | None = None
    for var, extent in reversed(list(zip(loops.variables, loops.extents, strict=True))):
        if op is not None:
            block = Block([op, k.YieldOp.of(*op.results)])
        op = k.ReduceOp.of(var, extent, kinds, types, block)
    assert op is not None
    return op
