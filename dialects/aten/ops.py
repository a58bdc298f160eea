"""Op classes of the `aten` dialect, made one at a time from their schemas.

`op_class("add.Tensor")` finds the schema in the checked-in table and generates the class; an op
that the table does not know (a user's custom op) is an `aten.custom`, which carries its schema.
Tensors are operands, all else is a property; arguments equal to the schema's default are left out.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)

from minductor.dialects.aten.schema import MISSING, Arg, Schema, parse_schema
from minductor.dialects.aten.table import lookup
from minductor.dialects.aten.text import (
    SEGMENTS,
    AtenText,
    CustomText,
    is_default,
    needs_segments,
    pack,
    tensor_operands,
    unpack,
)
from minductor.dialects.aten.traits import traits_of
from minductor.dialects.aten.values import from_attr, to_attr
from minductor.dialects.aten.verify import verify_aten
from minductor.dialects.expr import Expr
from minductor.dialects.pyattrs import DynAttr, EnumAttr, to_python
from minductor.dialects.types import IntType, TensorType

ORIGIN = "origin"
"""The discardable attribute `"op file:line"`."""


class AtenOp(AtenText, IRDLOperation):
    """Base of all ops with a schema.

    Operands: the tensors of the schema in order, then the run-time numbers (`dyn`). A Python number
    in a tensor's place is an operand of type `!aten.int` or `!aten.float`.
    """

    SCHEMA: ClassVar[Schema]

    @property
    def schema(self) -> Schema:
        """The parsed schema."""
        return self.SCHEMA

    @property
    def overload(self) -> str:
        """`add.Tensor`, `prims.mul.default`, `mylib.foo.default`."""
        return self.schema.overload

    @property
    def origin(self) -> tuple[str, str]:
        """(op of the user's graph, `file:line` or ""); by default the op's own base name."""
        attr = self.attributes.get(ORIGIN)
        if not isinstance(attr, StringAttr):
            return self.schema.packet, ""
        name, _, where = attr.data.partition(" ")
        return name, where

    def bind(self) -> dict[str, Any]:
        """Every schema argument by name, defaults filled in.

        A tensor is an SSAValue (a Python number or Expr where the graph has one in its place), a
        tensor list a list of them with None for holes; numbers, strings and lists are Python
        values, symbolic ints are Exprs, dtypes, devices and enums are their attributes; a number
        known only at run time is an SSAValue.
        """
        schema, props = self.schema, self.properties
        given, dyn = unpack(self, schema)
        out: dict[str, Any] = {}
        for arg in schema.args:
            name = arg.name
            if arg.is_tensor:
                value = given.get(name)
                if isinstance(value, list):
                    out[name] = [None if v is None else number_or_value(v) for v in value]
                else:
                    out[name] = None if value is None else number_or_value(cast(SSAValue, value))
                continue
            attr = props.get(name)
            if attr is not None:
                out[name] = from_attr(attr, lambda k: number_or_value(dyn[k]))
            else:
                out[name] = _default_of(arg)
        return out

    def arg(self, name: str) -> Any:
        """One argument of `bind()`. KeyError if the schema has none of that name."""
        arg = self.schema.by_name[name]
        if not arg.is_tensor:
            attr = self.properties.get(name)
            if attr is None:
                return _default_of(arg)
            if not isinstance(attr, DynAttr):
                return to_python(attr)
        return self.bind()[name]

    @property
    def tensors(self) -> list[SSAValue]:
        """The operands in tensor places, holes left out."""
        return list(tensor_operands(unpack(self, self.schema)[0]))

    @staticmethod
    def make(
        overload: str,
        args: Mapping[str, Any],
        result_types: Sequence[Attribute],
        origin: str = "",
        schema: str | None = None,
    ) -> AtenOp:
        """An op from arguments as `bind` gives them; what is left out takes its default.

        A tensor's place takes an SSAValue; any other number there must be a `ScalarOp` result. An
        SSAValue in a number's place becomes a run-time number. `schema` makes a custom op.
        Raises KeyError for an unknown overload or argument, TypeError for a value of no form.
        """
        if schema is not None:
            cls: type[AtenOp] = CustomOp
            parsed = parse_schema(schema)
        else:
            found = op_class(overload)
            if found is None:
                raise KeyError(f"no schema of `{overload}` in the table")
            cls, parsed = found, found.SCHEMA
        operands, props = arrange(parsed, args)
        if schema is not None:
            props["declaration"] = StringAttr(schema)
        attributes: dict[str, Attribute] = {ORIGIN: StringAttr(origin)} if origin else {}
        return cls.create(
            operands=operands,
            result_types=list(result_types),
            properties=props,
            attributes=attributes,
        )

    def with_args(self, /, **changes: Any) -> Self:
        """A copy of the op (same results, attributes, location) with some arguments changed."""
        schema = self.schema
        given, dyn = unpack(self, schema)
        args: dict[str, Any] = dict(given)
        for name, attr in self.properties.items():
            if name in schema.by_name and not schema.by_name[name].is_tensor:
                args[name] = from_attr(attr, lambda k: dyn[k])
        operands, props = arrange(schema, args | changes)
        if "declaration" in self.properties:
            props["declaration"] = self.properties["declaration"]
        return self.create(
            operands=operands,
            result_types=[r.type for r in self.results],
            properties=props,
            attributes=self.attributes,
            location=self.location,
        )

    def verify_(self) -> None:
        verify_aten(self, self.schema)


def arrange(schema: Schema, args: Mapping[str, Any]) -> tuple[list[SSAValue], dict[str, Attribute]]:
    """Operands and properties of arguments given by name."""
    tensors: dict[str, Any] = {}
    props: dict[str, Attribute] = {}
    dyn: list[SSAValue] = []
    for name, value in args.items():
        arg = schema.by_name.get(name)
        if arg is None:
            raise KeyError(f"no argument `{name}` in the schema {schema.text}")
        if arg.is_tensor:
            if value is not None:
                tensors[name] = list(value) if isinstance(value, list | tuple) else value
            continue
        attr = to_attr(_take_dyn(value, dyn), arg)
        if not is_default(attr, arg):
            props[name] = attr
    operands, packed = pack(schema, tensors, dyn)
    props |= packed
    return operands, props


def _take_dyn(value: Any, dyn: list[SSAValue]) -> Any:
    if isinstance(value, SSAValue):
        dyn.append(value)
        return DynAttr(len(dyn) - 1)
    if isinstance(value, list | tuple) and any(isinstance(v, SSAValue) for v in value):
        return [_take_dyn(v, dyn) for v in value]
    return value


def number_or_value(value: SSAValue) -> Any:
    """The Python number of an operand that is one (Expr if symbolic), else the value itself."""
    if isinstance(value.type, TensorType):
        return value
    owner = value.owner
    if isinstance(owner, Operation) and owner.name == "aten.scalar":
        return to_python(owner.properties["value"])
    if isinstance(value.type, IntType):
        whole = value.type.data.as_int
        return value.type.data if whole is None else whole
    return value


def _default_of(arg: Arg) -> Any:
    """The default as `bind` gives it. None for an absent optional."""
    value = arg.default
    if value is MISSING:
        return [] if arg.is_list else None
    if isinstance(value, list):
        return list(cast(list[Any], value))
    if arg.kind in ("dtype", "enum", "device") and isinstance(value, str):
        return to_attr(value, arg)
    return value


# -- generated classes ----------------------------------------------------------------------------
@cache
def op_class(overload: str) -> type[AtenOp] | None:
    """The class of an overload (`add.Tensor`, `prims.mul.default`), made on first use."""
    schema = lookup(overload)
    return None if schema is None else _make_class(schema)


def known_op(name: str) -> type[Operation] | None:
    """The class of an op by its full name, `aten.add.Tensor`; None when no schema has it."""
    return op_class(name.removeprefix("aten."))


def _make_class(schema: Schema) -> type[AtenOp]:
    title = "".join(p[:1].upper() + p[1:] for p in schema.overload.replace(".", "_").split("_"))
    fields: dict[str, Any] = {
        "__module__": __name__,
        "__qualname__": f"{title}Op",
        "__doc__": f"`{schema.text}`.",
        "name": f"aten.{schema.overload}",
        "traits": traits_def(*traits_of(schema)),
    }
    if needs_segments(schema):
        fields["irdl_options"] = (AttrSizedOperandSegments(as_property=True),)
    for arg in schema.args:
        if arg.is_tensor:
            fields[_field(arg.name)] = _operand_field(arg)
            if arg.holes:
                fields[f"{arg.name}_mask"] = opt_prop_def(prop_name=arg.name)
        elif arg.default is MISSING:
            fields[_field(arg.name)] = prop_def(prop_name=arg.name)
        else:
            fields[_field(arg.name)] = opt_prop_def(prop_name=arg.name)
    fields["dyn"] = var_operand_def()
    if any(r.is_list for r in schema.returns):
        fields["outs"] = var_result_def()
    else:
        for i in range(len(schema.returns)):
            fields["result" if len(schema.returns) == 1 else f"result{i}"] = result_def()
    cls = type(f"{title}Op", (AtenOp,), fields)
    made = cast(type[AtenOp], irdl_op_definition(cls))
    made.SCHEMA = schema
    return made


def _operand_field(arg: Arg) -> Any:
    if arg.is_list:
        return var_operand_def()
    return opt_operand_def() if arg.optional else operand_def()


def _field(name: str) -> str:
    """An accessor name that hides nothing of the op's own."""
    taken = hasattr(AtenOp, name) or keyword.iskeyword(name) or name in ("self", "result", "outs")
    return f"{name}_" if taken or name.startswith("_") else name


@irdl_op_definition
class CustomOp(CustomText, AtenOp):
    """`aten.custom "mylib::foo(Tensor x) -> Tensor"(%x) : T`: an op with its schema."""

    name = "aten.custom"
    declaration = prop_def(StringAttr)
    inputs = var_operand_def()
    outs = var_result_def()

    @property
    def schema(self) -> Schema:
        """The parsed schema of `declaration`."""
        return _custom_schema(self.declaration.data)


@cache
def _custom_schema(text: str) -> Schema:
    return parse_schema(text)


def _verify_custom(op: CustomOp) -> None:
    verify_aten(op, op.schema)


# its properties are the arguments of its own schema, which no class definition can list
setattr(CustomOp, "verify_", _verify_custom)


def enum_name(value: Any) -> str | None:
    """The name of an enum argument (`contiguous_format`), or None."""
    return value.data if isinstance(value, EnumAttr) else None


def is_known(value: Any) -> bool:
    """A Python number or expression, not a run-time value."""
    return isinstance(value, int | float | complex | Expr)


__all__ = ["SEGMENTS", "AtenOp", "CustomOp", "known_op", "op_class"]
