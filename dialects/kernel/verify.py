"""Verifiers of the ops inside a kernel; each message says the mend."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, Block, Operation
from xdsl.utils.exceptions import VerifyException

from minductor.dialects.attrs import ConfigAttr, ExprAttr, IndexAttr, Words, WordsAttr
from minductor.dialects.expr import Expr
from minductor.dialects.kernel.attrs import AccessAttr, VarAttr
from minductor.dialects.loop.verify import REDUCE_KINDS, SCAN_KINDS, op_exprs
from minductor.dialects.types import BufType

# target -> run words that it has
RUNS = {"cpp": ("seq", "threads"), "triton": ("seq", "grid")}
_TAILS = {"cpp": ("none", "mask", "scalar", "overlap"), "triton": ("none", "mask")}


class FuncVerify(Operation):
    """Whole-kernel rules: variables bound once, symbols declared, words the target has."""

    def verify_(self) -> None:
        props = self.properties
        access = cast(AccessAttr, props["access"]).data
        args = self.regions[0].block.args
        if len(access) != len(args):
            raise VerifyException("one access word (read, write, update) per buffer")
        for arg in args:
            if not isinstance(arg.type, BufType):
                raise VerifyException(f"kernel arguments are flat buffers, not `{arg.type}`")
        symbols = {e.as_atom for e in cast(IndexAttr, props["symbols"]).data}
        target = str(cast(ConfigAttr, props["config"]).lookup("target", "cpp"))
        if target not in RUNS:
            raise VerifyException(f"unknown target `{target}`: one of {', '.join(RUNS)}")
        writable: set[object] = {a for a, kind in zip(args, access, strict=True) if kind != "read"}
        self._walk(self.regions[0].block, set(), symbols, target, writable)

    def _walk(
        self,
        block: Block,
        bound: set[int],
        symbols: set[object],
        target: str,
        writable: set[object],
    ) -> None:
        for op in block.ops:
            for e in op_exprs(op):
                _check_atoms(op, e, bound, symbols)
            if op.name == "kernel.store":
                buffer = op.operands[1]
                if isinstance(buffer.owner, Block) and buffer not in writable:
                    raise VerifyException("store to a `read` buffer; declare it write or update")
            inner = bound
            var = op.properties.get("var")
            if isinstance(var, VarAttr):
                if var.data in bound:
                    raise VerifyException(f"d{var.data} is bound by a loop around; rename it")
                inner = bound | {var.data}
                _check_words(cast(WordsAttr, op.properties["words"]).data, target)
            over = op.properties.get("over")
            if isinstance(over, VarAttr) and over.data not in _tiles_around(op):
                raise VerifyException(f"`{op.name}` over d{over.data} is not inside its tile")
            for region in op.regions:
                self._walk(region.block, inner, symbols, target, writable)


def _tiles_around(op: Operation) -> set[int]:
    out: set[int] = set()
    parent = op.parent_op()
    while parent is not None:
        if parent.name in ("kernel.tile", "kernel.parallel", "kernel.reduce"):
            out.add(cast(VarAttr, parent.properties["var"]).data)
        parent = parent.parent_op()
    return out


def _check_atoms(op: Operation, e: Expr, bound: set[int], symbols: set[object]) -> None:
    for atom in e.vars("dsu"):
        if atom.kind == "d" and atom.index not in bound:
            raise VerifyException(f"`{op.name}` uses {atom!r}, which no loop around binds")
        if atom.kind != "d" and atom not in symbols:
            raise VerifyException(f"`{op.name}` uses {atom!r}; declare it in the symbol list")


def _check_words(words: Words, target: str) -> None:
    if words.run not in RUNS[target]:
        raise VerifyException(
            f"target {target} has no `run {words.run}`: one of {', '.join(RUNS[target])}"
        )
    if words.tail not in _TAILS[target]:
        raise VerifyException(f"target {target} has no `tail {words.tail}`")
    if words.lanes < 1 or words.lanes & (words.lanes - 1):
        raise VerifyException(f"lanes {words.lanes} is not a power of two")
    if words.unroll < 1:
        raise VerifyException("unroll is at least 1")


class LoopVerify(Operation):
    """Regions of loops and scans end as their kind needs."""

    def verify_(self) -> None:
        if self.name != "kernel.scan":
            return
        kinds = [k.data for k in cast(ArrayAttr[StringAttr], self.properties["kinds"])]
        for kind in kinds:
            if kind not in SCAN_KINDS:
                raise VerifyException(f"unknown scan kind `{kind}`: one of {', '.join(SCAN_KINDS)}")
        prefix = [a.type for a in self.regions[1].block.args]
        _check_yield(self, kinds, SCAN_KINDS, prefix)


class ReduceVerify(Operation):
    """Kinds, yielded operands and results of a reduction loop."""

    def verify_(self) -> None:
        kinds = [k.data for k in cast(ArrayAttr[StringAttr], self.properties["kinds"])]
        for kind in kinds:
            if kind not in REDUCE_KINDS:
                raise VerifyException(
                    f"unknown reduction kind `{kind}`: one of {', '.join(REDUCE_KINDS)}"
                )
        _check_yield(self, kinds, REDUCE_KINDS, [r.type for r in self.results])


def _check_yield(
    op: Operation, kinds: list[str], table: dict[str, tuple[int, int]], types: list[Attribute]
) -> None:
    last = op.regions[0].block.last_op
    if last is None or last.name != "kernel.yield":
        raise VerifyException(f"the body of `{op.name}` must end with kernel.yield")
    want_in = sum(table[k][0] for k in kinds)
    want_out = sum(table[k][1] for k in kinds)
    if len(last.operands) != want_in or len(types) != want_out:
        raise VerifyException(
            f"[{', '.join(kinds)}] takes {want_in} yielded values and gives {want_out}; "
            f"{len(last.operands)} yielded, {len(types)} results"
        )


class FoldVerify(Operation):
    """The fold's kind is known."""

    def verify_(self) -> None:
        kind = cast(StringAttr, self.properties["kind"]).data
        table = SCAN_KINDS if self.name == "kernel.cumfold" else REDUCE_KINDS
        if self.name != "kernel.dot" and kind not in table:
            raise VerifyException(f"unknown kind `{kind}`: one of {', '.join(table)}")


class AccessVerify(Operation):
    """One flat index; the element type matches; `by` is known."""

    def verify_(self) -> None:
        store = self.name == "kernel.store"
        value = self.operands[0] if store else self.results[0]
        buffer = self.operands[1 if store else 0]
        type_ = buffer.type
        if not isinstance(type_, BufType):
            raise VerifyException(f"`{self.name}` accesses a buffer, not `{type_}`")
        if len(cast(IndexAttr, self.properties["index"]).data) != 1:
            raise VerifyException("a kernel access has one flat index")
        if value.type != type_.scalar:
            raise VerifyException(f"elements are `{type_.scalar}`, not `{value.type}`; cast")
        by = self.properties.get("by")
        if isinstance(by, StringAttr) and by.data not in ("atomic", "owner"):
            raise VerifyException('`by` is "atomic" or "owner"')


def extent_of(op: Operation) -> Expr:
    """The extent of a loop."""
    return cast(ExprAttr, op.properties["extent"]).data
