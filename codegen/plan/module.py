"""Prints the plan of a module: its kernels or groups and its calls, priced in bytes.

    plan of @forward, at s0 = 64
      group add_mul_relu: floor 12288, unfused 28672, planned 12288; add, relu, mul
      extern aten.mm.default
    graph: 1 fused, 0 nests, 1 extern; floor 16384, unfused 32768, planned 16384

Prices are the ledger (`bytes`) that passes wrote on groups and kernels, at the values that size
symbols had at capture. The graph's floor is each used input once and each output once; calls are
not priced beyond that. On `loop` text before fusion, nests are listed without a price.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from minductor.dialects.attrs import Bytes, BytesAttr, OriginsAttr, SymbolsAttr
from minductor.dialects.expr import Atom, Expr
from minductor.dialects.types import TensorType

Hints = Mapping[Atom, int]


@dataclass(frozen=True)
class Row:
    """One thing that the graph runs. `kind` is kernel, group, nest or extern."""

    kind: str
    name: str
    bytes: Bytes | None
    origins: tuple[str, ...]

    def text(self, hints: Hints) -> str:
        """The row as a line; a price only where passes wrote one."""
        price = "" if self.bytes is None else f": {bytes_text(self.bytes, hints)}"
        origins = f"; {', '.join(self.origins)}" if price and self.origins else ""
        return f"  {self.kind} {self.name}{price}{origins}"


def emit_plan(module: ModuleOp) -> str:
    """The plan of each graph of a module. Graphs are functions; kernels belong to `@call`."""
    graphs = [op for op in module.ops if isinstance(op, FuncOp)]
    kernels = [row for op in module.ops if (row := kernel_row(op)) is not None]
    parts = [graph_plan(graph, kernels) for graph in graphs]
    return "\n".join(parts) if parts else "plan: no graph in this module\n"


def graph_plan(graph: FuncOp, kernels: list[Row]) -> str:
    """The plan of one graph. Sizes without a value at capture count as the usual default."""
    symbols = symbols_of(graph)
    hints = symbols.hints() if symbols is not None else {}
    rows = [*graph_rows(graph)]
    if kernels and not any(row.kind == "group" for row in rows):
        rows = kernels + rows
    at = ", ".join(f"{atom} = {value}" for atom, value in hints.items())
    lines = [f"plan of @{graph.sym_name.data}{f', at {at}' if at else ''}"]
    lines += [row.text(hints) for row in rows]
    lines.append(total_text(graph, rows, hints))
    return "\n".join(lines) + "\n"


def graph_rows(graph: FuncOp) -> Iterator[Row]:
    """Groups, bare nests and calls of a graph, in order."""
    for op in graph.body.walk():
        word = op.name.rpartition(".")[2]
        if word == "group":
            yield Row("group", text_of(op, "sym"), bytes_of(op), origins_of(op))
        elif word == "nest" and not within_group(op):
            yield Row("nest", result_name(op), bytes_of(op), origins_of(op))
        elif word == "extern":
            yield Row("extern", text_of(op, "callee"), bytes_of(op), ())


def kernel_row(op: Operation) -> Row | None:
    """The row of a kernel function; None for other ops."""
    if isinstance(op, FuncOp) or "sym_name" not in op.properties or not op.regions:
        return None
    return Row("kernel", text_of(op, "sym_name"), bytes_of(op), origins_of(op))


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


def origins_of(op: Operation) -> tuple[str, ...]:
    """Names of the user's ops in an op, or in the ops inside it, each once, in order."""
    names: dict[str, None] = {}
    for inner in op.walk():
        for attr in inner.properties.values():
            if isinstance(attr, OriginsAttr):
                names.update(dict.fromkeys(origin.op for origin in attr.data))
    return tuple(names)


def symbols_of(graph: FuncOp) -> SymbolsAttr | None:
    """What is known of a graph's size symbols."""
    attr = graph.attributes.get("symbols")
    return attr if isinstance(attr, SymbolsAttr) else None


def text_of(op: Operation, name: str) -> str:
    """A string property; empty when there is none."""
    attr = op.properties.get(name)
    return attr.data if isinstance(attr, StringAttr) else ""


def result_name(op: Operation) -> str:
    """The name hint of an op's first result."""
    return (op.results[0].name_hint or "") if op.results else ""


def within_group(op: Operation) -> bool:
    """Whether an op lies in a fused group."""
    parent = op.parent_op()
    return parent is not None and parent.name.endswith(".group")
