"""Writes docs/op-support.md: how each op of ATen is compiled, from the registries themselves.

python -m minductor.tools.make_op_support          write docs/op-support.md
python -m minductor.tools.make_op_support --check  exit 1 where it is not what would be written

The document is of the torch that it names: another release tags and decomposes other ops.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from minductor.dialects.aten.table import lookup
from minductor.lowering.aten_to_loop.registry import table
from minductor.lowering.decompositions import composite_decompositions
from minductor.lowering.own_decompositions import partial_decompositions
from minductor.tools.generated import write_or_check
from minductor.tools.library_ops import FAMILIES, family_of

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "op-support.md"
TARGETS = ("cpp", "triton")

HEAD = """# Support of ops

Made by `make support` from the tables of lowerings and decompositions and from torch's own tags;
a test checks that it is up to date. torch {version}.

- **native**: a lowering to loops, which fuse (`lowering/aten_to_loop`). The same passes take loops
  to kernels of both targets. A case that a lowering declines is a call, with a remark.
- **decomposed**: taken apart into other ops before it reaches the `aten` dialect.
- **library**: a call of PyTorch's kernel by intent; see the list below.
- **extern**: a call because it has no lowering yet. A call is right, and ends a fusion.
"""

NAMESPACES = ("aten", "prims")
PRODUCT = "product"
"""The family of lowerings that leaves all but a few cases to a library."""


class Row(NamedTuple):
    """An overload and how it is compiled for each target."""

    overload: str
    core: bool
    ways: tuple[str, ...]
    note: str

    @property
    def missing(self) -> bool:
        """It has no lowering and no family says why."""
        return "extern" in self.ways


def overloads() -> Iterator[Any]:
    """Every overload of torch's own namespaces, by name."""
    for schema in sorted(torch._C._jit_get_all_schemas(), key=_place):
        namespace, name, overload = _place(schema)
        if namespace in NAMESPACES:
            packet = getattr(getattr(torch.ops, namespace), name, None)
            found = getattr(packet, overload or "default", None)
            if isinstance(found, torch._ops.OpOverload):
                yield found


def _place(schema: Any) -> tuple[str, str, str]:
    namespace, _, name = str(schema.name).partition("::")
    return namespace, name, str(schema.overload_name)


def rows() -> list[Row]:
    """The core-tagged overloads, then all other functional ones that torch does not take apart by
    itself."""
    taken_apart = composite_decompositions()
    found: list[Row] = []
    for op in overloads():
        core = torch.Tag.core in op.tags
        name = str(op).removeprefix("aten.")
        known = name in table() or op in taken_apart
        if not core and (_writes(op) or not (known or _arrives(op))):
            continue
        way, note = _way(op, name)
        found.append(Row(name, core, (way,) * len(TARGETS), note))
    return sorted(found, key=lambda row: (not row.core, row.overload.lstrip("_"), row.overload))


def _way(op: Any, name: str) -> tuple[str, str]:
    """How an overload is compiled, and a word on it."""
    if name in table():
        own = table()[name].family
        return (
            ("native", own) if own != PRODUCT else ("library", "matmul; loops where rows are few")
        )
    if op in composite_decompositions() and op not in partial_decompositions():
        return "decomposed", ""
    if _writes(op):
        return "decomposed", "functional form, then a copy"
    family = family_of(op._schema.name.partition("::")[2])
    if family is not None:
        return "library", family.name
    return ("extern", "") if _arrives(op) else ("decomposed", "by torch itself")


def _arrives(op: Any) -> bool:
    """Whether torch can hand the op over: it is not written in terms of other ops, and the table
    of schemas, which leaves out TorchScript's own, has it."""
    name = str(op.name())
    if lookup(str(op).removeprefix("aten.")) is None or not torch._C._dispatch_has_kernel(name):
        return False
    key = "CompositeImplicitAutograd"
    return not torch._C._dispatch_has_kernel_for_dispatch_key(name, key)


def _writes(op: Any) -> bool:
    return bool(op._schema.is_mutable)


def document(found: Sequence[Row]) -> str:
    """The text of docs/op-support.md."""
    core = [row for row in found if row.core]
    others = [row for row in found if not row.core and not row.missing]
    missing = [row for row in found if not row.core and row.missing]
    parts = [
        HEAD.format(version=".".join(torch.__version__.split(".")[:2])),
        _counts({"core ATen": core, "other": [*others, *missing]}),
        "## Library ops\n\n| family | ops | kernels |\n| --- | --- | --- |\n"
        + "".join(f"| {f.name} | {_members(f.name, found)} | {f.why} |\n" for f in FAMILIES),
        f"## Core ATen ({len(core)} overloads)\n\n{_table(core)}",
        f"## Others ({len(others)} overloads)\n\n{_table(others)}",
        f"## Extern ({len(missing)} overloads)\n\n{_listed(missing)}",
    ]
    return "\n".join(parts)


def _listed(found: Sequence[Row]) -> str:
    return ", ".join(f"`{row.overload}`" for row in found) + "\n"


def _members(family: str, found: Sequence[Row]) -> str:
    names = dict.fromkeys(
        row.overload.rpartition(".")[0]
        for row in found
        if (row.ways[0], row.note) == ("library", family)
    )
    return ", ".join(f"`{name}`" for name in names)


def _counts(groups: dict[str, list[Row]]) -> str:
    kinds = ("native", "decomposed", "library", "extern")
    lines = [f"| ops | target | {' | '.join(kinds)} |", "| --- | --- |" + " --- |" * len(kinds)]
    for name, group in groups.items():
        for k, target in enumerate(TARGETS):
            count = Counter(row.ways[k] for row in group)
            lines.append(f"| {name} | {target} | {' | '.join(str(count[x]) for x in kinds)} |")
    return "\n".join(lines) + "\n"


def _table(found: Sequence[Row]) -> str:
    lines = [f"| overload | {' | '.join(TARGETS)} | |", "| --- |" + " --- |" * (len(TARGETS) + 1)]
    lines += [f"| `{row.overload}` | {' | '.join(row.ways)} | {row.note} |" for row in found]
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    return write_or_check(DOCUMENT, document(rows()), "make_op_support", argv)


if __name__ == "__main__":
    sys.exit(main())
