"""Every kernel of a training step says which of the user's ops it computes, and where they are."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp, StringAttr

from bench.models import MODELS, SIZES
from minductor.codegen.plan.module import emit_plan
from minductor.codegen.triton.module import emit_triton
from minductor.compiler import Compile
from minductor.passes.context import MiniContext
from minductor.passes.pipelines import build_pipeline

Origins = dict[str, list[str]]


@dataclass
class Graph:
    """The `aten` ops of a graph in order, as the user sees them, and what was made of it."""

    ops: list[str]
    module: ModuleOp
    cpp: str
    plan: str


@pytest.fixture(scope="module")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> list[Graph]:
    """Forward and backward of a GPT-2 of two layers."""
    found: list[Graph] = []
    lower = Compile.lower

    def kept(self: Compile, module: ModuleOp, *args: Any, **kwargs: Any) -> Any:
        origins = (op.attributes.get("origin") for op in module.walk())
        ops = [one.data for one in origins if isinstance(one, StringAttr)]
        copy = module.clone()
        artifact = lower(self, module, *args, **kwargs)
        found.append(Graph(ops, copy, artifact.cpp or "", artifact.plan))
        return artifact

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compile, "lower", kept)
        patch.setenv("MINDUCTOR_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        torch.manual_seed(0)
        torch._dynamo.reset()
        task = MODELS["gpt2"](replace(SIZES["tiny"], layers=2))
        torch.compile(task.loss, backend="minductor")(*task.inputs).backward()
    assert len(found) == 2
    return found


def of_plan(text: str) -> Origins:
    """Kernels of a plan with their ops."""
    pairs = re.findall(r"^  kernel (\S+?)(?:: .*)?\n    (.*)$", text, re.MULTILINE)
    return {name.replace(".", "_"): ops.split(", ") for name, ops in pairs}


def of_source(text: str, mark: str) -> Origins:
    """Kernels of a source with the ops that its comments list, one or more a line."""
    pairs = re.findall(rf"^{mark} (\w+)\n((?:{mark}   .*\n)+)", text, re.MULTILINE)
    out: Origins = {}
    for name, lines in pairs:
        parts = [line.removeprefix(mark).strip() for line in lines.splitlines()]
        listed = ", ".join(p for p in parts if not p.startswith("bytes:"))
        out[name] = [one.strip() for one in listed.split(",") if one.strip()]
    return out


def test_the_plan_names_ops_of_the_program(graphs: list[Graph]) -> None:
    """Each with the user's file and line; one that is computed again is marked, and has a home."""
    for graph in graphs:
        kernels = of_plan(graph.plan)
        first = {op for ops in kernels.values() for op in ops if not op.startswith("~")}
        again = {op[1:] for ops in kernels.values() for op in ops if op.startswith("~")}
        assert kernels
        assert first <= set(graph.ops)
        assert again <= first
        assert again
        assert all(re.search(r" \w+\.py:\d+$", op) for op in first), first


def test_ops_stand_in_their_order(graphs: list[Graph]) -> None:
    """The activation's kernel lists just the ops of its line, as the program has them."""
    forward = graphs[0]
    lines = {op.split()[1] for op in forward.ops if op.startswith("tanh ")}
    assert len(lines) == 1
    (line,) = lines
    wanted = list(dict.fromkeys(op for op in forward.ops if op.endswith(f" {line}")))
    found = [ops for ops in of_plan(forward.plan).values() if f"tanh {line}" in ops]
    assert len(found) == 2
    for ops in found:
        assert ops == [op for op in wanted if op in ops]
        assert len(ops) >= 4


def test_cpp_says_the_same_as_the_plan(graphs: list[Graph]) -> None:
    for graph in graphs:
        assert of_source(graph.cpp, "//") == of_plan(graph.plan)


def test_triton_says_the_same_as_its_plan(graphs: list[Graph]) -> None:
    for graph in graphs:
        ctx = MiniContext()
        for one in build_pipeline("default-triton"):
            one.apply(ctx, graph.module)
        kernels = of_plan(emit_plan(graph.module))
        assert kernels
        assert of_source(emit_triton(graph.module), "#") == kernels
        assert {op.lstrip("~") for ops in kernels.values() for op in ops} <= set(graph.ops)
