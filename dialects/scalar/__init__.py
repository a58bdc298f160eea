"""The `scalar` dialect: one table of ops on single values."""

from __future__ import annotations

from xdsl.ir import Dialect

from minductor.dialects.scalar.ops import SPECIAL_OPS, TABLE_OPS

SCALAR = Dialect("scalar", [*TABLE_OPS.values(), *SPECIAL_OPS], [])
