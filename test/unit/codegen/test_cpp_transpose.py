"""Square blocks that change rows for columns in registers, at every vector width."""

from __future__ import annotations

import ctypes
import platform

import numpy as np
import pytest
from cpp_build import ISAS, build_code, find_compiler

from minductor.codegen.cpp.fragments import prelude_for
from minductor.runtime.build import BuildConfig, build_shared, default_flags

KINDS = {"u8": np.uint8, "u16": np.uint16, "f32": np.float32, "f64": np.float64}
EDGES = (4, 8, 16, 32, 64)


def code() -> str:
    """One function for each element type and edge."""
    return "\n".join(
        f'extern "C" void t_{kind}_{edge}({kind} *t) {{ transpose_square<{edge}>(t); }}'
        for kind in KINDS
        for edge in EDGES
    )


@pytest.mark.parametrize("isa", list(ISAS))
def test_squares(isa, tmp_path):
    lib = build_code(code(), tmp_path, isa)
    for kind, dtype in KINDS.items():
        for edge in EDGES:
            x = np.arange(edge * edge).reshape(edge, edge).astype(dtype)
            got = x.copy()
            getattr(lib, f"t_{kind}_{edge}")(got.ctypes.data_as(ctypes.c_void_p))
            np.testing.assert_array_equal(got, x.T, err_msg=f"{kind} {edge}")


def test_shuffles_stay_in_lanes_or_move_them(tmp_path):
    """No shuffle by a table: those take an index register and a cycle more."""
    one = 'extern "C" void t(f32 *t) { transpose_square<16>(t); }'
    compiler = find_compiler()
    if compiler.kind != "gcc" or platform.machine() != "x86_64":
        pytest.skip("the flags below are g++'s")
    flags = tuple(f for f in default_flags(compiler) if f not in ("-shared", "-march=native"))
    out = tmp_path / "t.s"
    config = BuildConfig(compiler=compiler, flags=(*flags, "-S", "-mavx512f"))
    build_shared(f"{prelude_for(one)}\n{one}", out, config)
    text = out.read_text()
    assert "vunpcklps" in text
    assert "vpermt2" not in text
    assert "vpermi2" not in text
