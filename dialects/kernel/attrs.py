"""Attributes of the `kernel` dialect that are its own.

#kernel.var<1>                    the loop variable d1
#kernel.access<read, write>       what a kernel does with each buffer
"""

from __future__ import annotations

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from minductor.dialects.types import InternedData


@irdl_attr_definition
class VarAttr(InternedData, Data[int]):
    """The number of a loop variable."""

    name = "kernel.var"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> int:
        with parser.in_angle_brackets():
            return parser.parse_integer(allow_boolean=False, allow_negative=False)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")


@irdl_attr_definition
class AccessAttr(InternedData, Data[tuple[str, ...]]):
    """Per buffer argument: read, write (undefined at entry) or update (read and written)."""

    name = "kernel.access"
    KINDS = ("read", "write", "update")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[str, ...]:
        return tuple(
            parser.parse_comma_separated_list(
                parser.Delimiter.ANGLE, lambda: parser.parse_keyword_in(cls.KINDS)
            )
        )

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{', '.join(self.data)}>")
