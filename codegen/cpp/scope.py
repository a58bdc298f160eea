"""The state of printing one kernel: names, loop levels, the vector loop around, what varies."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from minductor.codegen.cpp.ctext import HALF, Names, dtype_of, value_type
from minductor.codegen.cpp.errors import EmitError
from minductor.codegen.cpp.index import IndexPrinter
from minductor.codegen.cpp.writer import Writer
from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges


@dataclass(frozen=True)
class Lane:
    """The vector loop around: its variable, lanes (an upper bound in a scalar tail)."""

    var: int
    width: int

    @property
    def atom(self) -> Atom:
        """The loop variable."""
        return ex.dim_atom(self.var)


class Scope:
    """Everything that the printers of ops share. One object a kernel."""

    def __init__(self, ranges: Ranges) -> None:
        """`ranges` knows the kernel's size symbols."""
        self.out = Writer(1)
        self.index = IndexPrinter(ranges)
        self.names = Names()
        self.values: dict[SSAValue, str] = {}
        self.varying: set[SSAValue] = set()
        self.lane_locals: set[SSAValue] = set()
        self.lane: Lane | None = None
        self.predicate: str | None = None
        self.faults = False
        self.math = ""
        self.call: int | None = None
        self.ahead = 0
        self.owners: dict[Operation, str] = {}
        self.kernel = ""
        self.tables: list[str] = []

    # -- values -----------------------------------------------------------------------------------
    def varies(self, value: SSAValue) -> bool:
        """The value differs between the lanes of the vector loop around."""
        return value in self.varying

    def text(self, value: SSAValue) -> str:
        """The C++ text of a value as it stands (a scalar, or a vector if it varies)."""
        found = self.values.get(value)
        if found is None:
            raise EmitError(f"value `{value.name_hint or '?'}` is used before it is printed")
        return found

    def spread(self, value: SSAValue) -> str:
        """The value in all lanes."""
        text = self.text(value)
        if self.lane is None or self.varies(value):
            return text
        if dtype_of(value) == "bool":
            return f"as_mask(L, {text})"
        return f"L({text})"

    def define(self, value: SSAValue, text: str) -> None:
        """Print `const T name = text;` and bind the name."""
        name = self.names.new(value.name_hint)
        kind = "auto" if self.varies(value) else value_type(dtype_of(value))
        self.out.line(f"const {kind} {name} = {text};")
        self.values[value] = name

    def register_type(self, value: SSAValue) -> str:
        """The type of a variable that holds the value."""
        dtype = dtype_of(value)
        if not self.varies(value):
            return value_type(dtype)
        return "mask<L.n>" if dtype == "bool" else f"vec<{value_type(dtype)}, L.n>"

    # -- indices ----------------------------------------------------------------------------------
    def uniform_operands(self, operands: list[SSAValue]) -> bool:
        """No index operand varies between lanes."""
        return not any(self.varies(v) for v in operands)

    def index_text(self, e: Expr, operands: list[SSAValue]) -> str:
        """An index expression at lane 0; operands must be uniform."""
        return self.index.text(e, self._operand_text(operands))

    def lane_index_text(self, e: Expr, operands: list[SSAValue], lane: str = "i") -> str:
        """An index expression of lane `i`, operands taken lane by lane."""
        plain = self._operand_text(operands)

        def var(atom: Atom) -> str | None:
            if self.lane is not None and atom is self.lane.atom:
                return f"(d{atom.index} + {lane})"
            if atom.kind == "t" and self.varies(operands[atom.index]):
                return f"(i64)lane({self.text(operands[atom.index])}, {lane})"
            return plain(atom)

        return self.index.text(e, var)

    def _operand_text(self, operands: list[SSAValue]):
        def var(atom: Atom) -> str | None:
            return self.text(operands[atom.index]) if atom.kind == "t" else None

        return var

    @contextmanager
    def level(self, *variables: int) -> Generator[None, None, None]:
        """A loop body: derived numbers of `variables` are printed at its start."""
        self.index.push(self.out.slot(), *variables)
        yield
        self.index.pop()

    @contextmanager
    def guarded(self, test: str | None) -> Generator[None, None, None]:
        """Lines inside run only where `test` holds (always for None)."""
        if test is None:
            yield
            return
        with self.out.block(f"if ({test}) {{"):
            yield

    @contextmanager
    def in_lane(self, lane: Lane | None) -> Generator[None, None, None]:
        """Bodies inside print for the lanes of `lane`."""
        before, self.lane = self.lane, lane
        yield
        self.lane = before


def upcast(text: str, dtype: str) -> str:
    """Halves as f32, everything else as it is."""
    return f"{dtype}_to({text})" if dtype in HALF else text


def downcast(text: str, dtype: str) -> str:
    """An f32 result rounded to a half dtype, everything else as it is."""
    return f"to_{dtype}({text})" if dtype in HALF else text


def unprintable(op: Operation, why: str) -> EmitError:
    """The error for an op that has no C++ form."""
    return EmitError(f"`{op.name}` cannot be printed as C++: {why}")
