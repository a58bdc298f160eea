"""docs/op-support.md shows what the registries say, and no core op is forgotten."""

import subprocess
import sys

import pytest
import torch

from minductor.tools.library_ops import FAMILIES, family_of
from minductor.tools.make_op_support import DOCUMENT, Row, rows


@pytest.fixture(scope="module")
def found() -> list[Row]:
    return rows()


def test_the_document_is_up_to_date() -> None:
    """Regenerate with `make support`, under the torch that the document names."""
    written = DOCUMENT.read_text()
    if f"torch {'.'.join(torch.__version__.split('.')[:2])}.\n" not in written:
        pytest.skip("the document is of another torch")
    # a process of its own: other tests add operators to torch's table
    code = "from minductor.tools.make_op_support import *; print(document(rows()), end='')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert written == done.stdout


def test_every_core_op_is_native_decomposed_or_on_the_named_list(found: list[Row]) -> None:
    core = [row for row in found if row.core]
    assert len(core) > 180
    missing = [row.overload for row in core if row.missing]
    assert missing == []


def test_families_share_no_op(found: list[Row]) -> None:
    for row in found:
        packet = row.overload.rpartition(".")[0]
        assert sum(family_of(packet) == one for one in FAMILIES) <= 1
