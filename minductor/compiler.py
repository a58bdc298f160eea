"""The driver: one graph of AOTAutograd to a callable, through the cache or through the passes.

    FX graph -> aten module -> key -> [stored product]
                                   -> pipeline -> sources -> C++ compiler, Triton -> callable

The key is the module's text right after import, without source lines (kernels of a stored product
show the lines of their first compile), the options that passes see, and the environment. Nothing
here is kept between graphs but what is on disk; every call has its own context.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import GraphModule
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from minductor.codegen.plan.module import emit_plan
from minductor.dialects.kernel.ops import FuncOp as Kernel
from minductor.dialects.printing import module_text
from minductor.eager import run_eagerly
from minductor.errors import CompileError, OptionError, Unsupported
from minductor.layouts import Strides, chosen_strides, lays_out, mark_loose, of_outputs
from minductor.logs import LoggingSink
from minductor.lowering.fx_to_aten import ImportRefused, import_graph
from minductor.lowering.fx_to_aten.text import without_lines
from minductor.lowering.traced_attention import has_cudnn, has_flash
from minductor.options import Options
from minductor.passes.context import MiniContext
from minductor.passes.manager import PassFailure, PassManager
from minductor.passes.pipelines import RETARGET, build_pipeline, pipeline_options, pipeline_text
from minductor.recording import capture_of
from minductor.report import Report, report_of
from minductor.runtime import loader
from minductor.runtime.artifact import Artifact
from minductor.runtime.build import cpu_identity
from minductor.runtime.cache import Cache
from minductor.runtime.environment import environment_key
from minductor.runtime.progress import Progress

if TYPE_CHECKING:
    from minductor.validate.judge import Judge
    from minductor.validate.trail import Trail

_FAILED = "failed"


@dataclass(frozen=True)
class Frame:
    """What stands around a module: tensors that its callable takes beside the graph's inputs, and
    which of its results are the graph's outputs (None where an output is None)."""

    constants: tuple[Any, ...] = ()
    outputs: tuple[int | None, ...] = ()

    def around(self, call: loader.Boxed) -> loader.Boxed:
        """`call` as a callable of the graph's inputs and outputs."""
        constants, outputs = self.constants, self.outputs
        if not constants and outputs == tuple(range(len(outputs))):
            return call

        def run(args: list[Any]) -> list[Any]:
            args.extend(constants)
            results = call(args)
            return [None if one is None else results[one] for one in outputs]

        run._boxed_call = True  # pyright: ignore[reportFunctionMemberAccess]
        return run

    def inside(self, graph: loader.Boxed) -> loader.Boxed:
        """A callable of the graph's inputs and outputs as one of the module's: its inverse."""

        def run(args: list[Any]) -> list[Any]:
            results: list[Any] = [None] * len({one for one in self.outputs if one is not None})
            given = graph(args[: len(args) - len(self.constants)])
            for place, value in zip(self.outputs, given, strict=True):
                if place is not None:
                    results[place] = value
            return results

        return run


@dataclass
class Outcome:
    """What a compile gave: a callable from the cache, or a product whose C++ compiler runs."""

    report: Report
    frame: Frame
    capture: Mapping[str, Any]
    strides: Sequence[Strides | None] = ()
    call: loader.Boxed | None = None
    product: loader.Product | None = None
    judge: Judge | None = None

    def finish(self) -> loader.Boxed:
        """The callable; waits for the C++ compiler. Raises CompileError."""
        call = self.call
        if call is None:
            assert self.product is not None
            with _stage("build"):
                call = self.product.finish()
        if self.judge is not None:
            call = self.judge.around(call)
        return self.frame.around(call)


@dataclass
class Compile:
    """One compile of one graph. `kind` is forward, backward or inference; `name` says which."""

    kind: str
    options: Options
    progress: Progress
    name: str = ""
    logs: LoggingSink = field(init=False)

    def __post_init__(self) -> None:
        self.logs = LoggingSink(self.options.log_names)

    def run(self, gm: GraphModule) -> Outcome:
        """Takes the product from the cache, or runs the passes and starts the C++ compiler.

        Raises Unsupported with a reason, or CompileError.
        """
        self.progress.stage("import")
        target = self._target(gm)
        with _stage("import"):
            module, frame = self._import(gm, target)
        text = module_text(module)
        self.logs.log("aten", text)
        cache = self._cache
        key = self._key(text, target)
        if self._may_fetch():
            with _stage("load"):
                found = loader.fetch(cache, key)
            if found is not None:
                artifact, call = found
                meta = artifact.meta
                strides = of_outputs(meta.get("strides", ()), frame.outputs)
                return Outcome(dict(meta["report"]), frame, meta["capture"], strides, call)
        judge = self._judge(gm, frame, target) if self.options.validates else None
        artifact = self.lower(module, target, text, None if judge is None else judge.trail)
        report: Report = dict(artifact.meta["report"])
        with _stage("build"):
            product = loader.Product(key, artifact, cache)
            capture = artifact.meta["capture"]
            strides = of_outputs(artifact.meta.get("strides", ()), frame.outputs)
            return Outcome(report, frame, capture, strides, product=product, judge=judge)

    def lower(
        self, module: ModuleOp, target: str, text: str | None = None, trail: Trail | None = None
    ) -> Artifact:
        """Runs the pipeline on an `aten` module and emits everything. Raises CompileError.

        `trail` gets the module before and after each pass.
        """
        ctx = MiniContext(logs=self.logs, patterns=self.options.patterns or ())
        ctx.remarks.enabled = False
        with _stage("pipeline"):
            passes = self._passes(target)
        if trail is not None:
            trail.start(module)

        def after_pass(done: ModulePass, module: ModuleOp) -> None:
            self.progress.stage(done.name)
            if trail is not None:
                trail.add(done, module)

        restarted = None if trail is None else trail.start
        manager = PassManager(passes, self.options.verify, after_pass, restarted)
        try:
            manager.run(ctx, module, text)
        except PassFailure as failure:
            raise self._pass_error(failure) from failure
        if self.logs.wants("kernel"):
            self.logs.log("kernel", module_text(module))
        self.progress.stage("emit")
        return self._emit(module, target)

    def _import(self, gm: GraphModule, target: str) -> tuple[ModuleOp, Frame]:
        try:
            found = import_graph(gm, self.kind, self.options.eager_random)
        except ImportRefused as refusal:
            raise Unsupported(str(refusal)) from refusal
        if self.kind == "forward" and lays_out(self.options.pipeline or _pipeline(target)):
            mark_loose(found.module, found.outputs)
        return found.module, Frame(tuple(found.constants), tuple(found.outputs))

    def _emit(self, module: ModuleOp, target: str) -> Artifact:
        from minductor.codegen.wrapper.module import emit_wrapper

        targets = {op.target for op in module.ops if isinstance(op, Kernel)}
        folder = self._folder()
        cpp = triton = None
        if "cpp" in targets:
            with _stage("emit cpp", folder, module):
                cpp = _emit_cpp(module)
        if "triton" in targets:
            with _stage("emit triton", folder, module):
                triton = _emit_triton(module)
        with _stage("emit wrapper", folder, module):
            wrapper = emit_wrapper(module)
        with _stage("emit plan", folder, module):
            plan = emit_plan(module)
            report, strides = report_of(module, self.kind), chosen_strides(module)
            meta = {"report": report, "capture": capture_of(module), "strides": strides}
        for source in (cpp, triton, wrapper):
            if source is not None:
                self.logs.log("output_code", source)
        return Artifact(self.kind, target, wrapper, cpp, triton, plan, meta)

    def _passes(self, target: str) -> list[ModulePass]:
        if self.options.pipeline is not None:
            passes = build_pipeline(self.options.pipeline)
            if self.options.patterns and all(one.name != "aten-patterns" for one in passes):
                raise OptionError("option 'patterns': the pipeline has no pass aten-patterns")
            return passes
        name = _pipeline(target)
        native = _native()
        if target == "triton":
            native["flash"], native["cudnn"] = has_flash(), has_cudnn()
        if self.options.eager_random:
            native["random"] = "eager"
        wanted = {**native, **self.options.routed()}
        known = pipeline_options(name)
        passes = build_pipeline(
            pipeline_text(name, {key: wanted[key] for key in sorted(wanted) if key in known})
        )
        return [one for one in passes if one.name not in RETARGET]

    def _judge(self, gm: GraphModule, frame: Frame, target: str) -> Judge:
        """Who will judge the first calls of the graph; its trail is filled by `lower`."""
        from minductor.validate.judge import Judge
        from minductor.validate.trail import Trail

        return Judge(
            self.name or self.kind,
            Trail(),
            f"emit {target}",
            self._folder(),
            frame.inside(run_eagerly(gm)),
            self.options.validate_limit,
            self.options.strict,
            lambda line: self.logs.log("validate", line),
        )

    def _target(self, gm: GraphModule) -> str:
        """`cpp` or `triton`, by the device of the graph's tensors. Raises Unsupported."""
        devices = _devices(gm)
        if len(devices) > 1:
            raise Unsupported(f"its tensors lie on several devices: {', '.join(sorted(devices))}")
        kind = next(iter(devices), "cpu")
        if kind not in ("cpu", "cuda"):
            raise Unsupported(f"its tensors lie on the device '{kind}'")
        own = "cpp" if kind == "cpu" else "triton"
        wanted = self.options.target
        if wanted == "cpp" and own == "triton":
            raise Unsupported("option target='cpp' was given for a graph on CUDA")
        if wanted == "triton" and own == "cpp" and os.environ.get("TRITON_INTERPRET") != "1":
            raise OptionError(
                "option target='triton' was given for a graph on a CPU, where Triton has nothing "
                "to compile for: move the inputs to CUDA, or set TRITON_INTERPRET=1 before triton "
                "is imported, which runs the kernels in its interpreter (slowly, for tests)"
            )
        return own if wanted == "auto" else wanted

    def _key(self, text: str, target: str) -> str:
        routed = {name: str(value) for name, value in self.options.routed().items()}
        routed["eager_random"] = str(self.options.eager_random)
        routed.pop("plan", None)  # says where a plan is written, not what is compiled
        routed["flash"] = str(target == "triton" and (has_flash(), has_cudnn()))
        with _stage("import"):
            text_of = self.options.pipeline
            passes = [] if text_of is None else build_pipeline(text_of)
            files = _files_read([self.options, *passes])
            routed |= {str(path): path.read_text() for path in files}
        parts = [without_lines(text), environment_key(target), repr(sorted(routed.items()))]
        patterns = [one.key for one in self.options.patterns or ()]
        return Cache.key([*parts, self.options.pipeline or "", *patterns])

    def _may_fetch(self) -> bool:
        """Whether a stored product would do all that this compile was asked for."""
        one = self.options
        free = one.plan is None and not one.validates
        return one.cache and free and not self.logs.needs_passes()

    @cached_property
    def _cache(self) -> Cache:
        folder = self.options.cache_dir
        return Cache() if folder is None else Cache(Path(folder).expanduser().absolute())

    def _folder(self) -> Path:
        """Where the IR before a failure is kept."""
        chosen = self.options.dump_dir
        if chosen is not None:
            return Path(chosen).expanduser().absolute()
        return self._cache.root / _FAILED

    def _pass_error(self, failure: PassFailure) -> CompileError:
        stage = f"pass {failure.pass_name}"
        try:
            path = failure.save(self._folder() / Cache.key([failure.ir])[:12])
        except OSError:
            return CompileError(stage, failure.why)
        return CompileError(stage, failure.why, path, f"mini-opt {path} -p '{failure.spec}'")


def _pipeline(target: str) -> str:
    return "default-cpu" if target == "cpp" else "default-triton"


def _files_read(holders: Iterable[object]) -> list[Path]:
    """Files that options of passes name, whose text decides what is compiled."""
    found: dict[Path, None] = {}
    for one in holders:
        plan, machine = getattr(one, "plan_in", None), getattr(one, "machine", None)
        found |= {Path(plan): None} if plan else {}
        found |= {Path(machine): None} if machine and machine.endswith(".toml") else {}
    return list(found)


def _emit_cpp(module: ModuleOp) -> str:
    from minductor.codegen.cpp.module import emit_cpp

    return emit_cpp(module)


def _emit_triton(module: ModuleOp) -> str:
    from minductor.codegen.triton.module import emit_triton

    return emit_triton(module)


def _native() -> dict[str, Any]:
    native = {"threads": torch.get_num_threads(), "isa": machine_isa()}
    # Gathers are quick on processors that came with this extension; many before them were slowed.
    return native if "avx512_fp16" in cpu_identity().split() else {**native, "tables": 0}


def local_pipeline(**fields: Any) -> str:
    """The CPU's pipeline as a compile on this machine has it, but for these fields of passes."""
    return pipeline_text("default-cpu", {**_native(), **fields})


def machine_isa() -> str:
    """The widest vectors of this machine that C++ kernels have a form for."""
    words = set(cpu_identity().split())
    if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= words:
        return "avx512"
    if "avx2" in words:
        return "avx2"
    return "neon" if {"aarch64;", "arm64;"} & words else "portable"


def _devices(gm: GraphModule) -> set[str]:
    """Device types of the tensors of a graph; beside CUDA tensors those on the CPU do not count."""
    found = {
        value.device.type
        for node in gm.graph.nodes
        if isinstance(value := node.meta.get("val"), torch.Tensor)
    }
    return {"cuda"} if found == {"cpu", "cuda"} else found


@contextmanager
def _stage(
    name: str, folder: Path | None = None, module: ModuleOp | None = None
) -> Generator[None]:
    """Turns an error inside into a CompileError that names the stage."""
    try:
        yield
    except (CompileError, Unsupported):
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        if module is None or folder is None:
            raise CompileError(name, why) from error
        raise _emit_error(name, why, folder, module) from error


def _emit_error(name: str, why: str, folder: Path, module: ModuleOp) -> CompileError:
    """Keeps the module that an emitter failed on."""
    text = module_text(module)
    target = name.removeprefix("emit ")
    path = folder / Cache.key([text])[:12] / f"failed-emit-{target}.mlir"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"// replay: mini-opt {path.name} -t {target}\n{text}\n")
    except OSError:
        return CompileError(name, why)
    return CompileError(name, why, path, f"mini-opt {path} -t {target}")
