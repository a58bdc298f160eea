"""Passes on very many ops: the time grows with the number, not with its square."""

import time

from xdsl.parser import Parser

from minductor.collection import put_off
from minductor.passes.context import MiniContext
from minductor.passes.pipelines import build_pipeline

TYPE = "!aten.t<f32[8, 8]>"
ROWS = "!aten.t<f32[8, 1]>"


def apart(count: int) -> str:
    """A function of `count` inputs and as many results, each a kernel of its own."""
    args = ", ".join(f"%x{i}: {TYPE}" for i in range(count))
    types = ", ".join([TYPE] * count)
    lines = [f"func.func @inference({args}) -> ({types}) {{"]
    lines += [f"%a{i} = aten.sin.default(%x{i}) : {TYPE}" for i in range(count)]
    results = ", ".join(f"%a{i}" for i in range(count))
    return "\n".join([*lines, f"func.return {results} : {types}", "}"])


def chain(count: int) -> str:
    """One value after another."""
    lines = [f"func.func @inference(%a0: {TYPE}) -> {TYPE} {{"]
    ops = ("sin", "cos", "tanh")
    lines += [f"%a{i + 1} = aten.{ops[i % 3]}.default(%a{i}) : {TYPE}" for i in range(count)]
    return "\n".join([*lines, f"func.return %a{count} : {TYPE}", "}"])


def seconds(text: str, names: tuple[str, ...]) -> dict[str, float]:
    """Processor time of the named passes."""
    ctx = MiniContext()
    ctx.remarks.enabled = False
    module = Parser(ctx, text).parse_module()
    spent: dict[str, float] = {}
    with put_off():  # as in a compile
        for one in build_pipeline("default-cpu{threads=2 isa=avx2}"):
            start = time.process_time()
            one.apply(ctx, module)
            if one.name in names:
                spent[one.name] = time.process_time() - start
    return spent


def test_many_results_cost_in_proportion() -> None:
    names = ("loop-fuse", "kernel-memory")
    small, large = seconds(apart(400), names), seconds(apart(3200), names)
    for name in names:
        # eight times the ops; the square would be 64 times the time
        assert large[name] < 24 * max(small[name], 0.02), (name, small[name], large[name])


def test_ten_thousand_ops_in_a_row() -> None:
    seconds(chain(10_000), ())


def stages(count: int) -> str:
    """Dear values, each less its mean over a row: one kernel of many stages."""
    lines = [f"func.func @inference(%a0: {TYPE}) -> {TYPE} {{"]
    for i in range(count):
        lines.append(f"%s{i} = aten.sin.default(%a{i}) : {TYPE}")
        lines.append(f"%e{i} = aten.exp.default(%s{i}) : {TYPE}")
        lines.append(f"%t{i} = aten.tanh.default(%e{i}) : {TYPE}")
        lines.append(f"%m{i} = aten.mean.dim(%t{i}, dim = [1], keepdim = true) : {ROWS}")
        lines.append(f"%a{i + 1} = aten.sub.Tensor(%t{i}, %m{i}) : {TYPE}")
    return "\n".join([*lines, f"func.return %a{count} : {TYPE}", "}"])


def test_stages_of_a_row_are_computed_once() -> None:
    ctx = MiniContext()
    module = Parser(ctx, stages(24)).parse_module()
    for one in build_pipeline("default-cpu{threads=2 isa=avx2}"):
        one.apply(ctx, module)
    # 24, and as many again where a reader has a copy of its own; 300 with each stage from the start
    assert sum(op.name == "scalar.tanh" for op in module.walk()) <= 48
