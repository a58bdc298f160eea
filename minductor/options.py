"""Options of a compile: typed, documented, checked. All of them are fields of `Options`.

They reach us as `torch.compile(f, backend="minductor", options={...})` or as keywords of
`minductor.compile`. Decisions of passes are options of passes; those named here are routed to every
pass that has a field of the same name.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from xdsl.utils.exceptions import PassFailedException

from minductor.errors import OptionError
from minductor.passes.aten._pattern import Pattern
from minductor.passes.logs import parse_artifacts
from minductor.passes.loop.fusion.machine import machine_of
from minductor.passes.pipelines import PipelineError, build_pipeline

Report = dict[str, Any]
ReportHook = Callable[[Report], Any]

MOST_THREADS = 4096
"""More threads than any machine has processors are a slip, and may be more than it can start."""

MODES: dict[str, dict[str, Any]] = {
    "default": {},
    "reduce-overhead": {"cudagraphs": True},
}
"""Modes of torch.compile that mean something here -> the options that they stand for."""


def _option(default: Any, kind: type, doc: str, *choices: str, routed: bool = False) -> Any:
    """A field of `Options`; `routed` ones go to the passes."""
    return field(default=default, metadata=_about(kind, doc, choices, routed))


def _about(
    kind: type, doc: str, choices: tuple[str, ...] = (), routed: bool = False
) -> dict[str, Any]:
    return {"kind": kind, "doc": doc, "choices": choices, "routed": routed}


@dataclass(frozen=True)
class Options:
    """What a user may set. See docs/options.md; each field's text stands there too."""

    preset: str = _option(
        "default",
        str,
        "Behaviour of the scheduler: `seed` is fixed for good, `default` may become better.",
        "default",
        "seed",
        routed=True,
    )
    target: str = _option(
        "auto",
        str,
        "`auto`: C++ for a graph on a CPU, Triton for one on CUDA. `triton` on a CPU graph needs "
        "TRITON_INTERPRET=1.",
        "auto",
        "cpp",
        "triton",
    )
    threads: int | None = _option(
        None, int, "Threads of C++ kernels; torch.get_num_threads() when not set.", routed=True
    )
    isa: str | None = _option(
        None,
        str,
        "Vector width of C++ kernels, such as `avx2`; the machine's own when not set.",
        "avx512",
        "avx2",
        "neon",
        "portable",
        routed=True,
    )
    machine: str | None = _option(
        None,
        str,
        "Machine that fusion prices for: `cpu`, `h200`, or the path of a .toml file "
        "(docs/fusion.md).",
        routed=True,
    )
    plan: str | None = _option(
        None,
        str,
        "File to which fusion writes its plan; such a compile leaves the cache alone.",
        routed=True,
    )
    plan_in: str | None = _option(
        None,
        str,
        "File with a plan that fusion follows; such a compile leaves the cache alone.",
        routed=True,
    )
    emulate: bool | None = _option(
        None,
        bool,
        "Round half types after every op, as eager does, also inside a fused kernel.",
        routed=True,
    )
    cudagraphs: bool | None = _option(
        None,
        bool,
        "Record each graph on a GPU once and replay it as a CUDA graph (docs/runtime.md).",
        routed=True,
    )
    autotune: str | None = _option(
        None,
        str,
        "`fast` or `max`: measure a few schedules of each large Triton kernel at its first call "
        "(docs/runtime.md); `off` when not set.",
        "off",
        "fast",
        "max",
        routed=True,
    )
    eager_random: bool = _option(
        False, bool, "Dropout gives eager's very values under a seed: it stays a call of PyTorch's."
    )
    patterns: tuple[Pattern, ...] | None = _option(
        None,
        tuple,
        "A `minductor.pattern`, or several: rewrites of your own, docs/patterns.md.",
    )
    pipeline: str | None = _option(
        None, str, "Pipeline text to run in place of the target's own, as for `mini-opt -p`."
    )
    verify: bool = _option(False, bool, "Verify the IR after every pass.")
    validate: bool = _option(
        False,
        bool,
        "Run every level of a graph in its interpreter at its first calls, and name the pass or "
        "emitter that changed the outcome; docs/validate.md.",
    )
    validate_limit: int = _option(
        1 << 22, int, "Points of the largest loop nest that `validate` still interprets."
    )
    strict: bool = _option(
        False,
        bool,
        "Raise when a compile fails, where by default a warning is given and the "
        "graph runs eagerly.",
    )
    dump_dir: str | None = _option(
        None, str, "Folder for the IR before a failed pass; a folder in the cache when not set."
    )
    logs: str | tuple[str, ...] | None = _option(
        None,
        str,
        "Logs to print, as for MINDUCTOR_LOGS: `calls`, `aten`, `ir_pre_fusion`, "
        "`ir_post_fusion`, `fusion`, `kernel`, `output_code`, `validate`, `patterns`, "
        "`cudagraphs`, `all`, with "
        "commas.",
    )
    progress: bool = _option(
        True, bool, "On a terminal, show the progress of a compile longer than a second."
    )
    report: ReportHook | None = field(
        default=None,
        metadata=_about(object, "Function that is called with the report of each compiled graph."),
    )
    cache: bool = _option(True, bool, "Take products from the cache and keep them there.")
    cache_dir: str | None = _option(
        None,
        str,
        "Folder of the cache; MINDUCTOR_CACHE_DIR, else the user's cache folder, when not set.",
    )

    @property
    def log_names(self) -> frozenset[str]:
        """Logs asked for here or by MINDUCTOR_LOGS. Raises OptionError."""
        return _artifacts(self.logs or (), "option 'logs'") | _artifacts(
            os.environ.get("MINDUCTOR_LOGS", ""), "MINDUCTOR_LOGS"
        )

    @property
    def validates(self) -> bool:
        """Whether outcomes are judged: asked for here or by MINDUCTOR_VALIDATE."""
        return self.validate or os.environ.get("MINDUCTOR_VALIDATE", "") not in ("", "0")

    def routed(self) -> dict[str, Any]:
        """The options for passes that are set, by name."""
        return {
            one.name: value
            for one in dataclasses.fields(self)
            if one.metadata["routed"] and (value := getattr(self, one.name)) is not None
        }


def make_options(given: Mapping[str, Any] | None = None, mode: str | None = None) -> Options:
    """Checked options. Raises OptionError on an unknown key, value or mode."""
    if mode is not None and mode not in MODES:
        raise OptionError(
            f"unknown mode {mode!r}: minductor has the modes {' and '.join(map(repr, MODES))}; "
            "what it can be told stands in its options (docs/options.md)"
        )
    known = {one.name: one for one in dataclasses.fields(Options)}
    values = {**MODES[mode or "default"], **(given or {})}
    for name, value in values.items():
        if type(name) is not str:
            raise OptionError(f"options have names, not {name!r}")
        if name not in known:
            raise OptionError(f"unknown option '{name}'{_nearest(name, list(known))}")
        _check(known[name], value)
    if values.get("patterns") is not None:
        values["patterns"] = _patterns(values["patterns"])
    return Options(**values)


def describe() -> list[tuple[str, str, str]]:
    """(name, default, text) of each option, in order: the table of docs/options.md."""
    return [
        (one.name, _default_text(one.default), one.metadata["doc"])
        for one in dataclasses.fields(Options)
    ]


def _default_text(value: Any) -> str:
    return "not set" if value is None else str(value)


def _nearest(name: str, known: list[str]) -> str:
    close = get_close_matches(name, known, n=1)
    if close:
        return f", did you mean '{close[0]}'?"
    return f", known: {', '.join(sorted(known))}"


def _check(one: dataclasses.Field[Any], value: Any) -> None:
    """Raises OptionError when a value does not fit its option."""
    if value is None and one.default is None:
        return
    match one.name:
        case "report":
            if not callable(value):
                raise OptionError(f"option 'report' is a function, not {value!r}")
            return
        case "patterns":
            _patterns(value)
            return
        case "logs":
            _artifacts(value, "option 'logs'")
            return
        case "pipeline":
            _check_pipeline(value)
            return
        case _:
            pass
    kind: type = one.metadata["kind"]
    if type(value) is not kind:
        raise OptionError(f"option '{one.name}' is of type {kind.__name__}, not {value!r}")
    choices: tuple[str, ...] = one.metadata["choices"]
    if choices and value not in choices:
        raise OptionError(
            f"option '{one.name}' has no value {value!r}{_nearest(str(value), list(choices))}"
        )
    if one.name == "machine":
        try:
            machine_of(str(value), "cpu")
        except PassFailedException as error:
            raise OptionError(f"option 'machine': {error}") from None
    if one.name == "plan" and not Path(str(value)).absolute().parent.is_dir():
        raise OptionError(f"option 'plan': there is no folder {Path(str(value)).parent}")
    if one.name == "plan_in":
        _check_text(one.name, Path(str(value)))
    if one.name == "dump_dir" and (found := _no_folder(Path(str(value)).absolute())) is not None:
        raise OptionError(f"option 'dump_dir': {found} is no folder")
    if isinstance(value, int) and kind is int:
        if value < 1:
            raise OptionError(f"option '{one.name}' is at least 1, not {value}")
        if one.name == "threads" and value > MOST_THREADS:
            raise OptionError(f"option 'threads' is at most {MOST_THREADS}, not {value}")


def _check_text(option: str, path: Path) -> None:
    if not path.is_file():
        raise OptionError(f"option '{option}': there is no file {path}")
    try:
        path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"option '{option}': {path} is not readable text: {error}") from None


def _no_folder(path: Path) -> Path | None:
    """The first of a path and the folders around it that exists, where it is not a folder."""
    there = next(one for one in (path, *path.parents) if one.exists())
    return None if there.is_dir() else there


def _check_pipeline(value: Any) -> None:
    if not isinstance(value, str):
        raise OptionError(f"option 'pipeline' is of type str, not {value!r}")
    if not value.strip():
        raise OptionError("option 'pipeline' is empty: leave it out for the default")
    try:
        build_pipeline(value)
    except PipelineError as error:
        raise OptionError(f"option 'pipeline': {error}") from None


def _patterns(value: Any) -> tuple[Pattern, ...]:
    many: tuple[Any, ...] = tuple(value) if isinstance(value, list | tuple) else (value,)
    for one in many:
        if not isinstance(one, Pattern):
            raise OptionError(f"option 'patterns': minductor.pattern(..) makes one, not {one!r}")
    return many


def _artifacts(names: Any, where: str) -> frozenset[str]:
    if not isinstance(names, str | tuple | list | frozenset | set):
        raise OptionError(f"{where} is text or a list of names, not {names!r}")
    try:
        return parse_artifacts(names)
    except ValueError as error:
        raise OptionError(f"{where}: {error}") from None
