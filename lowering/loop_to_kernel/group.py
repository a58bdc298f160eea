"""One fused group to one `kernel.func`: iteration space, value graph, loop tree, arguments."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Block, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.attrs import Bytes, BytesAttr, ConfigAttr, Origin
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges, flatten_index, product
from minductor.dialects.kernel import ops as k
from minductor.dialects.loop.ops import LoadOp, NestOp, StoreOp
from minductor.dialects.loop.verify import op_exprs
from minductor.dialects.types import BufType, TensorType
from minductor.lowering.loop_to_kernel.across import Gather, add_all, finish, gathers
from minductor.lowering.loop_to_kernel.emit import (
    SELF_COMBINING,
    Emitter,
    Scope,
    StageLoops,
    wrap_loops,
)
from minductor.lowering.loop_to_kernel.graph import (
    Instance,
    Node,
    Stage,
    StagePlacer,
    ValueGraph,
    index_of,
)
from minductor.lowering.loop_to_kernel.rows import NO_ROWS, RowLimits, Rows, walks_rows
from minductor.lowering.loop_to_kernel.space import (
    SpaceError,
    collapse,
    common,
    delinearise,
    map_onto,
    split_prefix,
)


@dataclass(frozen=True)
class KernelResult:
    """A kernel and what to launch it with: input tensors, then results, in parameter order."""

    func: k.FuncOp
    inputs: tuple[SSAValue, ...]
    results: tuple[SSAValue, ...]
    symbols: tuple[Expr, ...]


class GroupLowering:
    """Lowers the nests of one group; `kept` are the results that must reach memory.

    `over` maps a fresh result to the outside tensor whose storage it is written over; `across` are
    the nests whose reduce variables walk the common loops; `limits` says what rows may hold.
    """

    def __init__(
        self,
        nests: Sequence[NestOp],
        kept: Sequence[SSAValue],
        symbols: Ranges,
        over: Mapping[SSAValue, SSAValue] | None = None,
        across: Sequence[NestOp] = (),
        limits: RowLimits = NO_ROWS,
    ):
        self.over = over or {}
        self.across = set(across)
        self.nests = nests
        self.kept = kept
        self.symbols = symbols
        self.limits = limits
        self.ordered: set[int] = set()
        self.read_over: set[SSAValue] = set()
        self.common = self._common_space()
        self.inner_lists = inner_lists(nests, self.across, product(self.common))
        self.fine_keys: dict[tuple[Expr, ...], tuple[Expr, ...]] = {}
        self.bases = [self._instance(i, nest) for i, nest in enumerate(nests)]

    # -- iteration space -------------------------------------------------------------------------
    def _common_space(self) -> tuple[Expr, ...]:
        inside = [n for n in self.nests if n not in self.across]
        collapsing = [n for n in inside if n.domain.data.reduce or n.domain.data.scan]
        lists = [n.domain.data.parallel for n in collapsing]
        lists += [n.domain.data.reduce for n in self.nests if n in self.across]
        lists = lists or [n.domain.data.parallel for n in inside]
        totals = {product(p) for p in lists}
        if len(totals) != 1:
            raise SpaceError(f"parallel extents differ: {sorted(map(str, totals))}")
        total = totals.pop()
        for nest in inside:
            parallel = nest.domain.data.parallel
            if product(parallel) is total:
                lists.append(parallel)
                continue
            split = split_prefix(parallel, total)
            if split is not None:
                lists.append(split[0])
        return common(list(dict.fromkeys(map(tuple, lists))))

    def _instance(self, position: int, nest: NestOp) -> Instance:
        domain = nest.domain.data
        first = len(self.common)
        if nest in self.across:
            key = self._fine_key(domain.parallel)
            outer = map_onto(domain.reduce, self.common, 0)
            env = [*map_onto(domain.parallel, key, first), *outer]
            atoms = {ex.dim_atom(i): e for i, e in enumerate(env)}
            return Instance(nest, position, atoms, key, across=True)
        outer, rest = domain.parallel, (*domain.reduce, *domain.scan)
        total = product(self.common)
        if product(outer) is total:
            env = map_onto(outer, self.common, 0)
            key = self._fine_key(rest)
            env += map_onto(rest, key, first)
        else:
            split = split_prefix(outer, total)
            if split is None or rest:
                raise SpaceError(
                    f"extents {list(map(str, outer))} do not start with the common loops' "
                    f"{list(map(str, self.common))}"
                )
            key = self._fine_key(split[1])
            env = self._split_map(outer, split, key)
        atoms = {ex.dim_atom(i): e for i, e in enumerate(env)}
        return Instance(nest, position, atoms, key)

    def _split_map(
        self,
        extents: Sequence[Expr],
        split: tuple[tuple[Expr, ...], tuple[Expr, ...]],
        key: tuple[Expr, ...],
    ) -> list[Expr]:
        """Variables of a pointwise nest over (common loops, inner loops)."""
        first = len(self.common)
        outer = map_onto(split[0], self.common, 0)
        inner = map_onto(split[1], key, first)
        parts, values = [*split[0], *split[1]], [*outer, *inner]
        coarse = map_onto(extents, parts, 0)
        names = {ex.dim_atom(i): v for i, v in enumerate(values)}
        return [e.subs(names) for e in coarse]

    def _fine_key(self, extents: Sequence[Expr]) -> tuple[Expr, ...]:
        """The refinement of all inner extent lists of this product."""
        key = tuple(extents)
        found = self.fine_keys.get(key)
        if found is None:
            others = self.inner_lists.get(product(extents), ())
            found = self.fine_keys[key] = common(list(dict.fromkeys([key, *others])))
        return found

    # -- final variables -------------------------------------------------------------------------
    def _accesses(self, graph: ValueGraph) -> list[Expr]:
        """Flat indices and index data of all nodes, in fine variables."""
        out: dict[Expr, None] = {}
        simplify = graph.ranges.simplify
        for node in graph.ordered:
            for op in node.op.walk():
                if isinstance(op, LoadOp | StoreOp):
                    tensor = op.source if isinstance(op, LoadOp) else self._target(node, op)
                    if tensor is None or (isinstance(op, LoadOp) and tensor in graph.by_tensor):
                        continue
                    type_ = tensor.type
                    assert isinstance(type_, TensorType)
                    exprs = [node.inst.expr(e) for e in index_of(op)]
                    out[simplify(flatten_index(exprs, type_.strides))] = None
                else:
                    out.update((simplify(node.inst.expr(e)), None) for e in op_exprs(op))
        return list(out)

    def _target(self, node: Node, store: StoreOp) -> SSAValue | None:
        result = ValueGraph.result_of(node.inst, store)
        return result if result in self.kept else None

    def _loops_of(
        self, stage: Stage, outer: StageLoops, accesses: Sequence[Expr], first: int
    ) -> StageLoops:
        fine = len(self.common)
        extents, values = collapse(stage.key, fine, accesses)
        shift = {ex.dim_atom(fine + i): ex.dim(first + i) for i in range(len(extents))}
        linear = len(extents) > 1 and (
            bool(stage.scans) or not SELF_COMBINING.issuperset(stage.kinds)
        )
        if linear:
            flat = delinearise(extents, ex.dim(first))
            extents = (product(extents),)
            shift = {ex.dim_atom(fine + i): e for i, e in enumerate(flat)}
        values = [v.subs(shift) for v in values]
        if not extents:
            extents = (ex.ONE,)
        env = dict(outer.env)
        env.update({ex.dim_atom(fine + i): v for i, v in enumerate(values)})
        variables = tuple(range(first, first + len(extents)))
        ranges = outer.ranges.with_extents(zip(variables, extents, strict=True))
        return StageLoops(variables, extents, env, ranges)

    # -- the kernel ------------------------------------------------------------------------------
    def lower(self, name: str, config: ConfigAttr, bytes_: Bytes | None) -> KernelResult:
        """The kernel of the group."""
        fine = self.symbols.with_extents(enumerate(self.common))
        for inst in self.bases:
            fine = fine.with_extents((len(self.common) + i, e) for i, e in enumerate(inst.key))
        graph = ValueGraph(self.bases, set(self.kept), len(self.common), fine)
        placer = StagePlacer()
        graph.analyse(placer)
        read = self._inputs(graph)
        inputs = [v for v in read if v not in self.over.values()]
        self.read_over = {r for r, v in self.over.items() if v in read}
        tensors = [*inputs, *self.kept]
        block = Block(arg_types=[_buffer(v) for v in tensors])
        for arg, value in zip(block.args, tensors, strict=True):
            arg.name_hint = value.name_hint
        buffers = dict(zip(tensors, block.args, strict=True))
        buffers.update({v: buffers[r] for r, v in self.over.items()})
        accesses = self._accesses(graph)
        extents, values = collapse(self.common, 0, accesses)
        env = {ex.dim_atom(i): v for i, v in enumerate(values)}
        variables = tuple(range(len(extents)))
        ranges = self.symbols.with_extents(zip(variables, extents, strict=True))
        outer = StageLoops(variables, extents, env, ranges)
        body = Block()
        emitter = Emitter(graph, buffers)
        late = gathers(graph.ordered)
        self._fill(emitter, placer, (outer, late), accesses, body)
        block.add_ops(g.local for g in late)
        self._close(block, body, outer)
        self._late(emitter, late, accesses, block)
        symbols = _symbols([*tensors], extents, block)
        access = ["read"] * len(inputs) + [self._access(v) for v in self.kept]
        origins = merge_origins(self.nests)
        func = k.FuncOp.of(
            name, access, symbols, config, block, origins,
            None if bytes_ is None else BytesAttr(bytes_),
        )  # fmt: skip
        return KernelResult(func, tuple(inputs), tuple(self.kept), symbols)

    def _fill(
        self,
        emitter: Emitter,
        placer: StagePlacer,
        around: tuple[StageLoops, Sequence[Gather]],
        accesses: Sequence[Expr],
        body: Block,
    ) -> None:
        outer, late = around
        if late:
            self.ordered |= set(outer.variables)
        found = {g.node: g for g in late}
        top = Scope(body, outer.env, outer.ranges)
        rows = self._rows(emitter.graph, placer.stages, outer, accesses)
        body.add_ops(row.local for row in rows.rows)
        for number, (stage, loops) in enumerate(zip(placer.stages, rows.loops, strict=True)):
            gather = [found[n] for n in stage.stores if n in found]
            stage.stores = [n for n in stage.stores if n not in found]
            self.ordered |= self._unsafe(stage.stores, loops)

            def after(scope: Scope, gather: Sequence[Gather] = gather, at: int = number) -> None:
                rows.store(at, emitter, scope)
                add_all(emitter, gather, rows.loops[at], scope)

            emitter.stage(
                stage, loops, top, self.ordered,
                [g.node for g in gather],
                lambda scope, at=number: rows.take(at, scope),
                after,
            )  # fmt: skip
        for node in emitter.graph.stores:
            if not node.inner and not node.late:
                emitter.emit(node.deps, top, top)
                emitter.store(node, top)
                self.ordered |= self._unsafe([node], outer)

    def _rows(
        self,
        graph: ValueGraph,
        stages: Sequence[Stage],
        outer: StageLoops,
        accesses: Sequence[Expr],
    ) -> Rows:
        """The loops of all stages, and the values that some keep for others."""
        loops = [self._loops_of(stage, outer, accesses, len(outer.extents)) for stage in stages]
        walks = bool(self.common) and walks_rows(accesses, len(self.common))
        rows = Rows(graph, stages, loops, self.limits if walks else NO_ROWS)
        rows.plan()
        return rows

    def _late(
        self, emitter: Emitter, late: Sequence[Gather], accesses: Sequence[Expr], block: Block
    ) -> None:
        """What runs when the common loops are done, a loop nest for each key."""
        stores = [n for n in emitter.graph.stores if n.late]
        top = StageLoops((), (), {}, self.symbols)
        for key in dict.fromkeys(n.inst.key for n in stores):
            alike = [n for n in stores if n.inst.key == key]
            loops = self._loops_of(Stage(key), top, accesses, 0)
            block.add_op(finish(emitter, loops, late, alike))

    def _unsafe(self, stores: Sequence[Node], loops: StageLoops) -> set[int]:
        """Variables whose iterations may write one element twice: their loops run in order.

        A variable is safe for an updating store if one index expression is linear in it and hangs
        on no other variable: two iterations then differ in that index.
        """
        out: set[int] = set()
        for node in stores:
            assert isinstance(node.op, StoreOp)
            result = ValueGraph.result_of(node.inst, node.op)
            if result in self.over or self._access(result) == "write":
                continue
            indices = (node.inst.expr(i).subs(loops.env) for i in index_of(node.op))
            safe = {v.index for e in indices if (v := _walked_by(e)) is not None}
            out |= set(range(len(loops.ranges.bounds))) - safe
        return out

    def _close(self, block: Block, body: Block, outer: StageLoops) -> None:
        """Wrap the body in the common loops."""
        loops = list(zip(outer.variables, outer.extents, strict=True))
        if not loops:
            for op in list(body.ops):
                op.detach()
                block.add_op(op)
            return
        block.add_op(wrap_loops(loops, body, self.ordered))

    def _inputs(self, graph: ValueGraph) -> list[SSAValue]:
        out: dict[SSAValue, None] = {}
        for node in graph.ordered:
            for op in node.op.walk():
                if isinstance(op, LoadOp) and op.source not in graph.by_tensor:
                    out[op.source] = None
        return list(out)

    def _access(self, value: SSAValue) -> str:
        owner = value.owner
        assert isinstance(owner, NestOp)
        if value in self.read_over:
            return "update"
        number = owner.number_of(value)
        return "write" if owner.updated(number) is None else "update"


def inner_lists(
    nests: Sequence[NestOp], across: Container[NestOp], total: Expr
) -> dict[Expr, list[tuple[Expr, ...]]]:
    """The extents that nests iterate inside common loops of `total` steps, by their product."""
    out: dict[Expr, dict[tuple[Expr, ...], None]] = {}
    for nest in nests:
        domain = nest.domain.data
        rest: Sequence[Expr] = (*domain.reduce, *domain.scan)
        if nest in across:
            rest = domain.parallel
        elif product(domain.parallel) is not total:
            split = split_prefix(domain.parallel, total)
            rest = split[1] if split is not None else ()
        if rest:
            out.setdefault(product(rest), {})[tuple(rest)] = None
    return {of: list(lists) for of, lists in out.items()}


def _buffer(value: SSAValue) -> BufType:
    type_ = value.type
    assert isinstance(type_, TensorType)
    return BufType.make(type_.dtype, type_.storage_elements)


def _symbols(tensors: Sequence[SSAValue], extents: Sequence[Expr], body: Block) -> tuple[Expr, ...]:
    """Size symbols that the kernel needs, in order."""
    seen: dict[Atom, None] = {}
    exprs = [*extents]
    exprs += [_buffer(v).elements for v in tensors]
    for op in body.walk():
        exprs.extend(op_exprs(op))
    for e in exprs:
        seen.update(dict.fromkeys(e.vars("su")))
    return tuple(Expr.of_atom(a) for a in sorted(seen, key=lambda a: a.key))


def merge_origins(nests: Sequence[NestOp]) -> tuple[Origin, ...]:
    """Origins of the nests in order, each once."""
    out: dict[Origin, None] = {}
    for nest in nests:
        out.update(dict.fromkeys(nest.origins.data))
    return tuple(out)


def _walked_by(e: Expr) -> Atom | None:
    """The one variable that `e` hangs on, if no two values of it give `e` the same value."""
    variables = e.vars("dt")
    if len(variables) != 1 or variables[0].kind != "d":
        return None
    atom = variables[0]
    return atom if e.is_linear_in(atom) and e.coeff(atom).as_int is not None else None
