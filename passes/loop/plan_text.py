"""The text of a plan: kernels or groups and calls, priced in bytes, with the ops of each.

    plan of @forward, at s0 = 64
      group add_mul_relu: floor 12288, unfused 28672, planned 12288
        op0: add model.py:3, relu model.py:3, mul model.py:3
      extern op1: aten.mm.default
      fused op0, op3: saves 8192 {4096}
      refused op0, op2: no shared data {0}
      peak: eager 20480, planned 16384
    graph: 1 fused, 0 nests, 1 extern; floor 16384, unfused 32768, planned 16384

Prices are the ledger (`bytes`) that passes wrote on groups and kernels, evaluated at the values
that symbols had at capture. The floor of a graph is each used input and each output once; calls
are not priced beyond that. A recomputed op has a `~`. A pair has the bytes that it shares in
braces; `saves` is what the price says, launches and idle units among it. Peaks are bytes alive at
once beyond what lives before: `eager` runs the `aten` ops one after another, `planned` the kernels.
On `loop` text before fusion, nests stand without a price. Edited, the text is what
`loop-fuse{plan-in=FILE}` obeys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from minductor.dialects.attrs import Bytes, BytesAttr, Origin, OriginsAttr, SymbolsAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.loop.ops import ExternOp, GroupOp, NestOp
from minductor.dialects.types import TensorType
from minductor.passes.peak import EAGER, PLANNED, attribute, loop_storage, peak_of

Hints = Mapping[Atom, int]


REFUSED = "refused"
"""Attribute of a function: the pairs that fusion refused, as text."""
ACCEPTED = "accepted"
"""Attribute of a function: the pairs that fusion accepted, as text."""


@dataclass(frozen=True)
class Row:
    """One thing that the graph runs. `kind` is kernel, group, nest or extern.

    `parts` are (name, origins) of the nests inside; a kernel has one without a name.
    """

    kind: str
    name: str
    bytes: Bytes | None
    parts: tuple[tuple[str, tuple[Origin, ...]], ...] = ()

    def lines(self, hints: Hints) -> Iterator[str]:
        """The row, and a line for each part; a price only where passes wrote one."""
        price = "" if self.bytes is None else f": {bytes_text(self.bytes, hints)}"
        yield f"  {self.kind} {self.name}{price}"
        for name, origins in self.parts:
            what = ", ".join(origin.text() for origin in origins)
            if name or what:
                yield f"    {name}: {what}".rstrip() if name else f"    {what}"


def graph_plan(graph: FuncOp, kernels: list[Row]) -> str:
    """The plan of one graph. Sizes without a value at capture count as the usual default."""
    symbols = symbols_of(graph)
    hints = symbols.hints() if symbols is not None else {}
    rows = [*graph_rows(graph)]
    if kernels and not any(row.kind == "group" for row in rows):
        rows = kernels + rows
    at = ", ".join(f"{atom} = {value}" for atom, value in hints.items())
    lines = [f"plan of @{graph.sym_name.data}{f', at {at}' if at else ''}"]
    lines += [line for row in rows for line in row.lines(hints)]
    lines += [f"  {text}" for text in texts_of(graph, ACCEPTED)]
    lines += [f"  refused {text}" for text in texts_of(graph, REFUSED)]
    lines += peak_lines(graph, any(row.kind == "group" for row in rows))
    lines.append(total_text(graph, rows, hints))
    return "\n".join(lines) + "\n"


def graph_rows(graph: FuncOp) -> Iterator[Row]:
    """Groups, bare nests and calls of a graph, in order."""
    names = op_names(graph)
    for op in graph.body.walk():
        if isinstance(op, GroupOp):
            parts = tuple((names[n], n.origins.data) for n in op.nests)
            yield Row("group", op.sym.data, bytes_of(op), parts)
        elif isinstance(op, NestOp) and not isinstance(op.parent_op(), GroupOp):
            yield Row("nest", names[op], None, (("", op.origins.data),))
        elif isinstance(op, ExternOp):
            yield Row("extern", f"{names[op]}: {op.callee.data}", None)
        elif op.name == "kernel.extern":
            yield Row("extern", text_of(op, "callee"), None)


def op_names(graph: FuncOp) -> dict[Operation, str]:
    """`op0`, `op1`, ..: nests and calls as fusion numbers them, by the numbers of their buffers."""
    ops = [op for op in graph.body.walk() if isinstance(op, NestOp | ExternOp)]
    order = sorted(range(len(ops)), key=lambda i: (buffer_number(ops[i]), i))
    return {ops[i]: f"op{k}" for k, i in enumerate(order)}


def buffer_number(op: Operation) -> int:
    """The number in the name of an op's first tensor: 3 for `buf3`; 0 where there is none."""
    for result in op.results:
        found = re.fullmatch(r"buf(\d+)", result.name_hint or "")
        if found:
            return int(found[1])
    return 0


def kernel_row(op: Operation) -> Row | None:
    """The row of a kernel function; None for other ops."""
    if isinstance(op, FuncOp) or "sym_name" not in op.properties or not op.regions:
        return None
    return Row("kernel", text_of(op, "sym_name"), bytes_of(op), (("", origins_of(op)),))


def peak_lines(graph: FuncOp, fused: bool) -> Iterator[str]:
    """The peaks that passes noted; of groups, which are no program yet, in their order here."""
    eager, planned = attribute(graph, EAGER), attribute(graph, PLANNED)
    if planned is None and fused:
        planned = peak_of(graph, loop_storage(graph))
    if planned is not None:
        known = "" if eager is None else f"eager {eager}, "
        yield f"  peak: {known}planned {planned}"


def texts_of(graph: FuncOp, name: str) -> Iterator[str]:
    """Pairs that fusion noted on a function, where it was asked to."""
    attr = graph.attributes.get(name)
    if isinstance(attr, ArrayAttr):
        for item in cast("ArrayAttr[StringAttr]", attr):
            yield item.data


def total_text(graph: FuncOp, rows: list[Row], hints: Hints) -> str:
    """The closing line: counts, and the three figures of the graph."""
    counts = {kind: sum(row.kind == kind for row in rows) for kind in ("nest", "extern")}
    fused = len(rows) - sum(counts.values())
    priced = [row.bytes for row in rows if row.bytes is not None]
    unfused = sum(value(one.unfused, hints) for one in priced)
    planned = sum(value(one.planned, hints) for one in priced)
    return (
        f"graph: {fused} fused, {counts['nest']} nests, {counts['extern']} extern; "
        f"floor {graph_floor(graph, hints)}, unfused {unfused}, planned {planned}"
    )


def graph_floor(graph: FuncOp, hints: Hints) -> int:
    """Bytes of each used input once and each output once."""
    block = graph.body.first_block
    if block is None:
        return 0
    inputs = [arg for arg in block.args if arg.first_use is not None]
    last = block.last_op
    outputs = list(last.operands) if isinstance(last, ReturnOp) else []
    distinct: dict[SSAValue, None] = dict.fromkeys([*inputs, *outputs])
    return sum(tensor_bytes(one, hints) for one in distinct)


def tensor_bytes(tensor: SSAValue, hints: Hints) -> int:
    """Bytes of a tensor's distinct elements: broadcast dimensions count once."""
    type_ = tensor.type
    if not isinstance(type_, TensorType):
        return 0
    count = type_.info.size
    for size, stride in zip(type_.sizes, type_.strides, strict=True):
        if stride.as_int != 0:
            count *= value(size, hints)
    return count


def value(expr: Expr, hints: Hints) -> int:
    """An expression at the hints."""
    return expr.eval(hints)


def bytes_text(ledger: Bytes, hints: Hints) -> str:
    """`floor 4096, unfused 8192, planned 4096`."""
    pairs = zip(Bytes._fields, ledger, strict=True)
    return ", ".join(f"{word} {value(expr, hints)}" for word, expr in pairs)


def bytes_of(op: Operation) -> Bytes | None:
    """The ledger that a pass wrote on an op."""
    for attr in op.properties.values():
        if isinstance(attr, BytesAttr):
            return attr.data
    return None


def origins_of(op: Operation) -> tuple[Origin, ...]:
    """The user's ops in an op, each once, in order."""
    found: dict[Origin, None] = {}
    for inner in op.walk():
        for attr in inner.properties.values():
            if isinstance(attr, OriginsAttr):
                found.update(dict.fromkeys(attr.data))
    return tuple(found)


def symbols_of(graph: FuncOp) -> SymbolsAttr | None:
    """What is known of a graph's size symbols."""
    attr = graph.attributes.get("symbols")
    return attr if isinstance(attr, SymbolsAttr) else None


def text_of(op: Operation, name: str) -> str:
    """A string property; empty when there is none."""
    attr = op.properties.get(name)
    return attr.data if isinstance(attr, StringAttr) else ""
