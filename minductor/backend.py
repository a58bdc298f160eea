"""The entry point: `torch.compile(f, backend="minductor", options={...})`.

torch finds `compile_fx_graph` by the entry point group `torch_dynamo_backends`, with no import in
the user's program. It may be called twice for one graph (Dynamo restarts when it meets Python
floats), so nothing happens before AOTAutograd returns that could not happen again.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch._guards import CompileContext
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule

from minductor.autograd import trace_and_compile
from minductor.compiler import Compile
from minductor.eager import Boxed, calls_of, run_eagerly
from minductor.errors import CompileError, FallbackWarning, OptionError, Unsupported
from minductor.options import Options, make_options
from minductor.report import eager_report, finished
from minductor.runtime.launch import prepare
from minductor.runtime.progress import Progress


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

    def compiler(graph: GraphModule, inputs: Sequence[Any], kind: str) -> Boxed:
        return compile_graph(graph, kind, checked)

    return trace_and_compile(gm, example_inputs, compiler, checked.eager_random)


def compile(f: Callable[..., Any] | None = None, **options: Any) -> Any:
    """`torch.compile(f, backend="minductor", options=options)`; a decorator when `f` is left out.

    The keywords `fullgraph`, `dynamic` and `mode` go to torch.compile, all others are options
    (docs/options.md). Raises OptionError at once, not at the first call.
    """
    ours = {k: v for k, v in options.items() if k not in ("fullgraph", "dynamic", "mode")}
    theirs = {k: v for k, v in options.items() if k not in ours}
    make_options(ours, theirs.get("mode"))
    if theirs.get("mode") is not None:
        theirs.pop("mode")  # torch takes a mode or options, and the only mode is the default
    return torch.compile(f, backend="minductor", options=ours or None, **theirs)


def compile_graph(graph: GraphModule, kind: str, options: Options) -> Boxed:
    """The boxed callable of one functional graph, compiled, or eager where that fails."""
    start = time.perf_counter()
    name = _graph_name(kind)
    try:
        with unset_fake_temporarily(), Progress(name, options.progress) as progress:
            call, report, cached = Compile(kind, options, progress).run(graph)
    except (CompileError, Unsupported) as error:
        call, cached = _without_us(graph, kind, options, error), False
        report = eager_report(kind, calls_of(graph), str(error))
    if options.report is not None:
        options.report(finished(report, name, time.perf_counter() - start, cached))
    return call


def _without_us(
    graph: GraphModule, kind: str, options: Options, error: CompileError | Unsupported
) -> Boxed:
    """The graph as an eager callable, after saying so; raises instead when asked to be strict."""
    if options.strict:
        if isinstance(error, Unsupported):
            raise CompileError(f"{kind} graph", f"not supported: {error}") from error
        raise error
    text = str(error)
    if isinstance(error, Unsupported):
        text = f"minductor leaves a {kind} graph to eager: {text}"
    else:
        text += f"\n  The {kind} graph runs eagerly; options={{'strict': True}} raises instead."
    # The stack here is torch's and ours: no line of it would tell a user anything.
    warnings.warn_explicit(text, FallbackWarning, "minductor", 0)
    return run_eagerly(graph)


def _graph_name(kind: str) -> str:
    """`forward 0/1`: the kind, and Dynamo's numbers of the frame and of its compile."""
    found = CompileContext.current_compile_id()
    return kind if found is None else f"{kind} {found}"
