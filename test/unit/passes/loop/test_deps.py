"""Memory dependences: flat, collapsed, renamed; groups; gathers and guards."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from minductor.dialects.loop.ops import NestOp
from minductor.passes.context import MiniContext
from minductor.passes.loop.deps import NestDeps, analyse, group_text, iteration_group

HEAD = "func.func @f({args}) -> {result} {{ %r = loop.nest {domain} -> (%o : {result}) {{\n"
TAIL = "loop.store %v, %o[{index}]\n}} func.return %r : {result} }}"


def nest_of(args: str, result: str, domain: str, body: str, index: str) -> NestDeps:
    fields = {"args": args, "result": result, "domain": domain, "index": index}
    text = HEAD.format(**fields) + body + "\n" + TAIL.format(**fields)
    module = Parser(MiniContext(), text).parse_module()
    module.verify()
    func = next(op for op in module.ops if isinstance(op, FuncOp))
    return analyse(next(op for op in func.body.block.ops if isinstance(op, NestOp)))


SQUARE = "!aten.t<f32[1024, 1024]>"


@pytest.mark.parametrize(
    ("load", "dep", "group"),
    [
        ("d0, d1", "MemoryDep('x', c0, {c0: 1048576})", "((1048576,), ())"),
        (
            "d1, d0",
            "MemoryDep('x', c0 + 1024*c1, {c0: 1024, c1: 1024})",
            "((1024, 1024), ())",
        ),
        ("d0, 0", "MemoryDep('x', 1024*c0, {c0: 1024})", "((1024, 1024), ())"),
        ("0, d1", "MemoryDep('x', c0, {c0: 1024})", "((1024, 1024), ())"),
        ("7, 3", "MemoryDep('x', 7171, {})", "((1024, 1024), ())"),
    ],
)
def test_loads_of_a_pointwise_nest(load: str, dep: str, group: str) -> None:
    domain, body = "(d0: 1024, d1: 1024)", f"%v = loop.load %x[{load}] : f32"
    info = nest_of(f"%x: {SQUARE}", SQUARE, domain, body, "d0, d1")
    assert [str(d) for d in info.reads] == [dep]
    assert [str(d) for d in info.writes] == ["MemoryDep('r', c0, {c0: 1048576})"]
    if load != "7, 3":
        assert group_text(iteration_group(info)) == group


def test_full_reduction_has_a_group_without_parallel_extents() -> None:
    body = "%x0 = loop.load %x[d0, d1] : f32\n%v = loop.reduce add %x0 : f32 -> f32"
    domain = "() reduce (d0: 1024, d1: 1024)"
    info = nest_of(f"%x: {SQUARE}", "!aten.t<f32[]>", domain, body, "")
    assert group_text(iteration_group(info)) == "((), (1048576,))"
    assert [str(d) for d in info.writes] == ["MemoryDep('r', 0, {})"]
    assert [int(d.bytes) for d in info.reads] == [4194304]


def test_reshape_of_a_symbolic_tensor_collapses() -> None:
    body = "%v = loop.load %x[d0 floordiv s1, d0 mod s1] : f32"
    type_ = "!aten.t<f32[s0 * s1]>"
    info = nest_of("%x: !aten.t<f32[s0, s1]>", type_, "(d0: s0 * s1)", body, "d0")
    assert str(next(iter(info.reads)).flat) == "d0"


def test_guard_cuts_the_range() -> None:
    body = (
        "%c = scalar.within d1 in 512 to 768\n%v = scalar.if %c -> f32 {\n"
        "%a = loop.load %x[d0, d1 - 512] : f32\nscalar.yield %a : f32 } else {\n"
        "%b = scalar.constant 0.0 : f32\nscalar.yield %b : f32 }"
    )
    type_ = "!aten.t<f32[8, 768]>"
    info = nest_of("%x: !aten.t<f32[8, 256]>", type_, "(d0: 8, d1: 768)", body, "d0, d1")
    assert [str(d) for d in info.reads] == ["MemoryDep('x', c0, {c0: 2048})"]
    assert info.loads[0].guarded
    assert info.depth == 1


def test_gather_touches_as_much_as_it_makes_trips() -> None:
    body = (
        "%k = loop.load %i[d0] : i64\n%j = scalar.bound %k to 50000 wrap\n"
        "%v = loop.load %w[%j, d1] : f32"
    )
    args = "%w: !aten.t<f32[50000, 64]>, %i: !aten.t<i64[16]>"
    info = nest_of(args, "!aten.t<f32[16, 64]>", "(d0: 16, d1: 64)", body, "d0, d1")
    indices, rows = info.reads
    assert int(indices.bytes) == 16 * 8
    assert int(rows.bytes) == 16 * 64 * 4
    assert rows.indirect
    assert info.has_bound


def test_view_resolves_to_its_base() -> None:
    text = """func.func @f(%x: !aten.t<f32[8, 4]>) -> !aten.t<f32[28]> {
      %w = loop.view %x offset 4 : !aten.t<f32[8, 4]> to !aten.t<f32[28]>
      %r = loop.nest (d0: 28) -> (%o : !aten.t<f32[28]>) {
        %v = loop.load %w[d0] : f32
        loop.store %v, %o[d0] }
      func.return %r : !aten.t<f32[28]> }"""
    module = Parser(MiniContext(), text).parse_module()
    func = next(op for op in module.ops if isinstance(op, FuncOp))
    info = analyse(next(op for op in func.body.block.ops if isinstance(op, NestOp)))
    assert [str(d) for d in info.reads] == ["MemoryDep('x', c0 + 4, {c0: 28})"]
