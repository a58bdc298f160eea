"""The output targets of `mini-opt`: `cpp`, `triton`, `wrapper`, `plan`.

A target imports its emitter when it is used. Emitters are pure functions of the module.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import IO, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from minductor.dialects.printing import ModulePrinter

EMITTERS: dict[str, str] = {
    "cpp": "minductor.codegen.cpp.module:emit_cpp",
    "plan": "minductor.codegen.plan.module:emit_plan",
    "triton": "minductor.codegen.triton.module:emit_triton",
    "wrapper": "minductor.codegen.wrapper.module:emit_wrapper",
}
"""Target name -> "module:function", a function from a module to text."""


def emit(name: str, module: ModuleOp) -> str:
    """The text of a module for a target."""
    path, _, function = EMITTERS[name].partition(":")
    text = getattr(import_module(path), function)(module)
    assert isinstance(text, str)
    return text


@dataclass(frozen=True)
class SourceTarget(Target):
    """A target whose text one emitter prints."""

    name: ClassVar[str] = "source"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Writes the source text, ended by one newline."""
        text = emit(self.name, module)
        output.write(text if text.endswith("\n") else text + "\n")


def text_target() -> type[Target]:
    """xDSL's `mlir` target, printed so that it parses whatever the hints of its values are."""
    from xdsl.targets.mlir import MLIRTarget

    @dataclass(frozen=True)
    class TextTarget(MLIRTarget):
        name = "mlir"

        def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
            if self.syntax_highlight:
                return super().emit(ctx, module, output)
            printer = ModulePrinter(
                stream=output,
                print_generic_format=self.print_generic_format,
                print_properties_as_attributes=self.print_properties_as_attributes,
                print_debuginfo=self.print_debuginfo,
            )
            printer.print_op(module)
            printer.print_metadata(ctx.loaded_dialects)
            output.write("\n\n")

    return TextTarget


def target_factories() -> dict[str, Callable[[], type[Target]]]:
    """The targets as the lazy factories that xDSL's tools take."""

    def factory(target: str) -> Callable[[], type[Target]]:
        def make() -> type[Target]:
            return dataclass(frozen=True)(type("SourceTarget", (SourceTarget,), {"name": target}))

        return make

    return {name: factory(name) for name in EMITTERS}
