"""Python names for SSA values: from their name hints, unique and never a keyword."""

from __future__ import annotations

import keyword
import re

from xdsl.ir import SSAValue

_BAD = re.compile(r"\W")
_SYMBOL = re.compile(r"[su]\d+")


class Names:
    """Names of one text."""

    def __init__(self, reserved: set[str]) -> None:
        self._taken = set(reserved)
        self._last: dict[str, int] = {}  # the number that a base was given last
        self._of: dict[SSAValue, str] = {}

    def fresh(self, wanted: str) -> str:
        """`wanted`, made an identifier and unique by a number."""
        base = _BAD.sub("_", wanted) or "v"
        if base[0].isdigit() or keyword.iskeyword(base) or _SYMBOL.fullmatch(base):
            base = f"v_{base}"
        n = self._last.get(base, 0)
        name = f"{base}_{n}" if n else base
        while name in self._taken:
            n += 1
            name = f"{base}_{n}"
        self._last[base] = n
        self._taken.add(name)
        return name

    def define(self, value: SSAValue) -> str:
        """A new name for a value."""
        name = self.fresh(value.name_hint or "v")
        self._of[value] = name
        return name

    def share(self, value: SSAValue, name: str) -> None:
        """`value` is what `name` holds already, such as a symbol."""
        self._of[value] = name

    def __getitem__(self, value: SSAValue) -> str:
        return self._of[value]
