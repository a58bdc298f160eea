"""The named pipelines, as visible lists, and the reader of pipeline text.

A pipeline's text is a comma-separated list of passes and pipelines with options:
`aten-cse,loop-fuse{preset=seed}` or `default-cpu{preset=seed threads=2}`. An option of a pipeline
goes to each of its passes that has a field of that name and does not fix it in the list.

Order is checked, not commented: each pass declares what it needs, provides and ends
(`passes/base.py`), and `check_order` finds the first pass that comes too early.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, ParameterListType, ParameterType, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError, PassFailedException

from minductor.passes.registry import load_pass, nearest, pass_names

CANONICAL: tuple[str, ...] = (
    "aten-foreach",
    "aten-fold",
    "aten-algebra",
    "aten-views",
    "aten-cat",
    "aten-reductions",
    "aten-cse",
    "aten-dce",
)
"""`aten` in one form, in which patterns are looked for."""

ATEN: tuple[str, ...] = (
    "aten-peak",
    *CANONICAL,
    "aten-patterns",
    "aten-attention",
    "aten-scatter",
    "aten-conv-norm",
    "aten-conv-layout",
    "aten-conv-split",
    "aten-conv-bias",
    "aten-products",
    "aten-bias",
    "aten-dce",
)
"""`aten` to `aten`."""

LOOP: tuple[str, ...] = ("aten-to-loop", "loop-simplify-index", "loop-inline", "loop-fuse")
"""`aten` to fused `loop`."""

LOOP_GRID: tuple[str, ...] = (*LOOP[:-1], "loop-layout", "loop-fuse{across=false}")
"""The same for programs of a grid, which cannot wait for each other, and a device whose library
wants layouts of its own."""

KERNEL_CPU: tuple[str, ...] = (
    "loop-to-kernel{target=cpp}",
    "kernel-online",
    "kernel-peel",
    "kernel-predicate",
    "kernel-onehot",
    "kernel-tile",
    "kernel-privatise",
    "kernel-share",
    "kernel-keep",
    "kernel-moments",
    "kernel-jam",
    "kernel-vectorize",
    "kernel-strength",
    "kernel-fast-math{target=cpp}",
    "kernel-pack",
    "kernel-call",
    "kernel-threads",
    "kernel-own",
    "kernel-extern-out",
    "kernel-order",
    "kernel-wait",
    "kernel-inplace",
    "kernel-memory",
    "kernel-pool",
    "kernel-overlap",
    "kernel-stream",
    "kernel-tabulate",
    "kernel-abreast",
    "kernel-prefetch",
    "verify-stage{stage=kernel}",
)
"""fused `loop` to scheduled `kernel`, for the C++ emitter."""

KERNEL_CUDA: tuple[str, ...] = (
    "loop-to-kernel{target=triton}",
    "kernel-predicate",
    "kernel-onehot{target=triton}",
    "kernel-reciprocal",
    "kernel-narrow",
    "kernel-atomics",
    "kernel-flatten",
    "kernel-collapse",
    "kernel-cross",
    "kernel-split",
    "kernel-persist",
    "kernel-online",
    "kernel-digits",
    "kernel-blocks",
    "kernel-fast-math",
    "kernel-pack",
    "kernel-index-width",
    "kernel-autotune",
    "kernel-extern-out",
    "kernel-order",
    "kernel-wait",
    "kernel-inplace",
    "kernel-spare",
    "kernel-memory{slack=4194304}",
    "kernel-turn",
    "kernel-capture",
    "verify-stage{stage=kernel}",
)
"""fused `loop` to scheduled `kernel`, for the Triton emitter."""

RETARGET: tuple[str, ...] = ("retarget{device=cuda}",)
"""A CPU module becomes a CUDA one; a module that is on CUDA already is left alone."""

PIPELINES: dict[str, tuple[str, ...]] = {
    "default-cpu": (*ATEN, *LOOP, *KERNEL_CPU),
    "default-cuda": (*RETARGET, *ATEN, *LOOP_GRID, *KERNEL_CUDA),
    "default-triton": (*ATEN, *LOOP_GRID, *KERNEL_CUDA),
}
"""Pipeline name -> its passes as text, in order."""

START = frozenset({"aten"})
"""What holds before the first pass of a named pipeline."""

OptionValue = ParameterType | Sequence[ParameterType] | None


class PipelineError(ValueError):
    """A pipeline's text cannot be read, or names an unknown pass or option."""


def build_pipeline(text: str) -> list[ModulePass]:
    """The passes of a pipeline's text, with options set. Raises PipelineError."""
    passes: list[ModulePass] = []
    for spec in _parse(text):
        if spec.name in PIPELINES:
            passes.extend(_expand(spec))
        else:
            passes.append(_instantiate(spec))
    return passes


def pipeline_text(name: str, options: Mapping[str, OptionValue] | None = None) -> str:
    """The text of a pipeline or pass with options. None leaves an option out."""
    parts: list[str] = []
    for key, value in (options or {}).items():
        if value is None:
            continue
        values = (value,) if isinstance(value, str | int | float | bool) else tuple(value)
        parts.append(f"{key.replace('_', '-')}={','.join(_value_text(v) for v in values)}")
    return f"{name}{{{' '.join(parts)}}}" if parts else name


def pipeline_options(name: str) -> frozenset[str]:
    """The options that some pass of a named pipeline takes (with underscores)."""
    specs = [spec for text in _listed(name) for spec in _parse(text)]
    return frozenset(
        field for spec in specs for field in _fields(spec) - _normal(spec).parameters.keys()
    )


def without(text: str, names: Iterable[str]) -> str:
    """The text of a pipeline's passes, some of them left out. PipelineError for one it lacks."""
    passes, out = build_pipeline(text), list(names)
    for name in out:
        if name not in {one.name for one in passes}:
            raise PipelineError(f"'{text}' has no pass '{name}'")
    return ",".join(str(one) for one in passes if one.name not in out)


def check_order(passes: Iterable[ModulePass], start: frozenset[str] = START) -> list[str]:
    """A sentence for each pass that needs what does not hold at its place."""
    holds = set(start)
    problems: list[str] = []
    for one in passes:
        missing = sorted(frozenset(getattr(one, "needs", frozenset[str]())) - holds)
        if missing:
            problems.append(f"{one.name} needs {', '.join(missing)}, which no pass before provides")
        holds -= getattr(one, "ends", frozenset[str]())
        holds |= getattr(one, "provides", frozenset[str]())
    return problems


def _listed(name: str) -> tuple[str, ...]:
    if name not in PIPELINES:
        raise PipelineError(f"unknown pipeline '{name}'{nearest(name, PIPELINES)}")
    return PIPELINES[name]


def _parse(text: str) -> list[ArgSpec]:
    try:
        return list(parse_pipeline(_BRACES.sub(_quoted, text)))
    except ArgSpecParseError as error:
        hint = 'quote a value of other characters: name{option="a b"}'
        raise PipelineError(f"{str(error).rstrip()}\n  {hint}") from None


_BRACES = re.compile(r"\{[^{}]*\}")
_PATH = re.compile(r"([\w-]+=)([^\s\"',{}\[\]=]*[/.~:][^\s\"',{}\[\]=]*)")


def _quoted(braces: re.Match[str]) -> str:
    """Options with quotes around values that are paths; numbers stay."""

    def one(pair: re.Match[str]) -> str:
        try:
            float(pair[2])
        except ValueError:
            return f'{pair[1]}"{pair[2]}"'
        return pair[0]

    return _PATH.sub(one, braces[0])


def _expand(pipeline: ArgSpec) -> list[ModulePass]:
    """The passes of a named pipeline, its options routed to them."""
    given = _normal(pipeline).parameters
    known = pipeline_options(pipeline.name)
    for option in given:
        if option not in known:
            raise PipelineError(
                f"pipeline '{pipeline.name}' has no option '{option}'{nearest(option, known)}"
            )
    passes: list[ModulePass] = []
    for spec in (spec for text in _listed(pipeline.name) for spec in _parse(text)):
        own = _normal(spec).parameters
        routed = {key: given[key] for key in given if key in _fields(spec) and key not in own}
        passes.append(_instantiate(ArgSpec(spec.name, {**own, **routed})))
    return passes


def _instantiate(spec: ArgSpec) -> ModulePass:
    """A pass with its options; a flag without a value is true."""
    if spec.name not in pass_names():
        known = [*pass_names(), *PIPELINES]
        raise PipelineError(f"unknown pass '{spec.name}'{nearest(spec.name, known)}")
    cls = load_pass(spec.name)
    types = {field.name: field.type for field in dataclasses.fields(cls)}
    options: dict[str, ParameterListType] = {}
    for key, value in _normal(spec).parameters.items():
        if key not in types:
            raise PipelineError(f"pass '{spec.name}' has no option '{key}'{nearest(key, types)}")
        options[key] = (True,) if value == () and types[key] in (bool, "bool") else value
    try:
        return cls.from_spec(ArgSpec(spec.name, options))
    except PassFailedException as error:
        raise PipelineError(f"pass '{spec.name}': {error}") from None
    except ValueError as error:
        bad = _misfit(cls, spec.name, options)
        raise PipelineError(f"pass '{spec.name}': {bad or error}") from None


def _misfit(
    cls: type[ModulePass], name: str, options: Mapping[str, ParameterListType]
) -> str | None:
    """The option whose value is of another type than its field, in words."""
    types = {field.name: str(getattr(field.type, "__name__", field.type)) for field in _all(cls)}
    for key, value in options.items():
        try:
            cls.from_spec(ArgSpec(name, {key: value}))
        except ValueError:
            shown = ", ".join(repr(one) for one in value) or "nothing"
            return f"option '{key}' is of type {types[key]}, not {shown}"
    return None


def _all(cls: type[ModulePass]) -> tuple[dataclasses.Field[object], ...]:
    return dataclasses.fields(cls)


def _fields(spec: ArgSpec) -> frozenset[str]:
    return frozenset(field.name for field in dataclasses.fields(load_pass(spec.name)))


def _normal(spec: ArgSpec) -> ArgSpec:
    return spec.normalize_parameter_names()


def _value_text(value: ParameterType) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return str(value)
