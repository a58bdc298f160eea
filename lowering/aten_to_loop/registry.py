"""The table of lowerings: overload -> function, filled by the family modules.

    @lower("relu.default")
    def relu(call: Call) -> list[Result]: ...

A lowering returns one `Ref` (or index expression, or None) per result of the op. It raises
`Declined(reason)` for a case it does not cover; the op then becomes `loop.extern`, and the reason
a remark. An overload with no entry is extern too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from minductor.lowering.aten_to_loop.call import Call
    from minductor.lowering.aten_to_loop.refs import Result

Lowering = Callable[["Call"], "list[Result]"]

FAMILIES = (
    "pointwise",
    "pointwise_logic",
    "pointwise_mixed",
    "pointwise_compare",
    "pointwise_math",
    "cast",
    "reduction",
    "reduction_moments",
    "reduction_index",
    "product",
    "scan",
    "factory",
    "random",
    "view",
    "unfold",
    "view_copy",
    "slice_scatter",
    "cat",
    "pad",
    "index",
    "scatter",
    "masked",
    "search",
    "distance",
    "grid_sample",
    "embedding",
    "pool",
    "pool_backward",
    "pool_adaptive",
    "upsample",
    "upsample_linear",
)
"""Modules of this package that register lowerings, in the order of the support table."""


class Declined(Exception):
    """The lowering does not cover this case; the text says why."""


class Row(NamedTuple):
    """One lowering: overload, family module, function."""

    overload: str
    family: str
    function: Lowering


_ROWS: dict[str, Row] = {}


def lower(*overloads: str) -> Callable[[Lowering], Lowering]:
    """Registers a lowering for overloads (`add.Tensor`; other namespaces `prims.iota.default`).

    Raises ValueError when one has a lowering already.
    """

    def register(function: Lowering) -> Lowering:
        family = function.__module__.rpartition(".")[2]
        for overload in overloads:
            if overload in _ROWS:
                other = _ROWS[overload].family
                raise ValueError(f"`{overload}` is lowered twice: in {other} and in {family}")
            _ROWS[overload] = Row(overload, family, function)
        return function

    return register


@cache
def table() -> dict[str, Row]:
    """All lowerings by overload; imports the families at the first call."""
    for family in FAMILIES:
        import_module(f"minductor.lowering.aten_to_loop.{family}")
    return _ROWS


def lowering_of(overload: str) -> Lowering | None:
    """The lowering of an overload, or None: then the op stays extern."""
    row = table().get(overload)
    return None if row is None else row.function


def support_table(rows: Iterable[Row] | None = None) -> str:
    """A markdown table of the native ops: family, overloads (for docs/op-support.md)."""
    found: dict[str, list[str]] = {}
    for row in table().values() if rows is None else rows:
        found.setdefault(row.family, []).append(row.overload)
    lines = ["| family | overloads lowered to nests |", "| --- | --- |"]
    for family, names in found.items():
        lines.append(f"| {family} | {', '.join(f'`{n}`' for n in sorted(names))} |")
    return "\n".join(lines) + "\n"
