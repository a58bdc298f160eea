"""What the emitter says when it cannot print a kernel."""

from __future__ import annotations


class EmitError(ValueError):
    """A kernel holds something that has no C++ form; the text names the op and the mend."""
