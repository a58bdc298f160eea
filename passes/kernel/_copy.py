"""Copies of a kernel's ops in other loops: values found anew, iteration variables substituted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from xdsl.ir import Block, Operation, SSAValue

from minductor.dialects import expr as ex
from minductor.dialects.attrs import ExprAttr, IndexAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.kernel import ops as k
from minductor.dialects.kernel.attrs import VarAttr

Maker = Callable[["Copies"], SSAValue]


@dataclass
class Copies:
    """A block being filled.

    env: what stands for the variables of the original loops; ranges: symbols and variables in
    force; made: original value -> its copy in this block or around; homes: how a value that an
    earlier loop left in memory is had again; inside: the blocks whose ops are copied on demand.
    """

    block: Block
    ranges: Ranges
    env: Mapping[Atom, Expr]
    homes: Mapping[SSAValue, Maker]
    inside: tuple[Block, ...]
    made: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def within(
        self,
        block: Block,
        loops: Iterable[tuple[int, Expr]] = (),
        env: Mapping[Atom, Expr] | None = None,
        inside: tuple[Block, ...] = (),
    ) -> Copies:
        """Copies in a block inside this one, which sees what stands here."""
        return replace(
            self,
            block=block,
            ranges=self.ranges.with_extents(loops),
            env={**self.env, **(env or {})},
            made=dict(self.made),
            inside=(*self.inside, *inside),
        )

    def expr(self, e: Expr) -> Expr:
        """An expression of the original loops in the variables in force."""
        return self.ranges.simplify(e.subs(self.env))

    def add(self, op: Operation) -> Operation:
        """Append an op."""
        self.block.add_op(op)
        return op

    def make(self, op: Operation) -> SSAValue:
        """Append an op; its only result."""
        self.block.add_op(op)
        return op.results[0]

    def load(self, buffer: SSAValue, index: Expr) -> SSAValue:
        """An element of a buffer, at an index in the variables in force."""
        return self.make(k.LoadOp.of(buffer, self.ranges.simplify(index)))

    def store(
        self, value: SSAValue, buffer: SSAValue, index: Expr, kind: str | None = None
    ) -> None:
        """Store a value, combined with what is there by `kind`."""
        self.add(k.StoreOp.of(value, buffer, self.ranges.simplify(index), combine=kind))

    def value(self, old: SSAValue) -> SSAValue:
        """What stands for an original value here; ops of `inside` are copied when first asked."""
        found = self.made.get(old)
        if found is not None:
            return found
        home = self.homes.get(old)
        owner = old.owner
        if home is not None:
            new = home(self)
        elif isinstance(owner, Operation) and owner.parent in self.inside:
            self.copy(owner)
            return self.made[old]
        else:
            return old
        new.name_hint = new.name_hint or old.name_hint
        self.made[old] = new
        return new

    def copy(self, op: Operation) -> None:
        """A copy of one op, after copies of what it needs."""
        own = list(op.walk())
        blocks = [b for inner in own for r in inner.regions for b in r.blocks]
        made = {r for inner in own for r in inner.results} | {a for b in blocks for a in b.args}
        needed = [v for inner in own for v in inner.operands if v not in made]
        new = op.clone(value_mapper={v: self.value(v) for v in needed})
        for old, inner in zip(own, new.walk(), strict=True):
            map_exprs(inner, self.expr)
            inner.location = old.location
        self.add(new)
        self.made.update(zip(op.results, new.results, strict=True))

    def copy_loop(self, op: Operation) -> None:
        """A copy of an op; the loops in it keep their variables, whose ranges are known inside."""
        self.copy(op)
        last = self.block.last_op
        assert last is not None
        _simplify_inside(last, self.ranges)

    def copy_all(self, block: Block) -> list[SSAValue]:
        """Copies of all ops of a block; what its yield gives (nothing without one)."""
        for op in block.ops:
            if isinstance(op, k.YieldOp):
                return [self.value(v) for v in op.operands]
            self.copy(op)
        return []


def _simplify_inside(op: Operation, ranges: Ranges) -> None:
    """Simplify once more what lies in a copied loop."""
    var, extent = op.properties.get("var"), op.properties.get("extent")
    if isinstance(var, VarAttr) and isinstance(extent, ExprAttr):
        ranges = ranges.with_extents([(var.data, extent.data)])
    for region in op.regions:
        for inner in region.block.ops:
            map_exprs(inner, ranges.simplify)
            _simplify_inside(inner, ranges)


def map_exprs(op: Operation, fn: Callable[[Expr], Expr]) -> None:
    """Replace every index expression of an op."""
    for name, attr in list(op.properties.items()):
        if isinstance(attr, ExprAttr):
            op.properties[name] = ExprAttr(fn(attr.data))
        elif isinstance(attr, IndexAttr):
            op.properties[name] = IndexAttr(tuple(fn(e) for e in attr.data))


def var_of(loop: k.ParallelOp | k.ForOp | k.ReduceOp) -> Atom:
    """The variable of a loop, as an atom."""
    return ex.dim_atom(loop.var.data)
