"""State of printing one Triton kernel: names, lines, axes, and what varies along which axis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from xdsl.ir import SSAValue

from minductor.codegen.wrapper.names import Names
from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges

TYPES = {
    "f64": "tl.float64", "f32": "tl.float32", "f16": "tl.float16", "bf16": "tl.bfloat16",
    "i8": "tl.int8", "i16": "tl.int16", "i32": "tl.int32", "i64": "tl.int64",
    "u8": "tl.uint8", "u16": "tl.uint16", "u32": "tl.uint32", "u64": "tl.uint64",
    "bool": "tl.int1",
}  # fmt: skip
POINTERS = {
    "f64": "*fp64", "f32": "*fp32", "f16": "*fp16", "bf16": "*bf16", "i8": "*i8", "i16": "*i16",
    "i32": "*i32", "i64": "*i64", "u8": "*u8", "u16": "*u16", "u32": "*u32", "u64": "*u64",
    "bool": "*i1",
}  # fmt: skip
RESERVED = {"tl", "triton", "libdevice", "range", "min", "max", "LAUNCH", "float"}


class EmitError(ValueError):
    """A kernel holds something that has no Triton form; the text names the op and the mend."""


@dataclass(frozen=True)
class Axis:
    """A block axis in force: its position, its lanes, the text of its mask (None: all alive).

    `count`: the text of how many of its lanes are alive, where one block is the whole axis.
    """

    position: int
    lanes: int
    mask: str | None
    count: str = ""


@dataclass
class Scope:
    """What is visible at the current place; `inner` makes the scope of a loop body."""

    rank: int
    names: Names
    lines: list[str]
    depth: int = 1
    axes: dict[Atom, Axis] = field(default_factory=dict[Atom, Axis])
    ranges: Ranges = field(default_factory=Ranges)
    varies: dict[SSAValue, frozenset[Atom]] = field(default_factory=dict[SSAValue, frozenset[Atom]])
    wide: bool = False
    instead: Mapping[str, str] = field(default_factory=dict[str, str])
    faults: list[bool] = field(default_factory=list[bool])

    def line(self, text: str) -> None:
        """One line at the current depth."""
        self.lines.append("    " * self.depth + text)

    def inner(self, extent: tuple[int, Expr], deeper: bool) -> Scope:
        """The scope of a loop's body."""
        ranges = self.ranges.with_extents([extent])
        depth = self.depth + deeper
        return replace(self, ranges=ranges, depth=depth, axes=dict(self.axes))

    # -- shapes -----------------------------------------------------------------------------------
    def shape(self, atoms: Iterable[Atom]) -> str:
        """The block shape of something that varies along these axes."""
        sizes = [1] * self.rank
        for atom in atoms:
            axis = self.axes[atom]
            sizes[axis.position] = axis.lanes
        return "[" + ", ".join(map(str, sizes)) + "]"

    def slice_text(self, position: int) -> str:
        """`[None, :]`: the subscript that puts a vector on an axis."""
        if self.rank == 1:
            return ""
        parts = [":" if i == position else "None" for i in range(self.rank)]
        return "[" + ", ".join(parts) + "]"

    def along(self, e: Expr, operands: Iterable[SSAValue] = ()) -> frozenset[Atom]:
        """Axes that an index varies along."""
        own = {a for a in e.vars("d") if a in self.axes}
        used = {a.index for a in e.vars("t")}
        for i, v in enumerate(operands):
            if i in used:
                own |= self.varies[v]
        return frozenset(own)

    def mask(self, atoms: Iterable[Atom]) -> list[str]:
        """Masks of the axes among `atoms`, in order of position."""
        found = sorted((self.axes[a] for a in atoms if a in self.axes), key=lambda x: x.position)
        return [x.mask for x in found if x.mask is not None]

    # -- text -------------------------------------------------------------------------------------
    def index(self, e: Expr, operands: list[SSAValue]) -> str:
        """An index expression; division of what may be negative is floored."""

        def var(a: Atom) -> str:
            return self.names[operands[a.index]] if a.kind == "t" else ex.str_atom(a)

        return self._render(e, var)

    def _render(self, e: Expr, var: Callable[[Atom], str]) -> str:
        style = {
            "floordiv": "mi_idiv({0}, {1})",
            "mod": "mi_imod({0}, {1})",
            "min": "tl.minimum({0}, {1})",
            "max": "tl.maximum({0}, {1})",
        }
        plain = {"floordiv": "({0} // {1})", "mod": "({0} % {1})"}
        divisions = [a for a in _functions(e) if a.kind in plain]
        if all(self.ranges.nonneg(a.args[0]) for a in divisions):
            style |= plain
        return ex.render(e, var, style)


def _functions(e: Expr) -> list[Atom]:
    out: list[Atom] = []
    for mono, _ in e.terms:
        for a in mono:
            if a.args:
                out.append(a)
                for arg in a.args:
                    out += _functions(arg)
    return out


def size_text(e: Expr) -> str:
    """An expression over sizes as Python text for a grid."""
    style = {
        "floordiv": "({0} // {1})",
        "mod": "({0} % {1})",
        "min": "min({0}, {1})",
        "max": "max({0}, {1})",
    }
    return ex.render(e, ex.str_atom, style)
