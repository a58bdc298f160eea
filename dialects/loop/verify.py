"""Verifiers of the `loop` ops; each message says the mend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from minductor.dialects import expr as ex
from minductor.dialects.attrs import (
    Domain,
    DomainAttr,
    ExprAttr,
    IndexAttr,
    SymbolsAttr,
    known_of_all,
    known_ranges,
)
from minductor.dialects.expr import Expr
from minductor.dialects.expr_simplify import Ranges, contiguous_strides, flatten_index
from minductor.dialects.pyattrs import ArgAttr
from minductor.dialects.scalar.text import verify_index_operands
from minductor.dialects.types import TensorType

COMBINES = ("add", "mul", "min", "max", "last")
# kind -> (number of operands, number of results)
REDUCE_KINDS = {
    **dict.fromkeys(("add", "mul", "min", "max", "any", "all", "xor"), (1, 1)),
    "argmin": (2, 2),
    "argmax": (2, 2),
    "welford": (1, 3),
    "max_sumexp": (1, 2),
}
SCAN_KINDS = {
    **dict.fromkeys(("add", "mul", "min", "max", "logaddexp"), (1, 1)),
    "cummax": (2, 2),
    "cummin": (2, 2),
}


def symbol_ranges(op: Operation) -> Ranges:
    """Ranges of the size symbols declared on the function around `op`, or by its module's programs.

    Sizes of a kernel are those of the programs that launch it: the main one's or a sub-graph's.
    """
    parent: Operation | None = op
    while parent is not None:
        own = [parent] if not isinstance(parent, ModuleOp) else [*parent.body.block.ops]
        found = [one.attributes.get("symbols") for one in own]
        known = [one.data for one in found if isinstance(one, SymbolsAttr)]
        if known:
            return known_ranges(known_of_all(known))
        parent = parent.parent_op()
    return Ranges()


def is_cover(index: Sequence[Expr], sizes: Sequence[Expr], domain: Domain) -> bool:
    """True if the map from the domain's stored variables to the index is one-to-one and onto.

    The row-major flat index must be a mixed-radix number of the variables: sorted by coefficient,
    each coefficient is the product of the extents below it. A tensor without elements is covered by
    an empty domain.
    """
    if any(s is ex.ZERO for s in sizes):
        return any(e is ex.ZERO for e in domain.extents)
    flat = flatten_index(index, contiguous_strides(sizes))
    stored = [i for i in range(len(domain.extents)) if i not in domain.reduce_dims]
    left = {i for i in stored if domain.extents[i] is not ex.ONE}
    step = ex.ONE
    while left:
        digit = next((i for i in left if flat.coeff(ex.dim_atom(i)) is step), None)
        if digit is None:
            return False
        left.discard(digit)
        flat = flat - step * ex.dim(digit)
        step = step * domain.extents[digit]
    numel = ex.ONE
    for s in sizes:
        numel = numel * s
    ones = {ex.dim_atom(i): 0 for i in stored if domain.extents[i] is ex.ONE}
    return flat.subs(ones) is ex.ZERO and step is numel


class NestVerify(Operation):
    """Domain, coverage and reduce rules of a nest."""

    def verify_(self) -> None:
        domain = cast(DomainAttr, self.properties["domain"]).data
        if len(domain.scan) > 1:
            raise VerifyException("a nest has at most one scan variable; split the nest")
        args = self.regions[0].block.args
        if [a.type for a in args] != [r.type for r in self.results]:
            raise VerifyException("one block argument per result, of the result's type")
        self._verify_ties()
        checker = _BodyChecker(self, domain)
        checker.block(self.regions[0].block, guarded=False)
        checker.finish()

    def _verify_ties(self) -> None:
        ties = [int(t) for t in cast(IndexAttr, self.properties["tied"]).data]
        if len(ties) != len(self.results) or sorted(t for t in ties if t >= 0) != list(
            range(len(self.operands))
        ):
            raise VerifyException("`tied` names each updated operand once, -1 for fresh results")
        for tie, result in zip(ties, self.results, strict=True):
            if tie < 0:
                continue
            old, new = self.operands[tie].type, result.type
            assert isinstance(old, TensorType)
            assert isinstance(new, TensorType)
            if (old.dtype, old.sizes) != (new.dtype, new.sizes):
                raise VerifyException(f"result `{new}` updates `{old}`: sizes and dtype must agree")


class _BodyChecker:
    """One walk over a body: ranges of indices, coverage, what varies with reduce variables."""

    def __init__(self, nest: NestVerify, domain: Domain):
        self.nest = nest
        self.domain = domain
        self.ranges = domain.ranges(symbol_ranges(nest))
        self.varying: set[SSAValue] = set()
        self.stored: dict[SSAValue, list[Operation]] = {}
        self.known = set(range(len(domain.extents)))

    def block(self, block: Block, guarded: bool) -> None:
        """Check the ops of a block; loads under an `if` may be out of range where it is false."""
        for op in block.ops:
            self._exprs(op)
            if op.name == "loop.reduce":
                continue
            if self._varies(op):
                self.varying.update(op.results)
            if op.name == "loop.load" and not guarded:
                self._in_range(op, op.operands[0], op.operands[1:])
            elif op.name == "loop.store":
                self._store(op)
            for region in op.regions:
                self.block(region.block, guarded=True)

    def _exprs(self, op: Operation) -> None:
        for e in op_exprs(op):
            for atom in e.vars("d"):
                if atom.index not in self.known:
                    raise VerifyException(
                        f"`{op.name}` uses {atom!r}, which is not in the domain of its nest"
                    )

    def _varies(self, op: Operation) -> bool:
        if any(v in self.varying for v in op.operands):
            return True
        dims = self.domain.reduce_dims
        return any(a.index in dims for e in op_exprs(op) for a in e.vars("d")) or any(
            self._varies(inner) for r in op.regions for inner in r.block.ops
        )

    def _in_range(self, op: Operation, base: SSAValue, extra: Sequence[SSAValue]) -> None:
        ranges = self.ranges
        for k, value in enumerate(extra):
            owner = value.owner
            if isinstance(owner, Block) or owner.name != "scalar.bound":
                raise VerifyException(
                    f"index operand {k} of `{op.name}` must come from scalar.bound"
                )
            size = cast(ExprAttr, owner.properties["size"]).data
            ranges = ranges.with_operand(k, 0, size - 1)
        if "assumed" in op.attributes:
            return
        index = cast(IndexAttr, op.properties["index"]).data
        for k, (e, size) in enumerate(zip(index, cast(TensorType, base.type).sizes, strict=True)):
            if not (ranges.nonneg(e) and ranges.lt(e, size)):
                raise VerifyException(
                    f"index {k} of `{op.name}`, `{e}`, is not proved to be in 0 .. {size} - 1; "
                    "guard it with scalar.if or bound it with scalar.bound"
                )

    def _store(self, op: Operation) -> None:
        value, dest = op.operands[0], op.operands[1]
        if dest not in self.nest.regions[0].block.args:
            raise VerifyException("a nest stores only into its own results (block arguments)")
        self.stored.setdefault(dest, []).append(op)
        if self._varies(op) or value in self.varying:
            raise VerifyException(
                "a stored value or its index varies with a reduce variable; reduce it first"
            )
        if len(op.operands) > 2 and not self._is_update(dest):
            raise VerifyException(
                "a data-dependent store index needs an updating result (`= %acc`)"
            )
        self._in_range(op, dest, op.operands[2:])

    def _is_update(self, dest: SSAValue) -> bool:
        number = list(self.nest.regions[0].block.args).index(cast(BlockArgument, dest))
        return int(cast(IndexAttr, self.nest.properties["tied"]).data[number]) >= 0

    def finish(self) -> None:
        """Every result is stored; a fresh one is covered exactly once."""
        for arg in self.nest.regions[0].block.args:
            stores = self.stored.get(arg, [])
            if not stores:
                raise VerifyException(f"result {arg.index} of the nest is never stored")
            if self._is_update(arg):
                continue
            if len(stores) != 1 or "combine" in stores[0].properties:
                raise VerifyException(
                    f"fresh result {arg.index} needs exactly one plain store; "
                    "use an updating result (`= %acc`) to combine"
                )
            index = cast(IndexAttr, stores[0].properties["index"]).data
            sizes = cast(TensorType, arg.type).sizes
            if not is_cover(index, sizes, self.domain):
                raise VerifyException(
                    f"the store to fresh result {arg.index} is not proved to cover "
                    f"[{', '.join(map(str, sizes))}] exactly once; use an updating result"
                )


def op_exprs(op: Operation) -> Iterator[Expr]:
    """All index expressions in the properties of an op."""
    waiting: list[Attribute] = [*op.properties.values()]
    while waiting:
        match waiting.pop():
            case IndexAttr(data=exprs):
                yield from exprs
            case ExprAttr(data=e):
                yield e
            case ArrayAttr(data=items):
                waiting.extend(items)
            case _:
                pass


def _verify_access(op: Operation, base: SSAValue, extra: Sequence[SSAValue]) -> TensorType:
    type_ = base.type
    if not isinstance(type_, TensorType):
        raise VerifyException(f"`{op.name}` accesses a tensor, not `{type_}`")
    index = cast(IndexAttr, op.properties["index"]).data
    if len(index) != type_.rank:
        raise VerifyException(
            f"{len(index)} index expressions for a tensor of rank {type_.rank}; one per dimension"
        )
    verify_index_operands(op, index, extra)
    return type_


class LoadVerify(Operation):
    """Rank and element type of a load."""

    def verify_(self) -> None:
        type_ = _verify_access(self, self.operands[0], self.operands[1:])
        if self.results[0].type != type_.scalar:
            raise VerifyException(f"a load of `{type_}` gives `{type_.scalar}`")


class StoreVerify(Operation):
    """Rank, element type and combine word of a store."""

    def verify_(self) -> None:
        type_ = _verify_access(self, self.operands[1], self.operands[2:])
        if self.operands[0].type != type_.scalar:
            raise VerifyException(
                f"a store to `{type_}` takes `{type_.scalar}`, not `{self.operands[0].type}`; cast"
            )
        combine = self.properties.get("combine")
        if isinstance(combine, StringAttr) and combine.data not in COMBINES:
            raise VerifyException(f"combine word `{combine.data}`: one of {', '.join(COMBINES)}")


class CollapseVerify(Operation):
    """Kind, operand and result types of reduce and scan."""

    def verify_(self) -> None:
        kind = cast(StringAttr, self.properties["kind"]).data
        kinds = REDUCE_KINDS if self.name == "loop.reduce" else SCAN_KINDS
        if kind not in kinds:
            raise VerifyException(f"unknown kind `{kind}`: one of {', '.join(kinds)}")
        want = kinds[kind]
        if (len(self.operands), len(self.results)) != want:
            raise VerifyException(f"`{kind}` takes {want[0]} operands and gives {want[1]} results")
        if self.results[0].type != self.operands[0].type:
            raise VerifyException(
                f"the operand's type is the accumulator's: `{self.operands[0].type}` in, "
                f"`{self.results[0].type}` out; cast before or after"
            )


class ViewVerify(Operation):
    """A view stays inside the storage of its source where that is decidable."""

    def verify_(self) -> None:
        source, result = self.operands[0].type, self.results[0].type
        assert isinstance(source, TensorType)
        assert isinstance(result, TensorType)
        if source.device != result.device:
            raise VerifyException("a view keeps the device")
        offset = cast(ExprAttr, self.properties["offset"]).data
        end = (offset + result.storage_elements) * result.info.size
        room = source.storage_elements * source.info.size
        if (room - end).as_int is not None and int(room - end) < 0:
            raise VerifyException(
                f"the view ends {int(end - room)} bytes after its source's storage"
            )


def arg_refs(attr: Attribute) -> Iterator[int]:
    """Operand numbers in an argument attribute."""
    if isinstance(attr, ArgAttr):
        yield attr.data
    elif isinstance(attr, ArrayAttr):
        for a in cast(ArrayAttr[Attribute], attr):
            yield from arg_refs(a)


class ExternVerify(Operation):
    """Argument references of an extern call are in range, each operand used."""

    def verify_(self) -> None:
        props: Any = self.properties
        args = [*props["args_"], *props["kwargs"].data.values()]
        used = {k for a in args for k in arg_refs(a)}
        if used and max(used) >= len(self.operands):
            raise VerifyException(f"#loop.arg<{max(used)}> but {len(self.operands)} operands")


class CommitVerify(Operation):
    """A commit writes a function argument with a tensor of the same sizes and dtype."""

    def verify_(self) -> None:
        new, arg = self.operands
        assert isinstance(new.type, TensorType)
        assert isinstance(arg.type, TensorType)
        if not isinstance(arg.owner, Block):
            raise VerifyException("commit goes to an argument of the function")
        if (new.type.dtype, new.type.sizes) != (arg.type.dtype, arg.type.sizes):
            raise VerifyException(f"commit of `{new.type}` to `{arg.type}`: sizes, dtype differ")


class GroupVerify(Operation):
    """A group holds nests (and externs as heads) and yields what its results say."""

    def verify_(self) -> None:
        last = self.regions[0].block.last_op
        if last is None or last.name != "loop.yield":
            raise VerifyException("a group ends with loop.yield")
        if [v.type for v in last.operands] != [r.type for r in self.results]:
            raise VerifyException("the yielded types differ from the results' types")
        for op in self.regions[0].block.ops:
            if op.name not in ("loop.nest", "loop.extern", "loop.view", "loop.yield"):
                raise VerifyException(f"`{op.name}` inside a group; only nests belong there")
        self._verify_across()

    def _verify_across(self) -> None:
        """Nests that gather across the group reduce, and nothing in the group reads them."""
        across = self.properties.get("across")
        if not isinstance(across, IndexAttr):
            return
        nests = [op for op in self.regions[0].block.ops if op.name == "loop.nest"]
        for e in across.data:
            number = e.as_int
            if number is None or not 0 <= number < len(nests):
                raise VerifyException(f"`across` names nest {e}; the group has {len(nests)}")
            nest = nests[number]
            if not cast(DomainAttr, nest.properties["domain"]).data.reduce:
                raise VerifyException(f"nest {number} is `across` and must reduce")
            inside = set(self.walk())
            for use in (use for r in nest.results for use in r.uses):
                if use.operation in inside and use.operation.name != "loop.yield":
                    raise VerifyException(
                        f"the result of nest {number}, which is `across`, is read in the group"
                    )
