"""The entry point: `torch.compile(f, backend="minductor", options={...})`.

torch finds `compile_fx_graph` by the entry point group `torch_dynamo_backends`, with no import in
the user's program. It may be called twice for one graph (Dynamo restarts when it meets Python
floats), so nothing happens before AOTAutograd returns that could not happen again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.fx import GraphModule

from minductor import collection
from minductor.autograd import trace_and_compile
from minductor.eager import Boxed
from minductor.errors import OptionError
from minductor.job import compile_graph
from minductor.logs import LoggingSink
from minductor.options import MODES, make_options
from minductor.runtime.graphs import Kept
from minductor.runtime.launch import prepare
from minductor.runtime.triton_workers import workers


def compile_fx_graph(
    gm: GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
    **unknown: Any,
) -> Callable[..., Any]:
    """Compiles a graph of Dynamo; the callable takes the graph's inputs.

    Raises OptionError on unknown options, modes and keywords. A graph that cannot be compiled runs
    eagerly, with a FallbackWarning, unless the option `strict` is set: then CompileError is raised.
    """
    if unknown:
        raise OptionError(f"the backend 'minductor' takes no keyword {', '.join(sorted(unknown))}")
    checked = make_options(options, mode)
    prepare()
    if any(isinstance(one, torch.Tensor) and one.is_cuda for one in example_inputs):
        workers()
    kept = Kept()
    logs = LoggingSink(checked.log_names)

    def say(text: str) -> None:
        logs.log("calls", text)

    def compiler(graph: GraphModule, inputs: Sequence[Any], kind: str) -> Boxed:
        return compile_graph(graph, kind, checked, kept)

    with collection.put_off():
        return trace_and_compile(gm, example_inputs, compiler, checked.eager_random, say)


def compile(f: Callable[..., Any] | None = None, **options: Any) -> Any:
    """`torch.compile(f, backend="minductor", options=options)`; a decorator when `f` is left out.

    The keywords `fullgraph`, `dynamic` and `mode` go to torch.compile, all others are options
    (docs/options.md). Raises OptionError at once, not at the first call.
    """
    ours = {k: v for k, v in options.items() if k not in ("fullgraph", "dynamic", "mode")}
    theirs = {k: v for k, v in options.items() if k not in ours}
    make_options(ours, theirs.get("mode"))
    mode = theirs.pop("mode", None)
    ours = {**MODES.get(mode or "default", {}), **ours}  # torch takes a mode or options
    return torch.compile(f, backend="minductor", options=ours or None, **theirs)
