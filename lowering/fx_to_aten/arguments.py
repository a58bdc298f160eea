"""Arguments of an FX node, by the schema: values, expressions and attributes for `AtenOp.make`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import torch
from torch._ops import OpOverload
from xdsl.ir import SSAValue

from minductor.dialects.aten.schema import Arg, Schema, parse_schema
from minductor.dialects.aten.table import lookup
from minductor.dialects.dtypes import BY_TORCH_NAME
from minductor.dialects.expr import Expr
from minductor.dialects.pyattrs import DeviceAttr, DTypeAttr, EnumAttr
from minductor.lowering.fx_to_aten.errors import ImportRefused
from minductor.lowering.fx_to_aten.meta import device_text
from minductor.lowering.fx_to_aten.symbols import SymbolTable


@cache
def schema_of(target: str, op: OpOverload) -> tuple[Schema, bool]:
    """The schema by the table; (the op's own schema, True) when the table does not know the op."""
    known = lookup(target.removeprefix("aten."))
    if known is not None:
        return known, False
    return parse_schema(str(op._schema)), True


def fitting(schema: Schema, custom: bool, args: Mapping[str, Any]) -> tuple[Schema, bool]:
    """The schema with those tensors optional that a call leaves out: torch takes None for any, and
    some kernels (backwards of attention) have a meaning for it."""
    needed = (a for a in schema.tensors if not a.optional and not a.is_list)
    absent = [a.name for a in needed if args.get(a.name) is None]
    return (with_optional(schema, absent), True) if absent else (schema, custom)


def with_optional(schema: Schema, names: Sequence[str]) -> Schema:
    """The schema with `Tensor? x` in place of `Tensor x` for these arguments."""
    either = "|".join(map(re.escape, names))
    text = re.sub(rf"\bTensor(\([^)]*\))? (?=(?:{either})\b)", r"Tensor\1? ", schema.text)
    return parse_schema(text)


class Binder:
    """Reads arguments; `env` holds what nodes became, `scalar` makes a number an operand."""

    def __init__(
        self,
        env: dict[torch.fx.Node, Any],
        symbols: SymbolTable,
        scalar: Callable[[Any], SSAValue],
    ) -> None:
        self.env = env
        self.symbols = symbols
        self.scalar = scalar

    def bind(
        self, schema: Schema, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Arguments by name, without those that the op's meaning does not depend on."""
        out: dict[str, Any] = {}
        if len(args) > len(schema.args):
            raise ImportRefused(f"more arguments than the schema has: {schema.text}")
        for arg, value in zip(schema.args, args, strict=False):
            self._take(arg, value, out)
        for name, value in kwargs.items():
            arg = schema.by_name.get(name)
            if arg is not None:
                self._take(arg, value, out)
            elif value is not None:
                raise ImportRefused(f"argument `{name}` is not in the schema {schema.text}")
        return out

    def _take(self, arg: Arg, value: Any, out: dict[str, Any]) -> None:
        if value is None and arg.default is None:
            return
        if arg.is_tensor:
            out[arg.name] = self._tensors(arg, value)
        elif not _says_nothing(arg, value):
            out[arg.name] = self._plain(arg, value)

    def _tensors(self, arg: Arg, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [None if v is None else self._tensor(v) for v in value]
        if arg.is_list and isinstance(value, torch.fx.Node):
            items = self.env[value]
            if isinstance(items, list):
                return items
        return self._tensor(value)

    def _tensor(self, value: Any) -> SSAValue | None:
        found = self.value(value)
        if found is None or isinstance(found, SSAValue):
            return found
        return self.scalar(found)

    def _plain(self, arg: Arg, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [self._number(arg, v) for v in value]
        return self._number(arg, value)

    def _number(self, arg: Arg, value: Any) -> Any:
        found = self.value(value)
        if isinstance(found, torch.SymBool):
            raise ImportRefused(f"`{arg.name}` is a truth value known only at run time")
        if arg.kind == "other" and found is not None:
            raise ImportRefused(f"`{arg.name}` is a {type(found).__name__}")
        if arg.kind == "dtype" and isinstance(found, int):
            raise ImportRefused(f"`{arg.name}` is a dtype given as a number")
        return found

    def value(self, value: Any) -> Any:
        """An SSA value, an expression, an attribute or a plain Python value."""
        match value:
            case torch.fx.Node():
                if value not in self.env:
                    raise ImportRefused(f"`{value.name}` has no value in aten")
                return self.env[value]
            case None | bool() | int() | float() | complex() | str() | Expr() | SSAValue():
                return value
            case torch.SymInt():
                return self.symbols.size(value)
            case torch.dtype():
                return dtype_attr(value)
            case torch.device():
                return DeviceAttr(device_text(value))
            case torch.memory_format() | torch.layout():
                return EnumAttr(str(value).removeprefix("torch."))
            case _:
                raise ImportRefused(f"an argument of type {type(value).__name__}")


def dtype_attr(dtype: torch.dtype) -> DTypeAttr:
    """The attribute of a torch dtype."""
    info = BY_TORCH_NAME.get(str(dtype).removeprefix("torch."))
    if info is None:
        raise ImportRefused(f"the dtype {dtype}")
    return DTypeAttr(info.name)


def _says_nothing(arg: Arg, value: Any) -> bool:
    """`pin_memory=False` and `layout=torch.strided` where absent means the same."""
    if arg.default is not None:
        return False
    if arg.name == "pin_memory":
        return value is False
    return arg.name == "layout" and value is torch.strided
