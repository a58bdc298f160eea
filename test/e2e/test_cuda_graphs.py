"""The option `cudagraphs` and the mode `reduce-overhead`: recordings against eager on a GPU, and
what is said where there is nothing to record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from minductor.runtime.recorder import CudaRecorder

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


class Watch:
    """Compiles with `cudagraphs`; reports of the graphs, and how often something was recorded."""

    def __init__(self) -> None:
        self.reports: list[dict[str, Any]] = []
        self.recordings = 0

    def compile(self, fn: Any, **keywords: Any) -> Any:
        options: dict[str, Any] = {
            "cudagraphs": True,
            "strict": True,
            "report": self.reports.append,
        }
        return torch.compile(fn, backend="minductor", options=options, **keywords)

    @property
    def states(self) -> list[str]:
        return [str(one["cudagraphs"]) for one in self.reports]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    torch._dynamo.reset()
    one = Watch()
    record = CudaRecorder.record

    def counted(self: CudaRecorder, run: Any, place: Any) -> Any:
        result = record(self, run, place)
        one.recordings += 1
        return result

    monkeypatch.setattr(CudaRecorder, "record", counted)
    return one


def close(got: Any, want: Any) -> None:
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)


def chain(x: Tensor, w: Tensor) -> Tensor:
    for _ in range(4):
        x = torch.tanh(x @ w) + x.softmax(-1)
    return x


def test_a_graph_on_the_cpu_runs_as_it_is(watch: Watch) -> None:
    x = torch.randn(4, 4)
    close(watch.compile(chain)(x, x), chain(x, x))
    assert watch.states == [
        "its kernels do not run on a GPU, or its pipeline has no kernel-capture"
    ]
    assert watch.recordings == 0


def test_the_reason_is_printed(caplog: pytest.LogCaptureFixture) -> None:
    torch._dynamo.reset()
    options: dict[str, Any] = {"cudagraphs": True, "logs": "cudagraphs"}
    fast: Any = torch.compile(lambda x: x + 1, backend="minductor", options=options)
    fast(torch.ones(2))
    said = [one.getMessage() for one in caplog.records if one.name == "minductor.cudagraphs"]
    assert len(said) == 1
    assert ": not recorded: its kernels do not run on a GPU" in said[0]


def test_the_mode_on_the_cpu() -> None:
    torch._dynamo.reset()
    f: Any = torch.compile(lambda x: x * 2, backend="minductor", mode="reduce-overhead")
    assert f(torch.ones(2)).tolist() == [2.0, 2.0]


@needs_gpu
@pytest.mark.gpu
def test_results_equal_eager_and_may_be_kept(watch: Watch) -> None:
    w = torch.randn(16, 16, device="cuda")
    fast = watch.compile(chain, dynamic=False)
    inputs = [torch.randn(8, 16, device="cuda") for _ in range(6)]
    outs = [fast(x, w) for x in inputs]
    for x, y in zip(inputs, outs, strict=True):
        close(y, chain(x, w))
    assert watch.states == ["recorded"]
    assert watch.recordings == 1


@needs_gpu
@pytest.mark.gpu
def test_the_mode_records(watch: Watch) -> None:
    fast: Any = torch.compile(chain, backend="minductor", mode="reduce-overhead")
    x, w = torch.randn(8, 16, device="cuda"), torch.randn(16, 16, device="cuda")
    for _ in range(4):
        close(fast(x, w), chain(x, w))
    assert watch.recordings == 1


@needs_gpu
@pytest.mark.gpu
def test_several_sizes_of_a_dynamic_graph(watch: Watch) -> None:
    w = torch.randn(16, 16, device="cuda")
    fast = watch.compile(chain, dynamic=True)
    for _ in range(3):
        for n in (3, 8, 200):
            x = torch.randn(n, 16, device="cuda")
            close(fast(x, w), chain(x, w))
    assert watch.recordings == 3


def training(dropout: float = 0.0) -> tuple[nn.Module, nn.Module]:
    """Two equal networks."""
    torch.manual_seed(0)

    def make() -> nn.Module:
        layers = [nn.Linear(32, 64), nn.LayerNorm(64), nn.GELU(), nn.Dropout(dropout)]
        return nn.Sequential(*layers, nn.Linear(64, 8)).cuda()

    one, two = make(), make()
    two.load_state_dict(one.state_dict())
    return one, two


@needs_gpu
@pytest.mark.gpu
@pytest.mark.parametrize("set_to_none", [True, False])
def test_training_steps(watch: Watch, set_to_none: bool) -> None:
    ours, theirs = training()
    fast = watch.compile(ours, dynamic=False)
    first, second = (torch.optim.SGD(m.parameters(), lr=0.1) for m in (ours, theirs))
    for step in range(8):
        x = torch.randn(16, 32, device="cuda")
        target = torch.randint(0, 8, (16,), device="cuda")
        for network, optimizer in ((fast, first), (theirs, second)):
            optimizer.zero_grad(set_to_none=set_to_none)
            F.cross_entropy(network(x), target).backward()
            optimizer.step()
        close([p.detach() for p in ours.parameters()], [p.detach() for p in theirs.parameters()])
        assert step or watch.recordings == 0
    assert sorted(watch.states) == ["recorded", "recorded"]
    assert watch.recordings == 2


@needs_gpu
@pytest.mark.gpu
def test_two_forwards_before_their_backwards(watch: Watch) -> None:
    ours, theirs = training()
    fast = watch.compile(ours, dynamic=False)
    for _ in range(5):
        xs = [torch.randn(16, 32, device="cuda") for _ in range(2)]
        for network in (fast, theirs):
            network.zero_grad()
            losses = [network(x).square().sum() for x in xs]
            for loss in losses:
                loss.backward()
        grads = ([p.grad for p in m.parameters()] for m in (ours, theirs))
        close(*grads)
    assert watch.recordings == 4


@needs_gpu
@pytest.mark.gpu
def test_dropout_draws_anew_and_follows_the_seed(watch: Watch) -> None:
    network, _ = training(dropout=0.5)
    fast = watch.compile(network, dynamic=False)
    x = torch.randn(16, 32, device="cuda")
    for _ in range(3):
        fast(x).sum().backward()
    a, b = fast(x).detach(), fast(x).detach()
    assert not torch.equal(a, b)
    torch.cuda.manual_seed(5)
    first = fast(x).detach()
    torch.cuda.manual_seed(5)
    assert torch.equal(fast(x).detach(), first)


@needs_gpu
@pytest.mark.gpu
def test_a_parameter_that_moves_and_one_that_changes(watch: Watch) -> None:
    network, _ = training()
    network.requires_grad_(False)
    fast = watch.compile(network, dynamic=False)
    x = torch.randn(16, 32, device="cuda")
    for step in range(6):
        with torch.no_grad():
            first: Any = next(network.children())
            first.weight.mul_(0.9)
            if step == 3:
                first.weight.data = first.weight.data.clone()
        close(fast(x), network(x))
    assert watch.recordings == 2


def into(x: Tensor) -> Tensor:
    x.add_(1)
    return x * 2


@needs_gpu
@pytest.mark.gpu
def test_a_written_input_is_refused(watch: Watch) -> None:
    fast = watch.compile(into, dynamic=False)
    x, y = torch.zeros(64, device="cuda"), torch.zeros(64, device="cuda")
    for _ in range(4):
        close(fast(x), into(y))
    close(x, y)
    assert watch.states == ["it writes its input 0, which is no parameter or buffer"]
    assert watch.recordings == 0


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "cpu": (lambda x, c: x * c, "lies on the device cpu"),
    "nonzero": (lambda x, c: x.nonzero().sum(), "is known only on the way"),
}


@needs_gpu
@pytest.mark.gpu
@pytest.mark.parametrize("name", REFUSED)
def test_refusals(watch: Watch, name: str) -> None:
    fn, reason = REFUSED[name]
    x, c = torch.randn(64, device="cuda"), torch.tensor(2.0)
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        fast = watch.compile(fn, dynamic=False)
        for _ in range(3):
            close(fast(x, c), fn(x, c))
    assert len(watch.states) == 1
    assert reason in watch.states[0]
    assert watch.recordings == 0


@needs_gpu
@pytest.mark.gpu
def test_another_stream(watch: Watch) -> None:
    w = torch.randn(16, 16, device="cuda")
    fast = watch.compile(chain, dynamic=False)
    stream = torch.cuda.Stream()
    for _ in range(4):
        x = torch.randn(8, 16, device="cuda")
        want = chain(x, w)
        close(fast(x, w), want)
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            got = fast(x, w)
        stream.synchronize()
        close(got, want)
    assert watch.recordings == 2


@needs_gpu
@pytest.mark.gpu
def test_inside_a_recording_of_the_users(watch: Watch) -> None:
    fast = watch.compile(chain, dynamic=False)
    x, w = torch.randn(8, 16, device="cuda"), torch.randn(16, 16, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        fast(x, w)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = fast(x, w)
    x.copy_(torch.randn(8, 16, device="cuda"))
    graph.replay()
    close(y, chain(x, w))
    assert watch.recordings == 0
