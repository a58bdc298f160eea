"""Verification of `aten` ops: operands, arguments and results fit the schema; symbols are bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, StringAttr, i1
from xdsl.ir import Attribute, Block, Operation
from xdsl.utils.exceptions import VerifyException

from minductor.dialects.aten.schema import MISSING, Arg, Schema
from minductor.dialects.aten.text import SEGMENTS, tensor_operands, unpack
from minductor.dialects.attrs import ExprAttr, IndexAttr, SymbolsAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.pyattrs import (
    ComplexAttr,
    DeviceAttr,
    DTypeAttr,
    DynAttr,
    EnumAttr,
    NoneAttr,
)
from minductor.dialects.types import AbsentType, FloatType, IntType, TensorType

_KINDS: dict[str, tuple[type[Attribute], ...]] = {
    "int": (IntegerAttr, ExprAttr, DynAttr),
    "float": (FloatAttr, DynAttr),
    "bool": (IntegerAttr, DynAttr),
    "scalar": (IntegerAttr, FloatAttr, ExprAttr, ComplexAttr, DynAttr),
    "str": (StringAttr,),
    "dtype": (DTypeAttr,),
    "enum": (EnumAttr,),
    "device": (DeviceAttr,),
}
_WORDS = {
    "int": "an integer or index expression",
    "float": "a float such as 1.0",
    "bool": "true or false",
    "scalar": "a number",
    "str": 'a string such as "mean"',
    "dtype": "a dtype such as f32",
    "enum": "a layout or memory format such as contiguous_format",
    "device": 'a device such as "cpu"',
}


def verify_aten(op: Operation, schema: Schema) -> None:
    """Raises VerifyException with the mend."""
    given, dyn = unpack(op, schema)
    for value in tensor_operands(given):
        if not isinstance(value.type, TensorType | IntType | FloatType):
            raise VerifyException(
                f"operand of type `{value.type}`; expected !aten.t, or a number of aten.scalar"
            )
    for name, attr in op.properties.items():
        if name == SEGMENTS or name == "declaration":
            continue
        arg = schema.by_name.get(name)
        if arg is None:
            raise VerifyException(f"no argument `{name}` in the schema {schema.text}")
        if not arg.is_tensor:
            _verify_property(attr, arg, len(dyn))
    for arg in schema.args:
        if arg.default is MISSING:
            if arg.is_tensor:
                missing = not arg.optional and arg.name not in given
            else:
                missing = arg.name not in op.properties
            if missing:
                raise VerifyException(f"argument `{arg.name}` is missing; {schema.text}")
    _verify_results(op, schema)
    _verify_symbols(op)


def _verify_property(attr: Attribute, arg: Arg, dyn: int) -> None:
    if isinstance(attr, NoneAttr):
        if not (arg.optional or arg.default is None or arg.kind == "other"):
            raise VerifyException(f"`{arg.name}` cannot be none")
        return
    if arg.is_list and not isinstance(attr, IndexAttr | ArrayAttr):
        raise VerifyException(f"`{arg.name}` is a list: write it in square brackets")
    if arg.kind == "int" and isinstance(attr, IndexAttr):
        return
    allowed = _KINDS.get(arg.kind)
    items = attr.data if isinstance(attr, ArrayAttr) else (attr,)
    for item in cast(Iterable[Attribute], items):
        if isinstance(item, DynAttr) and item.data >= dyn:
            raise VerifyException(f"`{arg.name}` is run-time number {item.data}, {dyn} are given")
        if allowed is None or not isinstance(item, (*allowed, NoneAttr)):
            raise VerifyException(
                f"`{arg.name}` must be {_WORDS.get(arg.kind, 'none')}, not `{item}`"
            )
        if arg.kind in ("int", "bool") and isinstance(item, IntegerAttr):
            if (item.type == i1) != (arg.kind == "bool"):
                raise VerifyException(f"`{arg.name}` must be {_WORDS[arg.kind]}, not `{item}`")


def _verify_results(op: Operation, schema: Schema) -> None:
    if not any(r.is_list for r in schema.returns) and len(op.results) != len(schema.returns):
        raise VerifyException(
            f"{len(op.results)} result types for {len(schema.returns)} results; {schema.text}"
        )
    for i, result in enumerate(op.results):
        kind = schema.returns[min(i, len(schema.returns) - 1)].kind if schema.returns else "tensor"
        ok = TensorType | AbsentType if kind == "tensor" else IntType | FloatType | TensorType
        if not isinstance(result.type, ok) and kind != "other":
            raise VerifyException(f"result {i} has type `{result.type}`, expected {_result(kind)}")


def _result(kind: str) -> str:
    return "a tensor (!aten.t<..>)" if kind == "tensor" else "!aten.int<..> or !aten.float"


# -- symbols --------------------------------------------------------------------------------------
@cache
def type_symbols(type_: Attribute) -> tuple[Atom, ...]:
    """The size symbols in a type."""
    if isinstance(type_, TensorType):
        return _atoms((*type_.sizes, *type_.strides))
    return _atoms((type_.data,)) if isinstance(type_, IntType) else ()


def _atoms(exprs: Iterable[Expr]) -> tuple[Atom, ...]:
    found: dict[Atom, None] = {}
    for e in exprs:
        if e.as_int is None:
            found |= dict.fromkeys(e.vars("su"))
    return tuple(found)


def bound_symbols(type_: Attribute) -> Iterator[Atom]:
    """The symbols that a value of this type binds: those that stand alone in it."""
    exprs: Iterable[Expr] = ()
    if isinstance(type_, TensorType):
        exprs = type_.sizes
    elif isinstance(type_, IntType):
        exprs = (type_.data,)
    for e in exprs:
        atom = e.as_atom
        if atom is not None and atom.is_var:
            yield atom


def op_binds(op: Operation) -> Iterator[Atom]:
    """The unbacked symbols to which an op gives values: by an int, or a size that data decides."""
    schema = getattr(op, "schema", None)
    decides = op.name == "aten.control" or (
        isinstance(schema, Schema)
        and ("dynamic_output_shape" in schema.tags or schema.namespace != "aten")
    )
    for result in op.results:
        if decides or isinstance(result.type, IntType):
            yield from (a for a in bound_symbols(result.type) if a.kind == "u")


def _verify_symbols(op: Operation) -> None:
    needed = {a: None for r in op.results for a in type_symbols(r.type)}
    if not needed:
        return
    block = op.parent
    if block is None:
        return
    known = {a for arg in block.args for a in type_symbols(arg.type)}
    function = block.parent_op()
    symbols = function.attributes.get("symbols") if function is not None else None
    if isinstance(symbols, SymbolsAttr):
        known |= {s.atom for s in symbols.data.symbols if s.atom.kind == "s"}
    for atom in needed:
        if atom in known or _bound_before(op, block, atom):
            continue
        raise VerifyException(
            f"symbol `{atom!r}` is not bound: give the function an argument of type "
            f"!aten.int<{atom!r}>, or declare it in the function's `symbols`"
            if atom.kind == "s"
            else f"symbol `{atom!r}` is used before the op that binds it"
        )


def _bound_before(op: Operation, block: Block, atom: Atom) -> bool:
    for other in block.ops:
        if atom in op_binds(other):
            return True
        if other is op:
            return False
    return False
