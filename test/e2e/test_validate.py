"""`validate`: every level in its interpreter; a step that changes the outcome is named."""

from pathlib import Path
from typing import Any

import pytest
import torch
from harness import leaf, ours_only, uniform
from torch import Tensor
from torch._higher_order_ops import scan

import minductor
from minductor.codegen.cpp import module as cpp_module
from minductor.passes import registry
from minductor.passes.pipelines import PIPELINES
from minductor.tools.mini_run import main as mini_run

pytestmark = ours_only

WRONG = "swap-operands"


def validated(f: Any, said: list[str] | None = None, **options: Any) -> Any:
    """`f` compiled with `validate`, findings raised; what the judge says goes to `said`."""
    torch._dynamo.reset()
    dynamic = options.pop("dynamic", False)
    options = {"validate": True, "strict": True, "logs": "validate", **options}
    return torch.compile(f, backend="minductor", dynamic=dynamic, options=options)


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> Any:
    """The judge's lines."""
    import logging

    logging.getLogger("minductor").propagate = True
    caplog.set_level(logging.DEBUG, "minductor.validate")
    return lambda: [r.getMessage() for r in caplog.records if r.name == "minductor.validate"]


def steps_with(wrong_after: str) -> str:
    """The CPU pipeline with the wrong pass behind a pass."""
    out: list[str] = []
    for spec in PIPELINES["default-cpu"]:
        out.append(spec)
        if spec.split("{")[0] == wrong_after and WRONG not in out:
            out.append(WRONG)  # twice would be right again
    assert WRONG in out
    return ",".join(out)


def program(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    d = (x - y).exp()
    return d.sum(1), torch.relu(d) * 2


@pytest.mark.parametrize(
    ("after", "level"),
    [
        ("aten-fold", "aten"),
        ("aten-dce", "aten"),
        ("aten-to-loop", "loop"),
        ("loop-inline", "loop"),
        ("loop-fuse", "loop"),
        ("loop-to-kernel", "kernel"),
        ("kernel-vectorize", "kernel"),
        ("kernel-pool", "kernel"),
    ],
)
def test_a_wrong_pass_is_named(
    after: str,
    level: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(registry.PASSES, WRONG, "wrong_passes:SwapOperandsPass")
    f = validated(program, pipeline=steps_with(after), dump_dir=str(tmp_path))
    with pytest.raises(minductor.ValidationError) as caught:
        f(uniform(5, 7), uniform(5, 7, seed=1))
    error = caught.value
    assert (error.step, error.level) == (f"pass {WRONG}", level)
    assert error.path is not None
    words = error.replay.replace("'", "").split()
    assert words[0] == "mini-run"
    assert mini_run(words[1:]) == 1
    assert "elements, first at" in capsys.readouterr().out


def test_a_wrong_emitter_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right = cpp_module.emit_cpp
    monkeypatch.setattr(
        cpp_module, "emit_cpp", lambda m: right(m).replace("= m_exp(v", "= -m_exp(v")
    )
    f = validated(program, cache_dir=str(tmp_path))
    with pytest.raises(minductor.ValidationError) as caught:
        f(uniform(5, 7), uniform(5, 7, seed=1))
    error = caught.value
    assert (error.step, error.level) == ("emit cpp", "compiled")
    words = error.replay.replace("'", "").split()
    assert mini_run(words[1:]) == 1
    monkeypatch.undo()
    assert mini_run(words[1:]) == 0
    assert "equal" in capsys.readouterr().out


def test_a_finding_is_a_warning_by_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(registry.PASSES, WRONG, "wrong_passes:SwapOperandsPass")
    pipeline = steps_with("loop-fuse")
    f = validated(program, pipeline=pipeline, dump_dir=str(tmp_path), strict=False)
    with pytest.warns(minductor.ValidationWarning, match=f"pass {WRONG} changed the outcome"):
        f(uniform(5, 7), uniform(5, 7, seed=1))


def test_the_variable_asks_for_it(monkeypatch: pytest.MonkeyPatch, said: Any) -> None:
    monkeypatch.setenv("MINDUCTOR_VALIDATE", "1")
    validated(program, validate=False)(uniform(5, 7), uniform(5, 7, seed=1))
    assert len(said()) == 1
    assert "agrees at every level" in said()[0]


def test_a_large_graph_is_left_out_with_a_reason(said: Any) -> None:
    validated(program, validate_limit=34)(uniform(5, 7), uniform(5, 7, seed=1))
    assert said() == [
        "validate: inference 0/0 is not judged: a nest of 35 points, more than validate_limit = 34"
    ]


def test_forward_and_backward_are_judged(said: Any) -> None:
    x, w = leaf(uniform(6, 5)), leaf(uniform(5, 4, seed=1))
    f = validated(lambda x, w: torch.softmax(x.tanh() @ w, 1).log().mean(0))
    f(x, w).sum().backward()
    assert [line.split()[1] for line in said()] == ["forward", "backward"]
    assert all("agrees" in line for line in said())


def mutates(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    x.add_(1)
    x[1:].mul_(y[:-1])
    y.t()[0].index_fill_(0, torch.tensor([1]), 3.0)
    return x, x.view(-1), y[::2], y + x


def draws(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    h = torch.nn.functional.dropout(x - y, 0.5)
    return h, h.sum(1), torch.rand_like(x) * y, torch.randn(3), x.exp()


def unbacked(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    kept = x[x > 0]
    return kept * 2, kept.sum(), y.nonzero().sum(0), torch.mm(x, y.t()).relu()


@pytest.mark.parametrize("f", [mutates, draws, unbacked], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_graphs_of_every_kind_agree(f: Any, dtype: torch.dtype, said: Any) -> None:
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        args = uniform(4, 6).to(dtype), uniform(4, 6, seed=1).to(dtype)
        torch.manual_seed(3)
        got = validated(f)(*args)
        assert got is not None
    assert len(said()) == 1, said()
    assert "agrees" in said()[0]
    assert "not run" not in said()[0]


def test_validation_leaves_random_numbers_alone() -> None:
    outcomes: list[Tensor] = []
    for validate in (False, True):
        f = validated(draws, validate=validate)
        torch.manual_seed(5)
        outcomes += [f(uniform(4, 6), uniform(4, 6, seed=1))[0], torch.rand(2)]
    assert torch.equal(outcomes[0], outcomes[2])
    assert torch.equal(outcomes[1], outcomes[3])


def test_each_size_of_a_dynamic_graph_is_judged_once(said: Any) -> None:
    f = validated(lambda x: torch.softmax(x, 0) + x.shape[0], dynamic=True)
    for n in (5, 7, 5, 9):
        f(uniform(n, 3))
    assert len(said()) == 3


def test_gradients_that_a_library_op_leaves_out_are_holes(said: Any) -> None:
    """The convolution's backward gives None where nobody asks for a gradient."""
    weight = torch.ones(2, 2, 3, dtype=torch.float64)
    x = leaf(uniform(1, 2, 8).double())
    validated(lambda x: torch.conv1d(x * 2, weight))(x).sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad[0, 0, 2:6], torch.full((4,), 12.0).double())
    assert len(said()) == 2, said()


@pytest.mark.parametrize("kind", ["cond", "scan"])
def test_graphs_with_control_flow_are_judged(kind: str, said: Any) -> None:
    """Their sub-graphs are private functions beside the one that is called."""

    def f(x: Tensor) -> Tensor:
        if kind == "cond":
            return torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)) * 2
        return scan(lambda a, b: (a + b, a * b), x[0], x, dim=0)[1].exp()

    x = uniform(3, 4)
    torch.testing.assert_close(validated(f)(x), f(x))
    assert any("agrees at every level" in line for line in said())
