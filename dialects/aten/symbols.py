"""Which size symbols a function and its ops depend on."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Block, Operation

from minductor.dialects.aten.verify import type_symbols
from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.expr import Atom
from minductor.dialects.types import IntType


def used_symbols(block: Block) -> set[Atom]:
    """The size symbols that types, properties and results of a function depend on."""
    types = [arg.type for arg in block.args if arg.uses or not isinstance(arg.type, IntType)]
    out = {a for type_ in types for a in type_symbols(type_)}
    for op in block.walk():
        out |= op_symbols(op)
    return out


def op_symbols(op: Operation) -> set[Atom]:
    """The size symbols in an op's result types and properties."""
    out = {a for result in op.results for a in type_symbols(result.type)}
    for attr in op.properties.values():
        out.update(_attribute_symbols(attr))
    return out


def _attribute_symbols(attr: Attribute) -> Iterable[Atom]:
    match attr:
        case IndexAttr():
            return (a for e in attr.data for a in e.vars())
        case ExprAttr() | IntType():
            return attr.data.vars()
        case ArrayAttr():
            return (a for inner in attr.data for a in _attribute_symbols(inner))
        case _:
            return ()
