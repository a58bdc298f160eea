"""kernel-stream: large results that nothing here reads again are stored past the caches.

Before:
    kernel.func @k(read %x .., write %o : !kernel.buf<f32[16777216]>) {
      kernel.parallel d0 : 16777216 <run threads, lanes 16, unroll 4, tail none> {
        ..  kernel.store %v, %o[d0] } }

After:
        ..  kernel.store %v, %o[d0] {nt}

An ordinary store fetches its line from memory first; a non-temporal one writes whole lines and
leaves the caches to others. It loses where the result would have stayed in a cache for its reader,
so the buffer has at least `stream` MiB, no load of the kernel sees it, and after the launch the
host program only returns or frees it. Rows of transposed tiles pay sooner (`tiles`): they lie in
pages of their own, whose lines nothing fetches ahead. The store writes consecutive elements along
the lanes, in rows that begin with a line and have no vector over the end of another: a line that
is stored past the caches in part comes back for its rest, many times slower than at once. The
kernel ends with a fence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import ops as k
from minductor.dialects.kernel.host import FreeOp, LaunchOp
from minductor.dialects.types import BufType, TensorType
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import LOOPS, Loop, estimate, kernels_of, module_hints

LINE = 64
"""Bytes of a cache line."""


@dataclass(frozen=True)
class KernelStreamPass(MiniPass):
    """Mark stores of C++ kernels to buffers of at least `stream` MiB; 0 marks none.

    tiles: the same for buffers that are stored by the rows of transposed tiles.
    """

    name = "kernel-stream"
    needs = frozenset({"lanes", "threads"})

    stream: int = 12
    tiles: int = 4

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Look at every kernel and at all its launches."""
        if not self.stream:
            return
        hints = module_hints(op)
        launches = [inner for inner in op.walk() if isinstance(inner, LaunchOp)]
        for kernel in kernels_of(op, "cpp"):
            mine = [one for one in launches if kernel.sym_name.data in _callees(one)]
            if mine:
                self._mark(kernel, mine, hints)

    def _mark(self, kernel: k.FuncOp, launches: list[LaunchOp], hints: Mapping[Atom, int]) -> None:
        for at, buffer in enumerate(kernel.body.block.args):
            stores = [use.operation for use in buffer.uses]
            least = self.tiles if all(map(_fills_lines, stores)) else self.stream
            if not isinstance(buffer.type, BufType) or not all(
                self._ends(launch, launch.args[at], hints, least) for launch in launches
            ):
                continue
            if all(_streams(store) and _in_lines(store, hints) for store in stores):
                for store in stores:
                    store.properties["nt"] = UnitAttr()

    @staticmethod
    def _ends(launch: LaunchOp, value: SSAValue, hints: Mapping[Atom, int], least: int) -> bool:
        """The value is large, bound once by the launch, and nothing computes with it elsewhere."""
        if not least or _mebibytes(value, hints) < least:
            return False
        users = [use.operation for use in value.uses]
        return users.count(launch) == 1 and all(
            user is launch or isinstance(user, FreeOp | func.ReturnOp) for user in users
        )


def _callees(launch: LaunchOp) -> list[str]:
    names = [launch.callee] if launch.orelse is None else [launch.callee, launch.orelse]
    return [name.root_reference.data for name in names]


def _mebibytes(value: SSAValue, hints: Mapping[Atom, int]) -> float:
    """Size of a tensor's storage; 0 where a size has no hint."""
    if not isinstance(value.type, TensorType):
        return 0.0
    elements = value.type.storage_elements
    if any(atom not in hints for atom in elements.vars("su")):
        return 0.0
    return elements.eval(hints) * value.type.info.size / 2**20


def _fills_lines(op: Operation) -> bool:
    """A store of a tile's row: one vector of whole lines, the next row lies elsewhere."""
    loop = op.parent_op()
    if not isinstance(op, k.StoreOp) or not isinstance(loop, k.ParallelOp):
        return False
    lanes, type_ = loop.words.data.lanes, op.buffer.type
    most = Ranges().interval(loop.extent.data)[1]
    if most is None or most > lanes or not isinstance(type_, BufType):
        return False
    return isinstance(loop.parent_op(), k.ForOp) and lanes * type_.scalar_bytes % LINE == 0


def _in_lines(op: Operation, hints: Mapping[Atom, int]) -> bool:
    """Each row of a store begins with a line, and is whole lines or has a tail of its own."""
    loop = _lane_loop(op)
    if not isinstance(op, k.StoreOp) or loop is None or not isinstance(op.buffer.type, BufType):
        return False
    index, item = op.index.data[0], op.buffer.type.scalar_bytes
    atoms = {atom for mono, _ in index.terms for atom in mono}
    first = {atom: 0 for atom in index.vars("d")}

    def lines(place: Mapping[Atom, int]) -> bool:
        return index.eval({**hints, **place}) * item % LINE == 0

    if any(atom.args for atom in atoms) or any(atom not in hints for atom in index.vars("su")):
        return False
    others = [atom for atom in first if atom is not ex.dim_atom(loop.var.data)]
    if not lines(first) or not all(lines({**first, atom: 1}) for atom in others):
        return False
    whole = max(1, estimate(loop.extent.data, hints)) * item % LINE == 0
    return whole or loop.words.data.tail != "overlap"


def _lane_loop(op: Operation) -> Loop | None:
    """The loop around that has lanes."""
    outer = op.parent_op()
    while outer is not None and not (isinstance(outer, LOOPS) and outer.words.data.lanes > 1):
        outer = outer.parent_op()
    return outer


def _streams(op: Operation) -> bool:
    """A plain store of consecutive elements along the lanes of the loop around it."""
    if not isinstance(op, k.StoreOp) or op.combine is not None or op.masked is not None:
        return False
    index, outer = op.index.data[0], _lane_loop(op)
    if outer is None or index.vars("t"):
        return False
    atom = ex.dim_atom(outer.var.data)
    return index.is_linear_in(atom) and index.coeff(atom) is ex.ONE
