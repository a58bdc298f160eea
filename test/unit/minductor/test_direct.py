"""Graphs called without AOTAutograd's wrappers behave as with them; others say why not."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._dynamo import compiled_autograd
from torch.utils.checkpoint import checkpoint

from minductor.autograd import trace_and_compile
from minductor.eager import run_eagerly

WITHOUT = "called without wrappers"


class Said:
    """A backend that runs graphs eagerly and keeps what is said of their calls."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, gm: Any, inputs: Any) -> Any:
        keep = lambda graph, _inputs, _kind: run_eagerly(graph)  # noqa: E731
        return trace_and_compile(gm, inputs, keep, say=self.lines.append)

    def compile(self, f: Any, **how: Any) -> Any:
        torch._dynamo.reset()
        return torch.compile(f, backend=self, **how)


def leaf(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).requires_grad_()


def gradients(f: Callable[..., Any], args: list[Tensor]) -> list[Any]:
    """Results, their gradients' need, and the gradients of a weighted sum of the results."""
    out = f(*args)
    outs = [o for o in (out if isinstance(out, tuple) else (out,)) if isinstance(o, Tensor)]
    asked = [o for o in outs if o.requires_grad]
    weights = [torch.full_like(o, 0.5 + i) for i, o in enumerate(asked)]
    found = torch.autograd.grad(asked, [a for a in args if a.requires_grad], weights)
    return [[o.detach() for o in outs], [o.requires_grad for o in outs], list(found)]


def linear_view(x: Tensor, w: Tensor) -> Tensor:
    return (x @ w).view(2, 2, -1)


def several(x: Tensor, w: Tensor) -> tuple[Any, ...]:
    y = x.exp() @ w
    return y, y.argmax(1), None, x.detach() * 2


def transposed(x: Tensor, w: Tensor) -> Tensor:
    return (x.sin() @ w).t().cos()


def detached_view(x: Tensor, w: Tensor) -> Tensor:
    return (x.sin().t() @ x.cos()) @ w.relu()


@pytest.mark.parametrize("f", [linear_view, several, transposed, detached_view])
def test_results_and_gradients(f: Any) -> None:
    said = Said()
    args = [leaf(4, 6), leaf(6, 8, seed=1)]
    want, got = gradients(f, args), gradients(said.compile(f), args)
    assert said.lines == [WITHOUT]
    torch.testing.assert_close(got, want)
    assert [o.stride() for o in got[0]] == [o.stride() for o in want[0]]


def test_inference_needs_no_gradients() -> None:
    said = Said()
    f = said.compile(lambda x: x.relu() + 1)
    x = torch.randn(3)
    assert torch.equal(f(x), x.relu() + 1)
    assert torch.is_grad_enabled()
    assert said.lines == [WITHOUT]


def test_a_gradient_nobody_asks_for_is_zero() -> None:
    said = Said()
    x = leaf(5)
    first, _second = said.compile(lambda x: (x.sin(), x.cos()))(x)
    (got,) = torch.autograd.grad(first.sum(), [x])
    torch.testing.assert_close(got, x.detach().cos())


def test_expanded_tangents_take_the_traced_layout() -> None:
    said = Said()
    x = leaf(4, 3)
    y = said.compile(lambda x: x.exp())(x)
    (got,) = torch.autograd.grad(y, [x], torch.ones(3).expand(4, 3))
    torch.testing.assert_close(got, x.detach().exp())
    assert got.is_contiguous()


def test_running_statistics_count_their_versions() -> None:
    said = Said()
    norm, other = nn.BatchNorm1d(3), nn.BatchNorm1d(3)
    x = leaf(8, 3)
    versions = norm.running_mean._version if norm.running_mean is not None else 0
    compiled = said.compile(norm)
    got = torch.autograd.grad(compiled(x).pow(2).sum(), [x])
    want = torch.autograd.grad(other(x).pow(2).sum(), [x])
    torch.testing.assert_close(got, want)
    assert norm.running_mean is not None
    assert norm.running_mean._version > versions
    torch.testing.assert_close(norm.state_dict(), other.state_dict())
    assert said.lines == [WITHOUT]


def test_autocast_is_off_inside() -> None:
    said = Said()
    x, w = leaf(4, 4), leaf(4, 4, seed=1)
    f = lambda x, w: (x @ w).float().exp()  # noqa: E731
    with torch.autocast("cpu", torch.bfloat16):
        want, got = gradients(f, [x, w]), gradients(said.compile(f), [x, w])
    torch.testing.assert_close(got, want)
    assert said.lines == [WITHOUT]


def test_retained_graphs_and_their_end() -> None:
    said = Said()
    x = leaf(6)
    y = said.compile(lambda x: x.exp())(x).sum()
    once = torch.autograd.grad(y, [x], retain_graph=True)
    again = torch.autograd.grad(y, [x])
    torch.testing.assert_close(once, again)
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(y, [x])


def test_a_saved_tensor_that_was_written_is_an_error() -> None:
    said = Said()
    x = leaf(6)
    y = said.compile(lambda x: x.exp())(x)
    y.data.add_(0)  # no version
    z = said.compile(lambda x: x.sin())(x)
    with torch.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_gradients_of_gradients_end_in_an_error() -> None:
    said = Said()
    x = leaf(6)
    y = said.compile(lambda x: x.exp())(x)
    (first,) = torch.autograd.grad(y.sum(), [x], create_graph=True)
    torch.testing.assert_close(first.detach(), x.detach().exp())
    with pytest.raises(RuntimeError, match="does not currently support double backward"):
        torch.autograd.grad(first.sum(), [x])


def test_hooks_on_saved_tensors_see_them() -> None:
    said = Said()
    x = leaf(6)
    f = said.compile(lambda x: x.exp().sin())
    f(x)  # hooks that are there while a graph is traced belong to the graph
    packed: list[Tensor] = []

    def pack(t: Tensor) -> Tensor:
        packed.append(t)
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = f(x)
    y.sum().backward()
    assert packed


def test_checkpoints_around_a_compiled_function() -> None:
    said = Said()
    x, w = leaf(4, 6), leaf(6, 8, seed=1)
    f = said.compile(linear_view)
    got = torch.autograd.grad(checkpoint(f, x, w, use_reentrant=False).sum(), [x, w])
    torch.testing.assert_close(got, torch.autograd.grad(linear_view(x, w).sum(), [x, w]))
    assert said.lines == [WITHOUT]


def test_deterministic_mode_that_comes_late_is_an_error() -> None:
    said = Said()
    x = leaf(6)
    y = said.compile(lambda x: x.exp())(x)
    torch.use_deterministic_algorithms(True)
    try:
        with pytest.raises(RuntimeError, match="deterministic"):
            y.sum().backward()
    finally:
        torch.use_deterministic_algorithms(False)


def test_grad_mode_inside_of_no_grad() -> None:
    said = Said()

    def f(x: Tensor) -> Tensor:
        with torch.enable_grad():
            return x.exp() * 2

    x = leaf(3)
    with torch.no_grad():
        y = said.compile(f)(x)
        assert not torch.is_grad_enabled()
    assert y.requires_grad
    (got,) = torch.autograd.grad(y.sum(), [x])
    torch.testing.assert_close(got, x.detach().exp() * 2)


def test_compiled_autograd_takes_the_backward_along() -> None:
    said = Said()
    x, w = leaf(4, 6), leaf(6, 2, seed=1)
    f = said.compile(lambda x, w: (x.exp() @ w).relu())
    want = torch.autograd.grad((x.exp() @ w).relu().sum(), [x, w])
    torch.testing.assert_close(torch.autograd.grad(f(x, w).sum(), [x, w]), want)
    with compiled_autograd._enable(torch.compile(backend="eager")):
        got = torch.autograd.grad(f(x, w).sum(), [x, w])
    torch.testing.assert_close(got, want)


@pytest.mark.parametrize("training", [True, False])
def test_graphs_whose_inputs_come_in_a_list(training: bool) -> None:
    """Compiled autograd hands its graph a list of tensors."""
    torch._dynamo.reset()
    compiled_autograd.reset()
    said = Said()
    x, w = leaf(4, 6), leaf(6, 2, seed=1)

    def f(x: Tensor, w: Tensor) -> Tensor:
        return (x.exp() @ w).relu().sum()

    want = torch.autograd.grad(f(x, w), [x, w], create_graph=training)
    for _ in range(2):
        with compiled_autograd._enable(torch.compile(backend=said)):
            got = torch.autograd.grad(f(x, w), [x, w], create_graph=training)
        torch.testing.assert_close(got, want)
    assert said.lines


def _written(x: Tensor) -> Tensor:
    x.mul_(2)
    return x.exp()


def _aliased(x: Tensor) -> tuple[Tensor, ...]:
    y = x * 2
    return y, y.view(-1)


def _controlled(x: Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))


REFUSED: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "written": (lambda x: _written(x * 1 if x.requires_grad else x), WITHOUT, {}),
    "aliased": (_aliased, "share memory", {}),
    "view of an input": (lambda x: x.t(), "share memory", {}),
    "sizes": (lambda x: x.exp() * x.shape[0], WITHOUT, {"dynamic": True}),
    "control flow": (_controlled, "cond is not an op of torch", {}),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("training", [False, True])
def test_refusals(name: str, training: bool) -> None:
    f, reason, how = REFUSED[name]
    said = Said()
    x = leaf(4, 6)
    got = said.compile(f, **how)(x if training else x.detach().clone())
    torch.testing.assert_close(got, f(x.detach().clone()), check_stride=True)
    assert len(said.lines) == 1
    assert (reason if training or name != "aliased" else WITHOUT) in said.lines[0]


def varying(x: Tensor, w: Tensor) -> tuple[Any, ...]:
    """Sizes are saved for the backward, and one is a result."""
    y = x.sin().sum(0, keepdim=True).expand(x.shape[0], -1) @ w
    return y / x.shape[0], x.shape[0], (x * 2).detach()


def test_symbolic_sizes_in_training() -> None:
    """One compile for all sizes; a gradient in another layout is laid out anew."""
    said = Said()
    compiled = said.compile(varying, dynamic=True)
    for rows in (4, 9, 3):
        args = [leaf(rows, 6), leaf(6, 8, seed=1)]
        torch.testing.assert_close(gradients(compiled, args), gradients(varying, args))
        assert compiled(*args)[1] == rows
        for f in (compiled, varying):
            f(*args)[0].backward(torch.linspace(0, 1, 8 * rows).view(8, rows).t())
        assert args[0].grad is not None
        torch.testing.assert_close(
            args[0].grad, 2 * gradients_of(varying, args, torch.linspace(0, 1, 8 * rows))
        )
    assert said.lines == [WITHOUT]


def gradients_of(f: Callable[..., Any], args: list[Tensor], values: Tensor) -> Tensor:
    """The first argument's gradient for a tangent that lies by columns."""
    out = f(*args)[0]
    (found,) = torch.autograd.grad(out, args[0], values.view(out.shape[1], out.shape[0]).t())
    return found


@pytest.mark.parametrize("training", [False, True])
def test_the_next_graph_learns_what_varies(training: bool) -> None:
    """Behind a graph break the sizes of a result stay symbolic from the first call on."""
    said = Said()

    def broken(x: Tensor) -> Tensor:
        y = torch.cat([x.sin(), x])
        torch._dynamo.graph_break()
        return y * y.shape[0]

    f = said.compile(broken, dynamic=None)
    for rows in (4, 5, 7, 11):
        x = leaf(rows, 3)
        x = x if training else x.detach()
        torch._dynamo.mark_dynamic(x, 0)
        torch.testing.assert_close(f(x), broken(x))
    assert said.lines == [WITHOUT] * 2


def test_custom_ops_keep_the_wrappers() -> None:
    @torch.library.custom_op("direct_test::twice", mutates_args=())
    def twice(x: Tensor) -> Tensor:
        return x * 2

    twice.register_fake(lambda x: torch.empty_like(x))
    said = Said()
    assert torch.equal(said.compile(lambda x: twice(x) + 1)(torch.ones(3)), torch.full((3,), 3.0))
    assert "direct_test.twice" in said.lines[0]


def test_a_training_loop_converges_as_eager() -> None:
    said = Said()
    models = [nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)) for _ in range(2)]
    models[1].load_state_dict(models[0].state_dict())
    steps = [models[0], said.compile(models[1])]
    x, target = torch.randn(16, 4), torch.randint(0, 2, (16,))
    losses: list[list[float]] = []
    for model, step in zip(models, steps, strict=True):
        opt = torch.optim.Adam(model.parameters(), 0.01)
        row: list[float] = []
        for _ in range(10):
            loss = F.cross_entropy(step(x), target)
            opt.zero_grad()
            loss.backward()
            opt.step()
            row.append(loss.item())
        losses.append(row)
    torch.testing.assert_close(losses[1], losses[0])
    assert said.lines == [WITHOUT]


PARTS: dict[str, Callable[[Tensor], Any]] = {
    "split": lambda x: x.split(2),
    "unbind": lambda x: x.unbind(),
    "chunk": lambda x: (*x.chunk(2), x.sin()),
}


@pytest.mark.parametrize("name", PARTS)
def test_several_parts_of_an_input_are_views_that_may_not_be_written(name: str) -> None:
    x = torch.arange(20.0).reshape(4, 5).requires_grad_()
    y = x * 1
    parts = torch.compile(PARTS[name], backend="minductor", options={"strict": True})(y)
    assert parts[0]._base is y
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        parts[0].mul_(2)


@pytest.mark.parametrize("change", [lambda w: w, lambda w: w.t(), lambda w: w[1:, :4]])
def test_a_saved_view_of_an_input_has_the_versions_of_the_input(
    change: Callable[[Tensor], Tensor],
) -> None:
    def f(x: Tensor, w: Tensor) -> Tensor:
        return torch.tanh(x[:, : change(w).shape[0]] @ change(w)).sum()

    x, w = torch.randn(4, 5, requires_grad=True), torch.randn(5, 5, requires_grad=True)
    loss = torch.compile(f, backend="minductor", options={"strict": True})(x, w)
    with torch.no_grad():
        w.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
