"""The backend as users meet it: options, modes, strictness, warnings, reports, pickled failures."""

import logging
import warnings
from typing import Any

import pytest
import torch
from harness import BACKEND, compiled, ours_only, same, uniform
from torch import Tensor

pytestmark = ours_only


def f(x: Tensor) -> Tensor:
    return (x.sin() + 1).sum(1)


def compile_with(**options: Any) -> Any:
    return torch.compile(f, backend=BACKEND, fullgraph=True, options=options or None)


def test_found_without_an_import() -> None:
    assert "minductor" in torch.compiler.list_backends(exclude_tags=())
    same(compile_with()(uniform(5, 6)), f(uniform(5, 6)))


def test_own_compile_function() -> None:
    import minductor

    same(minductor.compile(f, preset="seed", fullgraph=True)(uniform(5, 6)), f(uniform(5, 6)))

    @minductor.compile(strict=True)
    def g(x: Tensor) -> Tensor:
        return x * 3

    same(g(uniform(4)), uniform(4) * 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"presett": "seed"}, "did you mean 'preset'"),
        ({"preset": "fast"}, "preset"),
        ({"nonsense": 1}, "nonsense"),
        ({"strict": "yes"}, "strict"),
        ({"logs": "fusoin"}, "fusoin"),
    ],
)
def test_unknown_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(Exception, match=message):
        compile_with(**options)(uniform(5, 6))


def test_unknown_mode_is_refused() -> None:
    with pytest.raises(Exception, match="max-autotune"):
        torch.compile(f, backend=BACKEND, mode="max-autotune")(uniform(5, 6))


def test_unknown_pass_is_refused() -> None:
    with pytest.raises(Exception, match="no-such-pass"):
        compile_with(pipeline="no-such-pass", strict=True)(uniform(5, 6))


def test_failed_compile_raises_when_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "/no/such/compiler")
    with pytest.raises(Exception, match="/no/such/compiler"):
        compile_with(cache=False, strict=True)(uniform(5, 6))


def test_failed_compile_falls_back_with_one_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    from minductor.errors import FallbackWarning

    monkeypatch.setenv("CXX", "/no/such/compiler")
    reports: list[dict[str, Any]] = []
    subject = compile_with(cache=False, report=reports.append)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            same(subject(uniform(5, 6)), f(uniform(5, 6)))
    ours = [w for w in caught if issubclass(w.category, FallbackWarning)]
    assert len(ours) == 1
    assert "/no/such/compiler" in str(ours[0].message)
    assert "/no/such/compiler" in reports[0]["fallback"]


def test_report_of_each_graph() -> None:
    subject = compiled(f)
    subject(uniform(5, 6).requires_grad_()).sum().backward()
    assert [r["kind"] for r in subject.reports] == ["forward", "backward"]
    for report in subject.reports:
        assert report["fallback"] is None
        assert report["kernels"]
        assert report["compile_s"] > 0
        assert set(report["bytes"]) == {"floor", "unfused", "planned"}


def test_second_compile_comes_from_the_cache() -> None:
    first, second = compiled(f), compiled(f)
    first(uniform(9, 13))
    torch._dynamo.reset()
    second(uniform(9, 13))
    assert second.reports[0]["cached"]
    assert second.reports[0]["kernels"] == first.reports[0]["kernels"]


def test_cache_can_be_left_alone() -> None:
    for _ in range(2):
        torch._dynamo.reset()
        subject = compiled(f, options={"cache": False})
        same(subject(uniform(9, 14)), f(uniform(9, 14)))
        assert not subject.reports[0]["cached"]


def test_verification_between_passes() -> None:
    same(compiled(f, options={"verify": True, "cache": False})(uniform(5, 7)), f(uniform(5, 7)))


@pytest.mark.parametrize("threads", [1, 2])
def test_threads(threads: int) -> None:
    x = uniform(700, 900)
    same(compiled(f, options={"threads": threads})(x), f(x), tol=(1e-4, 1e-4))


def test_double_backward_is_refused_in_words() -> None:
    x = uniform(5, 6).requires_grad_()
    (g,) = torch.autograd.grad(compiled(f)(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="double backward"):
        g.sum().backward()


def test_the_log_says_how_graphs_are_called(caplog: pytest.LogCaptureFixture) -> None:
    def aliased(x: Tensor) -> tuple[Tensor, ...]:
        y = x * 2
        return y, y.view(-1)

    with caplog.at_level(logging.DEBUG, "minductor.calls"):
        compiled(f)(uniform(5, 6).requires_grad_())
        compiled(aliased)(uniform(5, 6).requires_grad_())
    said = [one.getMessage() for one in caplog.records if one.name == "minductor.calls"]
    assert said == [
        "called without wrappers",
        "AOTAutograd's wrappers stay: results share memory with inputs or with each other",
    ]
