"""Reading pipeline text, routing options, and the declared order of passes."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from minductor.passes import pipelines, registry
from minductor.passes.base import MiniPass
from minductor.passes.pipelines import (
    PIPELINES,
    PipelineError,
    build_pipeline,
    check_order,
    pipeline_options,
    pipeline_text,
)
from minductor.passes.registry import PASSES, load_pass


@dataclass(frozen=True)
class MakePass(MiniPass):
    """Provides a thing."""

    name = "t-make"
    provides: ClassVar[frozenset[str]] = frozenset({"thing"})
    preset: str = "default"
    threads: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pass


@dataclass(frozen=True)
class UsePass(MiniPass):
    """Needs the thing and ends it."""

    name = "t-use"
    needs: ClassVar[frozenset[str]] = frozenset({"thing"})
    ends: ClassVar[frozenset[str]] = frozenset({"thing"})
    threads: int = 1
    verbose: bool = False
    tiles: tuple[int, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pass


@pytest.fixture
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    here = __name__
    monkeypatch.setitem(registry.PASSES, "t-make", f"{here}:MakePass")
    monkeypatch.setitem(registry.PASSES, "t-use", f"{here}:UsePass")
    loaded = {"t-make": MakePass, "t-use": UsePass}
    monkeypatch.setattr(pipelines, "load_pass", loaded.__getitem__)
    monkeypatch.setitem(pipelines.PIPELINES, "toy", ("t-make", "t-use{threads=7}"))


@pytest.mark.usefixtures("_toy")
class TestReading:
    def test_options_are_typed_and_a_flag_is_true(self) -> None:
        (one,) = build_pipeline("t-use{verbose tiles=1,2 threads=3}")
        assert one == UsePass(threads=3, verbose=True, tiles=(1, 2))

    def test_pipeline_options_go_to_the_passes_that_have_them(self) -> None:
        assert pipeline_options("toy") == {"preset", "threads", "verbose", "tiles"}
        assert build_pipeline("toy{preset=seed threads=2}") == [
            MakePass("seed", 2),
            UsePass(threads=7),
        ]

    def test_pipelines_and_passes_mix(self) -> None:
        names = [one.name for one in build_pipeline("t-make,toy,t-use")]
        assert names == ["t-make", "t-make", "t-use", "t-use"]
        assert build_pipeline("") == []

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("t-mak", "unknown pass 't-mak', did you mean 't-make'?"),
            ("toyy", "unknown pass 'toyy', did you mean 'toy'?"),
            ("toy{pre-set=1}", "pipeline 'toy' has no option 'pre_set', did you mean 'preset'?"),
            ("t-use{thread=1}", "pass 't-use' has no option 'thread', did you mean 'threads'?"),
            ("t-use{threads=x}", "pass 't-use': option 'threads' is of type int, not 'x'"),
            ("t-use{threads", "Error parsing pass pipeline"),
        ],
    )
    def test_errors_name_the_nearest(self, text: str, message: str) -> None:
        with pytest.raises(PipelineError, match=r"(?s).*") as raised:
            build_pipeline(text)
        assert message in str(raised.value)

    def test_text_of_a_pipeline_reads_back(self) -> None:
        text = pipeline_text("toy", {"preset": 'a "b" \\ c', "threads": 2, "verbose": None})
        assert text == r'toy{preset="a \"b\" \\ c" threads=2}'
        assert build_pipeline(text)[0] == MakePass('a "b" \\ c', 2)

    def test_order(self) -> None:
        assert check_order(build_pipeline("toy")) == []
        assert check_order(build_pipeline("t-use,t-make")) == [
            "t-use needs thing, which no pass before provides"
        ]
        assert len(check_order(build_pipeline("toy,t-use"))) == 1


@pytest.mark.parametrize("name", sorted(PIPELINES))
def test_order_of_the_named_pipelines(name: str) -> None:
    assert check_order(build_pipeline(name)) == []


@pytest.mark.parametrize("name", list(PASSES))
def test_each_pass_loads_and_says_what_it_does(name: str) -> None:
    cls = load_pass(name)
    assert cls.name == name
    assert (cls.__doc__ or "").strip()
    assert cls.required_fields() == set(), "a pass of the registry runs without options"


def test_paths_need_no_quotes() -> None:
    for text in ("/no/a.plan", "a.plan", "~/b-c/d.plan"):
        one = build_pipeline(f"loop-fuse{{plan-in={text} preset=seed}}")[0]
        assert getattr(one, "plan_in", None) == text
        assert getattr(one, "preset", None) == "seed"
