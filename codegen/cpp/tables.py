"""`scalar.lookup` as C++: a table, filled when the library is loaded, and the look into it."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Block

from minductor.codegen.cpp.ctext import dtype_of, memory_type
from minductor.codegen.cpp.scope import Lane, Scope
from minductor.dialects.expr_simplify import Ranges
from minductor.dialects.scalar import ops as sc

_LANES = 32


def lookup(scope: Scope, op: sc.LookupOp, print_block: Callable[[Scope, Block], None]) -> None:
    """`lookup %v -> T { .. }`."""
    name = f"{scope.kernel}_table{len(scope.tables)}"
    scope.tables.append(_table(name, op, print_block))
    if scope.varies(op.result):
        scope.define(op.result, f"lookup(L, {name}, {scope.text(op.arg)})")
    else:
        scope.define(op.result, f"lookup(Full<1>(), {name}, {scope.text(op.arg)})")


def _table(name: str, op: sc.LookupOp, print_block: Callable[[Scope, Block], None]) -> str:
    """The table, with room for a load that begins at its last entry, and what fills it."""
    block = op.body.block
    source, kind = memory_type(dtype_of(op.arg)), memory_type(dtype_of(op.result))
    count = 65536 if source.endswith("16") else 256
    inner = Scope(Ranges())
    inner.varying.add(block.args[0])
    inner.varying.update(
        r for one in block.ops if not isinstance(one, sc.ConstantOp) for r in one.results
    )
    head = f"lane_loop<{_LANES}, 1, 3>(0, {count}, [&](auto L, i64 d0) HOT {{"
    with inner.in_lane(Lane(0, _LANES)), inner.out.block(head, "});"), inner.level(0):
        inner.define(block.args[0], f"ramp<{source}>(L, d0, 1)")
        print_block(inner, block)
        last = block.last_op
        assert last is not None
        inner.out.line(f"st(L, {name} + d0, {inner.spread(last.operands[0])});")
    return "\n".join(
        [
            f"alignas(64) static {kind} {name}[{count} + 64 / sizeof({kind})];",
            f"__attribute__((constructor)) static void fill_{name}() {{",
            inner.out.text(),
            "}",
        ]
    )
