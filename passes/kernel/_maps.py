"""Proofs that two buffers of a kernel may be one: what is read at a place is read before any write.

A load at `eL` and a store at `eS` with common loops C, outermost first:

    parallel c { .. load %a[f(c) + g(i)] ..   store %b[f(c) + h(j)] .. }

Iterations of C touch places apart when f is a mixed radix whose smallest step is larger than what g
and h span, or when f and g are one, and f and h the same. Then equal places mean the same iteration
of C, in which the text is the order.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import ops as k
from minductor.passes.kernel._tree import LOOPS, Loop


def why_apart(kernel: k.FuncOp, read: SSAValue, written: SSAValue, symbols: Ranges) -> str:
    """Why buffer `written` can not be the memory of `read`; empty if it can."""
    loads = [use.operation for use in read.uses]
    others = [use.operation for use in written.uses]
    stores = [op for op in others if isinstance(op, k.StoreOp)]
    if not all(isinstance(op, k.LoadOp) for op in loads):
        return "the dying buffer is not only loaded"
    if not all(isinstance(op, k.LoadOp | k.StoreOp) for op in others):
        return "the result is not only loaded and stored"
    for load in loads:
        assert isinstance(load, k.LoadOp)
        for store in stores:
            why = _pair(kernel, load, store, symbols)
            if why:
                return why
    return ""


def _pair(kernel: k.FuncOp, load: k.LoadOp, store: k.StoreOp, symbols: Ranges) -> str:
    at, to = load.index.data[0], store.index.data[0]
    if at.vars("t") or to.vars("t"):
        return "it is addressed by data"
    if store.combine is not None or store.by is not None:
        return "the result is accumulated"
    down, up = _path(kernel, load), _path(kernel, store)
    common = 0
    while common < min(len(down), len(up)) and down[common] is up[common]:
        common += 1
    shared = [op for op in down[:common] if isinstance(op, LOOPS)]
    rest = (_loops(down[common:]), _loops(up[common:]))
    if any(loop.words.data.run != "seq" for loops in rest for loop in loops):
        return "one thread may write what another has yet to read"
    if not _in_text(down[common], up[common]):
        return "it is read after the result is written"
    if kernel.target == "triton" and load.parent is not store.parent:
        return "a grid's stages are not ordered element by element"
    return _radix(shared, (at, to), rest, symbols)


def _path(kernel: k.FuncOp, op: Operation) -> list[Operation]:
    """The ops from the kernel's block down to `op`."""
    out: list[Operation] = []
    here: Operation | None = op
    while here is not None and here is not kernel:
        out.append(here)
        here = here.parent_op()
    return out[::-1]


def _loops(path: list[Operation]) -> list[Loop]:
    return [op for op in path if isinstance(op, LOOPS)]


def _in_text(first: Operation, last: Operation) -> bool:
    block = first.parent
    return isinstance(block, Block) and last.parent is block and first.is_before_in_block(last)


def _radix(
    shared: list[Loop],
    places: tuple[Expr, Expr],
    rest: tuple[list[Loop], list[Loop]],
    symbols: Ranges,
) -> str:
    """Why iterations of the shared loops may touch one place; empty if they can not."""
    loose = "the places that loops touch are not proved apart"
    atoms = [ex.dim_atom(loop.var.data) for loop in shared]
    steps = [places[0].coeff(a) for a in atoms]
    if steps != [places[1].coeff(a) for a in atoms]:
        return "it is read and written by different maps"
    left: list[Expr] = []
    for place in places:
        outer = sum((s * Expr.of_atom(a) for s, a in zip(steps, atoms, strict=True)), ex.ZERO)
        left.append(place - outer)
        if set(left[-1].vars("d")) & set(atoms):
            return loose
    if any(loop.extent.data.vars("dt") for loop in shared):
        return loose
    extents = [loop.extent.data for loop in shared]
    digits = list(zip(steps, extents, strict=True))
    inner = [_digits(e, loops) for e, loops in zip(left, rest, strict=True)]
    if inner[0] is not None and inner[0] == inner[1]:
        return "" if _apart([*digits, *inner[0][0]], ex.ZERO, symbols) else loose
    ends = [_ends(e, loops, symbols) for e, loops in zip(left, rest, strict=True)]
    if ends[0] is None or ends[1] is None:
        return loose
    (low, high), (low2, high2) = ends[0], ends[1]
    if low != low2:
        return loose
    width = high if symbols.nonneg(high - high2) else high2
    if not symbols.nonneg(width - high) or not symbols.nonneg(width - high2):
        return loose
    return "" if _apart(digits, width - low, symbols) else loose


def _digits(e: Expr, loops: list[Loop]) -> tuple[list[tuple[Expr, Expr]], Expr] | None:
    """Steps and extents of the loops that make up a whole expression, in order, and where it
    begins; None if others do."""
    out: list[tuple[Expr, Expr]] = []
    for loop in loops:
        atom, extent = ex.dim_atom(loop.var.data), loop.extent.data
        step = e.coeff(atom)
        if not step.terms:
            continue
        if extent.vars("dt"):
            return None
        out.append((step, extent))
        e = e - step * Expr.of_atom(atom)
    return None if e.vars("dt") else (sorted(out, key=lambda d: (d[0].key, d[1].key)), e)


def _apart(digits: list[tuple[Expr, Expr]], span: Expr, symbols: Ranges) -> bool:
    """Whether numbers of these digits differ by more than `span` where they differ."""
    todo = [(step, count) for step, count in digits if count.as_int != 1]
    while todo:  # smallest step first
        at = next((i for i, (s, _) in enumerate(todo) if _smallest(s, todo, symbols)), None)
        if at is None:
            return False
        step, count = todo.pop(at)
        if not symbols.nonneg(step - span - 1):
            return False
        span = span + step * (count - 1)
    return True


def _smallest(step: Expr, todo: list[tuple[Expr, Expr]], symbols: Ranges) -> bool:
    return all(symbols.nonneg(other - step) for other, _ in todo)


def _ends(e: Expr, loops: list[Loop], symbols: Ranges) -> tuple[Expr, Expr] | None:
    """The least and the largest value of an expression over its own loops."""
    low = high = e
    names: list[Atom] = [ex.dim_atom(loop.var.data) for loop in loops]
    for atom, loop in zip(reversed(names), reversed(loops), strict=True):
        for one in (low, high):
            if one.coeff(atom).vars("d"):
                return None
        step = high.coeff(atom)
        if not symbols.nonneg(step):
            return None
        low = low.subs({atom: ex.ZERO})
        high = high.subs({atom: loop.extent.data - 1})
    if low.vars("dt") or high.vars("dt"):
        return None
    # functions of a variable need not grow with it
    if any(a.args for mono, _ in e.terms for a in mono if Expr.of_atom(a).vars("d")):
        return None
    return low, high
