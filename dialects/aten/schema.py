"""Operator schemas: `aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`.

Parsed without torch, from the text that torch prints. The grammar is that of PyTorch's
`native_functions.yaml`; alias marks `(a)` (a view) and `(a!)` (written) are kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

KINDS = {
    "Tensor": "tensor",
    "SymInt": "int",
    "int": "int",
    "SymFloat": "float",
    "float": "float",
    "SymBool": "bool",
    "bool": "bool",
    "Scalar": "scalar",
    "complex": "scalar",
    "str": "str",
    "ScalarType": "dtype",
    "Layout": "enum",
    "MemoryFormat": "enum",
    "Device": "device",
}
"""Type in the schema -> kind; any other type is `other`, and only its None can be written."""

_TYPE = re.compile(r"(\w+)(?:\((\w+!?)[^)]*\))?(\?)?(?:\[(\d*)\])?(\?)?$")


class Missing:
    """The default of an argument that has none."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()


class SchemaError(ValueError):
    """A schema's text cannot be read."""


@dataclass(frozen=True)
class Arg:
    """An argument or a result.

    kind: tensor, int, float, bool, scalar, str, dtype, enum, device or other; of the element for a
    list. length: the fixed length of a list, or None. holes: list elements may be None. optional:
    the whole may be None. alias: "" for none, "a" for a view, "a!" for one that is written.
    """

    name: str
    kind: str
    is_list: bool = False
    length: int | None = None
    holes: bool = False
    optional: bool = False
    default: Any = MISSING
    keyword_only: bool = False
    alias: str = ""

    @property
    def is_tensor(self) -> bool:
        """Given as an operand: Tensor, Tensor?, Tensor[] or Tensor?[]."""
        return self.kind == "tensor"

    @property
    def written(self) -> bool:
        """The op writes into it."""
        return self.alias.endswith("!")


@dataclass(frozen=True)
class Schema:
    """A parsed schema; `tags` are torch's (core, pointwise, nondeterministic_seeded, ...)."""

    text: str
    namespace: str
    packet: str
    overload_name: str
    args: tuple[Arg, ...]
    returns: tuple[Arg, ...]
    tags: frozenset[str] = frozenset()

    @cached_property
    def by_name(self) -> dict[str, Arg]:
        """Arguments by name."""
        return {a.name: a for a in self.args}

    @cached_property
    def tensors(self) -> tuple[Arg, ...]:
        """The arguments that are operands, in order."""
        return tuple(a for a in self.args if a.is_tensor)

    @cached_property
    def overload(self) -> str:
        """`add.Tensor`, `mm.default`, `prims.mul.default`: the op's name inside the dialect."""
        own = f"{self.packet}.{self.overload_name or 'default'}"
        return own if self.namespace == "aten" else f"{self.namespace}.{own}"

    @cached_property
    def qualified(self) -> str:
        """`aten.add.Tensor`, `prims.mul.default`: the path below `torch.ops`."""
        return f"{self.namespace}.{self.packet}.{self.overload_name or 'default'}"

    @property
    def mutates(self) -> bool:
        """Some argument is written."""
        return any(a.written for a in self.args)

    @property
    def is_view(self) -> bool:
        """Some result may share the storage of an argument that is not written."""
        return any(r.alias and not r.written for r in self.returns)


def parse_schema(text: str, tags: frozenset[str] = frozenset()) -> Schema:
    """The schema of a text. SchemaError names what cannot be read."""
    head, bracket, rest = text.partition("(")
    inner, arrow, returns = rest.rpartition(") -> ")
    namespace, colons, name = head.partition("::")
    if not (bracket and arrow and colons):
        raise SchemaError(f"`{text}` is not a schema: expected `ns::name.overload(..) -> ..`")
    packet, _, overload = name.partition(".")
    args: list[Arg] = []
    keyword_only = False
    for part in split_top(inner):
        if part == "*":
            keyword_only = True
        else:
            args.append(_parse_arg(part, keyword_only, text))
    outs = split_top(returns[1:-1]) if returns.startswith("(") else [returns]
    rets = tuple(_parse_return(o, i, text) for i, o in enumerate(outs))
    return Schema(text, namespace, packet, overload, tuple(args), rets, tags)


def split_top(text: str) -> list[str]:
    """Splits at commas outside brackets and quotes."""
    if not text:
        return []
    if "[" not in text and '"' not in text and "(" not in text:
        return text.split(", ")
    parts: list[str] = []
    depth, start, quoted = 0, 0, False
    for i, c in enumerate(text):
        if c == '"' and text[i - 1] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return parts


def _parse_arg(text: str, keyword_only: bool, whole: str) -> Arg:
    declared, has_default, default = text.partition("=")
    type_, _, name = declared.rpartition(" ")
    arg = _typed(type_, name, whole)
    value = _default(default, arg) if has_default else MISSING
    return Arg(
        name,
        arg.kind,
        arg.is_list,
        arg.length,
        arg.holes,
        arg.optional,
        value,
        keyword_only,
        arg.alias,
    )


def _parse_return(text: str, number: int, whole: str) -> Arg:
    type_, _, name = text.rpartition(" ")
    if not type_ or name.endswith((")", "]")):
        type_, name = text, ""
    return _typed(type_, name or f"result{number}", whole)


def _typed(type_: str, name: str, whole: str) -> Arg:
    match = _TYPE.match(type_)
    if match is None:
        return Arg(name, "other")
    base, alias, inner_optional, length, outer_optional = match.groups()
    is_list = length is not None
    return Arg(
        name,
        KINDS.get(base, "other"),
        is_list,
        int(length) if length else None,
        holes=is_list and inner_optional is not None,
        optional=outer_optional is not None or (not is_list and inner_optional is not None),
        alias=alias or "",
    )


def _default(text: str, arg: Arg) -> Any:
    """The Python value of a default; names (dtypes, formats) stay strings."""
    if text == "None":
        return None
    if text in ("True", "False"):
        return text == "True"
    if text.startswith("["):
        return [_number(t, arg.kind) for t in split_top(text[1:-1])]
    if text.startswith('"'):
        return text[1:-1].replace('\\"', '"').replace("\\n", "\n").replace("\\t", "\t")
    if re.match(r"[-\d.]|inf|nan", text):
        number = _number(text, arg.kind)
        return [number] * (arg.length or 1) if arg.is_list else number
    return text


def _number(text: str, kind: str) -> int | float:
    if kind == "float" or not re.fullmatch(r"-?\d+", text):
        return float(text)
    return int(text)
