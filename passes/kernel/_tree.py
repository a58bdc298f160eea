"""Questions that schedule passes ask of a kernel's loop tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.traits import Pure, is_side_effect_free

from minductor.dialects import expr as ex
from minductor.dialects.attrs import SymbolsAttr, WordsAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import ops as k
from minductor.dialects.scalar.ops import BoundOp, IfOp, RandomOp, TableOp

LOOPS = (k.ParallelOp, k.ForOp, k.TileOp, k.ReduceOp, k.ScanOp)
Loop = k.ParallelOp | k.ForOp | k.TileOp | k.ReduceOp | k.ScanOp
DEFAULT_HINT = 64
OpT = TypeVar("OpT", bound=Operation)


def kernels_of(module: ModuleOp, target: str) -> Iterator[k.FuncOp]:
    """The kernels of a module for one target."""
    for op in module.body.block.ops:
        if isinstance(op, k.FuncOp) and op.target == target:
            yield op


def ops_of(module: ModuleOp, target: str, kind: type[OpT]) -> Iterator[tuple[k.FuncOp, OpT]]:
    """Each op of a kind in the kernels for one target, as they are when its kernel is reached."""
    for kernel in kernels_of(module, target):
        for op in [o for o in kernel.walk() if isinstance(o, kind)]:
            yield kernel, op


def module_hints(module: ModuleOp) -> dict[Atom, int]:
    """Values of size symbols at capture, from the functions of the module."""
    out: dict[Atom, int] = {}
    for op in module.body.block.ops:
        symbols = op.attributes.get("symbols")
        if isinstance(symbols, SymbolsAttr):
            out |= symbols.hints(DEFAULT_HINT)
    return out


def estimate(e: Expr, hints: Mapping[Atom, int]) -> int:
    """The value of an extent at the hints and at the first iteration of the loops around.

    Unknown symbols count as `DEFAULT_HINT`.
    """
    return e.eval({a: 0 if a.kind == "d" else hints.get(a, DEFAULT_HINT) for a in e.vars()})


def child_loops(block: Block) -> Iterator[Loop]:
    """Loops directly in a block."""
    for op in block.ops:
        if isinstance(op, LOOPS):
            yield op


def is_leaf(loop: Loop) -> bool:
    """No loop inside."""
    return not any(isinstance(op, LOOPS) for r in loop.regions for op in r.walk())


def set_words(loop: Loop, **changes: Any) -> None:
    """Replace some of a loop's schedule words."""
    loop.words = WordsAttr(replace(loop.words.data, **changes))


@cache
def _always_pure(kind: type[Operation]) -> bool:
    return kind.has_trait(Pure)


def is_pure(op: Operation) -> bool:
    """Free of side effects; of most ops their class says so."""
    return _always_pure(type(op)) or is_side_effect_free(op)


def op_cost(op: Operation) -> float:
    """Relative cost of one op on one element; an add is 1, a load or store 1."""
    return _cost_of(type(op))


@cache
def _cost_of(kind: type[Operation]) -> float:
    if issubclass(kind, TableOp):
        return kind.ROW.cost
    if issubclass(kind, RandomOp):
        return 30
    if issubclass(kind, k.LoadOp | k.StoreOp | BoundOp | IfOp):
        return 1
    return 0.5


def body_cost(loop: Loop) -> float:
    """Cost of one iteration, without the loops inside."""
    return sum(
        op_cost(inner)
        for region in loop.regions
        for op in region.block.ops
        if not isinstance(op, LOOPS)
        for inner in op.walk()
    )


def cost_expr(block: Block, hints: Mapping[Atom, int]) -> Expr:
    """`total_cost` over the sizes; trip counts that vary inside a kernel are those at the hints."""
    total, own = ex.ZERO, 0.0
    for op in block.ops:
        if isinstance(op, LOOPS):
            extent = op.extent.data
            trips = ex.const(max(0, estimate(extent, hints))) if extent.vars("dt") else extent
            for region in op.regions:
                total = total + trips * cost_expr(region.block, hints)
        else:
            own += sum(op_cost(inner) for inner in op.walk())
    return total + max(1 if not total.terms else 0, round(own))


def total_cost(block: Block, hints: Mapping[Atom, int]) -> float:
    """Cost of a block with the trip counts of its loops at the hints."""
    total = 0.0
    for op in block.ops:
        if isinstance(op, LOOPS):
            trips = max(0, estimate(op.extent.data, hints))
            total += trips * sum(total_cost(r.block, hints) for r in op.regions)
        else:
            total += sum(op_cost(inner) for inner in op.walk())
    return total


def nest_of(tree: k.ParallelOp) -> list[k.ParallelOp]:
    """Perfectly nested parallel loops from the top."""
    chain = [tree]
    while True:
        ops = list(chain[-1].body.block.ops)
        if len(ops) != 1 or not isinstance(ops[0], k.ParallelOp):
            return chain
        chain.append(ops[0])


def with_variable(loop: Operation, ranges: Ranges) -> Ranges:
    """Ranges inside an op: those given, and the variable of a loop."""
    if not isinstance(loop, LOOPS):
        return ranges
    return ranges.with_extents([(loop.var.data, loop.extent.data)])


def ranges_around(op: Operation, symbols: Ranges) -> Ranges:
    """The symbols and the variables of the loops around an op."""
    parent = op.parent_op()
    if parent is None or isinstance(parent, k.FuncOp):
        return symbols
    return with_variable(parent, ranges_around(parent, symbols))


def fresh_variable(kernel: k.FuncOp) -> int:
    """A number that no loop variable of a kernel has, nor any above it."""
    return 1 + max(op.var.data for op in kernel.walk() if isinstance(op, LOOPS))
