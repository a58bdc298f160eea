"""What a finding leaves behind: the module before the step, the inputs, and a command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from minductor.dialects.loop.ops import NestOp
from minductor.dialects.printing import module_text
from minductor.interpreters.loop import bind_symbols
from minductor.interpreters.run import entry_of
from minductor.runtime.cache import Cache
from minductor.validate.snapshot import Snapshot

INPUTS = "inputs.pt"


@dataclass(frozen=True)
class Evidence:
    """A module that a step starts from, and the inputs of the call."""

    folder: Path
    module: ModuleOp
    inputs: Snapshot

    def save(self, step: str, spec: str) -> tuple[Path | None, str]:
        """The file of the module and the command that shows the fault; (None, "") on a full disk.

        `step`: "import", "pass NAME" or "emit TARGET"; `spec`: the pass with its options.
        """
        text = module_text(self.module)
        folder = self.folder / Cache.key([text, step])[:12]
        name = step.replace(" ", "-")
        path = folder / (f"before-{name}.mlir" if spec else f"{name}.mlir")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.inputs.save(folder / INPUTS)
            command = _command(path, spec)
            path.write_text(f"// replay: {command}\n{text}\n")
        except OSError:
            return None, ""
        return path, command


def _command(path: Path, spec: str) -> str:
    inputs = path.parent / INPUTS
    how = f"-p '{spec}'" if spec else "--compiled"
    return f"mini-run {path} {how} --inputs {inputs} --compare {path}"


def size_of_work(module: ModuleOp, args: Sequence[Any]) -> int:
    """Points of the largest nest of a `loop` module on these arguments; 0 at other levels.

    Nests whose extents hang on data do not count.
    """
    function = entry_of(module)
    symbols = bind_symbols(list(function.function_type.inputs), args)
    largest = 0
    for op in function.walk():
        if isinstance(op, NestOp):
            extents = op.domain.data.extents
            if all(atom in symbols for e in extents for atom in e.vars("su")):
                largest = max(largest, prod(e.eval(symbols) for e in extents))
    return largest
