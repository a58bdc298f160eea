"""kernel-blocks: which loops are the grid, block shapes, warps.

Before, target triton:
    kernel.parallel d0 : 1048576 {..}

After:
    kernel.parallel d0 : 1048576 <run grid, lanes 1024, tail none> {..}      config {.., warps = 4}

Pointwise loops get a block of `block` elements, along the variable that most accesses walk one by
one, or square when accesses disagree. Tiles and looped rows get a power of two that covers the row
or `loop_lanes` elements of it; short rows share a program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom
from minductor.dialects.kernel import ops as k
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import (
    LOOPS,
    Loop,
    child_loops,
    estimate,
    kernels_of,
    module_hints,
    set_words,
)
from minductor.passes.kernel.vectorize import is_strided


@dataclass(frozen=True)
class KernelBlocksPass(MiniPass):
    """Schedule the loops of Triton kernels.

    block: elements of a program in pointwise kernels; loop_lanes: elements of a row that a looped
    reduction takes at once.
    """

    name = "kernel-blocks"
    needs = frozenset({"kernel"})
    provides = frozenset({"lanes"})

    block: int = 1024
    loop_lanes: int = 2048

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Schedule every Triton kernel of the module."""
        hints = module_hints(op)
        for func in kernels_of(op, "triton"):
            _Scheduler(func, self, hints).run()


def power_of_two(n: int) -> int:
    """The smallest power of two that is at least n (1 for 0)."""
    return 1 << max(0, n - 1).bit_length()


class _Scheduler:
    """Words of one kernel."""

    def __init__(self, func: k.FuncOp, options: KernelBlocksPass, hints: Mapping[Atom, int]):
        self.func = func
        self.options = options
        self.hints = hints

    def run(self) -> None:
        """Grid loops from the top, then what runs inside a program."""
        chain, block = self._chain()
        inner = list(child_loops(block))
        if chain and not inner:
            self._pointwise(chain)
            return
        if not chain and not inner:
            self._config(4)
            return
        tiles = [loop for loop in inner if isinstance(loop, k.TileOp)]
        if tiles:
            self._tile(chain, tiles[0])
        else:
            self._looped(chain, inner)
        for loop in chain:
            set_words(loop, run="grid")

    def _chain(self) -> tuple[list[Loop], Block]:
        """Perfectly nested parallel loops from the top, and the block inside them."""
        chain: list[Loop] = []
        block = self.func.body.block
        while True:
            ops = list(block.ops)
            if len(ops) != 1 or not isinstance(ops[0], k.ParallelOp):
                return chain, block
            chain.append(ops[0])
            block = ops[0].body.block

    def _size(self, loop: Loop) -> int:
        return max(1, estimate(loop.extent.data, self.hints))

    def _set(self, loop: Loop, lanes: int, run: str = "seq") -> None:
        extent = loop.extent.data.as_int
        whole = extent is not None and extent > 0 and extent % lanes == 0
        tail = "none" if lanes == 1 or whole else "mask"
        set_words(loop, run=run, lanes=lanes, tail=tail)

    def _config(self, warps: int) -> None:
        self.func.config = self.func.config.with_(warps=warps)

    # -- pointwise --------------------------------------------------------------------------------
    def _pointwise(self, chain: list[Loop]) -> None:
        lanes = dict.fromkeys(range(len(chain)), 1)
        fast = self._fast_dims(chain)
        if len(fast) > 1:
            for i in fast[:2]:
                lanes[i] = min(32, power_of_two(self._size(chain[i])))
        else:
            left = self.options.block
            order = [*fast, *(i for i in reversed(range(len(chain))) if i not in fast)]
            for i in order[:2]:
                lanes[i] = min(left, power_of_two(self._size(chain[i])))
                left //= lanes[i]
        for i, loop in enumerate(chain):
            self._set(loop, lanes[i], "grid")
        self._config(4)

    def _fast_dims(self, chain: list[Loop]) -> list[int]:
        """Loops along which some access walks element by element, best served first."""
        body = chain[-1].regions[0]
        count = dict.fromkeys(range(len(chain)), 0)
        for op in body.walk():
            if not isinstance(op, k.LoadOp | k.StoreOp):
                continue
            index = op.index.data[0]
            for i, loop in enumerate(chain):
                atom = ex.dim_atom(loop.var.data)
                if index.is_linear_in(atom) and index.coeff(atom) is ex.ONE:
                    count[i] += 1
        found = [i for i, n in count.items() if n and self._size(chain[i]) >= 8]
        found.sort(key=lambda i: -count[i])
        return found or [len(chain) - 1]

    # -- rows -------------------------------------------------------------------------------------
    def _tile(self, chain: list[Loop], tile: Loop) -> None:
        # a fold needs an axis, also of one element; an open row has its room already
        lanes = max(2, power_of_two(self._size(tile)))
        if tile.extent.data.as_int is None:
            lanes = max(tile.words.data.lanes, 2)
        self._set(tile, lanes)
        total = lanes
        if chain and lanes < self.options.block:
            row = chain[-1]
            rows = min(self.options.block // lanes, power_of_two(self._size(row)))
            if not self._walks(tile, row):
                rows = min(rows, 8)
            self._set(row, rows)
            total *= rows
        self._config(4 if total <= 2048 else 8 if total <= 8192 else 16)

    def _walks(self, tile: Loop, row: Loop) -> bool:
        """Some access in the tile walks the row variable element by element."""
        atom = ex.dim_atom(row.var.data)
        accesses = [
            op for r in tile.regions for op in r.walk() if isinstance(op, k.LoadOp | k.StoreOp)
        ]
        return any(op.index.data[0].coeff(atom) is ex.ONE for op in accesses)

    def _looped(self, chain: list[Loop], inner: list[Loop]) -> None:
        leaves = [leaf for loop in inner for leaf in _leaves(loop)]
        column = (
            bool(chain)
            and bool(leaves)
            and all(self._prefers_row(leaf, chain[-1]) for leaf in leaves)
        )
        if column:
            rows = min(32, power_of_two(self._size(chain[-1])))
            self._set(chain[-1], rows)
            limit = max(1, self.options.loop_lanes // 2 // rows)
        else:
            limit = self.options.loop_lanes
        for leaf in leaves:
            if not isinstance(leaf, k.ForOp):
                self._set(leaf, min(limit, power_of_two(self._size(leaf))))
        self._config(8)

    def _prefers_row(self, leaf: Loop, row: Loop) -> bool:
        """Accesses of a stage are contiguous along the row variable, strided along its own."""
        own, other = ex.dim_atom(leaf.var.data), ex.dim_atom(row.var.data)
        accesses = [op for op in leaf.regions[0].walk() if isinstance(op, k.LoadOp | k.StoreOp)]
        strided = [op for op in accesses if is_strided(op, own)]
        return bool(strided) and all(not is_strided(op, other) for op in strided)


def _leaves(loop: Loop) -> list[Loop]:
    inside = [op for r in loop.regions for op in r.block.ops if isinstance(op, LOOPS)]
    return [leaf for i in inside for leaf in _leaves(i)] if inside else [loop]
