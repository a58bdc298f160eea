"""Which nests fuse, and the sentence for those that do not."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from minductor.dialects.loop.ops import GroupOp
from minductor.passes.context import MiniContext
from minductor.passes.pipelines import build_pipeline

M, V, C = "!aten.t<f32[64, 4096]>", "!aten.t<f32[64]>", "!aten.t<f32[4096]>"
ROW_SUM = f"""%a = loop.nest (d0: 64) reduce (d1: 4096) -> (%o : {V}) origins ["sum"] {{
  %x = loop.load %in[d0, d1] : f32
  %s = loop.reduce add %x : f32 -> f32
  loop.store %s, %o[d0] }}
"""
FULL_SUM = """%a = loop.nest () reduce (d0: 64, d1: 4096) -> (%o : !aten.t<f32[]>) {
  %x = loop.load %in[d0, d1] : f32
  %s = loop.reduce add %x : f32 -> f32
  loop.store %s, %o[] }
"""


def reader(domain: str, type_: str, load: str, index: str, name: str = "b") -> str:
    return f"""%{name} = loop.nest {domain} -> (%o : {type_}) {{
  %x = loop.load %a[{load}] : f32
  %s = scalar.sin %x : f32
  loop.store %s, %o[{index}] }}
"""


def fuse(body: str, results: dict[str, str], preset: str = "seed") -> tuple[int, list[str]]:
    """Groups of the function, and the reasons of refusals."""
    ctx = MiniContext()
    names, types = ", ".join(results), ", ".join(results.values())
    text = (
        f"func.func @f(%in: {M}, %acc: {M}) -> ({types}) {{\n{body}"
        f"func.return {names} : {types}\n}}"
    )
    module = Parser(ctx, text).parse_module()
    module.verify()
    for one in build_pipeline(f"loop-fuse{{preset={preset}}}"):
        one.apply(ctx, module)
    module.verify()
    func = next(op for op in module.ops if isinstance(op, FuncOp))
    groups = sum(isinstance(op, GroupOp) for op in func.body.block.ops)
    return groups, [r.reason for r in ctx.remarks.of("loop-fuse", "refused")]


def test_epilogue_of_a_row_sum() -> None:
    assert fuse(ROW_SUM + reader("(d0: 64)", V, "d0", "d0"), {"%b": V}) == (1, [])


def test_row_value_used_along_the_row() -> None:
    body = ROW_SUM + reader("(d0: 64, d1: 4096)", M, "d0", "d0, d1")
    assert fuse(body, {"%b": M}) == (1, [])


@pytest.mark.parametrize(
    ("body", "results", "reason"),
    [
        (
            ROW_SUM + reader("(d0: 64)", V, "63 - d0", "d0"),
            {"%b": V},
            "op1 reads b0 at -c0 + 63, op0 writes it at c0",
        ),
        (
            FULL_SUM + reader("(d0: 4096)", C, "", "d0"),
            {"%b": C},
            "op0 has its value only after a loop of 262144 steps and op1 needs it at each of its "
            "4096: they share no loop",
        ),
        (
            ROW_SUM + reader("(d0: 4096, d1: 64)", "!aten.t<f32[4096, 64]>", "d1", "d0, d1"),
            {"%b": "!aten.t<f32[4096, 64]>"},
            "their loops match in another order only",
        ),
    ],
)
def test_refusals(body: str, results: dict[str, str], reason: str) -> None:
    body = body.replace("%a", "%b0")
    assert fuse(body, results) == (2, [reason])


def test_a_call_never_fuses_and_closes_a_cycle() -> None:
    body = ROW_SUM + (
        f'%e = loop.extern "aten.neg.default"(%a) args [#loop.arg<0>] : ({V}) -> {V}\n'
        f"%b = loop.nest (d0: 64) -> (%o : {V}) {{\n"
        "%x = loop.load %a[d0] : f32\n%y = loop.load %e[d0] : f32\n"
        "%s = scalar.add %x, %y : f32\nloop.store %s, %o[d0] }\n"
    )
    groups, reasons = fuse(body, {"%b": V}, "default")
    assert groups == 2
    assert "a node between them depends on one and is needed by the other: a cycle" in reasons


def test_reader_of_the_old_value_comes_before_the_update() -> None:
    body = (
        f"%b = loop.nest (d0: 64, d1: 4096) -> (%o : {M}) {{\n"
        "%x = loop.load %acc[d0, d1] : f32\n%s = scalar.sin %x : f32\n"
        "loop.store %s, %o[d0, d1] }\n"
        f"%c = loop.nest (d0: 64, d1: 4096) -> (%o = %acc : {M}) {{\n"
        "%x = loop.load %in[d0, d1] : f32\nloop.store add %x, %o[d0, d1] }\n"
    )
    assert fuse(body, {"%b": M, "%c": M}, "default") == (2, [])


def test_independent_reductions_of_one_row_share_a_kernel() -> None:
    other = ROW_SUM.replace("%a", "%c").replace("reduce add", "reduce max")
    assert fuse(ROW_SUM + other, {"%a": V, "%c": V}) == (1, [])


def test_short_loops_run_whole_in_the_default_preset() -> None:
    body = FULL_SUM.replace("64, d1: 4096", "4, d1: 16").replace("%in[d0, d1]", "%in[d0, d1]")
    body += reader("(d0: 4096)", C, "", "d0")
    assert fuse(body, {"%b": C}, "seed")[0] == 2
    assert fuse(body, {"%b": C}, "default")[0] == 1
