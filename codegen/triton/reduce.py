"""Reductions in Triton: identities, combine functions, folds of a block axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from minductor.codegen.triton.scope import TYPES, Axis, EmitError, Scope
from minductor.dialects.dtypes import DTYPES
from minductor.dialects.expr import Atom

ARITY = {"argmin": 2, "argmax": 2, "cummin": 2, "cummax": 2}
RESULTS = {"argmin": 2, "argmax": 2, "welford": 3, "max_sumexp": 2}


@dataclass(frozen=True)
class Part:
    """One reduction of a loop or fold: its kind, operand dtypes, the names of its contributions."""

    kind: str
    dtypes: tuple[str, ...]
    values: tuple[str, ...]

    def states(self) -> tuple[str, ...]:
        """Dtypes of the accumulators."""
        return self.dtypes if self.kind in ARITY else self.dtypes * RESULTS.get(self.kind, 1)

    def identity(self) -> list[str]:
        """Start values, as Python text."""
        dtype = self.dtypes[0]
        match self.kind:
            case "add" | "any" | "xor":
                return ["0"]
            case "mul" | "all":
                return ["1"]
            case "max" | "argmax" | "cummax":
                return [_lowest(dtype), *self._far()]
            case "min" | "argmin" | "cummin":
                return [_highest(dtype), *self._far()]
            case "logaddexp":
                return [_lowest(dtype)]
            case "welford":
                return ["0", "0", "0"]
            case "max_sumexp":
                return [_lowest(dtype), "0"]
            case _:
                raise EmitError(f"the reduction `{self.kind}` has no Triton form")

    def _far(self) -> list[str]:
        """The index of an identity: argmin, argmax prefer small ones, cummax, cummin large."""
        return {"arg": [str(2**63 - 1)], "cum": ["-1"]}.get(self.kind[:3], [])

    def combine(self) -> str:
        """The combine function."""
        name = {"any": "or", "all": "and"}.get(self.kind, self.kind)
        if self.dtypes[0] == "bool":
            name = {"max": "or", "min": "and", "add": "or", "mul": "and"}.get(name, name)
        return f"mi_c_{name}"


def _lowest(dtype: str) -> str:
    row = DTYPES[dtype]
    if row.is_float:
        return 'float("-inf")'
    return "0" if row.kind in ("uint", "bool") else str(-(2 ** (8 * row.size - 1)))


def _highest(dtype: str) -> str:
    row = DTYPES[dtype]
    if row.is_float:
        return 'float("inf")'
    if row.kind == "bool":
        return "1"
    return str(2 ** (8 * row.size - (row.kind == "int")) - 1)


def lifted(scope: Scope, part: Part, shape: str, masks: Sequence[str]) -> list[str]:
    """Contributions as states of full shape, dead lanes as the identity."""
    identity = part.identity()
    # a state that does not come from a contribution starts at a constant
    starts = {"welford": ("", "0.0", "1.0"), "max_sumexp": ("", "1.0")}.get(part.kind)
    out: list[str] = []
    for i, dtype in enumerate(part.states()):
        if starts is not None and starts[i]:
            text = f"tl.full({shape}, {starts[i]}, {TYPES[dtype]})"
        else:
            text = f"tl.broadcast_to({part.values[i]}, {shape})"
        name = scope.names.fresh("part")
        if masks:
            text = f"tl.where({' & '.join(masks)}, {text}, {identity[i]}).to({TYPES[dtype]})"
        scope.line(f"{name} = {text}")
        out.append(name)
    return out


def fold(scope: Scope, part: Part, states: Sequence[str], position: int) -> list[str]:
    """Collapse a block axis; the results keep the axis with size 1."""
    names = [scope.names.fresh("fold") for _ in states]
    left = ", ".join(names)
    simple = part.kind == "add" and part.dtypes[0] != "bool"
    if simple:
        scope.line(f"{left} = tl.sum({states[0]}, axis={position}, keep_dims=True)")
        scope.line(f"{left} = {left}.to({TYPES[part.dtypes[0]]})")
    elif len(states) == 1:
        state = states[0]
        if part.dtypes[0] == "bool":
            state = f"{state}.to(tl.int32)"
        text = f"tl.reduce({state}, {position}, {part.combine()}, keep_dims=True)"
        scope.line(f"{left} = ({text}).to({TYPES[part.dtypes[0]]})")
    else:
        packed = ", ".join(states)
        text = f"tl.reduce(({packed}), {position}, {part.combine()}, keep_dims=True)"
        scope.line(f"{left} = {text}")
    return names


def moments(
    scope: Scope, part: Part, acc: Sequence[str], shape: str, masks: Sequence[str], turn: str
) -> None:
    """One more element for the mean and squares of each lane: all have as many, `turn` so far."""
    mean, squares, count = acc
    dtype = TYPES[part.dtypes[0]]
    seen, off, to = (scope.names.fresh(n) for n in ("seen", "off", "to"))
    scope.line(f"{seen} = ({turn} + 1) * 1.0" if turn != "0" else f"{seen} = 1.0")
    scope.line(f"{off} = {part.values[0]} - {mean}")
    scope.line(f"{to} = {mean} + {off} * (1.0 / {seen})")
    gain = f"{off} * ({part.values[0]} - {to})"
    if masks:
        alive = " & ".join(masks)
        full = f"tl.full({shape}, 0, {dtype}) + {seen}"
        scope.line(f"{squares} = tl.where({alive}, {squares} + {gain}, {squares})")
        scope.line(f"{mean} = tl.where({alive}, {to}, {mean})")
        scope.line(f"{count} = tl.where({alive}, {full}, {count})")
    else:
        scope.line(f"{squares} = {squares} + {gain}")
        scope.line(f"{mean} = tl.broadcast_to({to}, {shape})")
        scope.line(f"{count} = tl.full({shape}, 0, {dtype}) + {seen}")


def gather(scope: Scope, parts: Sequence[Part], acc: Sequence[str], shape: str, turn: str) -> None:
    """Several elements of each lane into its accumulators, `turn` times as many having been so."""
    kind, values = parts[0].kind, [p.values[0] for p in parts]
    if kind == "welford":
        _gather_moments(scope, parts[0], values, acc, shape, turn)
    elif kind == "max_sumexp":
        _gather_exponentials(scope, values, acc, shape)
    elif kind == "add" and parts[0].dtypes[0] != "bool":
        scope.line(f"{acc[0]} = {acc[0]} + {_sum(values)}")
    else:
        for part in parts:
            step(scope, part, acc, lifted(scope, part, shape, []))


def _sum(values: Sequence[str]) -> str:
    """The sum of values, in pairs."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return f"({_sum(values[:half])} + {_sum(values[half:])})"


def _gather_moments(
    scope: Scope, part: Part, values: list[str], acc: Sequence[str], shape: str, turn: str
) -> None:
    """Mean and squares of the new elements by two sums, then joined with those before:

    T. F. Chan, G. H. Golub, R. J. LeVeque: Updating Formulae and a Pairwise Algorithm for
    Computing Sample Variances, 1979.
    """
    mean, squares, count = acc
    dtype, many = TYPES[part.dtypes[0]], len(values)
    share, mid, off, to = (scope.names.fresh(n) for n in ("share", "mid", "off", "to"))
    scope.line(f"{share} = 1.0 / ({turn} + 1)")
    scope.line(f"{mid} = {_sum(values)} * {1 / many!r}")
    offs = [scope.names.fresh("off") for _ in values]
    for name, value in zip(offs, values, strict=True):
        scope.line(f"{name} = {value} - {mid}")
    scope.line(f"{off} = {mid} - {mean}")
    scope.line(f"{to} = {mean} + {off} * {share}")
    own = _sum([f"{name} * {name}" for name in offs])
    scope.line(f"{squares} = {squares} + ({own} + {float(many)!r} * {off} * ({mid} - {to}))")
    scope.line(f"{mean} = tl.broadcast_to({to}, {shape})")
    scope.line(f"{count} = tl.full({shape}, 0, {dtype}) + ({turn} + 1) * {float(many)!r}")


def _gather_exponentials(
    scope: Scope, values: Sequence[str], acc: Sequence[str], shape: str
) -> None:
    """One maximum for the new elements and those before, one exponential for each."""
    top, total = acc
    high, base = scope.names.fresh("high"), scope.names.fresh("base")
    text = top
    for value in values:
        text = f"mi_c_max({text}, {value})"
    scope.line(f"{high} = tl.broadcast_to({text}, {shape})")
    scope.line(f'{base} = tl.where({high} == float("-inf"), 0.0, {high})')
    new = _sum([f"tl.exp({value} - {base})" for value in values])
    scope.line(f"{total} = {total} * tl.exp({top} - {base}) + {new}")
    scope.line(f"{top} = {high}")


def whole(
    scope: Scope, part: Part, shape: str, masks: Sequence[str], axis: Axis, short: bool
) -> list[str]:
    """The results over an axis whose values are all at hand; `short`: indices fit 32 bits."""
    if part.kind == "welford" and axis.count:
        return whole_moments(scope, part, shape, masks, axis)
    if part.kind in ("argmin", "argmax"):
        return whole_arg(scope, part, shape, masks, axis.position, short)
    states = lifted(scope, part, shape, masks)
    return finish(scope, part, fold(scope, part, states, axis.position))


def whole_moments(
    scope: Scope, part: Part, shape: str, masks: Sequence[str], axis: Axis
) -> list[str]:
    """Mean and squares of an axis whose values are all at hand: two sums."""
    dtype = TYPES[part.dtypes[0]]
    value, total, mean, off = (scope.names.fresh(n) for n in ("value", "total", "mean", "off"))
    squares, count = scope.names.fresh("squares"), scope.names.fresh("count")
    alive = " & ".join(masks)

    def masked(text: str) -> str:
        return f"tl.where({alive}, {text}, 0.0)" if masks else text

    scope.line(f"{value} = tl.broadcast_to({part.values[0]}, {shape})")
    scope.line(f"{total} = tl.sum({masked(value)}, axis={axis.position}, keep_dims=True)")
    scope.line(f"{count} = tl.zeros_like({total}) + {axis.count}")
    scope.line(f"{mean} = ({total} / {count}).to({dtype})")
    scope.line(f"{off} = {value} - {mean}")
    gain = masked(f"{off} * {off}")
    scope.line(f"{squares} = tl.sum({gain}, axis={axis.position}, keep_dims=True)")
    return [mean, squares, count]


def whole_arg(
    scope: Scope, part: Part, shape: str, masks: Sequence[str], position: int, short: bool
) -> list[str]:
    """The extreme of an axis, then the smallest index that has it: two plain reductions.

    If any value is NaN, so is the extreme, and the places are those of NaN.
    """
    value, best, place = (scope.names.fresh(n) for n in ("value", "best", "place"))
    kind = part.kind[3:]
    dtype = TYPES[part.dtypes[0]]
    own = Part(kind, part.dtypes[:1], part.values[:1])
    (states,) = lifted(scope, own, shape, masks)
    scope.line(f"{value} = {states}")
    (found,) = fold(scope, own, [value], position)
    scope.line(f"{best} = {found}.to({dtype})")
    index = f"{part.values[1]}.to(tl.int32)" if short else part.values[1]
    far = 2**31 - 1 if short else 2**63 - 1
    hit = f"({value} == {best})"
    if DTYPES[part.dtypes[0]].is_float:
        hit = f"({hit} | ({value} != {value}))"
    alive = " & ".join([hit, *masks])
    scope.line(f"{place} = tl.where({alive}, tl.broadcast_to({index}, {shape}), {far})")
    out = scope.names.fresh("index")
    scope.line(f"{out} = tl.min({place}, axis={position}, keep_dims=True).to(tl.int64)")
    return [best, out]


def finish(scope: Scope, part: Part, states: Sequence[str]) -> list[str]:
    """The results of a finished state: no sum goes with an infinite maximum."""
    if part.kind != "max_sumexp":
        return list(states)
    top, total = states
    name = scope.names.fresh("sum")
    scope.line(f'{name} = tl.where(tl.abs({top}) == float("inf"), float("nan"), {total})')
    return [top, name]


def step(scope: Scope, part: Part, accs: Sequence[str], states: Sequence[str]) -> None:
    """accumulators = combine(accumulators, states)."""
    left = ", ".join(accs)
    if part.kind == "add" and part.dtypes[0] != "bool":
        scope.line(f"{left} = {accs[0]} + {states[0]}")
    else:
        scope.line(f"{left} = {part.combine()}({', '.join([*accs, *states])})")


def axes_text(atoms: Sequence[Atom]) -> str:
    """Names of axes, for messages."""
    return ", ".join(f"d{a.index}" for a in atoms)
