"""`python -m bench.fusion_gap`: how far fusion is from the cheapest partition.

Three choices under one price and one legality: the greedy rounds of `loop-fuse`, the rounds with
its improvement step, and the optimum by exhaustive search. Graphs are random nests, and those of
the benchmark's micro workloads whose nests, as far as they touch each other, are few enough.
"""

import argparse
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from minductor.dialects.attrs import Known, SymbolsAttr
from minductor.passes.context import MiniContext
from minductor.passes.logs import NoLogs
from minductor.passes.loop.fuse import PRESETS
from minductor.passes.loop.fusion.exact import optimum
from minductor.passes.loop.fusion.graph import FusionGraph
from minductor.passes.loop.fusion.improve import Improver
from minductor.passes.loop.fusion.machine import machine_of
from minductor.passes.loop.fusion.price import Pricer
from minductor.passes.loop.fusion.rounds import Fuser
from minductor.passes.pipelines import ATEN, LOOP, build_pipeline
from minductor.tools.random_nests import random_nests


@dataclass(frozen=True)
class Gap:
    """Kernels and priced bytes of the three choices; the optimum's are None out of reach."""

    name: str
    nests: int
    greedy: tuple[int, int]
    improved: tuple[int, int]
    optimal: tuple[int, int] | None

    @property
    def cells(self) -> list[str]:
        """A row of the table."""
        pairs = [self.greedy, self.improved, *([self.optimal] if self.optimal else [])]
        words = [f"{count} / {price / 1e6:.2f}" for count, price in pairs]
        gap = f"{ratio(self.improved, self.optimal) - 1:.2%}" if self.optimal else ""
        return [self.name, str(self.nests), *words, *([] if self.optimal else ["-"]), gap]


def ratio(one: tuple[int, int], best: tuple[int, int]) -> float:
    """One price over another; graphs that cost nothing are equal."""
    return one[1] / best[1] if best[1] else 1.0


def fuser_of(func: FuncOp, machine: str) -> Fuser:
    """A fuser as `loop-fuse` makes it, on a graph with nothing fused."""
    symbols = func.attributes.get("symbols")
    known = symbols if isinstance(symbols, SymbolsAttr) else SymbolsAttr(Known())
    graph = FusionGraph(func.body.block, known.ranges())
    pricer = Pricer(machine_of(machine, "cpu"), known.hints())
    across = pricer.machine.local if machine == "cpu" else 0
    return Fuser(graph, replace(PRESETS["default"], across=across), pricer, NoLogs())


def total(fuser: Fuser) -> tuple[int, int]:
    """Kernels, and the price of all of them."""
    nests = [node for node in fuser.graph.nodes if node.kind == "nest"]
    return len(nests), sum(fuser.pricer.node_time(node) for node in nests)


def gap_of(name: str, func: FuncOp, machine: str, limit: int) -> Gap:
    """The three choices for one function."""
    fuser = fuser_of(func, machine)
    fuser.run()
    greedy = total(fuser)
    Improver(fuser).run()
    best = optimum(fuser_of(func, machine), limit)
    optimal = (len(best.nodes), best.price) if best is not None and best.exact else None
    return Gap(name, len(fuser.atoms), greedy, total(fuser), optimal)


def functions(module: ModuleOp, passes: str) -> Iterator[FuncOp]:
    """The functions of a module, ready to fuse."""
    ctx = MiniContext()
    ctx.remarks.enabled = False
    for one in build_pipeline(passes):
        one.apply(ctx, module)
    yield from (op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks)


def random_gaps(args: argparse.Namespace) -> Iterator[Gap]:
    """Random nests over matrices of 1000 x 2000."""
    for seed in range(args.seed, args.seed + args.random):
        text = random_nests(seed, args.nests, 1000, 2000)
        module = Parser(MiniContext(), text).parse_module()
        for func in functions(module, "loop-simplify-index"):
            yield gap_of(f"random {seed}", func, args.machine, args.limit)


def real_gaps(args: argparse.Namespace) -> Iterator[Gap]:
    """The micro workloads, at the sizes of a CPU."""
    from bench.graphs import graphs_of
    from bench.workload import Where, step_of
    from bench.workloads import MICRO

    passes = ",".join((*ATEN, *LOOP[:-1]))
    for name, build in MICRO.items():
        if args.only and not any(text in name for text in args.only):
            continue
        workload = build(Where("cpu", torch.float32))
        found = graphs_of(lambda compiled, w=workload: step_of(w, compiled(w.fn))())
        for kind, module in found:
            for func in functions(module, passes):
                if func.sym_visibility is None:
                    yield gap_of(f"{name}, {kind}", func, args.machine, args.limit)


def table(gaps: list[Gap], rows: bool) -> str:
    """Markdown: a row for each graph with more than one nest, and what they come to."""
    head = ["graph", "nests", "greedy", "improved", "optimal", "gap"]
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)]
    shown = [gap for gap in gaps if gap.nests > 1]
    if rows:
        lines += ["| " + " | ".join(gap.cells) + " |" for gap in shown]
    known = [gap for gap in shown if gap.optimal is not None]
    if known:
        sums = [
            (sum(c for c, _ in pairs), sum(p for _, p in pairs))
            for pairs in zip(*((g.greedy, g.improved, g.optimal or (0, 0)) for g in known))
        ]
        whole = Gap(f"{len(known)} graphs", sum(g.nests for g in known), *sums)
        lines.append("| " + " | ".join(whole.cells) + " |")
        for word, pick in (("greedy", "greedy"), ("improved", "improved")):
            over = [ratio(getattr(g, pick), g.optimal) for g in known if g.optimal is not None]
            best = sum(one == 1.0 for one in over)
            lines.append("")
            lines.append(
                f"{word}: optimal on {best} of {len(known)}, {statistics.fmean(over) - 1:.2%} "
                f"above on average, {max(over) - 1:.2%} at most"
            )
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    """Exit status 1 where the improvement step made a plan worse, or beat the optimum."""
    parser = argparse.ArgumentParser(prog="python -m bench.fusion_gap", description=__doc__)
    parser.add_argument("--random", type=int, default=100, help="random graphs")
    parser.add_argument("--nests", type=int, default=8, help="nests of a random graph")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--real", action="store_true", help="the micro workloads, too")
    parser.add_argument("--only", action="append", default=[], help="workloads that hold this text")
    parser.add_argument("--machine", default="cpu", help="whose prices: cpu, h200")
    parser.add_argument("--limit", type=int, default=9, help="nests of an exact search")
    parser.add_argument("--rows", action="store_true", help="a row for each random graph")
    args = parser.parse_args(argv)
    found = list(random_gaps(args))
    print(f"priced for {args.machine}: kernels / priced megabytes\n")
    print(table(found, args.rows))
    if args.real:
        real = list(real_gaps(args))
        print("\n" + table(real, True))
        found += real
    wrong = [g for g in found if g.improved[1] > g.greedy[1]]
    wrong += [g for g in found if g.optimal and g.optimal[1] > g.improved[1]]
    for gap in wrong:
        print(f"error: {gap}", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
