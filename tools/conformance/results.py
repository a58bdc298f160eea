"""Classes of results, and the records that workers send."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

PASS = "pass"
WRONG_VALUE = "wrong value"
WRONG_METADATA = "wrong metadata"
ERROR = "error"
CRASH = "crash"
TIMEOUT = "timeout"
UNTRACEABLE = "untraceable"
SKIPPED = "skipped"

CLASSES = (PASS, WRONG_VALUE, WRONG_METADATA, ERROR, CRASH, TIMEOUT, UNTRACEABLE, SKIPPED)
TOGETHER = "together"
"""Names all units of an item in one graph, where a unit is named."""
FAILURES = frozenset({WRONG_VALUE, WRONG_METADATA, ERROR, CRASH, TIMEOUT})


@dataclass(frozen=True)
class Item:
    """One entry with one dtype and one mode.

    `after` says which units are done already, `together` how all units in one graph ended a worker:
    class and reason.
    """

    entry: str
    dtype: str
    mode: str
    single: bool = False
    after: tuple[str, ...] = ()
    together: tuple[str, ...] = ()

    def message(self) -> dict[str, Any]:
        """As it travels to a worker."""
        return asdict(self)

    @staticmethod
    def of(message: dict[str, Any]) -> Item:
        """From a message."""
        lists = {name: tuple(message[name]) for name in ("after", "together")}
        fields: dict[str, Any] = {**message, **lists}
        return Item(**fields)


@dataclass
class Result:
    """What one unit gave. `graphs` is what its compile handed to the backend."""

    entry: str
    dtype: str
    mode: str
    unit: str
    cls: str
    reason: str = ""
    graphs: int = 0
    kernels: int = 0
    externs: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def failed(self) -> bool:
        """Whether the suite fails by this."""
        return self.cls in FAILURES


class Mismatch(Exception):
    """A result that is not eager's: class and reason."""

    def __init__(self, cls: str, reason: str) -> None:
        super().__init__(f"{cls}: {reason}")
        self.cls = cls
        self.reason = reason


def one_line(error: BaseException, limit: int = 300) -> str:
    """The type of an error and the start of its text, in one line; the cause, where the error only
    says that a backend failed."""
    while type(error).__name__ == "BackendCompilerFailed" and error.__cause__ is not None:
        error = error.__cause__
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:limit]
