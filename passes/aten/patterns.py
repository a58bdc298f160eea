"""Applies rewrites that a user gives as pairs of functions.

    before, with the pattern  @before(%x) = mul(sigmoid(%x), %x)   @after(%x) = silu(%x):
      %a = aten.sigmoid.default(%y) : !aten.t<f32[4, 8]>
      %b = aten.mul.Tensor(%y, %a) : !aten.t<f32[4, 8]>
    after:
      %b = aten.silu.default(%y) : !aten.t<f32[4, 8]>

Patterns come with the compile (`options={"patterns": ..}`, docs/patterns.md) or from the file that
the option `file` names. They are tried in order, each at every op that may end it. A place where
the ops fit and the rewrite is refused gives a remark with the reason: a dtype, a shape, a value
inside that is used elsewhere too, storage that is shared or overwritten, a guard that said no.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from minductor.dialects.aten import AtenOp
from minductor.dialects.attrs import SymbolsAttr
from minductor.dialects.expr_simplify import Ranges
from minductor.passes.aten._aliases import root
from minductor.passes.aten._matcher import Match, Miss, build, checked, fits
from minductor.passes.aten._pattern import Pattern, PatternError, Template, read_patterns
from minductor.passes.aten._rewriter import Ops, Rewriter, functions, fuse_locations
from minductor.passes.aten.dce import drop_dead
from minductor.passes.base import MiniPass
from minductor.passes.logs import logs_of
from minductor.passes.remarks import RemarkSink, sink_of


@dataclass(frozen=True)
class AtenPatternsPass(MiniPass):
    """Applies rewrites that a user gives as pairs of functions.

    file: a file of patterns, tried after those of the compile.
    """

    name = "aten-patterns"
    needs: ClassVar[frozenset[str]] = frozenset({"aten"})

    file: str | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        given: Sequence[Pattern] = getattr(ctx, "patterns", ())
        if not given and self.file is None:
            return
        templates = [t for p in given for t in read_patterns(ctx, p.text, p.name, p.guard)]
        if self.file is not None:
            templates += _of_file(ctx, Path(self.file))
        sink, logs = sink_of(ctx), logs_of(ctx)
        told = RemarkSink()
        for func in functions(op):
            for template in templates:
                _Applier(func, self.name, told).run(template)
            drop_dead(func.body.block)
        for remark in told.remarks:
            sink.emit(remark)
            logs.log("patterns", str(remark))


def _of_file(ctx: Context, path: Path) -> list[Template]:
    try:
        text = path.read_text()
    except OSError as error:
        raise PatternError(f"patterns of {path}: {error.strerror}") from None
    return read_patterns(ctx, text, path.stem)


class _Applier:
    """Applies patterns to one function."""

    def __init__(self, func: FuncOp, pass_name: str, sink: RemarkSink) -> None:
        self.block = func.body.block
        self.pass_name = pass_name
        self.sink = sink
        self.rewriter = Rewriter(self.block, pass_name, sink)
        symbols = func.attributes.get("symbols")
        self.ranges = symbols.ranges() if isinstance(symbols, SymbolsAttr) else Ranges()

    def run(self, template: Template) -> None:
        """Try a pattern at every op that may give its first result."""
        anchor = template.anchor.name
        for op in list(self.block.ops):
            # a match removes ops that stand further on
            if op.name == anchor and op.parent is self.block:
                self._at(template, op)

    def _at(self, template: Template, op: Operation) -> None:
        reason: str | None = None
        where = _subject(template, op)
        for state in fits(template, op):
            try:
                match = checked(template, state, self.ranges)
                before = len(match.ops)
                count = self._apply(template, match)
            except Miss as miss:
                reason = reason or str(miss)
                continue
            self.sink.accepted(self.pass_name, where, f"{before} ops became {count}")
            return
        if reason is not None:
            self.sink.refused(self.pass_name, where, reason)

    def _apply(self, template: Template, match: Match) -> int:
        """Put the ops of `after` in; how many they are. Raises Miss."""
        fitting = set(match.ops.values())
        found = [one for one in self.block.ops if one in fitting]
        roots = [match.values[v] for v in template.outputs]
        first = next(op for op in found if any(r.owner is op for r in roots))
        self._in_time(match, first)
        ops, values = build(template, match)
        new = Ops(tuple(ops), tuple(values))
        reason = self.rewriter.why_not(roots, new)
        if reason is not None:
            for op in reversed(ops):
                op.erase()
            raise Miss(reason)
        self._replace(first, found, roots, new)
        return sum(isinstance(op, AtenOp) for op in ops)

    def _in_time(self, match: Match, first: Operation) -> None:
        """All operands stand before the place, and none is overwritten before it."""
        for value in match.arguments.values():
            if not isinstance(value, SSAValue):
                continue
            owner = value.owner
            if isinstance(owner, Operation) and not owner.is_before_in_block(first):
                name = value.name_hint
                raise Miss(f"%{name} is computed after the first result of the pattern")
            write = self.rewriter.aliases.writes.get(root(value))
            if write is not None and write.is_before_in_block(first):
                raise Miss(f"the storage of %{value.name_hint} is overwritten before")

    def _replace(
        self, first: Operation, found: list[Operation], roots: list[SSAValue], new: Ops
    ) -> None:
        location = found[0].location
        for op in found[1:]:
            location = fuse_locations(location, op.location)
        assert isinstance(first, AtenOp)
        for op in new.ops:
            self.rewriter.place(first, op)
            op.location = location
        for old, value in zip(roots, new.values, strict=True):
            assert value is not None
            self.rewriter.aliases.replaced(old, value)
            value.name_hint, old.name_hint = old.name_hint or value.name_hint, None
            old.replace_all_uses_with(value)
        for op in reversed(found):
            if not any(result.first_use for result in op.results):
                op.detach()
                op.erase()


def _subject(template: Template, op: Operation) -> str:
    hint = op.results[0].name_hint
    return f"{template.name} at %{hint}" if hint else f"{template.name} at {op.name}"
