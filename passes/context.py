"""`MiniContext`: an xDSL context with minductor's dialects and sinks for remarks and logs.

Dialects are registered as names; their modules are imported when the first op, type or attribute
of them is met. Ops of `aten` are made one at a time from the schema table, by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.ir import Dialect, Operation

from minductor.passes.logs import LogSink, NoLogs
from minductor.passes.remarks import RemarkSink

if TYPE_CHECKING:
    from minductor.passes.aten._pattern import Pattern

DIALECTS: dict[str, str] = {
    "aten": "minductor.dialects.aten:ATEN",
    "kernel": "minductor.dialects.kernel:KERNEL",
    "loop": "minductor.dialects.loop:LOOP",
    "scalar": "minductor.dialects.scalar:SCALAR",
}
"""Dialect name -> "module:object", resolved at first use."""

BORROWED = ("builtin", "func")
"""xDSL's own dialects that minductor's modules are written in."""


def dialect_factory(target: str) -> Callable[[], Dialect]:
    """A factory that imports "module:object" when called."""

    def load() -> Dialect:
        module, _, name = target.partition(":")
        dialect = getattr(import_module(module), name)
        assert isinstance(dialect, Dialect)
        return dialect

    return load


def aten_op_class(name: str) -> type[Operation] | None:
    """The class of an `aten` op, generated on demand; None when no schema has the name."""
    from minductor.dialects.aten import known_op

    return known_op(name)


@dataclass
class MiniContext(Context):
    """Context with all of minductor's dialects registered, a remark sink and a log sink.

    patterns: the user's own, for `aten-patterns`.
    """

    remarks: RemarkSink = field(default_factory=RemarkSink)
    logs: LogSink = field(default_factory=NoLogs)
    patterns: tuple[Pattern, ...] = ()

    def __post_init__(self) -> None:
        # a clone brings its registrations along
        if "builtin" not in self._registered_dialects:
            register_dialects(self)

    def clone(self) -> MiniContext:
        """A copy with the same dialects; remarks and logs go to the same sinks."""
        return MiniContext(
            self.allow_unregistered,
            self._loaded_dialects.copy(),
            self._loaded_ops.copy(),
            self._loaded_attrs.copy(),
            self._loaded_types.copy(),
            self._registered_dialects.copy(),
            self.remarks,
            self.logs,
            self.patterns,
        )

    def log(self, artifact: str, text: str) -> None:
        """Writes lines of a log artifact (`passes/logs.py` lists them)."""
        self.logs.log(artifact, text)

    def _get_known_op(self, name: str) -> type[Operation] | None:
        found = super()._get_known_op(name)
        if found is not None or not name.startswith("aten."):
            return found
        made = aten_op_class(name)
        if made is not None:
            self._loaded_ops[name] = made
        return made


def register_dialects(ctx: Context) -> None:
    """Registers minductor's dialects, and those borrowed from xDSL, without importing them."""
    from xdsl.dialects import get_all_dialects

    theirs = get_all_dialects()
    for name in BORROWED:
        ctx.register_dialect(name, theirs[name])
    for name, target in DIALECTS.items():
        ctx.register_dialect(name, dialect_factory(target))
