"""`python -m bench.growth`: how the time of the passes grows with the graph.

Graphs of pointwise nodes with a row mean every ten, through the pipeline of a CPU: milliseconds an
op for `loop-fuse` and for all passes, and the pairs that fusion tried. `--passes` shows each pass.
"""

import argparse
import gc
import sys
import time

from xdsl.parser import Parser

from minductor.passes.context import MiniContext
from minductor.passes.loop.fusion.rounds import Fuser
from minductor.passes.pipelines import build_pipeline

MATRIX, COLUMN = "!aten.t<f32[64, 128]>", "!aten.t<f32[64, 1]>"


def graph(count: int) -> tuple[str, int]:
    """The `aten` text of a graph, and its number of ops."""
    lines: list[str] = []
    x = "%x"
    for k in range(count):
        v = f"%v{k}"
        if k % 10 == 9:
            lines.append(f"{v}m = aten.mean.dim({x}, dim = [1], keepdim = true) : {COLUMN}")
            lines.append(f"{v} = aten.sub.Tensor({x}, {v}m) : {MATRIX}")
        elif k % 3 == 0:
            lines.append(f"{v} = aten.sin.default({x}) : {MATRIX}")
        elif k % 3 == 1:
            lines.append(f"{v} = aten.mul.Scalar({x}, other = {0.5 + 0.01 * (k % 7)}) : {MATRIX}")
        else:
            lines.append(f"{v} = aten.add.Tensor({x}, %y) : {MATRIX}")
        x = v
    head = f"func.func @f(%x: {MATRIX}, %y: {MATRIX}) -> {MATRIX} {{"
    return "\n".join([head, *lines, f"func.return {x} : {MATRIX}", "}"]), len(lines)


def measure(count: int, pipeline: str) -> tuple[int, dict[str, float], int]:
    """Ops, milliseconds of each pass for each of them, and pairs that fusion tried."""
    text, ops = graph(count)
    ctx = MiniContext()
    ctx.remarks.enabled = False
    module = Parser(ctx, text).parse_module()
    times: dict[str, float] = {}
    tried: list[int] = []
    run = Fuser.run

    def counted(fuser: Fuser) -> None:
        before = fuser.tried
        run(fuser)
        tried.append(fuser.tried - before)

    Fuser.run = counted
    gc.collect()
    gc.disable()
    try:
        for one in build_pipeline(pipeline):
            start = time.process_time()
            one.apply(ctx, module)
            times[one.name] = (time.process_time() - start) / ops * 1e3
    finally:
        gc.enable()
        Fuser.run = run
    return ops, times, sum(tried)


def main(argv: list[str] | None = None) -> int:
    """Print a table; exit status 0."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="*", default=[100, 1000, 10000])
    parser.add_argument("--pipeline", default="default-cpu")
    parser.add_argument("--passes", action="store_true", help="a line for each pass")
    args = parser.parse_args(argv)
    measure(50, args.pipeline)  # imports and caches
    print("| ops | loop-fuse, ms an op | all passes, ms an op | pairs tried |")
    print("| ---: | ---: | ---: | ---: |")
    for count in args.nodes:
        ops, times, tried = measure(count, args.pipeline)
        fuse = times.get("loop-fuse", 0.0)
        print(f"| {ops} | {fuse:.3f} | {sum(times.values()):.3f} | {tried} |", flush=True)
        for name, each in times.items() if args.passes else ():
            print(f"  {name} {each:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
