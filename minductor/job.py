"""One functional graph on its way to a callable: compiled, or eager where that fails.

A forward or backward graph of a training step is ready when it is first called: its C++ compiler
runs while AOTAutograd goes on and the passes of the other graph do.
"""

from __future__ import annotations

import time
import warnings
import weakref
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

from torch._guards import CompileContext
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule

from minductor import collection
from minductor.compiler import Compile, Outcome
from minductor.eager import Boxed, calls_of, run_eagerly
from minductor.errors import CompileError, FallbackWarning, Unsupported
from minductor.layouts import Strides, report_strides, restrided
from minductor.logs import LoggingSink
from minductor.options import Options
from minductor.recording import Recorded, facts_of
from minductor.report import Report, eager_report, finished
from minductor.runtime.graphs import Kept
from minductor.runtime.progress import Progress


def compile_graph(
    graph: GraphModule, kind: str, options: Options, kept: Kept | None = None
) -> Boxed:
    """The boxed callable of a graph of AOTAutograd; kind is forward, backward or inference.

    `kept` is shared by a forward and its backward, where they are recorded (`cudagraphs`).
    Raises CompileError with the option `strict`; else a failure gives a warning and eager code.
    """
    job = Job(graph, kind, options, kept or Kept())
    try:
        with job.timed() as progress:
            outcome = Compile(kind, options, progress, job.name).run(graph)
        job.promise(outcome)
    except (CompileError, Unsupported) as error:
        return job.without_us(error)
    if kind == "inference" or outcome.product is None:
        return job.settle(outcome)
    return _later(job, outcome)


class Job:
    """What a compile knows of its graph until it is ready: name, options, seconds spent."""

    def __init__(self, graph: GraphModule, kind: str, options: Options, kept: Kept) -> None:
        number = CompileContext.current_compile_id()
        self.name = kind if number is None else f"{kind} {number}"
        self.graph = graph
        self.kind = kind
        self.options = options
        self.seconds = 0.0
        self.strides: Sequence[Strides | None] = ()
        self._recorded: Recorded | None = None
        if options.cudagraphs:
            logs = LoggingSink(options.log_names)
            self._recorded = Recorded(
                facts_of(graph, kind), kept, lambda x: logs.log("cudagraphs", f"{self.name}: {x}")
            )

    def promise(self, outcome: Outcome) -> None:
        """Reports the layouts of what a forward saves; eager code has to keep to them as well."""
        self.strides = outcome.strides
        report_strides(self.strides)

    @contextmanager
    def timed(self) -> Generator[Progress]:
        """Counts the time inside, and shows progress; fake tensors are off."""
        start = time.perf_counter()
        try:
            with (
                collection.put_off(),
                unset_fake_temporarily(),
                Progress(self.name, self.options.progress) as progress,
            ):
                yield progress
        finally:
            self.seconds += time.perf_counter() - start

    def settle(self, outcome: Outcome) -> Boxed:
        """The callable, when its compiler has ended; reports it."""
        try:
            with self.timed() as progress:
                progress.stage("C++ compiler")
                call = outcome.finish()
        except CompileError as error:
            return self.without_us(error)
        report = outcome.report
        if self._recorded is not None:
            judged = outcome.judge is not None
            call, state = self._recorded.around(call, outcome.capture, judged)
            report = {**report, "cudagraphs": state}
        self._report(report, outcome.product is None)
        return call

    def without_us(self, error: CompileError | Unsupported) -> Boxed:
        """The graph as an eager callable, after saying so; raises instead when strict."""
        if self.options.strict:
            if isinstance(error, Unsupported):
                raise CompileError(f"{self.kind} graph", f"not supported: {error}") from error
            raise error
        if isinstance(error, Unsupported):
            article = "an" if self.kind[0] in "aeiou" else "a"
            text = f"minductor leaves {article} {self.kind} graph to eager: {error}"
        else:
            text = (
                f"{error}\n  The {self.kind} graph runs eagerly; the option strict raises instead."
            )
        # The stack here is torch's and ours: no line of it would tell a user anything.
        warnings.warn_explicit(text, FallbackWarning, "minductor", 0)
        self._report(eager_report(self.kind, calls_of(self.graph), str(error)), cached=False)
        call = run_eagerly(self.graph)
        return restrided(call, self.strides) if self.strides else call

    def _report(self, report: Report, cached: bool) -> None:
        if self.options.report is not None:
            self.options.report(finished(report, self.name, self.seconds, cached))


def _later(job: Job, outcome: Outcome) -> Boxed:
    """A callable that waits for the graph's compiler at its first call."""
    lock = Lock()
    ready: Boxed | None = None
    waiting: Job | None = job

    def first() -> Boxed:
        nonlocal ready, waiting
        with lock:
            if ready is None:
                assert waiting is not None
                ready = waiting.settle(outcome)
                waiting = None  # the graph may go
            return ready

    def run(args: list[Any]) -> Any:
        return (ready or first())(args)

    run._boxed_call = True  # pyright: ignore[reportFunctionMemberAccess]
    assert outcome.product is not None
    weakref.finalize(run, outcome.product.abandon)
    return run
