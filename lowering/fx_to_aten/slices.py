"""Slices by numbers that data decide: torch gives their size and offset a symbol of their own.

    %s = aten.slice.Tensor(%x: f32[6], 0, u0, 6)     size u1, storage offset u2
    -->
    u1 is max(6 - p, 0) and u2 is p, where p = min(max(u0 + 6 * (u0 < 0), 0), 6)

So nothing binds these symbols at run time. Semantics: Python's slices, as torch.ops.aten.slice.
"""

from __future__ import annotations

from typing import Any

import sympy
import torch

from minductor.dialects import expr as ex
from minductor.dialects.expr import Expr
from minductor.lowering.fx_to_aten.symbols import SymbolTable

NAMES = ("self", "dim", "start", "end", "step")


def define_slice(node: torch.fx.Node, symbols: SymbolTable, env: dict[torch.fx.Node, Any]) -> None:
    """Says what the new symbols of a slice are; other nodes are left alone."""
    if node.target is not torch.ops.aten.slice.Tensor or not node.meta.get("unbacked_bindings"):
        return
    given: dict[str, Any] = {**dict(zip(NAMES, node.args, strict=False)), **node.kwargs}
    value, source = node.meta["val"], given["self"].meta["val"]
    dim = int(given.get("dim", 0)) % source.dim()

    def number(name: str, default: int) -> Expr:
        found = given.get(name)
        found = env[found] if isinstance(found, torch.fx.Node) else found
        if found is None:
            return ex.const(default)
        return found if isinstance(found, Expr) else symbols.size(found)

    room = symbols.size(source.shape[dim])
    end = room if given.get("end") is None else number("end", 0)
    start, size = extent(number("start", 0), end, number("step", 1), room)
    _define(symbols, value.shape[dim], size)
    offset = symbols.size(source.storage_offset())
    _define(symbols, value.storage_offset(), offset + start * symbols.size(source.stride(dim)))


def extent(start: Expr, end: Expr, step: Expr, room: Expr) -> tuple[Expr, Expr]:
    """(first place, number of elements) of a slice of `room` elements."""
    first, last = _place(start, room), _place(end, room)
    return first, ex.floordiv(ex.emax(last - first, ex.ZERO) + step - 1, step)


def _place(e: Expr, room: Expr) -> Expr:
    """A start or end of a slice: negative ones count from the end, then it is held to the room."""
    negative = ex.emin(ex.emax(ex.ZERO - e, ex.ZERO), ex.ONE)
    return ex.emin(ex.emax(e + room * negative, ex.ZERO), room)


def _define(symbols: SymbolTable, value: Any, e: Expr) -> None:
    symbol = value.node.expr if isinstance(value, torch.SymInt) else None
    if isinstance(symbol, sympy.Symbol):
        symbols.define(symbol, e)
