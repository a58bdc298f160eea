"""Machine files: fields, defaults, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.utils.exceptions import PassFailedException

from minductor.passes.loop.fusion.machine import MACHINES, machine_of


def test_a_file_changes_what_it_names(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\nbandwidth = 100\ncache = 4096\n')
    found = machine_of(str(path), "cpu")
    assert (found.name, found.bandwidth, found.cache) == ("mine", 100, 4096)
    assert found.line == MACHINES["cpu"].line
    assert found.launch_bytes == 50_000


def test_auto_goes_by_the_device() -> None:
    assert machine_of("auto", "cpu").name == "cpu"
    assert machine_of("auto", "cuda").name == "h200"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("cash = 1", "unknown field 'cash', did you mean 'cache'"),
        ('cache = "large"', "field 'cache' is of type int, not negative, not 'large'"),
        ("cache = 1.5", "field 'cache' is of type int"),
        ("launch = -1.0", "field 'launch' is of type float, not negative, not -1.0"),
        ("cache = true", "field 'cache' is of type int"),
        ("cache = ", "machine file"),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(PassFailedException, match=why):
        machine_of(str(path), "cpu")
