"""Errors and warnings that users of minductor may see."""

from __future__ import annotations

from pathlib import Path

from minductor.dialects.faults import IndexFault as IndexFault


class OptionError(ValueError):
    """An option or mode that minductor does not know, or a value that does not fit it."""


class Unsupported(Exception):
    """A graph that minductor leaves to eager; the text is the reason."""


class CompileError(RuntimeError):
    """A stage of a compile failed on a graph.

    The text names the stage, and for a pass the file with the IR before it and the command that
    fails in the same way. `stage` is "import", "pass loop-fuse", "emit cpp", "build" or "load".
    """

    def __init__(self, stage: str, why: str, path: Path | None = None, replay: str = "") -> None:
        text = f"minductor: {stage} failed: {why}"
        if path is not None:
            text += f"\n  IR before it: {path}"
        if replay:
            text += f"\n  replay: {replay}"
        super().__init__(text)
        self.stage = stage
        self.path = path
        self.replay = replay


class FallbackWarning(UserWarning):
    """A graph runs eagerly, because its compile failed; the option `strict` raises instead."""


class ValidationError(RuntimeError):
    """A step of a compile changed what a graph means, as interpreters and calls show.

    `step` is "pass loop-fuse", "emit cpp" or "import", `level` that of the IR after it, `path` the
    module before it, `replay` the command that shows the difference.
    """

    def __init__(
        self, graph: str, step: str, level: str, why: str, path: Path | None, replay: str
    ) -> None:
        text = f"minductor: {step} changed the outcome of the {graph} graph ({level} level): {why}"
        if path is not None:
            text += f"\n  IR before it: {path}\n  replay: {replay}"
        super().__init__(text)
        self.step = step
        self.level = level
        self.path = path
        self.replay = replay


class ValidationWarning(UserWarning):
    """A ValidationError without the option `strict`; the compiled results are used."""
