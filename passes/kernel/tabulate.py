"""kernel-tabulate: costly functions of one value of 8 or 16 bits are read from a table.

Before, a gelu of bf16:
    kernel.parallel d0 : 2097152 <lanes 32, tail none, run threads> {
      %v = kernel.load %x[d0] : bf16
      %a = scalar.cast %v : bf16 to f32
      ..
      %g = scalar.mul %h, %e : f32
      %r = scalar.cast %g : f32 to bf16
      kernel.store %r, %o[d0] }

After:
      %v = kernel.load %x[d0] : bf16
      %r = scalar.lookup %v -> bf16 { ^bb0(%y : bf16):  .. scalar.yield %r : bf16 }
      kernel.store %r, %o[d0]

A bf16 has 65,536 values. What a body computes of one such value and constants is a function that a
table holds: filled once when the library is loaded, by the exact functions whatever `math` says,
and read by gathers, which take the place of arithmetic whose units the rest of the body needs. The
entries in use stay near: values of some powers of ten are a few KiB.

A value depends on one source when all that it is computed of leads back to that source and to
constants. Sources are loads that vary along the lanes and results rounded to 8 or 16 bits. The
longest such computations are taken, if they cost more than a gather of their vectors. A function of
a byte that gives a byte takes 256 entries in registers; a loop that does nothing else gets as many
lanes as a register has bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from minductor.dialects import expr as ex
from minductor.dialects.dtypes import DType, dtype_of_scalar, is_scalar_type
from minductor.dialects.expr import Atom
from minductor.dialects.kernel import ops as k
from minductor.dialects.scalar.ops import CastOp, ConstantOp, LookupOp, TableOp, YieldOp
from minductor.dialects.types import BufType
from minductor.passes.base import MiniPass
from minductor.passes.kernel._tree import (
    LOOPS,
    Loop,
    estimate,
    is_pure,
    kernels_of,
    module_hints,
    op_cost,
    set_words,
)
from minductor.passes.remarks import sink_of

GATHER = 12.0
"""Cost of arithmetic from which on a gather of its results is cheaper."""
PERMUTE = 6.0
"""The same for bytes, whose table is permuted in registers."""
BYTES = 64
"""Lanes of a loop that only looks up bytes."""
FEW = 64
"""Elements for each entry of a table of bytes, so that filling it does not show."""


@dataclass(frozen=True)
class KernelTabulatePass(MiniPass):
    """Put functions of one small value into tables, in vector loops of AVX-512 kernels.

    tables: iterations of a loop and those around it from which a table of 16-bit values pays; 0
    makes no tables. It pays on processors whose gathers take one or two elements a cycle.
    """

    name = "kernel-tabulate"
    needs = frozenset({"lanes"})

    tables: int = 1 << 18

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Look at each vector loop of every C++ kernel."""
        hints = module_hints(op)
        for func in kernels_of(op, "cpp") if self.tables else ():
            if func.config.lookup("isa", "") != "avx512":
                continue
            for loop in [o for o in func.walk() if isinstance(o, LOOPS)]:
                if loop.words.data.lanes == 1:
                    continue
                count = _iterations(loop, hints)
                if count < min(self.tables, FEW * 256):
                    continue
                bodies = [_Body(region.block, loop) for region in loop.regions]
                made = [one.rewrite(count >= self.tables) for one in bodies]
                if any(made):
                    sink_of(ctx).accepted(self.name, func.sym_name.data, f"{sum(made)} tables")
                    _widen(loop)


def _iterations(loop: Operation, hints: Mapping[Atom, int]) -> int:
    """Iterations of a loop times those of the loops around it."""
    count, at = 1, loop
    while at is not None and not isinstance(at, k.FuncOp):
        if isinstance(at, LOOPS):
            count *= max(1, estimate(at.extent.data, hints))
        at = at.parent_op()
    return count


def _dtype(value: SSAValue) -> DType | None:
    return dtype_of_scalar(value.type) if is_scalar_type(value.type) else None


def _narrow(value: SSAValue) -> bool:
    """A value of 8 or 16 bits."""
    dtype = _dtype(value)
    return dtype is not None and dtype.name != "bool" and dtype.size <= 2


@dataclass(frozen=True)
class _Source:
    """What a value is computed of: constants (None), one small value, or more (`many`)."""

    value: SSAValue | None = None
    many: bool = False


_CONSTANT, _MANY = _Source(), _Source(many=True)


@dataclass
class _Body:
    """The body of a vector loop."""

    block: Block
    loop: Loop
    found: dict[SSAValue, _Source] = field(default_factory=dict[SSAValue, _Source])

    def rewrite(self, large: bool) -> int:
        """Tables made; `large`: the loop is long enough for those of 16 bits too."""
        made = 0
        for op in self.block.ops:
            for result in op.results:
                self.found[result] = self._of(op, result)
        for op in reversed(list(self.block.ops)):
            used = any(True for r in op.results for _ in r.uses)
            if op.results and not used and is_pure(op) and not isinstance(op, k.LoadOp):
                Rewriter.erase_op(op)
            elif isinstance(op, TableOp | CastOp) and self._pays(op, large):
                self._replace(op)
                made += 1
        return made

    def _of(self, op: Operation, result: SSAValue) -> _Source:
        if isinstance(op, ConstantOp):
            return _CONSTANT
        joined = _MANY
        if isinstance(op, CastOp) or (isinstance(op, TableOp) and op.ROW.safe):
            joined = self._joined(op)
        if joined.many and _narrow(result) and self._varies(op):
            return _Source(result)
        return joined

    def _joined(self, op: Operation) -> _Source:
        """What all operands together are computed of."""
        one = _CONSTANT
        for v in op.operands:
            constant = isinstance(v.owner, ConstantOp)
            source = _CONSTANT if constant else self.found.get(v, _MANY)
            if source.many or (one.value and source.value and source.value is not one.value):
                return _MANY
            one = one if source.value is None else source
        return one

    def _varies(self, op: Operation) -> bool:
        """Computed here, or loaded from another place for each lane."""
        if isinstance(op, k.LoadOp):
            atom = ex.dim_atom(self.loop.var.data)
            return atom in op.index.data[0].vars("d") or bool(op.index_operands)
        return isinstance(op, CastOp | TableOp)

    def _pays(self, op: TableOp | CastOp, large: bool) -> bool:
        """A function of one small value that costs more than a look into its table."""
        result = op.results[0]
        source = self.found[result].value
        have, to = None if source is None else _dtype(source), _dtype(result)
        if source is None or source is result or have is None or to is None:
            return False
        byte = have.size == 1 and to.size == 1 and to.name != "bool"
        half = have.size == 2 and large and to.is_float and to.size in (2, 4)
        if not byte and not half:
            return False
        cost = sum(op_cost(one) for one in _steps(op, source))
        return cost >= (PERMUTE if byte else GATHER)

    def _replace(self, op: TableOp | CastOp) -> None:
        """A lookup in place of an op, with a copy of all that led to it."""
        source, result = self.found[op.results[0]].value, op.results[0]
        assert source is not None
        body = Block(arg_types=[source.type])
        mapped: dict[SSAValue, SSAValue] = {source: body.args[0]}
        steps = _steps(op, source)
        for v in dict.fromkeys(v for one in steps for v in one.operands):
            if isinstance(v.owner, ConstantOp):
                copy = v.owner.clone()
                body.add_op(copy)
                mapped[v] = copy.result
        for one in steps:
            copy = one.clone(mapped)
            body.add_op(copy)
        body.add_op(YieldOp.of(mapped[result]))
        new = LookupOp.of(source, result.type, Region(body))
        new.result.name_hint = result.name_hint
        self.found[new.result] = self.found[result]
        Rewriter.replace_op(op, new)


def _steps(op: Operation, source: SSAValue) -> list[Operation]:
    """The ops from a source to an op, in order, without constants."""
    done: dict[Operation, None] = {}
    todo = [op]
    while todo:
        before = [
            v.owner
            for v in todo[-1].operands
            if v is not source and isinstance(v.owner, Operation) and not _is_constant(v)
        ]
        missing = [one for one in before if one not in done]
        if missing:
            todo.extend(missing)
        else:
            done[todo.pop()] = None
    return list(done)


def _is_constant(value: SSAValue) -> bool:
    return isinstance(value.owner, ConstantOp)


def _accesses(loop: Loop) -> Iterator[k.LoadOp | k.StoreOp]:
    return (op for r in loop.regions for op in r.walk() if isinstance(op, k.LoadOp | k.StoreOp))


def _widen(loop: Loop) -> None:
    """A loop that looks up bytes and does nothing else: a full register of them."""
    words = loop.words.data
    if not isinstance(loop, k.ParallelOp) or words.lanes * words.unroll % BYTES:
        return
    plain = all(
        isinstance(op, k.LoadOp | k.StoreOp | LookupOp | ConstantOp | k.YieldOp)
        for op in loop.body.block.ops
    )
    sizes = {
        op.buffer.type.scalar_bytes for op in _accesses(loop) if isinstance(op.buffer.type, BufType)
    }
    if plain and sizes == {1}:
        set_words(loop, lanes=BYTES, unroll=words.lanes * words.unroll // BYTES)
