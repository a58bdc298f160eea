"""Finds the ops that a pattern's `before` describes, and builds its `after` there.

The search goes from the first result of `before` to operands, both orders of a commutative op, and
from what is found to users where `before` has more results. It looks at ops and arguments first;
types, sizes, facts, other uses and the guard are asked of a find, so that a refusal has one reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Block, Operation, OpResult, SSAValue

from minductor.dialects.aten import AtenOp, Commutative, ConstantOp, ScalarOp
from minductor.dialects.aten.ops import CustomOp
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr import floordiv as _floordiv
from minductor.dialects.expr_facts import Fact, implied
from minductor.dialects.expr_prove import prove_nonneg
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.pyattrs import DeviceAttr
from minductor.dialects.types import FloatType, IntType, TensorType
from minductor.passes.aten._pattern import Template

MOST_FINDS = 64
"""Ways in which ops may fit at one place, before the search gives up."""


class Miss(Exception):
    """Ops fit, but the pattern may not be applied; the reason."""


@dataclass
class State:
    """What is known of a fit so far."""

    values: dict[SSAValue, Any] = field(default_factory=dict[SSAValue, Any])
    ops: dict[Operation, Operation] = field(default_factory=dict[Operation, Operation])
    exprs: list[tuple[Expr, Any]] = field(default_factory=list[tuple[Expr, Any]])
    devices: list[str] = field(default_factory=list[str])

    def copy(self) -> State:
        """Another one to go on with."""
        return State(dict(self.values), dict(self.ops), list(self.exprs), list(self.devices))


@dataclass
class Match:
    """A fit, as a guard sees it: ask by the names of the pattern's arguments."""

    arguments: dict[str, Any]
    values: dict[SSAValue, Any]
    ops: dict[Operation, Operation]
    symbols: dict[Atom, Expr] = field(default_factory=dict[Atom, Expr])
    device: str | None = None

    def shape(self, name: str) -> tuple[int | Expr, ...]:
        """Sizes of a tensor argument; numbers where they are known."""
        return tuple(n if n.as_int is None else n.as_int for n in self._type(name).sizes)

    def strides(self, name: str) -> tuple[int | Expr, ...]:
        """Strides of a tensor argument, in elements."""
        return tuple(n if n.as_int is None else n.as_int for n in self._type(name).strides)

    def dtype(self, name: str) -> str:
        """Short name of a tensor argument's dtype: `f32`."""
        return self._type(name).dtype

    def number(self, name: str) -> int | float | Expr | None:
        """The number that an argument stands for; None when it is known at run time only."""
        value = self.arguments[name]
        return value if isinstance(value, int | float | Expr) else None

    def _type(self, name: str) -> TensorType:
        value = self.arguments[name]
        if not isinstance(value, SSAValue) or not isinstance(value.type, TensorType):
            raise KeyError(f"the argument {name} is not a tensor")
        return value.type


# -- the search -----------------------------------------------------------------------------------
Goal = tuple[Any, Any]


def fits(template: Template, root: Operation) -> Iterator[State]:
    """The ways in which ops around `root` have the form of `before`."""
    first = template.outputs[0]
    assert isinstance(first, OpResult)
    if first.index >= len(root.results):
        return
    goals: list[Goal] = [(first, root.results[first.index])]
    yield from islice(_solve(template, State(), goals), MOST_FINDS)


def _solve(template: Template, state: State, goals: list[Goal]) -> Iterator[State]:
    while goals:
        want, have = goals.pop()
        if not isinstance(want, SSAValue):
            if not _same_argument(state, want, have):
                return
            continue
        if want in state.values:
            if not _same(state.values[want], have):
                return
            continue
        if isinstance(want.owner, Block):
            state.values[want] = have
            continue
        ways = _ways(state, want, have)
        if len(ways) != 1:
            for way in ways:
                yield from _solve(template, state.copy(), [*goals, *way])
            return
        goals.extend(ways[0])
    more = _next_output(template, state)
    if more is None:
        yield state
        return
    for goal in more:
        yield from _solve(template, state.copy(), [goal])


def _ways(state: State, want: SSAValue, have: Any) -> list[list[Goal]]:
    """What has to fit for `have` to be `want`, in each order of the operands; empty when not."""
    if not isinstance(have, OpResult) or not isinstance(want, OpResult):
        return []
    mine, theirs = want.op, have.op
    if mine.name != theirs.name or want.index != have.index:
        return []
    if len(mine.results) != len(theirs.results):
        return []
    if theirs in state.ops.values():
        return []
    if isinstance(mine, ConstantOp) and isinstance(theirs, ConstantOp):
        goals = [[]] if mine.values == theirs.values else []
    elif isinstance(mine, AtenOp) and isinstance(theirs, AtenOp):
        goals = _argument_goals(mine, theirs)
    else:
        return []
    state.ops[mine] = theirs
    state.values.update(zip(mine.results, theirs.results, strict=True))
    return goals


def _argument_goals(mine: AtenOp, theirs: AtenOp) -> list[list[Goal]]:
    if isinstance(mine, CustomOp) and mine.declaration != theirs.properties.get("declaration"):
        return []
    a, b = mine.bind(), theirs.bind()
    pairs: list[Goal] = []
    for name, want in a.items():
        have = b[name]
        if isinstance(want, list):
            if not isinstance(have, list) or len(want) != len(have):
                return []
            pairs.extend(zip(want, have, strict=True))
        else:
            pairs.append((want, have))
    ways = [pairs]
    if mine.has_trait(Commutative) and a.get("alpha", 1) == 1:
        (first, x), (second, y), *rest = pairs
        ways.append([(first, y), (second, x), *rest])
    return ways


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, SSAValue) or isinstance(b, SSAValue):
        return a is b
    return type(a) is type(b) and repr(a) == repr(b)


def _same_argument(state: State, want: Any, have: Any) -> bool:
    """Arguments that are no tensors; sizes are compared once the symbols are known."""
    if isinstance(want, Expr) or isinstance(have, Expr):
        if isinstance(have, int | Expr) and isinstance(want, int | Expr):
            state.exprs.append((Expr.of(want), have))
            return not (isinstance(want, bool) or isinstance(have, bool))
        return False
    if isinstance(want, DeviceAttr) and isinstance(have, DeviceAttr):
        state.devices.append(have.data)
        return True
    if isinstance(want, ArrayAttr):
        return want == have
    return _same(want, have)


def _next_output(template: Template, state: State) -> list[Goal] | None:
    """Places for the next op of `before` that is not found yet; None when all are."""
    missing = [op for op in _computing(template) if op not in state.ops]
    if not missing:
        return None
    for mine in missing:
        for operand in mine.operands:
            have = state.values.get(operand)
            if isinstance(have, SSAValue):
                uses = sorted(have.uses, key=lambda use: use.index)
                users = [use.operation for use in uses if use.operation.name == mine.name]
                return [
                    (mine.results[0], user.results[0])
                    for user in dict.fromkeys(users)
                    if user.results
                ]
    return []


def _computing(template: Template) -> Iterator[AtenOp]:
    for op in template.before.body.block.ops:
        if isinstance(op, AtenOp):
            yield op


# -- types and facts ------------------------------------------------------------------------------
class _Unifier:
    def __init__(self, ranges: Ranges) -> None:
        self.symbols: dict[Atom, Expr] = {}
        self.later: list[tuple[Expr, Expr, str]] = []
        self.device: str | None = None
        self.ranges = ranges

    def value(self, want: SSAValue, have: Any) -> None:
        """Raises Miss when the type of `have` is not as the pattern's."""
        name = f"%{want.name_hint}" if want.name_hint else f"the result of {want.owner.name}"  # pyright: ignore
        if isinstance(want.type, TensorType):
            if not isinstance(have, SSAValue) or not isinstance(have.type, TensorType):
                raise Miss(f"{name} is a number, the pattern has a tensor there")
            self.tensor(want.type, have.type, name)
        elif isinstance(want.type, FloatType):
            number = isinstance(have, int | float | Expr) and not isinstance(have, bool)
            if not number and not (
                isinstance(have, SSAValue) and isinstance(have.type, FloatType | IntType)
            ):
                raise Miss(f"{name} is a number in the pattern")

    def tensor(self, want: TensorType, have: TensorType, name: str) -> None:
        """Unify two tensor types."""
        if want.dtype != have.dtype:
            raise Miss(f"{name} is {have.dtype}, the pattern has {want.dtype}")
        if want.rank != have.rank:
            raise Miss(f"{name} has {have.rank} dimensions, the pattern {want.rank}")
        self.on_device(have.device)
        for a, b in zip(want.sizes, have.sizes, strict=True):
            self.expr(a, b, f"{name} has the sizes {_list(have.sizes)}, {_list(want.sizes)}")
        for a, b in zip(want.strides, have.strides, strict=True):
            self.expr(a, b, f"{name} has the strides {_list(have.strides)}, {_list(want.strides)}")

    def on_device(self, device: str) -> None:
        """All tensors of a fit lie on one device."""
        if self.device not in (None, device):
            raise Miss(f"its tensors lie on {self.device} and on {device}")
        self.device = device

    def expr(self, want: Expr, have: Expr, where: str) -> None:
        """Unify two sizes."""
        atom = want.as_atom
        if atom is not None and atom.is_var and atom not in self.symbols:
            self.symbols[atom] = have
        else:
            self.later.append((want, have, where))

    def finish(self, template: Template) -> None:
        """Compare what was put off; prove what the pattern takes for granted."""
        for want, have, where in self.later:
            if any(atom not in self.symbols for atom in want.vars()):
                raise Miss(f"{where} leaves a size of the pattern open")
            if want.subs(self.symbols) is not have:
                raise Miss(f"{where} in the pattern")
        for fact in _facts(template):
            if any(atom not in self.symbols for atom in fact.expr.vars()):
                continue
            here = Fact(fact.kind, fact.expr.subs(self.symbols))
            if not _holds(self.ranges, here):
                raise Miss(f"the pattern needs {fact.text()}, here {here.text()}")


def _facts(template: Template) -> Iterator[Fact]:
    for s in template.known.symbols:
        e = Expr.of_atom(s.atom)
        if s.lo is not None:
            yield Fact("nonneg", e - s.lo)
        if s.hi is not None:
            yield Fact("nonneg", s.hi - e)
        if s.multiple != 1:
            yield Fact("zero", e - s.multiple * _floordiv(e, s.multiple))
    yield from template.known.facts


def _holds(ranges: Ranges, fact: Fact) -> bool:
    value = fact.expr.as_int
    if value is not None:
        return {"nonneg": value >= 0, "zero": value == 0, "nonzero": value != 0}[fact.kind]
    return implied(ranges, fact) or (fact.kind == "nonneg" and prove_nonneg(ranges, fact.expr))


def _list(sizes: tuple[Expr, ...]) -> str:
    return f"[{', '.join(map(str, sizes))}]"


def checked(template: Template, state: State, ranges: Ranges) -> Match:
    """The fit with types, sizes, uses and guard asked. Raises Miss."""
    unifier = _Unifier(ranges)
    args = template.before.body.block.args
    for arg in args:
        if arg in state.values:
            unifier.value(arg, state.values[arg])
    for want, have in state.exprs:
        unifier.expr(want, Expr.of(have), f"an argument is {have}, {want}")
    for want, have in state.values.items():
        if not isinstance(want.owner, Block):
            unifier.value(want, have)
    for device in state.devices:
        unifier.on_device(device)
    unifier.finish(template)
    _alone(template, state)
    named: dict[str, Any] = {}
    for arg in args:
        value = state.values.get(arg)
        if isinstance(arg.type, IntType):
            value = arg.type.data.subs(unifier.symbols)
            value = value if value.as_int is None else value.as_int
        named[arg.name_hint or f"arg{arg.index}"] = value
    match = Match(named, state.values, state.ops, unifier.symbols, unifier.device)
    _ask(template, match)
    return match


def _alone(template: Template, state: State) -> None:
    """Nobody else uses what the pattern does not give."""
    mine = set(state.ops.values())
    given = {state.values[v] for v in template.outputs}
    for op in state.ops.values():
        for result in op.results:
            if result in given:
                continue
            for use in result.uses:
                if use.operation not in mine:
                    name = f"%{result.name_hint}" if result.name_hint else f"a result of {op.name}"
                    raise Miss(f"{name} inside is used elsewhere too, by {use.operation.name}")


def _ask(template: Template, match: Match) -> None:
    if template.guard is None:
        return
    answer = template.guard(match)
    if answer is not True:
        raise Miss(f"the guard says: {answer}" if isinstance(answer, str) else "the guard said no")


# -- the other side -------------------------------------------------------------------------------
def build(template: Template, match: Match) -> tuple[list[Operation], list[SSAValue]]:
    """The ops of `after` at the fit, and its results."""
    env: dict[SSAValue, Any] = {}
    ops: list[Operation] = []
    pairs = zip(template.after.body.block.args, template.before.body.block.args, strict=True)
    for theirs, mine in pairs:
        env[theirs] = match.values.get(mine)
    for op in template.after.body.block.ops:
        if isinstance(op, AtenOp):
            made = _instance(op, match, env, ops)
        elif isinstance(op, ConstantOp):
            made = ConstantOp.create(
                properties=op.properties, result_types=[_typed(op.result.type, match)]
            )
        else:
            continue
        ops.append(made)
        env.update(zip(op.results, made.results, strict=True))
    last = template.after.body.block.last_op
    assert last is not None
    return ops, [env[v] for v in last.operands]


def _typed(type_: Any, match: Match) -> Any:
    if not isinstance(type_, TensorType):
        return type_
    return TensorType.make(
        type_.dtype,
        [n.subs(match.symbols) for n in type_.sizes],
        [n.subs(match.symbols) for n in type_.strides],
        match.device or type_.device,
    )


def _instance(
    op: AtenOp, match: Match, env: dict[SSAValue, Any], ops: list[Operation]
) -> Operation:
    def value(one: Any, tensor: bool) -> Any:
        if isinstance(one, list):
            return [value(each, tensor) for each in one]
        if isinstance(one, SSAValue):
            one = env[one]
        elif isinstance(one, Expr):
            one = one.subs(match.symbols)
            one = one if one.as_int is None else one.as_int
        elif isinstance(one, DeviceAttr) and match.device is not None:
            return DeviceAttr(match.device)
        if tensor and isinstance(one, int | float | complex | Expr):
            ops.append(ScalarOp.of(one))
            return ops[-1].results[0]
        return one

    args = {name: value(one, op.schema.by_name[name].is_tensor) for name, one in op.bind().items()}
    types = [_typed(r.type, match) for r in op.results]
    schema = op.schema.text if isinstance(op, CustomOp) else None
    made = AtenOp.make(op.overload, args, types, schema=schema)
    for old, new in zip(op.results, made.results, strict=True):
        new.name_hint = old.name_hint
    return made
