"""What host ops do with memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from minductor.dialects.attrs import IndexAttr
from minductor.dialects.kernel.host import ExternOp, LaunchOp, ReinterpretOp
from minductor.dialects.kernel.ops import FuncOp
from minductor.dialects.loop.verify import arg_refs


def outs_of(op: ExternOp) -> Sequence[SSAValue]:
    """The operands that an out= form writes: those behind the last one that its arguments name."""
    if op.out is None:
        return ()
    used = [k for a in (op.args_, *op.kwargs.data.values()) for k in arg_refs(a)]
    return op.operands[max(used, default=-1) + 1 :]


def views_of(op: Operation) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Results that show the memory of an operand, each with that operand."""
    if isinstance(op, ReinterpretOp):
        yield op.result, op.source
    elif isinstance(op, ExternOp):
        for pair in op.aliases or ():
            if isinstance(pair, IndexAttr):
                result, operand = (int(e) for e in pair.data)
                yield op.results[result], op.operands[operand]


def writes_of(op: Operation, kernels: Mapping[str, FuncOp]) -> list[SSAValue]:
    """The operands whose memory a host op may write; of an unknown kernel, all."""
    if isinstance(op, LaunchOp):
        kernel = kernels.get(op.callee.string_value())
        if kernel is None:
            return list(op.args)
        return [v for v, a in zip(op.args, kernel.access.data, strict=False) if a != "read"]
    if isinstance(op, ExternOp):
        mutated = [] if op.mutates is None else [int(e) for e in op.mutates.data]
        return [*(op.operands[k] for k in mutated), *outs_of(op)]
    return []
