"""Writes the fused nodes back: a `loop.group` for each, in the graph's order."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence

from xdsl.ir import Block, Operation, OpResult, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.attrs import BytesAttr, Domain, DomainAttr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.loop.ops import GroupOp, LoadOp, NestOp, YieldOp
from minductor.passes.loop.deps import NestDeps
from minductor.passes.loop.fusion.graph import FusionGraph, Node, Vars
from minductor.passes.loop.fusion.price import Pricer
from minductor.passes.loop.inlining.origins import fused_location
from minductor.passes.loop.ledger import UNFUSED, group_bytes
from minductor.passes.loop.simplify_index import map_exprs

NAME_LENGTH = 100


def write_groups(graph: FusionGraph, pricer: Pricer) -> None:
    """Replace the nests of the block by groups; everything stands in the graph's order."""
    nodes = graph.nodes
    outside: dict[SSAValue, tuple[SSAValue, GroupOp]] = {}
    made = {node: _group(node, graph, pricer, outside) for node in nodes if node.kind == "nest"}
    _redirect(outside)
    last = graph.tail[0]
    for node in nodes:
        op: Operation = made[node] if node in made else node.ops[0]
        if op.parent is not None:
            op.detach()
        graph.block.insert_op_before(op, last)


def _redirect(outside: dict[SSAValue, tuple[SSAValue, GroupOp]]) -> None:
    """Readers outside a group take the group's results; each reader is written once, however many
    of its operands change."""
    readers = dict.fromkeys(use.operation for value in outside for use in value.uses)
    for op in readers:
        around = set(_ancestors(op))
        old = op.operands
        new = [outside[v][0] if v in outside and outside[v][1] not in around else v for v in old]
        if any(a is not b for a, b in zip(old, new, strict=True)):
            op.operands = new


def _ancestors(op: Operation) -> Iterator[Operation]:
    here = op.parent_op()
    while here is not None:
        yield here
        here = here.parent_op()


def _group(
    node: Node,
    graph: FusionGraph,
    pricer: Pricer,
    outside: dict[SSAValue, tuple[SSAValue, GroupOp]],
) -> GroupOp:
    """The group of a node; `outside` gets what its results are called outside."""
    nests = sorted((i.nest for i in node.infos), key=graph.position.__getitem__)
    infos = sorted(node.infos, key=lambda i: graph.position[i.nest])
    ledger = group_bytes(infos, node.axes, pricer)
    inside: set[Operation] = set(nests)
    kept = [r for nest in nests for r in nest.results if pricer.needed_outside(r, inside)]
    block = Block()
    made = {r for nest in nests for r in nest.results}
    for info in infos:
        nest = info.nest
        nest.attributes.pop(UNFUSED, None)
        unguard(nest, made)
        rename_variables(info, graph.symbols)
        if not node.is_across(info):
            order_variables(nest, node.axes[nest])
        nest.detach()
        block.add_op(nest)
    block.add_op(YieldOp.of(*kept))
    across = [i for i, info in enumerate(infos) if node.is_across(info)]
    types = [v.type for v in kept]
    group = GroupOp.of(group_name(nests), types, block, BytesAttr(ledger), across)
    group.location = fused_location([nest.location for nest in nests])
    for inner, outer in zip(kept, group.results, strict=True):
        outer.name_hint = inner.name_hint
        outside[inner] = (outer, group)
    return group


def unguard(nest: NestOp, made: set[OpResult]) -> None:
    """Move reads of tensors made in the group out of conditions: their values are at hand."""
    for op in list(nest.body.walk()):
        if not isinstance(op, LoadOp) or op.source not in made:
            continue
        outer: Operation = op
        while (parent := outer.parent_op()) is not None and parent is not nest:
            outer = parent
        if outer is not op:
            op.detach()
            nest.body.block.insert_op_before(op, outer)


def group_name(nests: Iterable[NestOp]) -> str:
    """Names of the origins, sorted, joined by `_`; long ones are cut and told apart by a digest."""
    names = sorted({origin.op for nest in nests for origin in nest.origins.data})
    text = re.sub(r"\W", "_", "_".join(names)) or "nest"
    if len(text) <= NAME_LENGTH:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{text[: NAME_LENGTH - 9].rstrip('_')}_{digest}"


def rename_variables(info: NestDeps, symbols: Ranges) -> None:
    """Write the variables that the analysis has split into the nest."""
    if info.renamed is None:
        return
    nest, renamed, ranges = info.nest, info.renamed, info.domain.ranges(symbols)
    nest.properties["domain"] = DomainAttr(info.domain)
    for op in nest.body.block.walk():
        for name, attr in op.properties.items():
            op.properties[name] = map_exprs(attr, lambda e: ranges.simplify(e.subs(renamed)))


def order_variables(nest: NestOp, shared: Vars) -> None:
    """Renumber a nest's parallel variables so that the shared ones come first, in their order."""
    domain = nest.domain.data
    parallel = range(len(domain.parallel))
    order = [*shared, *(v for v in parallel if v not in shared)]
    if order == list(parallel):
        return
    extents = tuple(domain.parallel[v] for v in order)
    nest.properties["domain"] = DomainAttr(Domain(extents, domain.reduce, domain.scan))
    subst = {ex.dim_atom(old): ex.dim(new) for new, old in enumerate(order)}
    for op in nest.body.block.walk():
        for name, attr in op.properties.items():
            op.properties[name] = map_exprs(attr, lambda e: e.subs(subst))


def common_loops(nests: Sequence[NestOp]) -> int:
    """How many leading variables all nests of a group share.

    All parallel ones of a nest that reduces or scans; in a group without such a nest, all.
    """
    collapsing = [n for n in nests if n.domain.data.reduce or n.domain.data.scan]
    return len((collapsing or nests)[0].domain.data.parallel)
