"""The whole translation unit: the prelude pieces in use, then every kernel with target `cpp`."""

from __future__ import annotations

import re

from xdsl.dialects.builtin import ModuleOp

from minductor.codegen.cpp.fragments import prelude_for
from minductor.codegen.cpp.kernel import print_kernel, print_twin
from minductor.codegen.twins import first_twins
from minductor.dialects.kernel.ops import FuncOp

WHOLE = """#ifndef PARTS  // several runs of the compiler may share the kernels
#define PARTS 1
#define PART 0
#endif"""

_CALL = re.compile(r"\bcall_(m_\w+)\(")

_SHARED_FROM = 8192
"""Characters of kernels from which several compilers are quicker: each reads the prelude."""


def cpp_kernels(module: ModuleOp) -> list[FuncOp]:
    """The kernels that this emitter prints, in module order."""
    return [op for op in module.body.block.ops if isinstance(op, FuncOp) and op.target == "cpp"]


def emit_cpp(module: ModuleOp) -> str:
    """One self-contained C++17 translation unit; empty when the module has no C++ kernel.

    Every kernel is `extern "C" int NAME(void *const *ptrs, const long long *sizes)`: buffers in
    parameter order, size symbols in order; kernels that are equal but for their names share one
    body. It returns 0 or the fault bits 1 (an index out of range)
    and 2 (integer division by zero). Raises EmitError with the op and the mend.

    Long sources are cut into shares, one a body: `-DPARTS=2 -DPART=1` takes every second of them.
    """
    twins = first_twins(cpp_kernels(module))
    kernels = {
        func: print_kernel(func) if first is func else print_twin(func, first)
        for func, first in twins.items()
    }
    if not kernels:
        return ""
    code = "\n\n".join(kernels.values())
    called = dict.fromkeys(sorted(_CALL.findall(code)))
    callees = "".join(f"CALLED({name})\n" for name in called)
    prelude = prelude_for(callees + code)
    bodies = [func for func, first in twins.items() if func is first]
    if len(bodies) > 1 and len(code) >= _SHARED_FROM:
        code = _in_shares(kernels, twins, bodies)
    return f"{prelude}\n{callees}\n{code}\n"


def _in_shares(
    kernels: dict[FuncOp, str], twins: dict[FuncOp, FuncOp], bodies: list[FuncOp]
) -> str:
    """Each kernel under the number of its body, the longest first: parts get about as much each."""
    ranked = sorted(bodies, key=lambda func: -len(kernels[func]))
    rank = {func: i for i, func in enumerate(ranked)}
    shares = [
        f"#if {rank[twins[func]]} % PARTS == PART\n{text}\n#endif" for func, text in kernels.items()
    ]
    return "\n\n".join([WHOLE, *shares])
