"""Triton source of a module: helpers, kernels, and the table LAUNCH.

`emit_triton` is a pure function of the IR. Sizes are printed as they stand in the text; a kernel is
compiled once by the signature in LAUNCH, whatever the run-time sizes are.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from minductor.codegen.triton.kernel import KernelPrinter
from minductor.codegen.triton.prelude import helpers_for
from minductor.dialects.kernel import ops as k

_HEAD = '''"""Triton kernels of one graph."""

import triton
import triton.language as tl
from triton.language.extra import libdevice
'''

_MODE = "MI_INTERPRETED = tl.constexpr(triton.knobs.runtime.interpret)"
"""What helpers ask that use instructions of the device."""


def emit_triton(module: ModuleOp) -> str:
    """Source of all kernels with target "triton", in order. Raises EmitError, naming the op."""
    kernels: list[str] = []
    rows: list[str] = []
    for op in module.body.block.ops:
        if isinstance(op, k.FuncOp) and op.target == "triton":
            printer = KernelPrinter(op)
            kernels.append(printer.text())
            rows.append(_row(op.sym_name.data, printer.launch()))
    body = "\n\n\n".join(kernels)
    helpers = helpers_for(body)
    table = "LAUNCH = {\n" + "".join(rows) + "}"
    head = f"{_HEAD}\n{_MODE}" if "MI_INTERPRETED" in helpers else _HEAD
    parts = [head, helpers, body, table] if helpers else [head, body, table]
    return "\n\n".join(p.rstrip() + "\n" for p in parts)


def _row(name: str, row: dict[str, object]) -> str:
    lines = "".join(f"        {key!r}: {value!r},\n" for key, value in row.items())
    return f"    {name!r}: {{\n{lines}    }},\n"
