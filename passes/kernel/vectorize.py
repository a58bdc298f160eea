"""kernel-vectorize: which loops run as vectors, how many lanes, how many in flight, which tail.

Before:
    kernel.parallel d0 : 64 {
      %t = kernel.reduce d1 : 1000 [add] -> f32 {..} .. }

After, 64-byte vectors:
    kernel.parallel d0 : 64 {
      %t = kernel.reduce d1 : 1000 <lanes 16, unroll 4, tail mask> [add] -> f32 {..} .. }

On each path from the root to an innermost loop at most one loop has lanes. The choice is priced: an
access whose index moves by 0 or 1 element along the lanes costs 1 / lanes of an element, any other
access costs a whole one. So a column sum gets its lanes on the parallel loop outside the reduction.

A body of costly functions is one long chain of dependent steps. Two registers side by side (`lanes
32`, a pair for f32) put independent steps next to each other, which copies of the body one after
another (`unroll`) do not. Where elements of two bytes are stored, the pair fills one register too.

A scan of sums, products or extremes has lanes as well: a vector's own prefixes by shifted copies of
it, on top of what the vectors before left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Block, Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.dtypes import DTYPES, dtype_of_scalar, is_scalar_type
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_lanes import lane_offsets, pick_of
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import ops as k
from minductor.dialects.types import BufType
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import (
    LOOPS,
    Loop,
    body_cost,
    estimate,
    kernels_of,
    module_hints,
    op_cost,
    ranges_around,
    set_words,
)

VECTOR_BYTES = {"avx512": 64, "avx2": 32, "neon": 16, "portable": 16}
SHUFFLE = 3
"""Cost of a load in even steps: two loads and a shuffle."""
PICKED = 16
"""Vectors up to which a loop with such loads has a masked tail: scalars would cost more."""
NO_SYMBOLS = Ranges()
HEAVY = 40.0
"""Cost of a body above which vectors in flight would only spill registers."""
CHAIN = 16.0
"""Cost of a body's longest chain from which on its steps wait for each other, not for memory."""


@dataclass(frozen=True)
class KernelVectorizePass(MiniPass):
    """Give loops of C++ kernels their lanes, unroll and tail.

    isa: avx512, avx2, neon or portable (vector width); unroll: vectors in flight in light bodies;
    pairs: registers side by side in costly bodies, 2 or 1; shuffles: loads in even steps take one
    or two loads and a shuffle.
    """

    name = "kernel-vectorize"
    needs = frozenset({"kernel"})
    provides = frozenset({"lanes"})

    isa: str = "avx512"
    unroll: int = 4
    pairs: int = 2
    shuffles: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Schedule every C++ kernel of the module."""
        if self.isa not in VECTOR_BYTES:
            known = ", ".join(VECTOR_BYTES)
            raise ValueError(f"{self.name}: isa `{self.isa}` is none of {known}")
        hints = module_hints(op)
        for func in kernels_of(op, "cpp"):
            chooser = _Chooser(self, hints)
            for loop in _loops(func.body.block):
                chooser.place(loop)
            func.config = func.config.with_(isa=self.isa)


def _loops(block: Block) -> list[Loop]:
    return [op for op in block.ops if isinstance(op, LOOPS)]


class _Chooser:
    """Prices the placements of lanes in one kernel."""

    def __init__(self, options: KernelVectorizePass, hints: Mapping[Atom, int]):
        self.vector_bytes = VECTOR_BYTES[options.isa]
        self.unroll, self.pairs, self.shuffles = options.unroll, options.pairs, options.shuffles
        self.hints = hints
        self.lanes: dict[Loop, int] = {}
        self.costs: dict[Loop, float] = {}

    def place(self, loop: Loop) -> None:
        """Give lanes to this loop or to loops inside it, whichever is cheaper."""
        if self.cost_here(loop) < self.cost_inside(loop):
            self.assign(loop)
            return
        for region in loop.regions:
            for inner in _loops(region.block):
                self.place(inner)

    def cost_here(self, loop: Loop) -> float:
        """Cost with lanes on this loop; infinite where it cannot have them."""
        found = self.costs.get(loop)
        if found is None:
            found = self.costs[loop] = self._cost_here(loop)
        return found

    def _cost_here(self, loop: Loop) -> float:
        lanes = self.lanes_of(loop)
        if lanes == 1 or not can_have_lanes(loop):
            return float("inf")
        atom = ex.dim_atom(loop.var.data)
        extent = max(1, estimate(loop.extent.data, self.hints))
        trips = -(-extent // lanes)
        return trips * sum(self._block(region.block, atom, lanes) for region in loop.regions)

    def cost_inside(self, loop: Loop) -> float:
        """Cost with lanes inside, chosen there; without any loop inside, the scalar cost."""
        trips = max(1, estimate(loop.extent.data, self.hints))
        total = 0.0
        for region in loop.regions:
            for op in region.block.ops:
                if isinstance(op, LOOPS):
                    total += min(self.cost_here(op), self.cost_inside(op))
                else:
                    total += sum(op_cost(inner) for inner in op.walk())
        return trips * total

    def _block(self, block: Block, atom: Atom, lanes: int) -> float:
        """Cost of one vector of iterations of the loop of `atom`."""
        total = 0.0
        for op in block.ops:
            if isinstance(op, LOOPS):
                trips = max(1, estimate(op.extent.data, self.hints))
                total += trips * sum(self._block(r.block, atom, lanes) for r in op.regions)
                continue
            for inner in op.walk():
                total += op_cost(inner) * (
                    lanes if inner.regions else self._scale(inner, atom, lanes)
                )
        return total

    def _scale(self, op: Operation, atom: Atom, lanes: int) -> int:
        """Operations of one element that an op takes for all lanes."""
        if not is_strided(op, atom):
            return 1
        return SHUFFLE if self.shuffles and is_picked(op, atom, lanes) else lanes

    def _pick(self, loop: Loop, lanes: int) -> bool:
        """Mark the loads of a vector loop that a shuffle can bring; whether there are any."""
        atom, found = ex.dim_atom(loop.var.data), False
        for region in loop.regions if self.shuffles else ():
            for op in region.walk():
                if isinstance(op, k.LoadOp) and is_strided(op, atom) and is_picked(op, atom, lanes):
                    op.pick = UnitAttr()
                    found = True
        return found

    def lanes_of(self, loop: Loop) -> int:
        """Lanes by the widest element computed with, at most the loop's extent."""
        found = self.lanes.get(loop)
        if found is None:
            found = self.lanes[loop] = self._lanes_of(loop)
        return found

    def _lanes_of(self, loop: Loop) -> int:
        lanes = self.vector_bytes // widest(loop)
        extent = loop.extent.data.as_int
        while extent is not None and lanes > max(1, extent):
            lanes //= 2
        return lanes

    def assign(self, loop: Loop) -> None:
        """Write the words of a vector loop."""
        lanes = self.lanes_of(loop)
        cost = body_cost(loop)
        heavy = cost > HEAVY
        nested = any(isinstance(op, LOOPS) for r in loop.regions for op in r.block.ops)
        wide = isinstance(loop, k.ScanOp) or any(map(_wide_kinds, _with_inner(loop)))
        few = 2 if _indexed(loop) else 1
        unroll = few if heavy or wide else self.unroll
        extent, most = loop.extent.data.as_int, Ranges().interval(loop.extent.data)[1]
        chain = longest_chain(loop) >= CHAIN
        narrow = unroll > 1 and _narrow_stores(loop)
        if (chain or narrow) and not nested and not wide:
            before, lanes = lanes, self._paired(lanes, most)
            unroll = 1 if chain else max(1, unroll * before // lanes)
        while most is not None and unroll > 1 and lanes * unroll > most:
            unroll //= 2
        exact = extent is not None and extent % lanes == 0
        many = PICKED if self._pick(loop, lanes) else 1
        short = most is not None and most <= many * lanes
        tail = "none" if exact else "mask" if heavy or nested or short else "scalar"
        if tail == "none" and extent is not None:
            while extent % (lanes * unroll):
                unroll //= 2
        set_words(loop, lanes=lanes, unroll=unroll, tail=tail)

    def _paired(self, lanes: int, most: int | None) -> int:
        """Lanes of several registers side by side: at most an eighth of them idles, or no more."""
        wider = lanes * self.pairs
        if most is None or most % wider == 0 or most >= 8 * wider:
            return wider
        as_many = most >= wider and -(-most // wider) * self.pairs <= -(-most // lanes)
        return wider if as_many else lanes


def widest(loop: Loop) -> int:
    """Bytes of the widest element that a loop computes with."""
    return max((_width(op) for r in loop.regions for op in r.walk()), default=4)


def can_have_lanes(loop: Loop) -> bool:
    """Vectors run iterations side by side: no ordered loops, or such loops inside."""
    if isinstance(loop, k.ForOp) or (isinstance(loop, k.ScanOp) and not _joins(loop)):
        return False
    if isinstance(loop, k.ReduceOp | k.ScanOp) and any(
        isinstance(op, LOOPS) for r in loop.regions for op in r.block.ops
    ):
        return False
    return not any(
        isinstance(op, k.ForOp | k.LocalOp | k.ParallelOp)
        for r in loop.regions
        for op in r.walk()
        if op is not loop
    )


def _joins(scan: k.ScanOp) -> bool:
    """Prefixes that lanes make in log2(lanes) steps, each of one instruction or two."""
    return all(kind in ("add", "mul", "min", "max") for kind in scan.kind_names)


def is_strided(op: Operation, atom: Atom) -> bool:
    """An access whose address moves by other than 0 or 1 element along a variable."""
    if not isinstance(op, k.LoadOp | k.StoreOp):
        return False
    index: Expr = op.index.data[0]
    if index.vars("t"):
        return any(_depends(v.owner, atom) for v in op.index_operands) or index.coeff(atom) not in (
            ex.ZERO,
            ex.ONE,
        )
    if not index.is_linear_in(atom):
        return True
    step = index.coeff(atom)
    if isinstance(op, k.StoreOp) and step is ex.ZERO:
        return True
    return step is not ex.ZERO and step is not ex.ONE


def is_picked(op: Operation, atom: Atom, lanes: int) -> bool:
    """A load whose lanes lie about the first one as in every vector, within two vectors."""
    if not isinstance(op, k.LoadOp) or op.mask is not None or op.index_operands:
        return False
    offsets = lane_offsets(op.index.data[0], atom, lanes, ranges_around(op, NO_SYMBOLS))
    return offsets is not None and pick_of(offsets) is not None


def _depends(owner: Operation | Block, atom: Atom) -> bool:
    """A value is computed from a load or index that moves with the variable."""
    if isinstance(owner, Block):
        return False
    todo: list[Operation | Block] = [owner]
    seen: set[Operation] = set()
    while todo:
        op = todo.pop()
        if isinstance(op, Block) or op in seen:
            continue
        seen.add(op)
        for attr in op.properties.values():
            data = getattr(attr, "data", None)
            exprs = data if isinstance(data, tuple) else (data,)
            if any(isinstance(e, Expr) and atom in e.vars("d") for e in exprs):
                return True
        todo.extend(v.owner for v in op.operands)
    return False


def _width(op: Operation) -> int:
    """Bytes of the widest float or stored element of an op; indices do not count."""
    if isinstance(op, k.LoadOp | k.StoreOp):
        type_ = op.buffer.type
        assert isinstance(type_, BufType)
        return 4 if DTYPES[type_.dtype].kind in ("int", "uint") else max(4, type_.scalar_bytes)
    widths = [
        dtype_of_scalar(r.type).size
        for r in op.results
        if is_scalar_type(r.type) and dtype_of_scalar(r.type).is_float
    ]
    return max([4, *widths])


def _with_inner(loop: Loop) -> list[Loop]:
    """A loop and the loops inside it."""
    return [op for op in loop.walk() if isinstance(op, LOOPS)]


def longest_chain(loop: Loop) -> float:
    """Cost of one iteration's costliest chain of ops, each of which waits for the one before."""
    ends: dict[SSAValue, float] = {}
    longest = 0.0
    for region in loop.regions:
        for op in region.walk():
            end = op_cost(op) + max((ends.get(v, 0.0) for v in op.operands), default=0.0)
            longest = max(longest, end)
            ends.update((result, end) for result in op.results)
    return longest


def _narrow_stores(loop: Loop) -> bool:
    """All that a loop stores are elements of two bytes."""
    sizes = {
        DTYPES[op.buffer.type.dtype].size
        for op in loop.walk()
        if isinstance(op, k.StoreOp) and isinstance(op.buffer.type, BufType)
    }
    return sizes == {2}


def _indexed(loop: Loop) -> bool:
    """A search for the place of an extreme: each step waits for the comparison before it."""
    return isinstance(loop, k.ReduceOp) and set(loop.kind_names) <= {"argmin", "argmax"}


def _wide_kinds(loop: Loop) -> bool:
    """Reductions with several accumulators each: no more of them in flight."""
    return isinstance(loop, k.ReduceOp) and any(
        kind in ("welford", "max_sumexp", "argmin", "argmax") for kind in loop.kind_names
    )
