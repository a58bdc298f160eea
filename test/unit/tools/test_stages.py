"""Source is the same whichever stage's text it is made from, and in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from minductor.passes.context import MiniContext
from minductor.passes.pipelines import build_pipeline
from minductor.tools.targets import emit


class Block(nn.Module):
    """A transformer block without attention: norms, activations, a residual, a reduction."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(32)
        self.up = nn.Linear(32, 64)
        self.down = nn.Linear(64, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))
        return y.softmax(-1) * y.mean(1, keepdim=True)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The block as a .pt2 file."""
    path = tmp_path_factory.mktemp("pt2") / "block.pt2"
    torch.manual_seed(0)
    program = torch.export.export(Block(), (torch.randn(4, 8, 32),))
    torch.export.save(program, path)
    return path


@pytest.fixture(scope="module")
def aten_text(exported: Path) -> str:
    """What mini-opt prints for the file without a pass."""
    from minductor.lowering.pt2 import read_pt2

    return str(read_pt2(str(exported)))


def parse(text: str) -> tuple[MiniContext, ModuleOp]:
    ctx = MiniContext()
    return ctx, Parser(ctx, text).parse_module()


def sources(module: ModuleOp, targets: tuple[str, ...]) -> str:
    return "\n".join(emit(target, module) for target in targets)


@pytest.mark.parametrize(
    ("pipeline", "targets"),
    [
        ("default-cpu", ("cpp", "wrapper", "plan")),
        ("default-triton", ("triton", "wrapper", "plan")),
    ],
)
def test_every_stage_gives_the_same_bytes(
    aten_text: str, pipeline: str, targets: tuple[str, ...]
) -> None:
    """Print after each pass, read the text, run the rest: always the same source."""
    ctx, module = parse(aten_text)
    passes = build_pipeline(pipeline)
    stages: list[str] = [aten_text]
    for item in passes:
        item.apply(ctx, module)
        stages.append(str(module))
    want = sources(module, targets)
    assert "fused" in want
    for done, text in enumerate(stages):
        ctx, module = parse(text)
        module.verify()
        for item in passes[done:]:
            item.apply(ctx, module)
        name = passes[done - 1].name if done else "import"
        assert sources(module, targets) == want, f"text after {name} gives other source"


def test_hash_seed_does_not_matter(exported: Path) -> None:
    """Two processes with different hash seeds print the same bytes, from the file itself."""
    outputs: list[bytes] = []
    for seed in ("1", "2"):
        command = [
            sys.executable, "-m", "minductor.tools.mini_opt", str(exported),
            "-p", "default-cpu", "-t", "cpp",
        ]  # fmt: skip
        env = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run(command, capture_output=True, env=env, timeout=120, check=True)
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert b"cpp_fused" in outputs[0]
