"""The `loop` dialect: nests, groups, extern calls."""

from __future__ import annotations

from xdsl.ir import Dialect

from minductor.dialects.attrs import BytesAttr, DomainAttr, ExprAttr, IndexAttr, OriginsAttr
from minductor.dialects.loop.ops import LOOP_OPS
from minductor.dialects.pyattrs import ArgAttr

LOOP = Dialect(
    "loop", list(LOOP_OPS), [IndexAttr, ExprAttr, DomainAttr, OriginsAttr, BytesAttr, ArgAttr]
)
