"""What a tensor costs to write and to read, and who reads it."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from minductor.dialects.aten import AtenOp, Library, is_mutating, is_view
from minductor.dialects.expr import Expr
from minductor.dialects.types import TensorType
from minductor.passes.aten._aliases import readers


def traffic(type_: TensorType) -> Expr:
    """Bytes of one pass over a tensor."""
    return type_.numel * type_.info.size


def real_readers(value: SSAValue) -> Iterator[Operation]:
    """The ops that read the elements of a fresh value; views of it only show them."""
    for op in readers(value):
        if not (isinstance(op, AtenOp) and is_view(op)):
            yield op


def in_kernel(op: Operation) -> bool:
    """A kernel of ours computes the op, so that its operands are read there."""
    return isinstance(op, AtenOp) and not op.has_trait(Library) and not is_mutating(op)


def kernels_read(value: SSAValue) -> bool:
    """Kernels of ours, and nobody else, read the elements of a fresh value."""
    found = list(real_readers(value))
    return bool(found) and all(in_kernel(op) for op in found)


def no_kernel_reads(value: SSAValue) -> bool:
    """Only libraries' kernels and the caller read the elements of a fresh value."""
    return not any(in_kernel(op) for op in real_readers(value))
