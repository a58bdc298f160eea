"""Log sinks: what they take, what they keep."""

import io

import pytest

from minductor.passes.context import MiniContext
from minductor.passes.logs import ARTIFACTS, NoLogs, StreamLogs, logs_of, parse_artifacts


def test_artifacts_by_name() -> None:
    assert parse_artifacts("fusion, kernel,") == {"fusion", "kernel"}
    assert parse_artifacts(["all"]) == set(ARTIFACTS)
    assert parse_artifacts("") == frozenset()


def test_unknown_artifact_names_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"unknown log 'fussion', did you mean 'fusion'\?"):
        parse_artifacts("fussion")


def test_stream_gets_chosen_lines_only() -> None:
    out = io.StringIO()
    ctx = MiniContext(logs=StreamLogs(frozenset({"fusion"}), out, "// "))
    ctx.log("fusion", "one\ntwo")
    ctx.log("kernel", "three")
    assert out.getvalue() == "// one\n// two\n"
    assert logs_of(ctx).wants("fusion")
    assert not logs_of(ctx.clone()).wants("kernel")


def test_lines_are_kept_without_a_stream() -> None:
    logs = StreamLogs(frozenset({"fusion"}))
    logs.log("fusion", "one\ntwo")
    assert logs.lines == [("fusion", "one"), ("fusion", "two")]


def test_a_context_has_no_logs_by_default() -> None:
    assert isinstance(logs_of(MiniContext()), NoLogs)
