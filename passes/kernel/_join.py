"""Partial results of a reduction joined to whole ones, in the kernel that comes after the parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from minductor.dialects.expr import Expr
from minductor.dialects.kernel import ops as k
from minductor.dialects.scalar import ops as sc

_RESULTS = {"argmin": 2, "argmax": 2, "welford": 3, "max_sumexp": 2}

Term = Callable[["_Body"], SSAValue]


class _Body:
    """Makes ops of a loop body, or at a point."""

    def __init__(self, add: Callable[[Operation], None]):
        self.add = add

    def make(self, op: Operation) -> SSAValue:
        """The op's only result."""
        self.add(op)
        return op.results[0]

    def op(self, name: str, *args: SSAValue) -> SSAValue:
        """A scalar op."""
        return self.make(sc.scalar(name, *args))

    def number(self, value: float, type_: Attribute) -> SSAValue:
        """A constant."""
        return self.make(sc.ConstantOp.of(value, type_))


class Join:
    """Reductions over the parts, before the op `whole` that they replace.

    `place`: the element of a part in its workspace, an expression of dVAR.
    """

    def __init__(self, var: int, parts: int, place: Expr, whole: k.ReduceOp):
        self.var, self.parts, self.place, self.whole = var, parts, place, whole
        self.at = _Body(lambda op: Rewriter.insert_op(op, InsertPoint.before(whole)))

    def run(self, spaces: Sequence[SSAValue]) -> list[SSAValue]:
        """The results, from one workspace each."""
        kinds: list[str] = []
        terms: list[Term] = []
        types: list[Attribute] = []
        rest = list(zip(spaces, (r.type for r in self.whole.results), strict=True))
        groups: list[tuple[str, list[SSAValue]]] = []
        for kind in self.whole.kind_names:
            count = _RESULTS.get(kind, 1)
            own, rest = rest[:count], rest[count:]
            groups.append((kind, [space for space, _ in own]))
            types += [t for _, t in own]
            first = [self._load(space) for space, _ in own]
            match kind:
                case "welford":
                    kinds += ["add"] * 3
                    terms += [self._weighted(own[0][0], own[2][0]), *first[1:]]
                case "max_sumexp":
                    kinds.append("max")
                    terms.append(first[0])
                    types.pop()
                case _:
                    kinds.append(kind)
                    terms += first
        found = iter(self._reduce(kinds, types, terms))
        out: list[SSAValue] = []
        for kind, own in groups:
            match kind:
                case "welford":
                    out += self._moments(own, next(found), next(found), next(found))
                case "max_sumexp":
                    out += self._exponentials(own, next(found))
                case _:
                    out += [next(found) for _ in own]
        return out

    def _load(self, space: SSAValue) -> Term:
        return lambda body: body.make(k.LoadOp.of(space, self.place))

    def _weighted(self, mean: SSAValue, count: SSAValue) -> Term:
        return lambda body: body.op("mul", self._load(mean)(body), self._load(count)(body))

    def _reduce(
        self, kinds: Sequence[str], types: Sequence[Attribute], terms: Sequence[Term]
    ) -> list[SSAValue]:
        block = Block()
        body = _Body(block.add_op)
        block.add_op(k.YieldOp.of(*[term(body) for term in terms]))
        loop = k.ReduceOp.of(self.var, self.parts, list(kinds), list(types), block)
        loop.location = self.whole.location
        self.at.add(loop)
        return list(loop.results)

    def _moments(
        self, own: Sequence[SSAValue], total: SSAValue, squares: SSAValue, count: SSAValue
    ) -> list[SSAValue]:
        mean = self.at.op("div", total, count)

        def spread(body: _Body) -> SSAValue:
            means, _, counts = (self._load(space)(body) for space in own)
            off = body.op("sub", means, mean)
            return body.op("mul", body.op("mul", off, off), counts)

        (between,) = self._reduce(["add"], [mean.type], [spread])
        return [mean, self.at.op("add", squares, between), count]

    def _exponentials(self, own: Sequence[SSAValue], top: SSAValue) -> list[SSAValue]:
        type_ = top.type

        def scaled(body: _Body) -> SSAValue:
            tops, sums = (self._load(space)(body) for space in own)
            weight = body.op("exp", body.op("sub", tops, top))
            nothing = body.op("eq", tops, body.number(-math.inf, type_))
            return body.op("select", nothing, body.number(0.0, type_), body.op("mul", sums, weight))

        (total,) = self._reduce(["add"], [type_], [scaled])
        infinite = self.at.op("eq", self.at.op("abs", top), self.at.number(math.inf, type_))
        return [top, self.at.op("select", infinite, self.at.number(math.nan, type_), total)]
