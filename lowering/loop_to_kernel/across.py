"""Nests that reduce along the shared loops of their group: rows and columns in one pass.

Before, in a group `across [1]` whose shared loop is d0 : s0:
    nest (d0: 768) reduce (d1: s0) { %v = load %x[d1, d0]  %t = reduce add %v  store %t, %o[d0] }

After:
    %acc = local stack = 0.0 : f32 : !kernel.buf<f32[768]>
    for d0 : s0 {
      ..                                                    // stages of the other nests
      parallel d1 : 768 { %v = load %x[768 * d0 + d1]  store add %v, %acc[d1] } }
    parallel d0 : 768 { %t = load %acc[d0]  store %t, %o[d0] }

What such a nest computes after its reduction is `late`: it runs when the shared loops are done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Block

from minductor.dialects import expr as ex
from minductor.dialects.dtypes import dtype_of_scalar
from minductor.dialects.expr import Expr
from minductor.dialects.expr_simplify import product
from minductor.dialects.kernel import ops as k
from minductor.dialects.kernel.identity import COMBINE, identity
from minductor.dialects.loop.ops import ReduceOp
from minductor.dialects.scalar.number import literal
from minductor.dialects.types import BufType
from minductor.lowering.loop_to_kernel.emit import Emitter, Scope, StageLoops, wrap_loops
from minductor.lowering.loop_to_kernel.graph import Node
from minductor.lowering.loop_to_kernel.space import SpaceError


@dataclass(frozen=True)
class Gather:
    """A reduction along the shared loops, and the array that it fills."""

    node: Node
    local: k.LocalOp
    kind: str


def gathers(nodes: Sequence[Node]) -> list[Gather]:
    """An array for each reduction of nests that gather."""
    out: list[Gather] = []
    for node in nodes:
        if not (isinstance(node.op, ReduceOp) and node.inst.across):
            continue
        kind, type_ = node.op.kind.data, node.op.results[0].type
        if kind not in COMBINE:
            raise SpaceError(f"`{kind}` cannot gather over the shared loops")
        buffer = BufType.make(dtype_of_scalar(type_).name, product(node.inst.key))
        local = k.LocalOp.of("stack", buffer, literal(identity(kind, type_), type_))
        local.result.name_hint = "acc"
        out.append(Gather(node, local, kind))
    return out


def place_of(loops: StageLoops) -> Expr:
    """The element of an array that an iteration of a stage's loops owns."""
    flat = ex.ZERO
    for var, extent in zip(loops.variables, loops.extents, strict=True):
        flat = flat * extent + ex.dim(var)
    return flat


def add_all(emitter: Emitter, found: Sequence[Gather], loops: StageLoops, scope: Scope) -> None:
    """What one iteration of a stage adds to the arrays."""
    where = scope.ranges.simplify(place_of(loops))
    for gather in found:
        node = gather.node
        value = emitter.value(node.inst, node.op.operands[0], scope)
        combine = COMBINE[gather.kind]
        scope.block.add_op(k.StoreOp.of(value, gather.local.result, where, combine=combine))


def finish(
    emitter: Emitter,
    loops: StageLoops,
    gather: Sequence[Gather],
    stores: Sequence[Node],
) -> k.ParallelOp:
    """The loops after the shared ones: late values of one key, and their stores."""
    block = Block()
    scope = Scope(block, loops.env, loops.ranges)
    where = loops.ranges.simplify(place_of(loops))
    found: Mapping[Node, Gather] = {g.node: g for g in gather}
    for node in _roots(stores, found):
        load = k.LoadOp.of(found[node].local.result, where)
        load.result.name_hint = node.op.results[0].name_hint
        block.add_op(load)
        scope.values[(id(node.inst), node.op.results[0])] = load.result
    for node in stores:
        emitter.emit(node.deps, scope, scope)
        emitter.store(node, scope)
    op = wrap_loops(list(zip(loops.variables, loops.extents, strict=True)), block, frozenset())
    assert isinstance(op, k.ParallelOp)
    return op


def _roots(stores: Sequence[Node], found: Mapping[Node, Gather]) -> list[Node]:
    """The reductions that stores need, in order."""
    seen: set[Node] = set()
    todo: list[Node] = list(stores)
    out: list[Node] = []
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in found:
            out.append(node)
        else:
            todo.extend(node.deps)
    return sorted(out, key=lambda n: n.order)
