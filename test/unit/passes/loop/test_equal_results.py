"""Every pass on `loop` keeps what a module computes: the interpreter before and after."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from minductor.interpreters.loop import run_loop
from minductor.passes.context import MiniContext
from minductor.passes.pipelines import build_pipeline

PIPELINES = (
    "loop-simplify-index",
    "loop-inline",
    "loop-simplify-index,loop-inline,loop-fuse{preset=seed}",
    "loop-simplify-index,loop-inline,loop-fuse",
)


def parse(ctx: MiniContext, text: str) -> ModuleOp:
    module = Parser(ctx, text).parse_module()
    module.verify()
    return module


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("seed", range(12))
def test_random_programs(
    program: Callable[..., str], shapes: list[tuple[int, ...]], seed: int, pipeline: str
) -> None:
    ctx = MiniContext()
    text = program(seed)
    torch.manual_seed(0)
    inputs = [torch.randn(shape) for shape in shapes]
    wanted = run_loop(parse(ctx, text), inputs)
    module = parse(ctx, text)
    for one in build_pipeline(pipeline):
        one.apply(ctx, module)
        module.verify()
    again = parse(ctx, str(module))
    for got in (run_loop(module, inputs), run_loop(again, inputs)):
        assert len(got) == len(wanted)
        for a, b in zip(got, wanted, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)
