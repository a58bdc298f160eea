"""The tool that writes the schema table."""

from minductor.tools.gen_aten_table import line_of, merge, read_table


def test_lines():
    assert line_of("aten::relu(Tensor self) -> Tensor", ("core",)) == (
        "aten::relu(Tensor self) -> Tensor | core"
    )
    assert line_of("aten::c(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)", ()) == (
        "aten::c(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)"
    )
    assert line_of("aten::add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", ()) is None
    assert line_of("aten::add.t(t[] a, t[] b) -> t[]", ()) is None
    assert line_of("aten::add.int(int a, int b) -> int", ()) is None


def test_merge_is_a_union_and_the_newest_text_stands():
    old = {"aten::a": "aten::a(Tensor x) -> Tensor", "aten::b": "aten::b(Tensor x) -> Tensor"}
    new = {"aten::a": "aten::a(Tensor x, int k=1) -> Tensor", "aten::c": "aten::c() -> Tensor"}
    one = merge(merge("", "2.11.0", old), "2.13.0", new)
    other = merge(merge("", "2.13.0", new), "2.11.0", old)
    assert one == other
    versions, lines = read_table(one)
    assert versions == ["2.11.0", "2.13.0"]
    assert set(lines) == {"aten::a", "aten::b", "aten::c"}
    assert "int k=1" in lines["aten::a"]


def test_merge_of_the_same_changes_nothing():
    lines = {"aten::a": "aten::a(Tensor x) -> Tensor | core"}
    once = merge("", "2.13.0", lines)
    assert merge(once, "2.13.0", lines) == once
