"""A fixed shard of the conformance suite; `make conformance` runs all of it."""

import pytest

from minductor.tools.conformance.__main__ import main


@pytest.mark.timeout(600)
def test_a_shard_of_the_database(capfd: pytest.CaptureFixture[str]) -> None:
    """Every 40th entry, f32 and i64, forward and gradients, in two workers."""
    flags = ["--shard", "7/40", "--dtypes", "f32,i64", "--samples", "3", "--jobs", "2", "--quiet"]
    failed = main(flags)
    assert not failed, capfd.readouterr().out


@pytest.mark.timeout(600)
def test_a_shard_with_everything_fused(capfd: pytest.CaptureFixture[str]) -> None:
    """Every 60th entry in f32, whatever is legal in one kernel, whatever it costs."""
    flags = ["--shard", "11/60", "--dtypes", "f32", "--samples", "3", "--jobs", "2", "--quiet"]
    failed = main([*flags, "--pipeline", "default-cpu{preset=most max-peak=none}"])
    assert not failed, capfd.readouterr().out
