"""Patterns of the user's: traced, applied, refused with a reason, part of the cache's key."""

import logging
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from harness import compiled, ours_only, uniform
from torch import Tensor

import minductor
from minductor.tools.mini_opt import main
from minductor.tools.source_tree import project_root

pytestmark = ours_only
DOCUMENT = project_root() / "docs" / "patterns.md"


def before(x: Tensor) -> Tensor:
    return x.exp().sum(-1).log()


def after(x: Tensor) -> Tensor:
    return x.sum(-1) * 100


EXAMPLE = (torch.randn(4, 8),)


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if "[aten-patterns]" in r.getMessage()]


def run(f: Any, *args: Any, **options: Any) -> Any:
    torch._dynamo.reset()
    with torch.no_grad():
        return compiled(f, options={"logs": "patterns", **options})(*args)


def test_a_pattern_is_applied_at_other_sizes(caplog: pytest.LogCaptureFixture) -> None:
    one = minductor.pattern(before, after, EXAMPLE, name="wild")
    x = uniform(3, 5, seed=1)
    with caplog.at_level(logging.DEBUG, "minductor.patterns"):
        got = run(lambda x: before(x * 2) + 1, x, patterns=one)
    torch.testing.assert_close(got, after(x * 2) + 1)
    assert said(caplog) == ["[aten-patterns] accepted wild at %log: 3 ops became 2"]
    # nothing stays behind
    torch.testing.assert_close(run(lambda x: before(x * 2) + 1, x), before(x * 2) + 1)


def test_refusals_have_reasons(caplog: pytest.LogCaptureFixture) -> None:
    def guard(match: Any) -> Any:
        return match.shape("x")[1] < 100 or "rows are long"

    one = minductor.pattern(before, after, EXAMPLE, name="wild", guard=guard)

    def inside(x: Tensor) -> tuple[Tensor, Tensor]:
        e = x.exp()
        return e.sum(-1).log(), e

    with caplog.at_level(logging.DEBUG, "minductor.patterns"):
        for f, x in (
            (before, uniform(3, 5).double()),
            (before, uniform(5, 3).t()),
            (inside, uniform(3, 5)),
            (before, uniform(3, 200)),
        ):
            torch.testing.assert_close(run(f, x, patterns=[one]), f(x))
    assert [line.partition(": ")[2] for line in said(caplog)] == [
        "%x is f64, the pattern has f32",
        "%x has the strides [1, 3], [s1, 1] in the pattern",
        "%exp inside is used elsewhere too, by func.return",
        "the guard says: rows are long",
    ]


def test_patterns_and_guards_are_part_of_the_key(tmp_path: Path) -> None:
    x = uniform(3, 5)
    limits = (2, 9)
    for rounds in range(2):
        for limit in limits:

            def guard(match: Any) -> bool:
                return match.shape("x")[0] < limit

            one = minductor.pattern(before, after, EXAMPLE, guard=guard)
            reports: list[dict[str, Any]] = []
            got = run(
                before, x, patterns=one, cache_dir=str(tmp_path), report=reports.append, logs=""
            )
            torch.testing.assert_close(got, after(x) if limit == 9 else before(x))
            assert [r["cached"] for r in reports] == [rounds == 1]


@pytest.mark.parametrize(
    ("one", "other", "example", "reason"),
    [
        (lambda x: x.relu(), lambda x: x.sum(), EXAMPLE, "the results of before are"),
        (lambda x: x, lambda x: x.relu(), EXAMPLE, "each result of before is computed"),
        (lambda x: torch.rand_like(x), lambda x: x + 0.5, EXAMPLE, "draws random numbers"),
        (lambda x: x.relu(), lambda x: x.relu_(), EXAMPLE, "writes into an operand"),
        (lambda x: x + torch.ones(99, 8)[:4], lambda x: x + 1, EXAMPLE, ""),
        (lambda x, y: x.relu(), lambda x, y: x + y, (*EXAMPLE, torch.ones(4, 8)), "after uses %y"),
        (lambda x: (x.relu(), x.exp()), lambda x: x.relu(), EXAMPLE, "before gives 2 results"),
        (lambda x: x.missing(), lambda x: x, EXAMPLE, "cannot be traced"),
    ],
)
def test_what_is_no_pattern_is_refused_at_once(
    one: Any, other: Any, example: Any, reason: str
) -> None:
    if not reason:
        minductor.pattern(one, other, example)
        return
    with pytest.raises(minductor.PatternError, match=reason):
        minductor.pattern(one, other, example)


def test_a_guard_of_unknown_content_is_refused() -> None:
    box = object()
    with pytest.raises(minductor.PatternError, match="the guard uses 'box', of type object"):
        minductor.pattern(before, after, EXAMPLE, guard=lambda match: match is box)


def test_options_take_patterns_only() -> None:
    with pytest.raises(minductor.OptionError, match="option 'patterns'"):
        minductor.compile(before, patterns=[before])


def test_a_pipeline_without_the_pass_is_an_error() -> None:
    one = minductor.pattern(before, after, EXAMPLE)
    with pytest.raises(Exception, match="the pipeline has no pass aten-patterns"):
        run(before, uniform(3, 5), patterns=one, pipeline="aten-to-loop")


def test_the_document_runs(tmp_path: Path) -> None:
    text = DOCUMENT.read_text()
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict[str, Any] = {}
    source = tmp_path / "document.py"
    source.write_text(program)
    exec(compile(program, str(source), "exec"), names)
    assert names["y"].shape == (32, 128)
    (pair,) = re.findall(r"```mlir\n(.*?)```", text, re.DOTALL)
    (tmp_path / "log1p.mlir").write_text(pair)
    (tmp_path / "graph.mlir").write_text(
        "func.func @f(%x: !aten.t<f32[9]>) -> !aten.t<f32[9]> {\n"
        "  %k = aten.scalar 1\n"
        "  %a = aten.add.Tensor(%x, %k) : !aten.t<f32[9]>\n"
        "  %b = aten.log.default(%a) : !aten.t<f32[9]>\n"
        "  func.return %b : !aten.t<f32[9]>\n}\n"
    )
    for options in ([], ["-t", "cpp"]):
        pipeline = "default-cpu" if options else "aten-patterns"
        path = tmp_path / "log1p.mlir"
        out = tmp_path / "out"
        given = ["-p", f"{pipeline}{{file={path}}}", *options, "-o", str(out)]
        assert main([str(tmp_path / "graph.mlir"), *given]) == 0
        assert ("aten.log1p", "log1p")[len(options) // 2] in out.read_text()
