"""The loop passes stay linear: time a node does not grow with the graph."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from xdsl.parser import Parser

from minductor.passes.context import MiniContext
from minductor.passes.pipelines import build_pipeline

PASSES = "loop-simplify-index,loop-inline,loop-fuse"


def milliseconds_a_node(nests: int, program: Callable[[int], str]) -> float:
    ctx = MiniContext()
    ctx.remarks.enabled = False
    module = Parser(ctx, program(nests)).parse_module()
    passes = build_pipeline(PASSES)
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        for one in passes:
            one.apply(ctx, module)
        return (time.process_time() - start) / nests * 1e3
    finally:
        gc.enable()


def test_time_a_node_does_not_grow(blocks: Callable[[int], str]) -> None:
    milliseconds_a_node(80, blocks)  # imports and caches
    small = min(milliseconds_a_node(240, blocks) for _ in range(2))
    large = milliseconds_a_node(1600, blocks)
    assert large < 2 * small + 0.1
    # 0.3 on an idle machine; room for a busy one
    assert large < 1.5
