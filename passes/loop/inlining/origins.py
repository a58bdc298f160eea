"""Origins and locations of several nests as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, FusedLoc, LocationAttr, NoneAttr, UnknownLoc
from xdsl.ir import Attribute

from minductor.dialects.attrs import Origin


def merged_origins(parts: Sequence[tuple[Sequence[Origin], bool]]) -> tuple[Origin, ...]:
    """Origins of several nests in order, each op and place once; the flag says recomputed."""
    out: dict[tuple[str, str], Origin] = {}
    for origins, again in parts:
        for origin in origins:
            key = (origin.op, origin.where)
            new = origin._replace(recomputed=origin.recomputed or again)
            if key not in out or not new.recomputed:
                out[key] = new
    return tuple(out.values())


def fused_location(locations: Sequence[LocationAttr]) -> LocationAttr:
    """One location for all: the known ones, each once, fused."""
    known: dict[Attribute, None] = {}
    for location in locations:
        if isinstance(location, FusedLoc):
            parts = location.locations
            assert isinstance(parts, ArrayAttr)
            known.update(dict.fromkeys(parts.data))
        elif not isinstance(location, UnknownLoc):
            known[location] = None
    if len(known) < 2:
        return next((cast(LocationAttr, k) for k in known), locations[-1])
    return FusedLoc(tuple(known), NoneAttr())
