"""`mini-opt`: runs passes over IR text, or over an exported program, and prints a target.

    mini-opt m.mlir -p aten-cse,loop-fuse{preset=seed}
    mini-opt m.pt2 -p default-cpu -t cpp
    mini-opt kernel.mlir -t cpp

It is xDSL's driver with minductor's dialects, passes, pipelines and targets, all imported at first
use: on text neither torch nor sympy nor triton is loaded. Errors say what is wrong, where and what
would mend it, and never print the whole module.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import (
    DiagnosticException,
    ParseError,
    UnregisteredConstructException,
)
from xdsl.utils.frontend import Frontend
from xdsl.xdsl_opt_main import xDSLOptMain

from minductor.dialects.printing import module_text
from minductor.passes.context import MiniContext
from minductor.passes.logs import StreamLogs, parse_artifacts
from minductor.passes.manager import PassFailure, PassManager
from minductor.passes.pipelines import PIPELINES, build_pipeline
from minductor.passes.registry import PASSES, load_pass
from minductor.tools.errors import short_diagnostic, short_os_error, short_parse_error
from minductor.tools.targets import target_factories, text_target


@dataclass(frozen=True)
class Pt2Frontend(Frontend):
    """Reads a program that `torch.export.save` wrote; torch is imported here."""

    name: ClassVar[str] = "pt2"

    def parse(self, ctx: Context, input: IO[bytes], input_name: str) -> ModuleOp:
        """The `aten` module of the file `input_name`."""
        from minductor.lowering.pt2 import read_pt2

        if input_name == "stdin":
            raise DiagnosticException("a .pt2 program is read from a file, not from stdin")
        return read_pt2(input_name)


class MiniOpt(xDSLOptMain):
    """xDSL's driver with minductor's contents."""

    version_format: ClassVar[str] = "mini-opt (minductor) on xDSL {xdsl_version}"
    context: MiniContext
    manager: PassManager

    def __init__(self, args: Sequence[str] | None = None) -> None:
        super().__init__("minductor's optimiser driver", args)

    def register_all_dialects(self) -> None:
        """minductor's dialects, and xDSL's builtin and func."""
        self.context = MiniContext()
        self.ctx = self.context

    def register_all_passes(self) -> None:
        """Nothing: `-p` is read by `build_pipeline`, which knows pipelines too."""

    def register_all_targets(self) -> None:
        """IR text and minductor's sources."""
        self.available_targets["mlir"] = text_target
        self.available_targets.update(target_factories())

    def register_all_frontends(self) -> None:
        """IR text and exported programs, by file ending."""
        from xdsl.frontend.mlir import MLIRFrontend

        self.available_frontends["mlir"] = lambda: MLIRFrontend
        self.available_frontends["pt2"] = lambda: Pt2Frontend

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        """xDSL's arguments and ours."""
        super().register_all_arguments(arg_parser)
        flags = {
            "--list-passes": "print the name and the first line of each pass, and stop",
            "--list-pipelines": "print the passes of each named pipeline, and stop",
            "--print-remarks": "print what passes did and refused, as comment lines",
            "--traceback": "print the Python traceback of an error",
        }
        for flag, text in flags.items():
            arg_parser.add_argument(flag, default=False, action="store_true", help=text)
        arg_parser.add_argument(
            "--logs",
            type=parse_artifacts,
            default=os.environ.get("MINDUCTOR_LOGS", ""),
            help="print these logs of passes as comment lines: fusion,ir_pre_fusion,..",
        )

    def setup_pipeline(self) -> None:
        """Reads `-p` into our own pass manager."""
        self.context.remarks.enabled = self.args.print_remarks
        if self.args.logs:
            stream = sys.stdout if self.args.target == "mlir" else sys.stderr
            self.context.logs = StreamLogs(self.args.logs, stream, "// ")
        self.manager = PassManager(
            build_pipeline(self.args.passes),
            verify_each=not self.args.disable_verify,
            after_pass=self._after_pass,
        )

    def parse_chunk(
        self, chunk: IO[bytes], file_extension: str, start_offset: int = 0
    ) -> ModuleOp | None:
        """Parses and verifies a piece of input."""
        try:
            module = super().parse_chunk(chunk, file_extension, start_offset)
            if module is not None and not self.args.disable_verify:
                module.verify()
        except DiagnosticException as error:
            raise short_diagnostic(error) from error
        count = 0 if module is None else sum(isinstance(op, ModuleOp) for op in module.ops)
        if count:
            raise DiagnosticException(
                f"{count} modules in one file: separate them by dashes and give --split-input-file"
            )
        return module

    def apply_passes(self, prog: ModuleOp) -> None:
        """Runs the pipeline; a refusal of a pass is a diagnostic, anything else a failure."""
        self._start = time.perf_counter()
        try:
            self.manager.run(self.context, prog)
        except PassFailure as failure:
            if isinstance(failure.__cause__, DiagnosticException):
                where = f"in pass '{failure.pass_name}'"
                raise short_diagnostic(failure.__cause__, where) from failure
            raise

    def output_resulting_program(self, prog: ModuleOp) -> str:
        """The target's text, then the remarks (on stderr unless the text is IR)."""
        text = super().output_resulting_program(prog)
        lines = [f"// remark: {remark}\n" for remark in self.context.remarks.drain()]
        if self.args.target == "mlir":
            return text + "".join(lines)
        sys.stderr.write("".join(lines))
        return text

    def _after_pass(self, done: ModulePass, module: ModuleOp) -> None:
        if self.args.time_passes:
            seconds = self.manager.timings[-1].seconds
            print(f"// {done.name}: {seconds * 1e3:.2f} ms")
        if self.args.print_between_passes and done is not self.manager.passes[-1]:
            print(f"// IR after {done.name}:")
            sys.stdout.write(module_text(module))
            print("\n")


def list_passes() -> str:
    """A line for each pass: its name and the first line of its docstring."""
    width = max((len(name) for name in PASSES), default=0)
    return "".join(f"{name:<{width}}  {_first_line(name)}\n" for name in PASSES)


def list_pipelines() -> str:
    """Each named pipeline with its passes, one a line."""
    return "".join(
        f"{name}\n" + "".join(f"  {text}\n" for text in passes)
        for name, passes in PIPELINES.items()
    )


def _first_line(name: str) -> str:
    """The summary of a pass: of its class, or of its module when the class has none."""
    cls = load_pass(name)
    text = cls.__doc__ or ""
    if not text.strip() or text.startswith(f"{cls.__name__}("):
        text = sys.modules[cls.__module__].__doc__ or ""
    return text.strip().partition("\n")[0]


def main(args: Sequence[str] | None = None) -> int:
    """Runs the driver; returns the exit status."""
    given = list(sys.argv[1:] if args is None else args)
    if "--list-passes" in given or "--list-pipelines" in given:
        sys.stdout.write(list_passes() if "--list-passes" in given else list_pipelines())
        return 0
    try:
        MiniOpt(given).run()
    except Exception as error:
        if "--traceback" in given:
            raise
        sys.stdout.flush()
        text = error_text(error)
        if isinstance(error, UnicodeDecodeError):
            text = f"error: {_binary_file(given)}{text.removeprefix('error: ')}"
        sys.stderr.write(f"mini-opt: {text}\n")
        return 1
    return 0


def _binary_file(given: Sequence[str]) -> str:
    """`m.mlir: `, the argument that is a file."""
    return next((f"{one}: " for one in given if os.path.isfile(one)), "")


def error_text(error: Exception) -> str:
    """What is wrong, where, and what would mend it, in a few lines."""
    match error:
        case ParseError():
            return f"error: cannot parse\n{short_parse_error(error)}"
        case UnicodeDecodeError():
            return (
                f"error: not text (byte 0x{error.object[error.start]:02x} at {error.start}): the "
                "input is IR text, or a program of torch.export.save with the ending .pt2"
            )
        case OSError():
            return f"error: {short_os_error(error)}"
        case DiagnosticException() | ValueError() | UnregisteredConstructException():
            return f"error: {error}"
        case PassFailure():
            specs = ",".join(error.passes)
            return f"error: {error}\n  replay: -p '{specs}' (--traceback shows where)"
        case _:
            name = type(error).__name__
            return f"internal error: {name}: {error} (--traceback shows where)"


if __name__ == "__main__":
    sys.exit(main())
