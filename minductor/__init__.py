"""minductor: a torch.compile backend built like MLIR, in Python, on xDSL.

Importing the package is cheap: torch is imported by the first use of `compile` or `export_aten`,
so that text tools (`mini-opt`) start without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minductor.backend import compile
    from minductor.errors import (
        CompileError,
        FallbackWarning,
        OptionError,
        ValidationError,
        ValidationWarning,
    )
    from minductor.export import export_aten
    from minductor.patterns import PatternError, pattern

__version__ = "0.1.0"

__all__ = [
    "CompileError",
    "FallbackWarning",
    "OptionError",
    "PatternError",
    "ValidationError",
    "ValidationWarning",
    "compile",
    "export_aten",
    "pattern",
]

_LAZY = {
    "CompileError": "minductor.errors",
    "FallbackWarning": "minductor.errors",
    "OptionError": "minductor.errors",
    "PatternError": "minductor.patterns",
    "ValidationError": "minductor.errors",
    "ValidationWarning": "minductor.errors",
    "compile": "minductor.backend",
    "export_aten": "minductor.export",
    "pattern": "minductor.patterns",
}


def __getattr__(name: str) -> Any:
    """Resolves the public names at first use."""
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'minductor' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])
