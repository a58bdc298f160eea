"""What keeps the compile of a long kernel short: of the C++ compiler, and of the names in it."""

import subprocess
from pathlib import Path

import pytest

from minductor.codegen.cpp.ctext import Names as CppNames
from minductor.codegen.cpp.fragments import prelude_for
from minductor.codegen.wrapper.names import Names as WrapperNames
from minductor.runtime.build import Compiler, default_flags, find_compiler

ROW = """
extern "C" void row(const f32 *x, f32 *y) {
  lane_loop<4, 1, 3>(0, 32, [&](auto L, i64 i) HOT { st(L, y + i, call_m_sin(ld(L, x + i))); });
}
"""


def assembly(compiler: Compiler, folder: Path) -> str:
    """What the compiler makes of `ROW`."""
    code = f"CALLED(m_sin)\n{ROW}"
    source, out = folder / "row.cpp", folder / "row.s"
    source.write_text(f"{prelude_for(code)}\n{code}\n")
    flags = [f for f in default_flags(compiler) if f != "-shared"]
    command = [*compiler.command, *flags, "-S", str(source), "-o", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    return out.read_text()


def test_a_short_row_is_not_written_out(tmp_path: Path) -> None:
    compiler = find_compiler()
    if compiler.kind != "gcc":
        pytest.skip("says what GCC does")
    lines = assembly(compiler, tmp_path).splitlines()
    calls = [one for one in lines if "call" in one and "out_m_sin" in one]
    assert len(calls) == 1, "eight turns of one vector are one loop"


class Counted(set[str]):
    """A set that counts how often it is asked."""

    asked = 0

    def __contains__(self, name: object) -> bool:
        self.asked += 1
        return super().__contains__(name)


@pytest.mark.parametrize("names", [CppNames(), WrapperNames(set())])
def test_names_take_as_long_as_there_are_many(names: CppNames | WrapperNames) -> None:
    taken = Counted({*names._taken, "v_7"})
    names._taken = taken
    new = names.new if isinstance(names, CppNames) else names.fresh
    found = [new("v") for _ in range(1000)]
    assert found[:7] == ["v", *(f"v_{n}" for n in range(1, 7))]
    assert found[7] == "v_8"
    assert len(set(found)) == 1000
    assert taken.asked < 2100
