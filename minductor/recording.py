"""Which compiled graphs are recorded as CUDA graphs, and what is known of them.

What a program does decides a pass (`kernel-capture`); which inputs stay where they are, and which
results a user gets, AOTAutograd knows while a graph is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch.fx import GraphModule
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from minductor.dialects.attrs import IndexAttr
from minductor.passes.kernel.capture import CAPTURE, REFUSED
from minductor.runtime.graphs import Boxed, Facts, Graphed, Kept
from minductor.traced import aot_metadata, is_tangent


def facts_of(graph: GraphModule, kind: str) -> Facts:
    """What AOTAutograd says of the graph that it compiles just now."""
    inputs = [node for node in graph.graph.nodes if node.op == "placeholder"]
    if kind == "backward":
        return Facts(saved=frozenset(n for n, x in enumerate(inputs) if not is_tangent(x)))
    meta = aot_metadata()
    if meta is None:
        return Facts()
    fixed = frozenset(meta.static_input_indices or ())
    return Facts(fixed=fixed) if kind == "inference" else Facts(fixed, users=meta.num_forward)


def capture_of(module: ModuleOp) -> dict[str, Any]:
    """What the pass left on the host program: for the artifact."""
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == "call":
            reason, writes = op.attributes.get(REFUSED), op.attributes.get(CAPTURE)
            if isinstance(reason, StringAttr):
                return {"refused": reason.data}
            if isinstance(writes, IndexAttr):
                return {"writes": [int(e) for e in writes.data]}
    return {}


@dataclass(frozen=True)
class Recorded:
    """The wish to record one graph. `say` gets the reason where it cannot be."""

    facts: Facts
    kept: Kept
    say: Callable[[str], None]

    def around(self, call: Boxed, capture: Mapping[str, Any], judged: bool) -> tuple[Boxed, str]:
        """The callable, recorded if it may be, and what became of the wish."""
        reason = capture.get("refused")
        if reason is None and "writes" not in capture:
            reason = "its kernels do not run on a GPU, or its pipeline has no kernel-capture"
        if reason is None and judged:
            reason = "the option validate looks at each of its steps"
        facts = replace(self.facts, writes=tuple(capture.get("writes", ())))
        reason = reason or facts.refusal()
        if reason is not None:
            self.say(f"not recorded: {reason}")
            return call, str(reason)
        graphed = Graphed(call, facts, self.kept, self.say)

        def run(args: list[Any]) -> list[Any]:
            return graphed(args)

        run._boxed_call = True  # pyright: ignore[reportFunctionMemberAccess]
        return run, "recorded"
