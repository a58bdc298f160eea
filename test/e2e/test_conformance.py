"""A fixed shard of the conformance suite; `make conformance` runs all of it."""

import pytest

from minductor.tools.conformance.__main__ import main


@pytest.mark.timeout(600)
def test_a_shard_of_the_database(capfd: pytest.CaptureFixture[str]) -> None:
    """Every 40th entry, f32 and i64, forward and gradients, in two workers."""
    flags = ["--shard", "7/40", "--dtypes", "f32,i64", "--samples", "3", "--jobs", "2", "--quiet"]
    failed = main(flags)
    assert not failed, capfd.readouterr().out
