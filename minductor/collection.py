"""Python's garbage collection, put off while a graph is compiled.

A compile makes a great many objects that all stay: each full collection in between walks over all
of them and frees nothing, which makes the time of a deep graph grow faster than the graph.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def put_off() -> Generator[None]:
    """No automatic collection inside; on again after, if it was on.

    Of compiles side by side the first to begin switches it on again, when it ends.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
