"""From Dynamo's graph to functional forward, backward and inference graphs, by AOTAutograd.

AOTAutograd removes mutation and aliasing, applies the decomposition table, traces the backward and
hands each graph to a compiler of ours. Only arguments that torch 2.11 to 2.13 have in common are
passed, by keyword.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch._dynamo.utils import GmWrapper, counters, flatten_graph_inputs
from torch._functorch import config as functorch_config
from torch._functorch.aot_autograd import aot_module_simplified
from torch.fx import GraphModule

from minductor.aliases import showing_inputs
from minductor.bases import with_the_same_bases
from minductor.direct import Seen, call_of, plan_of, refusal, seen
from minductor.layouts import as_saved
from minductor.lazy import or_eager, readable_backward
from minductor.lowering.decompositions import decompositions, whole_before_autograd
from minductor.lowering.traced_attention import attention_whole
from minductor.partition import partition
from minductor.steps import saved_apart
from minductor.traced import aot_metadata

GraphCompiler = Callable[[GraphModule, Sequence[Any], str], Callable[[list[Any]], Any]]
"""(graph, fake inputs, kind) -> boxed callable; kind is forward, backward or inference."""


def trace_and_compile(
    gm: Any,
    inputs: Sequence[Any],
    compiler: GraphCompiler,
    eager_random: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> Callable[..., Any]:
    """The callable of Dynamo's graph `gm`; `compiler` is called for each graph that comes of it.

    `inputs` are real tensors, parameters and symbolic ints; nothing is computed on them. `say` gets
    how the graph is called, and why.
    """
    if any(isinstance(one, list | tuple | dict) for one in inputs):
        again = lambda g, flat: trace_and_compile(g, flat, compiler, eager_random, say)  # noqa: E731
        return flatten_graph_inputs(gm, inputs, lambda g, flat: _boxed(again(g, flat)))
    graphs: dict[str, Seen] = {}
    metas: list[Any] = []

    def of_kind(kind: str) -> Any:
        def compile_one(gm: GraphModule, example_inputs: Sequence[Any]) -> Any:
            product = showing_inputs(gm)(compiler(gm, example_inputs, kind))
            product = readable_backward(product, gm) if kind == "backward" else product
            graphs[kind] = seen(gm, product)
            metas.append(aot_metadata())
            return product

        return compile_one

    def backward(gm: GraphModule, example_inputs: Sequence[Any]) -> Any:
        _keep_saved_tensors()
        saved = as_saved(gm, example_inputs)
        return _not_traced(of_kind("backward"), saved, example_inputs)

    # Dynamo reads here whether AOTAutograd had the graph: where it split one by the buckets of
    # DistributedDataParallel, the first call of each part is then answered with fake tensors
    counters["aot_autograd"]["total"] += 1
    symbolic = any(isinstance(one, torch.SymInt) for one in inputs)
    with _backward_now(), whole_before_autograd(symbolic), attention_whole(), saved_apart():
        call = aot_module_simplified(
            gm,
            inputs,
            fw_compiler=of_kind("forward"),
            bw_compiler=backward,
            inference_compiler=of_kind("inference"),
            partition_fn=partition,
            decompositions=decompositions(eager_random),
            keep_inference_input_mutations=True,
        )
    call = _unboxed(call) if isinstance(gm, GmWrapper) else call
    counters["aot_autograd"]["ok"] += 1
    meta = metas[0] if metas else None
    reason = refusal(meta, graphs, inputs)
    say(f"AOTAutograd's wrappers stay: {reason}" if reason else "called without wrappers")
    if reason is None:
        return call_of(plan_of(meta, graphs), call, gm)
    first = graphs.get("forward") or graphs.get("inference")
    merged = first is not None and first.inputs < len(inputs)
    return or_eager(with_the_same_bases(call, gm, inputs) if merged else call, gm)


def _boxed(call: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    """The call as `flatten_graph_inputs` makes it: flat arguments in one list."""
    return lambda args: call(*args)


def _unboxed(call: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    """AOTAutograd's call of what `flatten_graph_inputs` made, with arguments of their own."""
    return lambda *args: call(list(args))


def _backward_now() -> AbstractContextManager[Any]:
    """The backward is compiled with its forward, not at the first `.backward()`: the two C++
    compilers and the passes then run side by side. Older torch has no such setting."""
    name = "force_non_lazy_backward_lowering"
    return functorch_config.patch(name, True) if hasattr(functorch_config, name) else nullcontext()


def _not_traced(compiler: Any, gm: GraphModule, example_inputs: Sequence[Any]) -> Any:
    """The product of a backward, which runs where Dynamo may be listening: it must not trace it."""
    disable: Any = torch._dynamo.disable
    product = disable(compiler)(gm, example_inputs)
    return disable(product, reason="the compiled backward is not traced")


def _keep_saved_tensors() -> None:
    """Declines saved tensors as the backward's to overwrite: no kernel of ours does, and
    AOTAutograd would refuse `retain_graph` and `create_graph` for it."""
    donated = getattr(aot_metadata(), "bw_donated_idxs", None)
    if isinstance(donated, list):
        donated.clear()  # the list itself is shared with what runs
