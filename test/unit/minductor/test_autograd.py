"""AOTAutograd's glue: graphs run eagerly here, so what is tested is capture, partition, boxing."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.fx import GraphModule

from minductor.autograd import trace_and_compile
from minductor.eager import run_eagerly

EQ = torch.ops.aten.eq.Tensor


class Recorder:
    """A backend that runs each graph eagerly and keeps it."""

    def __init__(self) -> None:
        self.graphs: list[tuple[str, GraphModule]] = []

    def __call__(self, gm: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        return trace_and_compile(gm, inputs, self.keep)

    def keep(self, graph: GraphModule, inputs: Sequence[Any], kind: str) -> Any:
        self.graphs.append((kind, graph))
        return run_eagerly(graph)

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.graphs]


def compiled(f: Callable[..., Any], **how: Any) -> tuple[Callable[..., Any], Recorder]:
    torch._dynamo.reset()
    recorder = Recorder()
    return torch.compile(f, backend=recorder, fullgraph=True, **how), recorder


def test_inference() -> None:
    f = lambda x, y: torch.relu(x + y) * 2  # noqa: E731
    subject, recorder = compiled(f)
    x, y = torch.randn(3, 4), torch.randn(4)
    assert torch.equal(subject(x, y), f(x, y))
    assert recorder.kinds == ["inference"]


def test_training_step_of_a_model() -> None:
    model = nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 3))
    x, target = torch.randn(5, 6), torch.tensor([0, 1, 2, 1, 0])

    def loss(x: Tensor) -> Tensor:
        return F.cross_entropy(model(x), target)

    want = torch.autograd.grad(loss(x), list(model.parameters()))
    subject, recorder = compiled(loss)
    got = torch.autograd.grad(subject(x), list(model.parameters()))
    torch.testing.assert_close(got, want)
    assert recorder.kinds == ["forward", "backward"]


def test_inputs_that_are_mutated() -> None:
    def f(x: Tensor) -> Tensor:
        old = x * 1
        x.mul_(2)
        x[0].add_(1)
        return old + x

    a, b = torch.arange(6.0).reshape(2, 3), torch.arange(6.0).reshape(2, 3)
    subject, recorder = compiled(f)
    assert torch.equal(subject(b), f(a))
    assert torch.equal(a, b)
    targets = [str(n.target) for n in recorder.graphs[0][1].graph.nodes]
    assert "aten.copy_.default" in targets


def test_buffers_are_updated_in_training() -> None:
    model = nn.BatchNorm1d(4)
    twin = nn.BatchNorm1d(4)
    x = torch.randn(8, 4)
    subject, _ = compiled(model)
    subject(x).sum().backward()
    twin(x).sum().backward()
    torch.testing.assert_close(model.running_mean, twin.running_mean)
    assert model.num_batches_tracked.item() == 1


def test_outputs_that_alias() -> None:
    def f(x: Tensor) -> tuple[Tensor, ...]:
        y = x * 2
        return y, y.view(-1), x.t(), x, x.clone()

    subject, _ = compiled(f)
    x = torch.randn(2, 3)
    y, flat, turned, same, fresh = subject(x)
    flat.zero_()
    assert not y.any()
    assert turned.data_ptr() == x.data_ptr()
    assert same is x
    assert fresh.data_ptr() != x.data_ptr()


def test_dynamic_sizes() -> None:
    subject, recorder = compiled(lambda x: (x * x.shape[0]).sum(1), dynamic=True)
    for rows in (4, 7, 9):
        x = torch.randn(rows, rows + 1)
        torch.testing.assert_close(subject(x), (x * rows).sum(1))
    assert len(recorder.graphs) == 1


def test_list_of_inputs_is_emptied() -> None:
    subject, recorder = compiled(lambda x: x.sin() + 1)
    subject(torch.ones(3))
    args: list[Any] = [torch.zeros(3)]
    out = run_eagerly(recorder.graphs[0][1])(args)
    assert args == []
    assert torch.equal(out[0], torch.ones(3))


def test_graph_without_inputs() -> None:
    subject, recorder = compiled(lambda: torch.arange(3) * 2)
    assert torch.equal(subject(), torch.tensor([0, 2, 4]))
    assert run_eagerly(recorder.graphs[0][1])([])[0].tolist() == [0, 2, 4]


def test_python_floats_restart_the_capture() -> None:
    subject, recorder = compiled(lambda x, a: x * a, dynamic=True)
    for a in (0.5, 0.75):
        assert torch.equal(subject(torch.ones(5), a), torch.full((5,), a))
    assert len(recorder.graphs) == 1


@pytest.mark.parametrize("reentrant", [False])
def test_checkpoint_recomputes(reentrant: bool) -> None:
    from torch.utils.checkpoint import checkpoint

    def f(x: Tensor) -> Tensor:
        return checkpoint(lambda y: (y.sin() * y.cos()).exp(), x, use_reentrant=reentrant).sum()

    x = torch.randn(5, requires_grad=True)
    (want,) = torch.autograd.grad(f(x), x)
    subject, recorder = compiled(f)
    (got,) = torch.autograd.grad(subject(x), x)
    torch.testing.assert_close(got, want)
    backward = recorder.graphs[1][1]
    assert any("sin" in str(n.target) for n in backward.graph.nodes)


def test_what_is_compared_for_equality_is_not_computed_again() -> None:
    """A maximum's gradient goes to what equals it, in the forward's rounding."""
    f = lambda x: torch.erf(x.cummin(1).values).amax(-2, keepdim=True)  # noqa: E731
    subject, recorder = compiled(f)
    x = torch.randn(17, 7, requires_grad=True)
    want = torch.autograd.grad(f(x).sum(), x)
    torch.testing.assert_close(torch.autograd.grad(subject(x).sum(), x), want)
    compares = [g for _, g in recorder.graphs if g.graph.find_nodes(op="call_function", target=EQ)]
    assert compares
    backward = dict(recorder.graphs)["backward"]
    assert not backward.graph.find_nodes(op="call_function", target=torch.ops.aten.erf.default)
