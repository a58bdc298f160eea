"""Writes docs/tour.md: one softmax through every level, each block made by the passes themselves.

python -m minductor.tools.make_tour          write docs/tour.md
python -m minductor.tools.make_tour --check  exit 1 where it is not what would be written
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from minductor.passes.context import MiniContext
from minductor.passes.pipelines import PIPELINES, build_pipeline
from minductor.tools.generated import write_or_check
from minductor.tools.targets import emit

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "docs" / "examples" / "softmax.mlir"
TOUR = ROOT / "docs" / "tour.md"

# (last pass of the stop, heading, what to see)
STOPS = (
    (
        "aten-to-loop",
        "Loops",
        "Each op is a nest: an iteration domain, explicit loads and stores by index expression, "
        "one scalar op a line. A nest is what the scheduler sees.",
    ),
    (
        "loop-inline",
        "Inlining",
        "`sub` and `exp` are cheap enough to be computed in each reader, which moves fewer bytes "
        "than a tensor between them.",
    ),
    (
        "loop-fuse",
        "Fusion",
        "Three nests over the same rows become one group. Only what the group yields reaches "
        "memory; `bytes` is its ledger: the least possible, with nothing fused, as planned.",
    ),
    (
        "loop-to-kernel",
        "A kernel and the host program",
        "The group is a loop tree over flat buffers: the row loop, inside it one stage per "
        "reduction and one for the result. Everything else is the host program.",
    ),
    (
        "kernel-memory",
        "Schedule and memory",
        "Vectors, accumulators in flight, tails, threads, lifetimes: all of it words and ops in "
        "the IR. The emitters below print them and decide nothing.",
    ),
)
HEAD = """# A tour: one softmax through every level

Made by `python -m minductor.tools.make_tour` from [examples/softmax.mlir](examples/softmax.mlir);
CI checks that it is up to date. Any block can be pasted into a file and given to `mini-opt` or
`mini-run`.

## The graph

`torch.compile` hands over `x.softmax(-1)` on a 64 x 1000 matrix. After AOTAutograd and the
importer, one `aten` op a node, with the user's line in `origin`:
"""


def _block(language: str, text: str) -> str:
    return f"```{language}\n{text.strip()}\n```\n"


def _kernel_source(text: str) -> str:
    """The kernels of a C++ source, without the helpers before them."""
    start = text.index("// cpp_fused")
    return text[start:]


def _triton_source(text: str) -> str:
    """The kernels of a Triton source, without the helpers before them."""
    start = text.index("# triton_")
    return text[start:]


def _run(pipeline: str, module: ModuleOp, ctx: MiniContext, last: str, done: int) -> int:
    """Run a pipeline from pass number `done` up to the pass called `last`; the next number."""
    passes = build_pipeline(pipeline)
    for number in range(done, len(passes)):
        passes[number].apply(ctx, module)
        if passes[number].name == last:
            return number + 1
    raise ValueError(f"{pipeline} has no pass {last}")


def tour() -> str:
    """The text of docs/tour.md."""
    ctx = MiniContext()
    source = SOURCE.read_text()
    module = Parser(ctx, source).parse_module()
    parts = [HEAD, _block("mlir", source)]
    done = 0
    for last, heading, words in STOPS:
        done = _run("default-cpu", module, ctx, last, done)
        parts += [f"## {heading}\n", f"After `{last}`. {words}\n", _block("mlir", str(module))]
    parts += ["## C++\n", "`-t cpp`, without the helpers that come first in the file.\n"]
    parts.append(_block("cpp", _kernel_source(emit("cpp", module))))
    parts += ["## The wrapper\n", "`-t wrapper`: what a call runs.\n"]
    parts.append(_block("python", emit("wrapper", module)))
    module = Parser(ctx, source).parse_module()
    _run("default-cuda", module, ctx, PIPELINES["default-cuda"][-1].split("{")[0], 0)
    parts += [
        "## The same graph for a GPU\n",
        "`-p default-cuda` takes the same `aten` text. The row fits into one program, so the "
        "stages become one tile that is read once; `-t triton` prints it.\n",
        _block("python", _triton_source(emit("triton", module))),
    ]
    return "\n".join(parts)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    return write_or_check(TOUR, tour(), "make_tour", argv)


if __name__ == "__main__":
    sys.exit(main())
