"""Modules as text in which every value has a name of its own.

xDSL names a value by its hint, and the second of one hint `hint_1`; a value whose hint is `hint_1`
(`%hint_1_0` in the text before) then takes the same name, and the text does not parse.
"""

from __future__ import annotations

from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.printer import Printer


class ModulePrinter(Printer):
    """xDSL's printer, whose numbered names pass over hints that are taken."""

    def print_ssa_value(self, value: SSAValue) -> str:
        """Prints `%name` and returns the name; the same value has the same name again."""
        hint = value.name_hint
        if hint and value not in self._ssa_values:
            taken = self.ssa_names
            count = taken.get(hint, 0)
            name = f"{hint}_{count}" if count else hint
            while count and name in taken:
                count += 1
                name = f"{hint}_{count}"
            taken.setdefault(name, 1)
            taken[hint] = count + 1
            self._ssa_values[value] = name
        return super().print_ssa_value(value)


def module_text(module: ModuleOp) -> str:
    """The default text of a module, without locations."""
    stream = StringIO()
    ModulePrinter(stream=stream).print_op(module)
    return stream.getvalue()
