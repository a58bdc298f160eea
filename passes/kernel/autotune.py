"""kernel-autotune: schedules worth a measurement beside the one that the rules give.

Before, target triton, with `autotune=fast`:
    kernel.func @k(..) config {.., warps = 4} { .. <run grid, lanes 1024> .. }

After, the first being what the rules give:
    kernel.func @k.0(..) config {.., warps = 4} { .. <run grid, lanes 1024> .. }
    kernel.func @k.1(..) config {.., warps = 4} { .. <run grid, lanes 2048> .. }
    kernel.func @k.2(..) config {.., warps = 8} { .. <run grid, lanes 2048> .. }
    kernel.variants @k [@k.0, @k.1, @k.2]

The fastest at the first call stays (`runtime/variants.py`). Candidates are ordered by how near they
are to the rules' choice in bytes that a thread takes at once; `fast` keeps two of them, `max` five.
Kernels that move little are left alone: what they take is their launch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.utils.exceptions import PassFailedException

from minductor.dialects.expr import Atom
from minductor.dialects.kernel import ops as k
from minductor.dialects.kernel.host import VariantsOp
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import (
    LOOPS,
    Loop,
    estimate,
    kernels_of,
    module_hints,
    set_words,
)
from minductor.passes.remarks import sink_of

MODES = {"off": 0, "fast": 2, "max": 5}
Change = tuple[float, float]
"""Factors of the lanes and of the warps."""
_POINTS: tuple[Change, ...] = ((2, 1), (2, 2), (0.5, 1), (1, 2), (4, 2))
_ROWS: tuple[Change, ...] = ((1, 2), (1, 0.5), (1, 4), (2, 2), (2, 1), (0.5, 0.5))


@dataclass(frozen=True)
class KernelAutotunePass(MiniPass):
    """Make candidates of Triton kernels for measuring.

    autotune: off, fast (two beside the first) or max (five); min_bytes: what a kernel moves at
    least, at the hints.
    """

    name = "kernel-autotune"
    needs = frozenset({"kernel", "lanes"})

    autotune: str = "off"
    min_bytes: int = 1 << 23

    def __post_init__(self) -> None:
        """A mode that is not known is an error before anything runs."""
        if self.autotune not in MODES:
            raise PassFailedException(f"autotune is {', '.join(MODES)}, not '{self.autotune}'")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replace each kernel that moves much by its candidates."""
        count = MODES[self.autotune]
        if not count:
            return
        hints, sink = module_hints(op), sink_of(ctx)
        for func in list(kernels_of(op, "triton")):
            name = func.sym_name.data
            reason = self._refusal(func, hints)
            made = [] if reason else candidates(func)[:count]
            if not made:
                sink.refused(self.name, name, reason or "no other schedule fits")
                continue
            names: list[str] = []
            for number, one in enumerate([func.clone(), *made]):
                one.sym_name = StringAttr(f"{name}.{number}")
                op.body.block.insert_op_before(one, func)
                names.append(one.sym_name.data)
            choice = VariantsOp.create(
                properties={
                    "sym_name": StringAttr(name),
                    "candidates": ArrayAttr([SymbolRefAttr(n) for n in names]),
                }
            )
            op.body.block.insert_op_before(choice, func)
            func.detach()
            func.erase(safe_erase=False)
            sink.accepted(self.name, name, f"{len(names)} candidates")

    def _refusal(self, func: k.FuncOp, hints: Mapping[Atom, int]) -> str | None:
        if func.bytes_ is None:
            return "what it moves is not known"
        moved = estimate(func.bytes_.data.planned, hints)
        return None if moved >= self.min_bytes else f"it moves {moved} bytes only"


def candidates(func: k.FuncOp) -> list[k.FuncOp]:
    """The kernel under other schedules, near ones first."""
    inner = [op for op in func.walk() if isinstance(op, LOOPS) and op.words.data.run != "grid"]
    made: list[k.FuncOp] = []
    seen = {str(func)}
    for lanes, warps in _ROWS if inner else _POINTS:
        one = func.clone()
        count = int(int(str(one.config.lookup("warps", 4))) * warps)
        if not 1 <= count <= 32:
            continue
        one.config = one.config.with_(warps=count)
        if lanes != 1 and not _scale(one, lanes, rows=bool(inner)):
            continue
        if str(one) not in seen:
            seen.add(str(one))
            made.append(one)
    return made


def _scale(func: k.FuncOp, factor: float, rows: bool) -> bool:
    """Other lanes: of the widest grid loop, or of all looped stages. False where none changes."""
    loops = [op for op in func.walk() if isinstance(op, LOOPS) and op.words.data.lanes > 1]
    if rows:
        chosen = [op for op in loops if isinstance(op, k.ReduceOp | k.ParallelOp)]
        chosen = [op for op in chosen if op.words.data.run != "grid"]
    else:
        chosen = sorted(loops, key=lambda op: -op.words.data.lanes)[:1]
    return any([_set(op, int(op.words.data.lanes * factor)) for op in chosen])


def _set(loop: Loop, lanes: int) -> bool:
    extent = loop.extent.data.as_int
    if lanes < 2 or (extent is not None and lanes >= 2 * max(1, extent)):
        return False
    whole = extent is not None and extent > 0 and extent % lanes == 0
    set_words(loop, lanes=lanes, tail="none" if whole else "mask")
    return True
