"""What ops raise where they are run: in interpreters, and by kernels. Imports nothing."""

from __future__ import annotations


class IndexFault(IndexError, RuntimeError):
    """A checked index is outside its size. Eager raises the one or the other, by the op."""
