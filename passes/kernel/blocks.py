"""kernel-blocks: which loops are the grid, block shapes, warps.

Before, target triton:
    kernel.parallel d0 : 1048576 {..}

After:
    kernel.parallel d0 : 1048576 <run grid, lanes 1024, tail none> {..}      config {.., warps = 4}

Shapes follow bytes: a thread takes 16 bytes at a time of each tensor, and enough of them to keep
memory busy. Pointwise loops get such a block along the variable that most bytes are walked along,
or a square one when large accesses disagree. A tile covers its row, with warps by its length; short
rows share a program. Looped rows that a later stage reads again get so many warps that the rows
under way stay in the second-level cache (`l2`), and say so in `evict`, as do those that are read
once and would fill it. Columns are read in blocks
of neighbours:

    kernel.parallel d0 : 768 <run grid, lanes 64, tail none> {
      kernel.reduce d1 : 1024 <lanes 32, tail none> [add] ..
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom
from minductor.dialects.kernel import ops as k
from minductor.dialects.kernel.host import LaunchOp
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import (
    LOOPS,
    Loop,
    body_cost,
    child_loops,
    estimate,
    kernels_of,
    module_hints,
    set_words,
)
from minductor.passes.kernel._walks import (
    accesses_of,
    across,
    apart,
    bytes_along,
    footprint,
    repeated,
    unit,
)
from minductor.passes.kernel._walks import item_of as item

PERIODIC = ("scalar.sin", "scalar.cos")
"""Functions whose large arguments go another way."""

THREADS = 1365
"""Threads that a multiprocessor holds of a looped reduction, which takes some 48 registers."""


@dataclass(frozen=True)
class KernelBlocksPass(MiniPass):
    """Schedule the loops of Triton kernels.

    block: elements of a program in pointwise kernels of 4-byte elements; square: edge of a block
    whose accesses disagree; row: elements of a row that a thread holds where rows are many; unroll:
    blocks of a looped reduction at a time; ahead: rows under way to a program whose folds wait for
    each other; long: cost of what computes for long; units, l2, shared: the machine's
    multiprocessors, bytes of its second-level cache and of a multiprocessor's shared memory that
    rows under way may take.
    """

    name = "kernel-blocks"
    needs = frozenset({"kernel"})
    provides = frozenset({"lanes"})

    block: int = 1024
    square: int = 64
    row: int = 32
    unroll: int = 4
    ahead: int = 2
    long: int = 32
    units: int = 132
    l2: int = 50 << 20
    shared: int = 160 << 10

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Schedule every Triton kernel of the module."""
        hints, shared = module_hints(op), _shared(op)
        for func in kernels_of(op, "triton"):
            _Scheduler(func, self, hints, shared.get(func.sym_name.data, frozenset())).run()


def power_of_two(n: int) -> int:
    """The smallest power of two that is at least n (1 for 0)."""
    return 1 << max(0, n - 1).bit_length()


def fitting(size: int, room: int, floor: int = 16) -> int:
    """A power of two of at most `room` lanes, of which few are dead over `size` elements."""
    lanes = min(room, power_of_two(size))
    best, least = lanes, -(-size // lanes) * lanes
    while lanes > max(floor, room // 8) and 16 * least > 17 * size:
        lanes //= 2
        if -(-size // lanes) * lanes < least:
            best, least = lanes, -(-size // lanes) * lanes
    return best


def _shared(module: ModuleOp) -> dict[str, frozenset[int]]:
    """Numbers of the arguments of each kernel that other launches take too."""
    out: dict[str, frozenset[int]] = {}
    for op in module.walk():
        if isinstance(op, LaunchOp):
            found = {
                number
                for number, value in enumerate(op.args)
                if any(
                    isinstance(u.operation, LaunchOp) and u.operation is not op for u in value.uses
                )
            }
            name = op.callee.string_value()
            out[name] = out.get(name, frozenset()) | found
    return out


class _Scheduler:
    """Words of one kernel."""

    def __init__(
        self,
        func: k.FuncOp,
        options: KernelBlocksPass,
        hints: Mapping[Atom, int],
        shared: frozenset[int],
    ):
        self.shared = {func.body.block.args[number] for number in shared}
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
        if tiles and list(child_loops(tiles[0].body.block)):
            self._crossed(chain, tiles[0])
        elif tiles:
            self._tile(chain, tiles[0])
        else:
            self._looped(chain, inner)
        for loop in chain:
            set_words(loop, run="grid")
        if any(op.name in PERIODIC for op in self.func.walk()):
            # threads that hold many elements need the registers
            self.func.config = self.func.config.with_(far="first")

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
        unroll = self._unroll(loop, lanes) if run == "seq" and lanes > 1 else 1
        set_words(loop, run=run, lanes=lanes, tail=tail, unroll=unroll)

    def _unroll(self, loop: Loop, lanes: int) -> int:
        """Blocks of a reduction at a time: more loads under way, and less to do for each."""
        if not isinstance(loop, k.ReduceOp) or body_cost(loop) >= 12:
            return 1
        unroll = self.options.unroll
        while unroll > 1 and self._size(loop) < 2 * unroll * lanes:
            unroll //= 2
        return unroll

    def _config(self, warps: int) -> None:
        self.func.config = self.func.config.with_(warps=warps)

    # -- pointwise --------------------------------------------------------------------------------
    def _pointwise(self, chain: list[Loop]) -> None:
        lanes = dict.fromkeys(range(len(chain)), 1)
        fast = self._fast_dims(chain)
        warps = 4
        if len(fast) > 1:
            warps = self._square(chain, fast[:2], lanes)
        elif apart(chain[-1]) >= 2:
            left = 2048 // self._spread(chain)
            for i in reversed(range(len(chain))):
                lanes[i] = min(left, power_of_two(self._size(chain[i])))
                left //= lanes[i]
            warps = 8
        else:
            left = self._room(chain)
            order = [*fast, *(i for i in reversed(range(len(chain))) if i not in fast)]
            for i in order[:2]:
                lanes[i] = fitting(self._size(chain[i]), left, 16 if i == order[0] else 4)
                left //= lanes[i]
            if repeated(chain[-1]) > 1:
                # a thread that has several elements divides for all of them at once
                warps = max(1, min(warps, prod(lanes.values()) // 512))
        for i, loop in enumerate(chain):
            self._set(loop, lanes[i], "grid")
        self._config(warps)

    def _spread(self, chain: list[Loop]) -> int:
        """Four bytes of neighbours go to a thread: more would leave gaps between what the threads
        of a warp load at a time. Bytes of an element come back."""
        widest = max(2, *(item(op) for op in accesses_of(chain[-1])))
        self.func.config = self.func.config.with_(vector=max(1, 4 // widest))
        return widest

    def _room(self, chain: list[Loop]) -> int:
        """Elements of a block: twice as many where few bytes of each are read, and little done, or
        where much is done."""
        atoms = [ex.dim_atom(loop.var.data) for loop in chain]
        read = bytes_along([chain[-1]], atoms)
        cost, twice = body_cost(chain[-1]), 2 * self.options.block
        # what computes for long has more to do while it waits for itself
        long = cost >= self.options.long
        points = prod(self._size(loop) for loop in chain)
        if (cost < 24 and 0 < read <= 3) or (long and points >= 8 * self.options.units * twice):
            return twice
        return self.options.block

    def _square(self, chain: list[Loop], fast: list[int], lanes: dict[int, int]) -> int:
        """A block along two variables; warps for it. Small problems take smaller blocks."""
        total = 1
        for loop in chain:
            total *= self._size(loop)
        items = [item(op) for op in accesses_of(chain[-1])]
        edge = self.options.square * (2 if max(items, default=4) == 1 else 1)
        edges = [edge, edge]
        if total < 2 * self.options.units * edge * edge:
            edges[1] = edge // 2
        if total < 2 * self.options.units * edges[0] * edges[1]:
            edges[0] = edge // 2
        for i, room in zip(fast, edges, strict=True):
            lanes[i] = min(room, power_of_two(self._size(chain[i])))
        held = lanes[fast[0]] * lanes[fast[1]]
        return 8 if held >= 4096 else 4

    def _fast_dims(self, chain: list[Loop]) -> list[int]:
        """Loops along which large accesses walk element by element, best served first."""
        moved = dict.fromkeys(range(len(chain)), 0)
        found = [(op, footprint(op, chain, self.hints)) for op in accesses_of(chain[-1])]
        most = max((size for _, size in found), default=0)
        for op, size in found:
            for i, loop in enumerate(chain):
                if 8 * size >= most and unit(op, loop):
                    moved[i] += size
        dims = [i for i, n in moved.items() if n and self._size(chain[i]) >= 8]
        dims.sort(key=lambda i: -moved[i])
        return dims or [len(chain) - 1]

    # -- rows -------------------------------------------------------------------------------------
    def _tile(self, chain: list[Loop], tile: Loop) -> None:
        # a fold needs an axis, also of one element; an open row has its room already
        lanes, warps = max(2, power_of_two(self._size(tile))), 0
        if tile.extent.data.as_int is None:
            lanes = max(tile.words.data.lanes, 2)
        self._set(tile, lanes)
        total = lanes
        if chain:
            row = chain[-1]
            small = bytes_along([tile], [ex.dim_atom(tile.var.data)]) <= 3
            room = self.options.block * (2 if small else 1)
            if across([tile], row):
                rows = self._abreast(chain, max(1, 4 * self.options.block // lanes))
            elif warps := self._lone(chain, tile, lanes):
                rows = max(1, (16 if warps == 4 else 32) * self.options.row * warps // lanes)
            else:
                rows = min(max(1, room // lanes), 8, power_of_two(self._size(row)))
            if rows > 1:
                self._set(row, rows)
            total *= rows
        stored = [footprint(o, [*chain, tile], self.hints) for o in _stores(tile)]
        if 4 * max(stored, default=0) < self.options.l2:
            _hints(self, chain, [tile])
        usual = 4 if total <= 2048 else 8 if total <= 4096 else 16 if total <= 16384 else 32
        self._config(warps or usual)

    def _lone(self, chain: list[Loop], tile: Loop, lanes: int) -> int:
        """Warps that fold rows without waiting for each other, where there are rows enough.

        Rows that a warp takes at one go share a program of four; of longer ones a warp has `row`
        elements a thread. 0: no such.
        """
        items = [item(op) for op in accesses_of(tile)]
        vector = 16 // max(2, min(items, default=4))
        rows = 1
        for loop in chain:
            rows *= self._size(loop)
        if lanes <= 32 * vector:
            warps = 4
        elif lanes <= 128 * self.options.row:
            warps = max(1, lanes // (32 * self.options.row))
        else:
            return 0
        return warps if rows * lanes >= 512 * self.options.units * self.options.row * warps else 0

    def _crossed(self, chain: list[Loop], tile: k.TileOp) -> None:
        """Rows inside a tile of columns, some at once."""
        lanes, warps = max(2, power_of_two(self._size(tile))), 8
        self._set(tile, lanes)
        for leaf in child_loops(tile.body.block):
            light = self._unroll(leaf, 1) > 1
            rows = max(1, (8 if light else 4) * self.options.block // lanes)
            rows = min(rows, 16, power_of_two(self._size(leaf)))
            self._set(leaf, rows)
            if light:
                # few warps that fold many rows at once: the folds wait for each other less often
                set_words(leaf, unroll=1)
                _hints(self, [*chain, tile], [leaf])
                warps = 4
            elif rows > 1 and leaf.words.data.unroll == 1 and self._size(leaf) >= 4 * rows:
                set_words(leaf, ahead=_ahead(self.options, leaf, lanes * rows))
        self._config(warps)

    def _looped(self, chain: list[Loop], inner: list[Loop]) -> None:
        leaves = [leaf for loop in inner for leaf in _leaves(loop)]
        if chain and across(leaves, chain[-1]):
            self._columns(chain, leaves)
            return
        warps, again = 8, _read_again(leaves)
        if not again and self._light(leaves):
            warps = self._warps(chain)
        elif chain and again:
            rows = again * max(self._size(leaf) for leaf in leaves)
            # a row is needed from its first reading to its last only; the output passes through too
            room = 5 * self.options.l2 // 4
            while warps < 32 and self._under_way(warps, chain) * rows > room:
                warps *= 2
        for leaf in leaves:
            if not isinstance(leaf, k.ForOp):
                atom = ex.dim_atom(leaf.var.data)
                items = [item(op) for op in accesses_of(leaf) if atom in op.index.data[0].vars("d")]
                vector = 16 // max(2, min(items, default=4))
                light = self._light([leaf])
                once = isinstance(leaf, k.ReduceOp) and vector == 8
                held = 16 if light else vector * (1 if warps > 8 or once else 2)
                room = 32 * warps * held
                self._set(leaf, fitting(self._size(leaf), room, 32 * warps * vector))
                around, left = leaf.parent_op(), room // leaf.words.data.lanes
                if isinstance(around, k.ParallelOp) and around in inner and left > 1:
                    self._set(around, min(left, power_of_two(self._size(around))))
        _hints(self, chain, leaves)
        widest = max((leaf.words.data.lanes for leaf in leaves), default=1)
        self._config(4 if warps == 8 and widest <= self.options.block else warps)

    def _light(self, leaves: list[Loop]) -> bool:
        """Reductions that go several blocks at a time."""
        return all(self._unroll(leaf, 32) > 1 for leaf in leaves)

    def _warps(self, chain: list[Loop]) -> int:
        """Warps of a program of such reductions: few, so that all programs are at work at once, but
        with 40 KiB of loads under way on each multiprocessor."""
        programs, warps = self.options.units, 4
        if chain:
            programs = 1
            for loop in chain:
                programs *= -(-self._size(loop) // loop.words.data.lanes)
        while warps < 16 and programs * warps * self.options.unroll < 80 * self.options.units:
            warps *= 2
        return warps

    def _under_way(self, warps: int, chain: list[Loop]) -> int:
        """Rows that the machine works on at a time."""
        rows = 1
        for loop in chain:
            rows *= self._size(loop)
        return min(rows, self.options.units * max(1, THREADS // (32 * warps)))

    def _abreast(self, chain: list[Loop], room: int) -> int:
        """At most `room` columns of a program: fewer where that leaves machines idle."""
        programs, size = 1, self._size(chain[-1])
        for loop in chain[:-1]:
            programs *= self._size(loop)
        columns = min(room, power_of_two(size))
        while columns > 8 and programs * -(-size // columns) < self.options.units:
            columns //= 2
        return columns

    def _columns(self, chain: list[Loop], leaves: list[Loop]) -> None:
        """Blocks of neighbouring columns, 16 bytes a thread, some rows at once."""
        row = chain[-1]
        narrow = min((item(op) for leaf in leaves for op in accesses_of(leaf)), default=4)
        several = any(
            isinstance(leaf, k.ReduceOp) and "welford" in leaf.kind_names for leaf in leaves
        )
        room = 64 if several else max(32, 256 // max(2, narrow))
        columns = self._abreast(chain, room)
        self._set(row, columns)
        warps, held = 8, 1024
        if self._light(leaves):
            # three accumulators are folded through shared memory: the fewer warps, the less of it
            warps = 2 if several else self._warps(chain)
            held = 32 * warps * (8 if several else 16 // max(2, narrow))
        for leaf in leaves:
            if not isinstance(leaf, k.ForOp):
                room = max(1, held // columns)
                self._set(leaf, min(room, power_of_two(self._size(leaf))))
        _hints(self, chain, leaves)
        self._config(warps)


def _ahead(options: KernelBlocksPass, leaf: Loop, elements: int) -> int:
    """Blocks whose loads may be under way beside the one that is worked on."""
    atom = ex.dim_atom(leaf.var.data)
    loads = [op for op in accesses_of(leaf) if isinstance(op, k.LoadOp)]
    moving = (item(op) for op in loads if atom in op.index.data[0].vars("d"))
    block = elements * sum(moving)
    return min(options.ahead, max(0, options.shared // max(1, block) - 1))


def _hints(one: _Scheduler, chain: list[Loop], leaves: list[Loop]) -> None:
    """What is read again stays in the cache; the last reading, or the only one, lets it go."""
    last: dict[object, Loop] = {}
    for leaf in leaves:
        for op in accesses_of(leaf):
            last[op.buffer] = leaf
    seen: dict[object, set[Loop]] = {}
    for leaf in leaves:
        for op in accesses_of(leaf):
            seen.setdefault(op.buffer, set()).add(leaf)
    for leaf in leaves:
        for op in accesses_of(leaf):
            along = ex.dim_atom(leaf.var.data) in op.index.data[0].vars("d")
            large = 2 * footprint(op, [*chain, leaf], one.hints) > one.options.l2
            large &= op.buffer not in one.shared
            if isinstance(op, k.LoadOp) and along and (large or len(seen[op.buffer]) > 1):
                op.evict = StringAttr("first" if last[op.buffer] is leaf else "last")


def _read_again(leaves: list[Loop]) -> int:
    """Bytes of a row's element that several stages load."""
    seen: dict[object, set[Loop]] = {}
    size: dict[object, int] = {}
    for leaf in leaves:
        for op in accesses_of(leaf):
            if ex.dim_atom(leaf.var.data) in op.index.data[0].vars("d"):
                seen.setdefault(op.buffer, set()).add(leaf)
                size[op.buffer] = item(op)
    return sum(size[b] for b, stages in seen.items() if len(stages) > 1)


def _stores(loop: Loop) -> list[k.StoreOp]:
    return [op for op in accesses_of(loop) if isinstance(op, k.StoreOp)]


def _leaves(loop: Loop) -> list[Loop]:
    inside = [op for r in loop.regions for op in r.block.ops if isinstance(op, LOOPS)]
    return [leaf for i in inside for leaf in _leaves(i)] if inside else [loop]
