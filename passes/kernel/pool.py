"""kernel-pool: large CPU buffers come from the runtime's pool of kept memory.

Before:
    %big = kernel.alloc : !aten.t<f32[4096, 4096]>
    %small = kernel.alloc : !aten.t<f32[1024]>

After, pool=2:
    %big = kernel.alloc {pool} : !aten.t<f32[4096, 4096]>
    %small = kernel.alloc : !aten.t<f32[1024]>

The C library maps a large allocation afresh each time or trims its heap after it, and first touch
of pages costs more than a bandwidth-bound kernel; from 2 MiB on memory lies on huge pages. Sizes
known only at run time count at their hints; the pool itself passes small requests on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr

from minductor.dialects.expr import Atom
from minductor.dialects.kernel.host import AllocOp
from minductor.dialects.types import TensorType
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import module_hints


@dataclass(frozen=True)
class KernelPoolPass(MiniPass):
    """Mark allocations of at least `pool` MiB on the CPU; 0 marks none."""

    name = "kernel-pool"
    needs = frozenset({"memory"})
    provides = frozenset({"pool"})

    pool: int = 2

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Mark the allocations of every host program in the module."""
        hints = module_hints(op)
        for inner in op.walk():
            if isinstance(inner, AllocOp) and self.pool and _mebibytes(inner, hints) >= self.pool:
                inner.attributes["pool"] = UnitAttr()


def _mebibytes(op: AllocOp, hints: Mapping[Atom, int]) -> float:
    type_ = op.result.type
    assert isinstance(type_, TensorType)
    if type_.device != "cpu":
        return 0.0
    elements = type_.storage_elements
    if any(atom not in hints for atom in elements.vars("su")):
        return 0.0
    return elements.eval(hints) * type_.info.size / 2**20
