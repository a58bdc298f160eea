"""How accesses of a loop walk memory: along it, across it, and how many bytes they move."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from xdsl.ir import Block, Operation

from minductor.dialects import expr as ex
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.kernel import ops as k
from minductor.dialects.types import BufType
from minductor.passes.kernel._tree import Loop, estimate
from minductor.passes.kernel.vectorize import is_strided

Access = k.LoadOp | k.StoreOp


def accesses_of(op: Operation) -> Iterator[Access]:
    """Loads and stores inside an op."""
    for inner in op.walk():
        if isinstance(inner, k.LoadOp | k.StoreOp):
            yield inner


def loads_what_is_there(load: Operation | Block, store: k.StoreOp) -> bool:
    """A load, in every lane, of the very element that a plain store of its block writes."""
    if not isinstance(load, k.LoadOp) or load.parent is not store.parent:
        return False
    if store.combine is not None or load.operands_ or store.operands_:
        return False
    return load.buffer is store.buffer and load.index == store.index


def item_of(op: Access) -> int:
    """Bytes of an element."""
    return cast(BufType, op.buffer.type).scalar_bytes


def across(stages: Iterable[Loop], row: Loop) -> bool:
    """Accesses of all stages lie side by side along the row variable, apart along their own."""
    found = list(stages)
    return bool(found) and all(_prefers(stage, row) for stage in found)


def _prefers(stage: Loop, row: Loop) -> bool:
    own, other = ex.dim_atom(stage.var.data), ex.dim_atom(row.var.data)
    moving = [op for op in accesses_of(stage) if own in op.index.data[0].vars("d")]
    strided = [op for op in moving if is_strided(op, own)]
    return bool(strided) and all(not is_strided(op, other) for op in strided)


def unit(op: Access, loop: Loop) -> bool:
    """An access moves by one element with the loop's variable."""
    index, atom = op.index.data[0], ex.dim_atom(loop.var.data)
    return index.is_linear_in(atom) and index.coeff(atom) is ex.ONE


def apart(loop: Loop) -> int:
    """Distinct loads of a loop whose neighbours are two elements apart or more, but not far."""
    found = {
        (op.buffer, op.index.data[0])
        for op in accesses_of(loop)
        if isinstance(op, k.LoadOp) and not op.index_operands
    }
    return sum(2 <= abs(_step(index, ex.dim_atom(loop.var.data))) <= 16 for _, index in found)


def repeated(loop: Loop) -> int:
    """Distinct loads of a loop that neighbours share: its variable is divided in them."""
    atom = ex.dim_atom(loop.var.data)
    found = {
        (op.buffer, op.index.data[0])
        for op in accesses_of(loop)
        if isinstance(op, k.LoadOp) and not op.index_operands
    }
    return sum(_within(index, atom) for _, index in found)


def _within(index: Expr, atom: Atom) -> bool:
    """A variable occurs in an index under divisions only."""
    divided = [f for f in functions(index) if f.kind == "floordiv" and atom in f.args[0].vars("d")]
    return bool(divided) and not any(atom in mono for mono, _ in index.terms)


def _step(index: Expr, atom: Atom) -> int:
    """How far an index moves with a variable, its lowest digit if it divides it; 0: not known."""
    steps: list[int] = []
    for mono, c in index.terms:
        for part in mono:
            low = part.kind == "mod" and part.args[0].as_atom is atom
            if part is atom or low:
                steps.append(c if len(mono) == 1 else 0)
    return steps[0] if len(steps) == 1 else 0


def footprint(op: Access, chain: Iterable[Loop], hints: Mapping[Atom, int]) -> int:
    """Bytes that an access touches over the loops of a chain, as if each index were another."""
    size, index = item_of(op), op.index.data[0]
    moving = set(index.vars("d"))
    anywhere = bool(index.vars("t"))
    for loop in chain:
        if anywhere or ex.dim_atom(loop.var.data) in moving:
            size *= max(1, estimate(loop.extent.data, hints))
    return size


def bytes_along(loops: Iterable[Loop], atoms: Iterable[Atom]) -> int:
    """Bytes of one step of distinct loads that move along one of the variables."""
    wanted = set(atoms)
    seen: dict[tuple[object, ...], int] = {}
    for loop in loops:
        for op in accesses_of(loop):
            index = op.index.data[0]
            if isinstance(op, k.LoadOp) and wanted & set(index.vars("d")):
                seen[(op.buffer, index)] = item_of(op)
    return sum(seen.values())


def functions(e: Expr) -> Iterator[Atom]:
    """Divisions, rests, minima and maxima in an expression, inner ones too."""
    for mono, _ in e.terms:
        for atom in mono:
            if atom.args:
                yield atom
                for arg in atom.args:
                    yield from functions(arg)
