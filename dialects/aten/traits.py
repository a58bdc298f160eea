"""What passes ask of an `aten` op, as traits; from the schema, torch's tags and small tables.

The tables correct torch's tags where they say less than the truth for a functional graph.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from xdsl.ir import Operation, SSAValue
from xdsl.traits import OpTrait, Pure

from minductor.dialects.aten.schema import Schema


@dataclass(frozen=True)
class Elementwise(OpTrait):
    """Each element of the result depends on the elements at the same place (after broadcasting)."""


@dataclass(frozen=True)
class View(OpTrait):
    """The result shares the storage of the first tensor operand (or may: reshape, contiguous)."""


@dataclass(frozen=True)
class MayCopy(OpTrait):
    """A view that copies where the operand's layout leaves no other way (reshape, to)."""


@dataclass(frozen=True)
class Random(OpTrait):
    """Draws random numbers: two runs differ, so it is neither merged nor moved."""


@dataclass(frozen=True)
class Mutates(OpTrait):
    """Writes into an operand."""


@dataclass(frozen=True)
class Ordered(OpTrait):
    """Has an effect beside its results (an assertion, a collective): kept, and in order."""


@dataclass(frozen=True)
class Library(OpTrait):
    """A product of matrices, a convolution or attention: a library's kernel computes it."""


@dataclass(frozen=True)
class ReadsStorage(OpTrait):
    """Sees the storage of its first operand, not the elements of the operand alone."""


@dataclass(frozen=True)
class CopiesStorage(OpTrait):
    """The result is a copy of the whole storage of the first operand and begins there where that
    does (torch's `clone_preserve_strides`)."""


@dataclass(frozen=True)
class Commutative(OpTrait):
    """The first two operands may change places: bit for bit the same result."""


COMMUTATIVE = frozenset(
    {
        "add.Tensor",
        "mul.Tensor",
        "maximum.default",
        "minimum.default",
        "eq.Tensor",
        "ne.Tensor",
        "bitwise_and.Tensor",
        "bitwise_or.Tensor",
        "bitwise_xor.Tensor",
        "logical_and.default",
        "logical_or.default",
        "logical_xor.default",
    }
)
"""`add.Tensor` only without its `alpha`, which scales the second operand."""

VIEWS_BESIDE_ALIASES = frozenset({"_unsafe_view", "lift_fresh", "_conj", "_neg_view"})
"""Packets whose schemas mark no alias though the result may share storage."""

COPIES_DESPITE_ALIAS = frozenset({"_to_copy", "resolve_conj", "resolve_neg"})
"""Packets whose schemas mark an alias though the result is fresh wherever a graph has them."""

MAY_COPY = frozenset(
    "reshape reshape_as contiguous flatten ravel view_as unflatten to cpu cuda pin_memory".split()
)
"""Packets of views that may give a copy."""

ORDERED = frozenset(
    {
        "_assert_async",
        "_assert_scalar",
        "_assert_tensor_metadata",
        "_functional_assert_async",
        "_functional_assert_scalar",
        "_functional_sym_constrain_range",
        "_functional_sym_constrain_range_for_size",
        "sym_constrain_range",
        "sym_constrain_range_for_size",
    }
)
COLLECTIVES = "_c10d_functional."
"""How the names of collectives between processes begin: each runs on until its WAIT."""

WAIT = "_c10d_functional.wait_tensor.default"
"""The op whose result is its operand, once the collective that makes it is done."""

ORDERED_NAMESPACES = frozenset({COLLECTIVES.rstrip(".")})

ELEMENTWISE_BESIDE_TAGS = frozenset(
    {"_to_copy", "clone", "where", "convert_element_type", "lift_fresh_copy", "masked_fill"}
)
"""Packets that are elementwise though torch does not tag them so."""

LIBRARY = frozenset(
    {
        *("mm", "bmm", "addmm", "baddbmm", "addbmm", "addmv", "mv", "dot", "addr"),
        *("convolution", "convolution_backward"),
        *("_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention"),
        *("_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention"),
    }
)
"""Packets that no kernel of ours computes, or is fused with."""

READS_STORAGE = frozenset({"as_strided", "as_strided_copy", "as_strided_scatter"})

COPIES_STORAGE = frozenset(
    {"slice_scatter", "select_scatter", "diagonal_scatter", "as_strided_scatter"}
)

NOT_ELEMENTWISE = frozenset({"native_dropout", "bernoulli", "dropout"})


def traits_of(schema: Schema) -> tuple[OpTrait, ...]:
    """The traits of an op with this schema."""
    out: list[OpTrait] = []
    random = "nondeterministic_seeded" in schema.tags
    # what returns nothing is called for its effect
    ordered = (
        schema.packet in ORDERED or schema.namespace in ORDERED_NAMESPACES or not schema.returns
    )
    if random:
        out.append(Random())
    if schema.mutates:
        out.append(Mutates())
    if ordered:
        out.append(Ordered())
    if not (random or schema.mutates or ordered):
        out.append(Pure())
    packet = schema.packet
    if (schema.is_view and packet not in COPIES_DESPITE_ALIAS) or packet in VIEWS_BESIDE_ALIASES:
        out.append(View())
        if packet in MAY_COPY:
            out.append(MayCopy())
    pointwise = "pointwise" in schema.tags or packet in ELEMENTWISE_BESIDE_TAGS
    if pointwise and not random and packet not in NOT_ELEMENTWISE:
        out.append(Elementwise())
    if packet in LIBRARY:
        out.append(Library())
    if packet in READS_STORAGE:
        out.append(ReadsStorage())
    if packet in COPIES_STORAGE:
        out.append(CopiesStorage())
    if schema.overload in COMMUTATIVE:
        out.append(Commutative())
    return tuple(out)


def is_pure(op: Operation) -> bool:
    """Same operands, same results, and no effect: may be merged, moved and dropped."""
    return op.has_trait(Pure)


def is_mutating(op: Operation) -> bool:
    """Writes into an operand."""
    return op.has_trait(Mutates) or (is_custom(op) and schema_of(op).mutates)


def is_ordered(op: Operation) -> bool:
    """Has an effect beside its results: by its schema, or marked `ordered` (effect tokens)."""
    if op.has_trait(Ordered) or "ordered" in op.attributes:
        return True
    return is_custom(op) and not schema_of(op).returns


def is_removable(op: Operation) -> bool:
    """May be dropped when nobody uses its results: no write and no ordered effect."""
    return not (is_mutating(op) or is_ordered(op))


def is_view(op: Operation) -> bool:
    """The first result may share the storage of the first tensor operand."""
    return op.has_trait(View) or (is_custom(op) and schema_of(op).is_view)


def always_view(op: Operation) -> bool:
    """The first result surely shares the storage of the first tensor operand."""
    return op.has_trait(View) and not op.has_trait(MayCopy)


def storages_read(ops: Iterable[Operation]) -> frozenset[SSAValue]:
    """The tensors whose storage some op sees: its operand, and what that views or brings along."""
    out: set[SSAValue] = set()
    for op in ops:
        value = op.operands[0] if op.has_trait(ReadsStorage) else None
        while value is not None and value not in out:
            out.add(value)
            owner = value.owner
            if not isinstance(owner, Operation):
                break
            follows = is_view(owner) or owner.has_trait(CopiesStorage)
            value = owner.operands[0] if follows and owner.operands else None
    return frozenset(out)


def is_custom(op: Operation) -> bool:
    """An op that brings its schema along."""
    return op.name == "aten.custom"


def schema_of(op: Operation) -> Schema:
    """The schema of an op that has one."""
    return cast(Any, op).schema
