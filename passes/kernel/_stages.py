"""What two loops of one kernel compute alike."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import is_side_effect_free

from minductor.dialects import expr as ex
from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.kernel import ops as k

Stage = k.ReduceOp | k.ParallelOp


def same_values(kernel: k.FuncOp, first: Stage, last: Stage) -> dict[Operation, Operation]:
    """Ops of the second stage -> the op of the first one that computes the same."""
    known: dict[tuple[object, ...], Operation] = {}
    for op in first.body.block.ops:
        if _is_value(kernel, op):
            known.setdefault(_key(op, {}, {}), op)
    env = {ex.dim_atom(last.var.data): ex.dim(first.var.data)}
    twins: dict[SSAValue, SSAValue] = {}
    out: dict[Operation, Operation] = {}
    for op in last.body.block.ops:
        found = known.get(_key(op, env, twins)) if _is_value(kernel, op) else None
        if found is not None:
            out[op] = found
            twins.update(zip(op.results, found.results, strict=True))
    return out


def access_of(kernel: k.FuncOp, buffer: SSAValue) -> str:
    """`read`, `write` or `update` of an argument, `local` of anything else."""
    args = kernel.body.block.args
    owner = buffer.owner
    if not isinstance(owner, Block) or owner is not kernel.body.block:
        return "local"
    return next(a for a, arg in zip(kernel.access.data, args, strict=True) if arg is buffer)


def _is_value(kernel: k.FuncOp, op: Operation) -> bool:
    """Computed from operands alone, or read from a buffer that the kernel only reads."""
    if isinstance(op, k.LoadOp):
        return access_of(kernel, op.buffer) == "read" and op.mask is None
    return not op.regions and bool(op.results) and is_side_effect_free(op)


def _key(
    op: Operation, env: Mapping[Atom, Expr], twins: Mapping[SSAValue, SSAValue]
) -> tuple[object, ...]:
    items: list[object] = [op.name, *(r.type for r in op.results)]
    items += [id(twins.get(v, v)) for v in op.operands]
    for name, attr in sorted(op.properties.items()):
        if isinstance(attr, ExprAttr):
            items.append((name, attr.data.subs(env)))
        elif isinstance(attr, IndexAttr):
            items.append((name, tuple(e.subs(env) for e in attr.data)))
        else:
            items.append((name, attr))
    return tuple(items)
