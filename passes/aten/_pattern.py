"""A pattern: two functions of `aten` ops with the same arguments and results.

    builtin.module @double {
      func.func @before(%x: !aten.t<f32[s0]>) -> !aten.t<f32[s0]> {..}
      func.func @after(%x: !aten.t<f32[s0]>) -> !aten.t<f32[s0]> {..}
    }

A file holds one pair, or a module of a name for each pattern. Size symbols stand for any sizes that
the facts on the function allow; arguments `!aten.float` and `!aten.int<s0>` for any number. The
device is that of the place where the pattern fits. Both functions are put into the form that a
graph has when patterns are tried (`passes/pipelines.py`: CANONICAL).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from minductor.dialects.aten import AtenOp, ConstantOp, ScalarOp, is_pure
from minductor.dialects.aten.symbols import used_symbols
from minductor.dialects.aten.verify import type_symbols
from minductor.dialects.attrs import Known, SymbolsAttr
from minductor.dialects.types import IntType

MOST_OPS = 200
"""Ops of one function of a pattern: the matcher goes as deep."""

Guard = Callable[[Any], "bool | str"]


class PatternError(ValueError):
    """The text of a pattern cannot be used, with the reason."""


@dataclass(frozen=True)
class Pattern:
    """A rewrite that is given to a compile: `text` holds `before` and `after`.

    `guard` is asked with a `Match` (`_matcher.py`) before a rewrite: True, False, or a reason why
    not. `guard_key` says what the guard is, for the cache.
    """

    name: str
    text: str
    guard: Guard | None = None
    guard_key: str = ""

    @property
    def key(self) -> str:
        """All that decides what the pattern does."""
        return f"{self.name}\n{self.text}\n{self.guard_key}"


@dataclass(frozen=True)
class Template:
    """A checked pattern, as functions."""

    name: str
    before: FuncOp
    after: FuncOp
    known: Known
    guard: Guard | None = None

    @property
    def outputs(self) -> Sequence[SSAValue]:
        """What `before` gives."""
        return returned(self.before)

    @property
    def anchor(self) -> Operation:
        """The op of `before` that is looked for first."""
        owner = self.outputs[0].owner
        assert isinstance(owner, Operation)
        return owner

    @property
    def size(self) -> int:
        """Ops of `before` that compute."""
        return sum(isinstance(op, AtenOp) for op in self.before.body.block.ops)


def returned(func: FuncOp) -> Sequence[SSAValue]:
    """The results of a function, as values of its body."""
    last = func.body.block.last_op
    assert isinstance(last, ReturnOp)
    return last.operands


def read_patterns(ctx: Context, text: str, name: str, guard: Guard | None = None) -> list[Template]:
    """The patterns of a text; `name` is that of a pair without one. Raises PatternError."""
    try:
        module = Parser(ctx.clone(), text, name).parse_module()
        module.verify()
    except (ParseError, VerifyException) as error:
        raise PatternError(f"pattern '{name}': {str(error).strip()[:400]}") from None
    out = [_template(ctx, *pair, guard) for pair in _pairs(module, name)]
    if not out:
        raise PatternError(f"pattern '{name}': no functions @before and @after")
    return out


def _pairs(module: ModuleOp, name: str) -> Iterator[tuple[str, FuncOp, FuncOp]]:
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    if functions:
        if functions.keys() != {"before", "after"}:
            given = ", ".join(f"@{one}" for one in functions)
            raise PatternError(f"pattern '{name}' has @before and @after, not {given}")
        yield name, functions["before"], functions["after"]
    for op in module.ops:
        if isinstance(op, ModuleOp):
            label = op.sym_name.data if op.sym_name is not None else name
            yield from _pairs(op, label)


def _template(
    ctx: Context, name: str, before: FuncOp, after: FuncOp, guard: Guard | None
) -> Template:
    before, after = (_canonical(ctx, one) for one in (before, after))
    symbols = before.attributes.get("symbols")
    known = symbols.data if isinstance(symbols, SymbolsAttr) else Known()
    why = _types_differ(before, after) or _not_a_pattern(before, after)
    if why is not None:
        raise PatternError(f"pattern '{name}': {why}")
    return Template(name, before, after, known, guard)


def _canonical(ctx: Context, func: FuncOp) -> FuncOp:
    from minductor.passes.context import MiniContext
    from minductor.passes.manager import PassManager
    from minductor.passes.pipelines import CANONICAL, build_pipeline

    copy = func.clone()
    silent = MiniContext()
    silent.remarks.enabled = False
    PassManager(build_pipeline(",".join(CANONICAL))).run(silent, ModuleOp([copy]))
    copy.detach()
    return copy


def _types_differ(before: FuncOp, after: FuncOp) -> str | None:
    for kind, a, b in (
        ("arguments", before.body.block.arg_types, after.body.block.arg_types),
        ("results", _types(returned(before)), _types(returned(after))),
    ):
        if list(a) != list(b):
            return f"the {kind} of before are {_text(a)}, of after {_text(b)}"
    return None


def _types(values: Sequence[SSAValue]) -> list[Attribute]:
    return [v.type for v in values]


def _text(types: Sequence[Attribute]) -> str:
    return f"({', '.join(map(str, types))})"


def _not_a_pattern(before: FuncOp, after: FuncOp) -> str | None:
    for func in (before, after):
        ops = list(func.body.block.ops)
        if len(ops) > MOST_OPS:
            return f"more than {MOST_OPS} ops"
        for op in ops:
            if isinstance(op, ReturnOp):
                continue
            if not isinstance(op, AtenOp | ScalarOp | ConstantOp):
                return f"an op of another kind than a call: {op.name}"
            if not is_pure(op):
                return f"{op.name} draws random numbers, writes into an operand or has an effect"
    outputs = returned(before)
    if not outputs or any(isinstance(v, BlockArgument) for v in outputs):
        return "each result of before is computed by an op"
    if any(not isinstance(v.owner, AtenOp) for v in outputs) or len(set(outputs)) < len(outputs):
        return "each result of before is computed, by an op of its own"
    return _unknown(before.body.block, after.body.block)


def _unknown(before: Block, after: Block) -> str | None:
    """What `after` needs and a match of `before` would not give."""
    for mine, theirs in zip(before.args, after.args, strict=True):
        if not isinstance(mine.type, IntType) and theirs.first_use and not mine.first_use:
            return f"after uses %{theirs.name_hint}, which before does not"
    given = {atom for arg in before.args if arg.first_use for atom in type_symbols(arg.type)}
    given |= used_symbols(before)
    for atom in sorted(used_symbols(after) - given, key=repr):
        return f"after uses the size {atom!r}, which before does not give"
    return None
