"""Exported programs: mutations become `copy_`, dynamic sizes symbols, the meaning stays."""

from pathlib import Path

import pytest
import torch
from xdsl.utils.exceptions import DiagnosticException

from minductor.interpreters.aten import run_function
from minductor.lowering.pt2 import read_pt2


class Counter(torch.nn.Module):
    """Updates a buffer and an input."""

    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 2)
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x, y):
        self.count.add_(1)
        y.mul_(2)
        return self.lin(x + self.count), y.sum(0)


def saved(tmp_path: Path, module: torch.nn.Module, args: tuple, **options) -> Path:
    path = tmp_path / "m.pt2"
    torch.export.save(torch.export.export(module, args, **options), path)
    return path


def test_mutation_and_dynamic_sizes(tmp_path):
    module, args = Counter(), (torch.randn(4, 3), torch.ones(2, 3))
    rows = torch.export.Dim("rows", min=2, max=64)
    path = saved(tmp_path, module, args, dynamic_shapes={"x": {0: rows}, "y": None})
    imported = read_pt2(path)
    imported.verify()
    text = str(imported)
    assert "s0 = [hint 4, min 2, max 64]" in text
    assert text.count("aten.copy_.default") == 2
    # parameters and buffers come first, then the inputs
    count, x, y = torch.full((3,), 5.0), torch.randn(7, 3), torch.ones(2, 3)
    out, total = run_function(imported, [module.lin.weight, module.lin.bias, count, x, y], True)
    assert count.tolist() == [6.0] * 3
    assert y.tolist() == [[2.0] * 3] * 2
    torch.testing.assert_close(out, module.lin(x + 6))
    assert total.tolist() == [4.0] * 3


def test_unreadable_file(tmp_path):
    path = tmp_path / "m.pt2"
    path.write_bytes(b"no program")
    with pytest.raises(DiagnosticException, match=r"m\.pt2: not a \.pt2 program"):
        read_pt2(path)
