"""The prelude's fragments: complete, in order, and only what is used."""

from __future__ import annotations

import re

import pytest
from cpp_build import build, emit, kernel

from minductor.codegen.cpp.errors import EmitError
from minductor.codegen.cpp.fragments import closure, fragments, prelude_for
from minductor.dialects.scalar.table import ROWS


def test_every_row_of_the_table_has_its_functions():
    defined = {name for fragment in fragments() for name in fragment.defines}
    for row in ROWS:
        for name in re.findall(r"\b(m_\w+)\(", row.cpp):
            assert name in defined, row.name


def test_fragments_are_named_once_and_in_order():
    names = [f.name for f in fragments()]
    assert len(names) == len(set(names))
    assert closure(names) == "\n".join(f.text for f in fragments())


@pytest.mark.parametrize("name", ["m_log_ndtr", "ld_by_if", "prefix", "update_by", "normal"])
def test_a_fragment_with_what_it_needs_compiles(tmp_path, name):
    build(closure([name]), tmp_path)


def test_only_what_is_used_is_printed():
    text = prelude_for("m_exp(x)")
    assert "m_exp(F x)" in text
    assert "m_sin" not in text
    assert "philox" not in text


def test_same_module_same_text():
    text = kernel(
        "k",
        "read x f32[64], write o f32[64]",
        """kernel.parallel d0 : 64 <lanes 16, tail none> {
        %any = kernel.load %x[d0] : f32
        %low = scalar.exp %any : f32
        kernel.store %low, %o[d0] }""",
    )
    assert emit(text) == emit(text)
    assert "low_1" in emit(text)


def test_what_has_no_form_is_refused():
    text = kernel(
        "k",
        "read x f32[64], write o f32[1]",
        """kernel.tile d0 : 64 <lanes 64, tail none> {
        %a = kernel.load %x[d0] : f32
        %b = kernel.dot add %a, %a over d0 : f32, f32 -> f32
        kernel.store %b, %o[0] }""",
    )
    with pytest.raises(EmitError, match="write it as a reduce loop"):
        emit(text)
