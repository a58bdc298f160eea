"""Kernels of a module that differ in name and provenance only: their code is printed once.

Layers of a model repeat; so do their kernels. Two kernels are twins when their ops, operands, types
and properties agree, value names, `sym_name`, `origins` and `bytes` aside.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Attribute, Operation, SSAValue

from minductor.dialects.kernel.ops import FuncOp

_ASIDE = ("sym_name", "origins", "bytes_")

Key = tuple[object, ...]


def structure(func: FuncOp) -> Key:
    """A hashable value that is equal for twins and for no other kernels."""
    numbers: dict[SSAValue, int] = {}
    out: list[object] = []
    _append(func, numbers, out, _ASIDE)
    return tuple(out)


def _append(
    op: Operation, numbers: dict[SSAValue, int], out: list[object], aside: tuple[str, ...] = ()
) -> None:
    out += [op.name, *(numbers[v] for v in op.operands)]
    for table in (op.properties, op.attributes):
        out += [(k, _exact(v)) for k, v in sorted(table.items()) if k not in aside]
    for result in op.results:
        numbers[result] = len(numbers)
        out.append(result.type)
    for region in op.regions:
        for block in region.blocks:
            out.append("{")
            for arg in block.args:
                numbers[arg] = len(numbers)
                out.append(arg.type)
            for inner in block.ops:
                _append(inner, numbers, out)
            out.append("}")


def _exact(attr: Attribute) -> object:
    """An attribute so that 0.0 and -0.0, equal as floats, differ."""
    if isinstance(attr, FloatAttr):
        return (attr.type, attr.value.data.hex())
    return attr


def first_twins(kernels: Iterable[FuncOp]) -> dict[FuncOp, FuncOp]:
    """Each kernel -> its first twin among the given ones (itself, when it is the first)."""
    firsts: dict[Key, FuncOp] = {}
    return {func: firsts.setdefault(structure(func), func) for func in kernels}
