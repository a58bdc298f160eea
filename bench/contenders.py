"""Who takes part: a name, and how it turns a function into a compiled one."""

import importlib
import types
from collections.abc import Callable, Iterable
from typing import Any

import torch

Function = Callable[..., Any]
Options = dict[str, Any]

DEFAULT = ("eager", "inductor", "minductor")


def _eager(fn: Function, options: Options) -> Function:
    return fn


def _backend(name: str, **fixed: Any) -> Callable[[Function, Options], Function]:
    def compile_with(fn: Function, options: Options) -> Function:
        given = {**fixed, **(options if name == "minductor" else {})}
        return torch.compile(fn, backend=name, dynamic=False, options=given or None)

    return compile_with


def _aot(fn: Function, options: Options) -> Function:
    """Dynamo and AOTAutograd with core decompositions and min-cut, and nothing behind them."""
    from functorch.compile import min_cut_rematerialization_partition, nop
    from torch._decomp import core_aten_decompositions
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch import config

    def partition(*args: Any, **kwargs: Any) -> Any:
        with config.patch(cse=False):
            return min_cut_rematerialization_partition(*args, **kwargs)

    backend = aot_autograd(
        fw_compiler=nop, partition_fn=partition, decompositions=core_aten_decompositions()
    )
    return torch.compile(fn, backend=backend, dynamic=False)


CONTENDERS: dict[str, Callable[[Function, Options], Function]] = {
    "eager": _eager,
    "guards": _backend("eager"),
    "aot": _aot,
    "aot_eager": _backend("aot_eager"),
    "inductor": _backend("inductor"),
    "inductor_cpp": _backend("inductor", cpp_wrapper=True),
    "inductor_graphs": _backend("inductor", **{"triton.cudagraphs": True}),
    "minductor": _backend("minductor"),
    "minductor_graphs": _backend("minductor", cudagraphs=True),
}


WITHOUT = "without:"
"""Names such as `without:kernel-stream+kernel-prefetch`: minductor with passes left out."""


def _lacking(names: str) -> Callable[[Function, Options], Function]:
    """minductor with the CPU's pipeline less some passes. PipelineError where it has no such."""
    from minductor.compiler import local_pipeline
    from minductor.passes.pipelines import without

    def compile_with(fn: Function, options: Options) -> Function:
        pipeline = without(local_pipeline(), names.split("+"))
        return CONTENDERS["minductor"](fn, {**options, "pipeline": pipeline})

    return compile_with


def separate(fn: Function, contender: str) -> Function:
    """`fn` under a code object of its own: Dynamo keeps its caches by code object."""
    if isinstance(fn, types.FunctionType):
        code = fn.__code__.replace(co_name=f"{fn.__name__}_{contender}".replace("<lambda>", "fn"))
        twin = types.FunctionType(
            code, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__
        )
        twin.__kwdefaults__ = fn.__kwdefaults__
        return twin

    def call(*args: Any) -> Any:
        return fn(*args)

    return separate(call, contender)


def compile_for(contender: str, fn: Function, options: Options) -> Function:
    """`fn` compiled by the contender; `options` reach minductor only.

    Raises KeyError for an unknown contender.
    """
    if contender.startswith(WITHOUT):
        return _lacking(contender.removeprefix(WITHOUT))(separate(fn, contender), options)
    return CONTENDERS[contender](separate(fn, contender), options)


def prepare(contenders: Iterable[str]) -> None:
    """Import what the contenders import, so that no clock sees it."""
    names = ["torch._dynamo", "torch._functorch.aot_autograd"]
    if any(c.startswith("inductor") for c in contenders):
        names.append("torch._inductor.compile_fx")
    if any(c.startswith("minductor") for c in contenders):
        names.append("minductor.backend")
    for name in names:
        importlib.import_module(name)
