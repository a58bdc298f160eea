"""What an FX node says of itself: tensor types, the user's line, the op it came from."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, NameLoc, StringAttr, UnknownLoc
from xdsl.ir import Attribute

from minductor.dialects.dtypes import BY_TORCH_NAME
from minductor.dialects.expr import const
from minductor.dialects.types import AbsentType, FloatType, IntType, TensorType
from minductor.lowering.fx_to_aten.errors import ImportRefused
from minductor.lowering.fx_to_aten.symbols import SymbolTable

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


@cache
def user_line(stack_trace: str) -> tuple[str, int] | None:
    """(file name, line) of the innermost frame outside torch, or of the innermost one."""
    frames = [(m[1], int(m[2])) for m in _FRAME.finditer(stack_trace)]
    if not frames:
        return None
    users = [f for f in frames if "/torch/" not in f[0].replace("\\", "/")]
    path, line = (users or frames)[-1]
    # the base name alone: text must not depend on where the user's files lie
    return re.split(r"[\\/]", path)[-1], line


def where(node: torch.fx.Node) -> tuple[str, int] | None:
    """The user's line that a node comes from."""
    trace = node.meta.get("stack_trace")
    return user_line(trace) if isinstance(trace, str) and trace else None


def location(node: torch.fx.Node) -> NameLoc:
    """`loc("relu"("model.py":12:1))`."""
    found = where(node)
    if found is None:
        return NameLoc(StringAttr(node.name), UnknownLoc())
    return NameLoc(StringAttr(node.name), _line_location(*found))


@cache
def _line_location(file: str, line: int) -> FileLineColLoc:
    """A line as a location; torch's traces know no columns."""
    return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(1))


def origin(node: torch.fx.Node, own: str) -> str:
    """`"native_layer_norm model.py:12"`: the op before decomposition, and the user's line."""
    source = node.meta.get("original_aten")
    name = own
    if isinstance(source, torch._ops.OpOverload):
        name = source._opname
    elif isinstance(source, torch._ops.OpOverloadPacket):
        name = source._qualified_op_name.rpartition("::")[2]
    found = where(node)
    if found is None:
        return "" if name == own else name
    return f"{name} {found[0]}:{found[1]}"


def device_text(device: torch.device) -> str:
    """`cpu`, `cuda` (for index 0), `cuda:1`."""
    return str(device).removesuffix(":0")


class TypeTable:
    """Types of fake values, memoised over the tensors of one graph."""

    def __init__(self, symbols: SymbolTable) -> None:
        self.symbols = symbols
        self._memo: dict[Any, TensorType] = {}

    def number(self, value: Any) -> None:
        """Numbers the symbols of a fake value; facts on them can then shape its type."""
        numbers = (value,)
        if isinstance(value, torch.Tensor) and value.layout is torch.strided:
            numbers = (*value.size(), *value.stride())
        for one in numbers:
            if isinstance(one, torch.SymInt):
                self.symbols.number(one)

    def of(self, value: Any) -> Attribute:
        """The type of a fake tensor, a symbolic or plain number, or None."""
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if value is None:
            return AbsentType(None)
        if isinstance(value, bool | torch.SymBool):
            raise ImportRefused("a truth value known only at run time")
        if isinstance(value, int | torch.SymInt):
            return IntType(self.symbols.size(value))
        if isinstance(value, float | torch.SymFloat):
            return FloatType(None)
        raise ImportRefused(f"a value of type {type(value).__name__}")

    def tensor(self, value: torch.Tensor) -> TensorType:
        """The type of a fake (or real) tensor: only its metadata is read."""
        if value.layout is not torch.strided:
            raise ImportRefused(f"a tensor of layout {value.layout}")
        sizes, strides = value.size(), value.stride()
        key = (value.dtype, tuple(sizes), tuple(strides), value.device)
        static = all(type(n) is int for n in (*sizes, *strides))
        if static:
            found = self._memo.get(key)
            if found is not None:
                return found
        info = BY_TORCH_NAME.get(str(value.dtype).removeprefix("torch."))
        if info is None:
            raise ImportRefused(f"a tensor of dtype {value.dtype}")
        size = const if static else self.symbols.size
        made = TensorType.make(
            info.name,
            [size(n) for n in sizes],
            [size(n) for n in strides],
            device_text(value.device),
        )
        if static:
            self._memo[key] = made
        return made


def shape_env_of(gm: torch.fx.GraphModule) -> Any:
    """The shape environment that the fake values of a graph belong to, or None."""
    for node in gm.graph.nodes:
        value = node.meta.get("val")
        mode = getattr(value, "fake_mode", None)
        if mode is not None:
            return mode.shape_env
        if isinstance(value, torch.SymInt | torch.SymFloat):
            return value.node.shape_env
    return None


def storage_of(value: Any) -> int | None:
    """A number that tensors of one storage share."""
    if not isinstance(value, torch.Tensor) or not torch._C._has_storage(value):
        return None
    return StorageWeakRef(value.untyped_storage()).cdata
