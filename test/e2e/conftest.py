"""Shared set-up of the end-to-end tests: a private cache, a clean Dynamo, a fixed seed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One empty cache folder a session: nothing of an earlier run can answer."""
    folder = tmp_path_factory.mktemp("minductor-cache")
    patch = pytest.MonkeyPatch()
    patch.setenv("MINDUCTOR_CACHE_DIR", str(folder))
    yield folder
    patch.undo()


@pytest.fixture(autouse=True)
def clean_dynamo() -> Iterator[None]:
    """Each test compiles anew and starts from the same random state and thread count."""
    threads = torch.get_num_threads()
    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()
    torch.set_num_threads(threads)
