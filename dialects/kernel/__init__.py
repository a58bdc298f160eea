"""The `kernel` dialect: fused kernels as loop trees, and the host program."""

from __future__ import annotations

from xdsl.ir import Dialect

from minductor.dialects.attrs import ConfigAttr, WordsAttr
from minductor.dialects.kernel.attrs import AccessAttr, VarAttr
from minductor.dialects.kernel.host import HOST_OPS
from minductor.dialects.kernel.ops import KERNEL_OPS
from minductor.dialects.types import BufType

KERNEL = Dialect(
    "kernel", [*KERNEL_OPS, *HOST_OPS], [BufType, WordsAttr, ConfigAttr, VarAttr, AccessAttr]
)
