"""FX graphs to `aten`: what an import means is what the graph computes."""

import copy
import sys
from pathlib import Path

import pytest
import torch
from xdsl.parser import Parser
from xdsl.printer import Printer

from minductor.dialects import expr as ex
from minductor.dialects.aten import AtenOp, ConstantOp
from minductor.dialects.types import AbsentType, IntType, TensorType
from minductor.interpreters.aten import run_function
from minductor.lowering.fx_to_aten import Imported, ImportRefused, import_graph, key_text
from minductor.passes.context import MiniContext

sys.path.insert(0, str(Path(__file__).parent))
from fx_capture import capture, example_arguments


def check(gm: torch.fx.GraphModule, name: str = "inference") -> Imported:
    """Import, verify, round-trip, and run against the graph itself."""
    imported = import_graph(gm, name)
    imported.module.verify()
    text = str(imported.module)
    again = Parser(MiniContext(), text).parse_module()
    assert str(again) == text
    for module in (imported.module, again):
        args = example_arguments(gm)
        mine = copy.deepcopy(args)
        torch.manual_seed(7)
        want = gm(*args)
        torch.manual_seed(7)
        got = run_function(module, [*mine, *imported.constants], check=True)
        for value, number in zip(want, imported.outputs, strict=True):
            if isinstance(value, torch.Tensor):
                if number is None:
                    assert not value.numel()  # a token: it orders effects, nobody reads it
                    continue
                torch.testing.assert_close(got[number], value, rtol=0, atol=0, equal_nan=True)
                assert got[number].stride() == value.stride()
            else:
                assert number is None or got[number] == value
        for a, b in zip(args, mine, strict=True):
            assert not isinstance(a, torch.Tensor) or torch.equal(a, b)
    return imported


def ops_of(imported: Imported) -> list[str]:
    func = imported.module.body.block.first_op
    return [op.overload if isinstance(op, AtenOp) else op.name for op in func.body.block.ops]


class Block(torch.nn.Module):
    """Norms, dropout, a constant, a mutated buffer."""

    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(8, 8)
        self.batch = torch.nn.BatchNorm1d(8)
        self.norm = torch.nn.LayerNorm(8)
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x):
        y = torch.relu(self.batch(self.lin(x))) + torch.tensor([1.0, 2, 3, 4, 5, 6, 7, 8])
        return self.drop(self.norm(y)).view(-1, 2), y.shape[0] * 2


@pytest.mark.parametrize("dynamic", [False, True])
def test_training_block(dynamic):
    graphs = capture(Block(), torch.randn(4, 8), dynamic=dynamic, train=True)
    assert set(graphs) == {"forward", "backward"}
    for name, gm in graphs.items():
        check(gm, name)


def test_multiple_results_lists_and_holes():
    def f(x, i):
        a, b = torch.topk(x, 2)
        parts = torch.split(x, 2, 1)
        return a, b, parts[1], torch.cat([x, a], 1), x[:, i], torch.stack(parts).sum((0, 1))

    imported = check(capture(f, torch.randn(4, 8), torch.tensor([0, 3]))["inference"])
    assert "topk.default" in ops_of(imported)
    assert "operator.getitem" not in str(imported.module)


def test_names_origins_locations():
    def f(x):
        return torch.nn.functional.gelu(x)

    imported = check(capture(f, torch.randn(4))["inference"])
    func = imported.module.body.block.first_op
    op = [o for o in func.body.block.ops if isinstance(o, AtenOp)][-1]
    name, where = op.origin
    assert name == "gelu"
    assert where.startswith("test_fx_to_aten.py:")
    from io import StringIO

    stream = StringIO()
    Printer(stream=stream, print_debuginfo=True).print_op(op)
    line = where.partition(":")[2]
    assert f'"test_fx_to_aten.py":{line}:1)' in stream.getvalue()
    assert where not in key_text(imported.module)
    assert 'origin = "gelu"' in key_text(imported.module)


def test_symbols_are_renumbered_and_described():
    def f(x):
        return x.reshape(x.shape[0] // 2, -1) * x.shape[1]

    imported = check(capture(f, torch.randn(6, 5), dynamic=True)["inference"])
    types = [a.type for a in imported.args]
    assert types[:2] == [IntType(ex.sym(0)), IntType(ex.sym(1))]
    text = str(imported.module)
    assert "s0 = [hint 6, min 4" in text
    assert "zero (s0 mod ((s0 floordiv 2)))" in text
    assert "s1 = [hint 5, min 2" in text


def test_mutation_and_absent_results():
    def f(x, y):
        x.add_(1)
        return x * y

    imported = check(capture(f, torch.randn(3), torch.randn(3))["inference"])
    assert ops_of(imported)[-2] == "copy_.default"
    convolution = torch.nn.Conv2d(1, 1, 3, bias=False)
    graphs = capture(convolution, torch.randn(1, 1, 5, 5), train=True)
    backward = check(graphs["backward"], "backward")
    func = backward.module.body.block.first_op
    op = next(o for o in func.body.block.ops if o.name == "aten.convolution_backward.default")
    assert [isinstance(r.type, AbsentType) for r in op.results] == [True, False, True]
    assert None in backward.outputs


def test_constants():
    def f(x):
        large = torch.tensor([float(i) for i in range(40)])
        return x + torch.tensor([1, 2, 3, 4]), x.repeat(10) * large

    imported = check(capture(f, torch.randn(4))["inference"])
    assert len(imported.constants) == 1
    assert imported.args[-1].constant == 0
    func = imported.module.body.block.first_op
    assert [o.numbers for o in func.body.block.ops if isinstance(o, ConstantOp)] == [[1, 2, 3, 4]]


def test_unbacked_sizes():
    config = torch._dynamo.config
    with config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True):

        def f(x, n):
            k = n.item()
            torch._check(k >= 2)
            return torch.ones(k), torch.nonzero(x) + 1

        gm = capture(f, torch.randn(5), torch.tensor(4))["inference"]
    imported = import_graph(gm, "inference")
    imported.module.verify()
    assert "!aten.int<u0>" in str(imported.module)
    sizes = [a.type for a in imported.args if isinstance(a.type, TensorType)]
    args = [torch.tensor(3) if t.dtype == "i64" else torch.tensor([0.0, 1, 2, 0, 3]) for t in sizes]
    ones, where = run_function(imported.module, args, check=True)
    assert ones.shape == (3,)
    assert where.tolist() == [[2], [3], [5]]


def test_custom_ops_and_effects():
    @torch.library.custom_op("minductor_test::inc", mutates_args={"x"})
    def inc(x: torch.Tensor, k: int = 1) -> None:
        x.add_(k)

    @torch.library.custom_op("minductor_test::scale", mutates_args=())
    def scale(x: torch.Tensor, s: float = 1.0) -> torch.Tensor:
        return x * s

    @scale.register_fake
    def _(x, s=1.0):
        return torch.empty_like(x)

    def f(x):
        y = x + 1
        inc(y)
        z = scale(y, 2.0)
        inc(x)
        return z, torch.linalg.cholesky(torch.eye(3) + x.sum() ** 2)

    imported = check(capture(f, torch.randn(3))["inference"])
    text = str(imported.module)
    assert 'aten.custom "minductor_test::scale(Tensor x, float s=1.) -> Tensor"' in text
    assert "ordered" in text


def test_checkpointed_dropout_shares_a_seed():
    from torch.utils.checkpoint import checkpoint

    def f(x):
        return checkpoint(
            lambda y: torch.nn.functional.dropout(y.sin(), 0.5), x, use_reentrant=False
        )

    graphs = capture(f, torch.randn(40, 5, requires_grad=True), train=True)
    forward = import_graph(graphs["forward"], "forward")
    backward = import_graph(graphs["backward"], "backward")
    x = torch.ones(40, 5)
    results = run_function(forward.module, [x], check=True)
    seed = next(r for r in results if r.dtype == torch.int64)
    saved = {"f32": torch.ones(40, 5), "i64": seed}
    grads = run_function(backward.module, [saved[a.type.dtype] for a in backward.args], check=True)
    assert torch.equal(results[0] == 0, grads[0] == 0)
    text = str(forward.module)
    assert str(Parser(MiniContext(), text).parse_module()) == text


def test_refusals_name_node_and_reason():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    x.meta["val"] = torch.randn(3)
    wrapped = graph.call_function(torch.ops.higher_order.strict_mode, (None, (x,)))
    graph.output((wrapped,))
    gm = torch.fx.GraphModule({}, graph)
    with pytest.raises(ImportRefused) as refusal:
        import_graph(gm, "inference")
    assert refusal.value.node == "strict_mode"
    assert "higher-order op `strict_mode`" in refusal.value.reason


def test_same_text_for_same_graph():
    def f(x):
        return (x.sin() + 1).relu()

    first = str(import_graph(capture(f, torch.randn(4))["inference"]).module)
    second = str(import_graph(capture(f, torch.randn(4))["inference"]).module)
    assert first == second
