"""Options: unknown keys, wrong values, modes, logs, and that the documents list them all."""

import dataclasses
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from minductor.errors import OptionError
from minductor.options import Options, describe, make_options

ROOT = Path(__file__).resolve().parents[3]


def test_defaults() -> None:
    assert make_options() == Options()
    assert make_options({}, "default") == Options()


def test_there_are_few() -> None:
    assert len(dataclasses.fields(Options)) <= 25


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"presett": "seed"}, "unknown option 'presett', did you mean 'preset'?"),
        ({3: 4}, "options have names, not 3"),
        ({"zzz": 1}, "unknown option 'zzz', known: autotune, cache, cache_dir"),
        ({"preset": "sed"}, "option 'preset' has no value 'sed', did you mean 'seed'?"),
        ({"threads": "4"}, "option 'threads' is of type int, not '4'"),
        ({"threads": True}, "option 'threads' is of type int, not True"),
        ({"threads": 0}, "option 'threads' is at least 1, not 0"),
        ({"threads": 100_000}, "option 'threads' is at most 4096, not 100000"),
        ({"dump_dir": f"{__file__}/x"}, "test_options.py is no folder"),
        ({"strict": 1}, "option 'strict' is of type bool, not 1"),
        ({"report": 3}, "option 'report' is a function, not 3"),
        ({"logs": "fuse"}, "option 'logs': unknown log 'fuse'"),
    ],
)
def test_what_is_wrong_is_said(given: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        make_options(given)
    assert message in str(caught.value)


def test_mode_must_be_known() -> None:
    with pytest.raises(OptionError, match="unknown mode 'max-autotune': minductor has the modes"):
        make_options(None, "max-autotune")


def test_a_mode_stands_for_options() -> None:
    assert make_options(None, "reduce-overhead") == Options(cudagraphs=True)
    assert make_options({"cudagraphs": False}, "reduce-overhead") == Options(cudagraphs=False)


def test_options_of_passes_are_routed() -> None:
    assert make_options({"threads": 3}).routed() == {"preset": "default", "threads": 3}


def test_logs_of_options_and_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINDUCTOR_LOGS", "aten")
    assert make_options({"logs": "fusion,kernel"}).log_names == {"aten", "fusion", "kernel"}
    assert make_options({"logs": ("fusion",)}).log_names == {"aten", "fusion"}
    monkeypatch.setenv("MINDUCTOR_LOGS", "atten")
    with pytest.raises(OptionError, match="MINDUCTOR_LOGS: unknown log 'atten'"):
        _ = make_options().log_names


def test_documents_list_each_option() -> None:
    text = (ROOT / "docs" / "options.md").read_text()
    for name, default, doc in describe():
        assert f"| `{name}` | {default} | {doc} |" in text


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("pipeline", "aten-cs", "unknown pass 'aten-cs', did you mean 'aten-cse'"),
        ("pipeline", "default-cpu{threads=x}", "option 'threads' is of type int, not 'x'"),
        ("pipeline", " ", "option 'pipeline' is empty"),
        ("plan_in", sys.executable, "option 'plan_in': .* is not readable text"),
        ("pipeline", 3, "option 'pipeline' is of type str"),
        ("plan_in", "/no/such.plan", "option 'plan_in': there is no file /no/such.plan"),
        ("pipeline", "loop-fuse{machine=h2000}", "unknown machine 'h2000', did you mean 'h200'"),
        ("pipeline", "default-cpu{preset=sed}", "unknown preset 'sed', did you mean 'seed'"),
        ("machine", "h2000", "unknown machine 'h2000', did you mean 'h200'"),
        ("machine", "/no/such.toml", "machine file '/no/such.toml': .*No such file"),
        ("plan", "/no/such/x.plan", "option 'plan': there is no folder /no/such"),
        ("autotune", "x", "option 'autotune' has no value 'x'"),
        ("isa", "avx1024", "option 'isa' has no value 'avx1024'"),
    ],
)
def test_values_that_a_compile_would_trip_over(name: str, value: object, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        make_options({name: value})


def test_triton_for_a_cpu_graph_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    compiled = torch.compile(lambda x: x + 1, backend="minductor", options={"target": "triton"})
    with pytest.raises(Exception, match="set TRITON_INTERPRET=1"):
        compiled(torch.ones(3))
