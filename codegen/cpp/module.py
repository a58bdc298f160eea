"""The whole translation unit: the prelude pieces in use, then every kernel with target `cpp`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from minductor.codegen.cpp.fragments import prelude_for
from minductor.codegen.cpp.kernel import print_kernel, print_twin
from minductor.codegen.twins import first_twins
from minductor.dialects.kernel.ops import FuncOp


def cpp_kernels(module: ModuleOp) -> list[FuncOp]:
    """The kernels that this emitter prints, in module order."""
    return [op for op in module.body.block.ops if isinstance(op, FuncOp) and op.target == "cpp"]


def emit_cpp(module: ModuleOp) -> str:
    """One self-contained C++17 translation unit; empty when the module has no C++ kernel.

    Every kernel is `extern "C" int NAME(void *const *ptrs, const long long *sizes)`: buffers in
    parameter order, size symbols in order; kernels that are equal but for their names share one
    body. It returns 0 or the fault bits 1 (an index out of range)
    and 2 (integer division by zero). Raises EmitError with the op and the mend.
    """
    twins = first_twins(cpp_kernels(module))
    kernels = [
        print_kernel(func) if first is func else print_twin(func, first)
        for func, first in twins.items()
    ]
    if not kernels:
        return ""
    code = "\n\n".join(kernels)
    return f"{prelude_for(code)}\n\n{code}\n"
