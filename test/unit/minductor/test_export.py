"""`export_aten`: text of each graph, written where asked, without running the program."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import minductor


def mutating(x: Tensor) -> Tensor:
    x.add_(1)
    return x * 2


def test_inference_and_files(tmp_path: Path) -> None:
    x = torch.zeros(3)
    texts = minductor.export_aten(mutating, x, training=False, path=tmp_path / "out")
    assert list(texts) == ["inference"]
    assert "aten.mul.Tensor" in texts["inference"]
    assert "func.func @inference" in texts["inference"]
    assert (tmp_path / "out" / "inference.mlir").read_text() == texts["inference"]
    assert x.tolist() == [0, 0, 0]


def test_training_gives_forward_and_backward(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    texts = minductor.export_aten(model, torch.ones(2, 3), path=str(tmp_path / "m.mlir"))
    assert list(texts) == ["forward", "backward"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.backward.mlir", "m.forward.mlir"]
    assert "aten.addmm.default" in texts["forward"]
    assert "aten.mm.default" in texts["backward"]


def test_what_cannot_be_captured_is_an_error() -> None:
    def f(x: Tensor) -> Tensor:
        torch._dynamo.graph_break()
        return x

    with pytest.raises(torch._dynamo.exc.Unsupported):
        minductor.export_aten(f, torch.ones(2))


def test_text_reads_back() -> None:
    from xdsl.parser import Parser

    from minductor.dialects.printing import module_text
    from minductor.passes.context import MiniContext

    text = minductor.export_aten(lambda x: x.sum(0).relu(), torch.ones(2, 3), dynamic=True)
    module = Parser(MiniContext(), text["inference"]).parse_module()
    module.verify()
    assert module_text(module) + "\n" == text["inference"]
